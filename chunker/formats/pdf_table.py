"""Tables of a PDF page: between straight lines of one width, columns by the gaps all rows share.

A full grid and the three-line tables of books are both found; tables without any line stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from chunker.formats.pdf_page import Line, Page, Rule, Word

#: Ends of two rules that belong to one table, and rules at one height, in points.
_SAME = 3.0
#: A rule of a table is at least this wide.
_WIDE = 80.0
#: Lines of a header at most.
_HEADER = 8
_MARKER = re.compile(r"[^\w\s]|\(?\w{1,2}[.)]")


@dataclass(slots=True)
class PdfTable:
    """A table as it was found on one page."""

    page: int
    x0: float
    x1: float
    rows: list[list[list[Line]]] = field(default_factory=list)
    """Rows of cells of lines."""
    header: int = 0
    """Rows at the top that are the header."""
    open: bool = False
    """It ends with the page, without a line below it."""


def find(page: Page) -> tuple[list[PdfTable], dict[int, int]]:
    """Tables of a page, and for each line that stands in one (by index) which."""
    tables: list[PdfTable] = []
    owner: dict[int, int] = {}
    levels = _levels([rule for rule in page.rules if rule.y0 == rule.y1])
    for group in _groups(levels):
        for strips, open_ in _runs(page, group):
            lines = [index for strip in strips for index in strip]
            table = _table(page, group[0], strips, open_)
            if table is None or any(index in owner for index in lines):
                continue
            owner.update(dict.fromkeys(lines, len(tables)))
            tables.append(table)
    return tables, owner


def _levels(rules: Iterable[Rule]) -> list[Rule]:
    """Rules at one height that touch, as one."""
    merged: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (-round(rule.y0), rule.x0)):
        last = merged[-1] if merged else None
        if last and abs(last.y0 - rule.y0) <= _SAME and rule.x0 <= last.x1 + _SAME:
            merged[-1] = Rule(last.x0, last.y0, max(last.x1, rule.x1), last.y0)
        else:
            merged.append(rule)
    return [rule for rule in merged if rule.x1 - rule.x0 >= _WIDE]


def _groups(levels: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Rules with the same ends, from the top down."""
    left = list(levels)
    while left:
        first = left[0]
        group = [
            rule
            for rule in left
            if abs(rule.x0 - first.x0) <= _SAME and abs(rule.x1 - first.x1) <= _SAME
        ]
        left = [rule for rule in left if rule not in group]
        heights: list[Rule] = []
        for rule in sorted(group, key=lambda rule: -rule.y0):
            if not heights or heights[-1].y0 - rule.y0 > _SAME:
                heights.append(rule)
        if len(heights) > 1:
            yield heights


def _runs(page: Page, group: Sequence[Rule]) -> Iterator[tuple[list[list[int]], bool]]:
    """Strips between rules that follow each other and hold columns, and whether the last one is
    open to the foot of the page."""
    bounds = [rule.y0 for rule in group]
    run: list[list[int]] = []
    for high, low in pairwise(bounds):
        strip = _between(page, group[0], high, low)
        if not strip:
            continue
        if run and not _goes_on(page, group[0], run, strip):
            yield run, False
            run = []
        if run or _is_tabular(page, group[0], [], strip):
            run.append(strip)
    if not run:
        return
    last = _between(page, group[0], bounds[-1], 0.0)
    header_alone = len(run) == 1 and len(run[0]) <= _HEADER
    if header_alone and last and _goes_on(page, group[0], run, last):
        yield [*run, last], True
    else:
        yield run, False


def _goes_on(page: Page, rule: Rule, run: Sequence[Sequence[int]], strip: Sequence[int]) -> bool:
    """A strip has the columns of those above it, and is no title between two tables."""
    if not _is_tabular(page, rule, run, strip):
        return False
    if len(run) == 1:
        return True
    above = [page.lines[index] for one in run[1:] for index in one]
    lines = [page.lines[index] for index in strip]
    if all(line.size > above[0].size + 0.5 for line in lines):
        return False
    edges = _edges(page, rule, above)
    if len(_edges(page, rule, above + lines)) < len(edges):
        return False
    first_only = bool(edges) and all(line.x1 < edges[0] for line in lines)
    return not (first_only and all(line.bold for line in lines))


def _between(page: Page, rule: Rule, high: float, low: float) -> list[int]:
    return [
        index
        for index, line in enumerate(page.lines)
        if low - 1 < line.y < high and line.x1 > rule.x0 and line.x0 < rule.x1
    ]


def _inside(page: Page, strip: Sequence[int], rule: Rule) -> bool:
    lines = [page.lines[index] for index in strip]
    return all(line.x0 >= rule.x0 - 6 and line.x1 <= rule.x1 + 6 for line in lines)


def _is_tabular(page: Page, rule: Rule, run: Sequence[Sequence[int]], strip: Sequence[int]) -> bool:
    if not _inside(page, strip, rule):
        return False
    lines = [page.lines[index] for one in [*run, strip] for index in one]
    edges = _edges(page, rule, lines)
    if not edges:
        return False
    first = [word.text for line in lines for word in line.words if word.x1 <= edges[0] + 1]
    return not all(_MARKER.fullmatch(text) for text in first)  # a list between two rulers


def _edges(page: Page, rule: Rule, lines: Sequence[Line]) -> list[float]:
    """Where columns part: at vertical rules, else where no line has a word."""
    high, low = max(line.y for line in lines) + 4, min(line.y for line in lines)
    upright = sorted(
        {
            round(one.x0)
            for one in page.rules
            if one.x0 == one.x1
            and one.y1 > low
            and one.y0 < high
            and rule.x0 + _SAME < one.x0 < rule.x1 - _SAME
        }
    )
    if upright:
        return [float(x) for x in upright if all(abs(x - y) > 4 or x >= y for y in upright)]
    size = lines[0].size
    need = size * (0.4 if len(lines) > 5 else 0.8)
    words = sorted((word.x0, word.x1) for line in lines for word in line.words)
    edges: list[float] = []
    reach = words[0][1]
    for x0, x1 in words:
        if x0 - reach >= need:
            edges.append((x0 + reach) / 2)
        reach = max(reach, x1)
    return edges


def _table(page: Page, rule: Rule, strips: Sequence[Sequence[int]], open_: bool) -> PdfTable | None:
    lines = [page.lines[index] for strip in strips for index in strip]
    below = [page.lines[index] for strip in strips[1:] for index in strip]
    if len(lines) < 2:
        return None
    edges = _edges(page, rule, below) if len(below) > 2 else []  # headers are set wider
    edges = edges or _edges(page, rule, lines)
    if not edges:
        return None
    table = PdfTable(page.number, rule.x0, rule.x1, open=open_)
    grid = len(strips) > 3
    for number, strip in enumerate(strips):
        parts = [part for index in strip for part in _split(page.lines[index], edges)]
        whole = grid or (number == 0 and len(strips) > 1 and len(strip) <= _HEADER)
        table.rows.extend(_rows(parts, len(edges) + 1, whole))
        if number == 0 and len(strips) > 1:
            table.header = len(table.rows)
    return table if len(table.rows) > 1 else None


def _split(line: Line, edges: Sequence[float]) -> Iterator[tuple[int, Line]]:
    """A line as its parts in the columns."""
    parts: dict[int, list[Word]] = {}
    for word in line.words:
        middle = (word.x0 + word.x1) / 2
        parts.setdefault(sum(edge < middle for edge in edges), []).append(word)
    last = max(parts)
    for column, words in parts.items():
        yield column, Line(tuple(words), line.hyphen and column == last)


def _rows(
    parts: Sequence[tuple[int, Line]], columns: int, whole: bool
) -> Iterator[list[list[Line]]]:
    """Parts in the order of the page's content as rows: a step back to the left and down begins
    a new one, unless the strip is one row as a `whole`."""
    row: list[list[Line]] = [[] for _ in range(columns)]
    last, lowest = -1, float("inf")
    for column, line in parts:
        back = column < last and line.y < lowest - 1
        if back and not whole:
            yield row
            row = [[] for _ in range(columns)]
            lowest = float("inf")
        row[column].append(line)
        if lowest == float("inf"):
            lowest = line.y
        last = column
    if any(row):
        yield row

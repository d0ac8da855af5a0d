"""Paragraphs, list items, headings and code of a PDF, from the places and fonts of its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chunker.formats.pdf_page import Line, Page
from chunker.formats.pdf_table import PdfTable, find
from chunker.formats.pdf_text import Paragraph, marker_of, without_marker

#: Lines further apart than this many times the usual distance are two paragraphs.
_APART = 1.3
_SENTENCE_END = re.compile(r"[.!?:;\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")
_LONGEST_HEADING = 200

Item = Paragraph | PdfTable


def items(pages: Sequence[Page]) -> list[Item]:
    """Tables and paragraphs in reading order. What runs over the end of a page is joined."""
    found: list[Item] = []
    for page in pages:
        for item in _page_items(page):
            last = found[-1] if found else None
            if isinstance(item, PdfTable) and isinstance(last, PdfTable) and _goes_on(last, item):
                _extend(last, item)
            elif (
                isinstance(item, Paragraph)
                and isinstance(last, Paragraph)
                and item.page == last.page + 1
                and _runs_over(last, item)
            ):
                last.lines.extend(item.lines)
            else:
                found.append(item)
    return found


def _page_items(page: Page) -> Iterator[Item]:
    tables, owner = find(page)
    shown: set[int] = set()
    free: list[Line] = []
    for index, line in enumerate(page.lines):
        table = owner.get(index)
        if table is None:
            free.append(line)
        elif table not in shown:
            yield from _paragraphs(page, free)
            free = []
            shown.add(table)
            yield tables[table]
    yield from _paragraphs(page, free)


def _goes_on(table: PdfTable, other: PdfTable) -> bool:
    same = abs(table.x0 - other.x0) < 6 and abs(table.x1 - other.x1) < 6
    follows = other.page - table.page in {0, 1}
    columns = len(table.rows[0]) == len(other.rows[0])
    return same and follows and columns and table.open


def _extend(table: PdfTable, other: PdfTable) -> None:
    """Add the rows that follow on the next page, without the header that is said again."""
    head = [_said(row) for row in table.rows[: table.header]]
    again = [_said(row) for row in other.rows[: table.header]] == head
    table.rows.extend(other.rows[table.header if again else 0 :])
    table.open, table.page = other.open, other.page


def _said(row: Sequence[Sequence[Line]]) -> list[str]:
    return [" ".join(line.text for line in cell) for cell in row]


def _runs_over(last: Paragraph, item: Paragraph) -> bool:
    before, after = last.lines[-1], item.lines[0]
    if item.marker or before.size != after.size or before.bold != after.bold:
        return False
    return before.hyphen or (not _SENTENCE_END.search(before.text) and after.text[:1].islower())


def _paragraphs(page: Page, lines: Sequence[Line]) -> Iterator[Paragraph]:
    if not lines:
        return
    pitches = _pitches(lines)
    right = max(line.x1 for line in lines)
    open_: Paragraph | None = None
    last = lines[0]
    for marker, left, line in _marked(lines):
        distance = last.y - line.y
        if open_ is not None and not marker:
            usual = pitches.get(line.size, 1.35 * line.size)
            meant = _fits(last, line, right)
            ended = meant and (line.bold or bool(_SENTENCE_END.search(last.text)))
            if not ended and _same_block(open_, last, line, distance, usual, not meant):
                if meant:
                    open_.breaks = (*open_.breaks, len(open_.lines))
                open_.lines.append(line)
                last = line
                continue
        if open_ is not None:
            yield open_
        gap = distance / line.size if open_ is not None else 9.0
        open_ = Paragraph(page.number, [line], marker, left, gap=gap)
        last = line
    if open_ is not None:
        yield open_


def _marked(lines: Sequence[Line]) -> Iterator[tuple[str, float, Line]]:
    """Marker, left end and rest of each line; pdfium may take a marker for a line of its own."""
    pending: Line | None = None
    for line in lines:
        if pending is not None:
            if abs(pending.y - line.y) < 0.5 * line.size:
                yield pending.text, pending.x0, line
                pending = None
                continue
            if not _is_bullet(pending.text):
                yield "", pending.x0, pending
            pending = None
        if len(line.words) == 1 and marker_of(Line(line.words * 2)):
            pending = line
        else:
            marker = marker_of(line)
            yield marker, line.x0, without_marker(line) if marker else line
    if pending is not None and not _is_bullet(pending.text):
        yield "", pending.x0, pending


def _same_block(
    open_: Paragraph, last: Line, line: Line, distance: float, usual: float, full: bool
) -> bool:
    """A line goes on with the paragraph above it; `full`: the line above has no room left."""
    if last.mono and line.mono:
        return 0 < distance < 2.6 * usual  # an empty line is part of the code
    if line.mono != last.mono or abs(line.size - last.size) > 0.6 or line.bold != last.bold:
        return last.hyphen and abs(line.size - last.size) < 0.6
    if not 0 < distance <= _APART * usual:
        return last.hyphen or abs(distance) < 1  # one line that pdfium cut
    if open_.marker:
        return line.x0 >= (open_.left - 2 if full else open_.lines[0].x0 - line.size)
    return abs(line.x0 - last.x0) < 3 * line.size or line.x0 < last.x0


def _fits(last: Line, line: Line, right: float) -> bool:
    """The next line's first word had room in the line above: the break is meant."""
    if last.hyphen or last.mono:
        return False
    first = line.words[0]
    return last.x1 + 0.4 * line.size + (first.x1 - first.x0) < right - 2 * line.size


def _pitches(lines: Sequence[Line]) -> dict[float, float]:
    """The usual distance between two lines of one size, in points, by size."""
    steps: dict[float, Counter[float]] = {}
    for above, below in pairwise(lines):
        distance = above.y - below.y
        if above.size == below.size and 0 < distance < 2 * above.size:
            steps.setdefault(above.size, Counter())[round(distance)] += 1
    return {size: found.most_common(1)[0][0] for size, found in steps.items()}


def heading_levels(
    found: Sequence[Item], contents: Sequence[tuple[str, int]], body: float
) -> dict[int, int]:
    """Which items are headings, by index, and their levels.

    The PDF's own table of contents is believed first: where most of it is found on the pages,
    styles that it names are headings only where it says so. Other styles are headings when they
    are larger than the text; without a table of contents, bold lines of the text's size with
    white space above are as well.
    """
    levels = _from_contents(found, contents, body)
    named = {_style(found[index]): level for index, level in levels.items()}
    told = len(levels) >= max(2, len(contents) // 2)
    guessed = {
        index: _style(item)
        for index, item in enumerate(found)
        if index not in levels
        and isinstance(item, Paragraph)
        and _style(item) not in named
        and _looks_like_heading(item, body, told)
    }
    ranks = _ranks(set(guessed.values()), named)
    for index, style in guessed.items():
        levels[index] = ranks[style]
    return levels


def _from_contents(
    found: Sequence[Item], contents: Sequence[tuple[str, int]], body: float
) -> dict[int, int]:
    """Items that say what the table of contents says, in its order.

    A printed list of contents says it too: set like the text, it counts only where nothing else
    is found.
    """
    paragraphs = [(i, item) for i, item in enumerate(found) if isinstance(item, Paragraph)]
    distinct = [(i, p) for i, p in paragraphs if p.bold or p.lines[0].size >= body * 1.05]
    levels = _matched(distinct, contents)
    if len(levels) * 2 < len(contents):
        levels = _matched([(i, p) for i, p in paragraphs if not _is_bullet(p.marker)], contents)
    return levels


def _is_bullet(marker: str) -> bool:
    return bool(marker) and not any(map(str.isalnum, marker))


def _matched(
    paragraphs: Sequence[tuple[int, Paragraph]], contents: Sequence[tuple[str, int]]
) -> dict[int, int]:
    levels: dict[int, int] = {}
    at = 0
    for index, item in paragraphs:
        text = _title_key(f"{item.marker} {item.text}")
        for ahead in range(at, min(at + 4, len(contents))):
            if text and text == _title_key(contents[ahead][0]):
                levels[index] = min(contents[ahead][1] + 1, 6)
                at = ahead + 1
                break
    return levels


def _title_key(text: str) -> str:
    """Letters and digits of a title, without the number of its section."""
    bare = re.sub(r"^\s*\d+(?:\.\d+)*[.)]?\s+(?=\S)", "", text.lower())
    return re.sub(r"[\W_]+", "", bare)


def _style(item: Item) -> tuple[float, bool]:
    return (item.lines[0].size, item.bold) if isinstance(item, Paragraph) else (0.0, False)


def _looks_like_heading(item: Paragraph, body: float, told: bool) -> bool:
    text = item.text
    if len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)) or item.lines[0].mono:
        return False
    if item.lines[0].size >= body * 1.12:
        return len(item.lines) <= 3
    short = len(item.lines) <= 2 and not re.search(r"[.:;,]$", text)
    bold = item.bold and item.lines[0].size >= body * 0.98
    return not told and bold and short and item.gap > 1.5


def _ranks(
    styles: set[tuple[float, bool]], named: dict[tuple[float, bool], int]
) -> dict[tuple[float, bool], int]:
    """Levels of styles that the contents do not name: below every larger one."""
    ranks = dict(named)
    for style in sorted(styles, reverse=True):
        above = [level for other, level in ranks.items() if other > style]
        ranks[style] = min(max(above, default=0) + 1, 6)
    return ranks

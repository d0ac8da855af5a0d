"""Where a unit that is too large by itself is cut, and how small parts are put together again.

Both are local: a part that changes moves the cuts near it and leaves the others where they are,
so that an edit of one row of a long table re-embeds a chunk or two and not the table.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chunker.model import Unit

Span = tuple[int, int]
#: Tokens of a text, special tokens left out.
Size = Callable[[str], int]

_ROW = re.compile(r"\n(?=[^\n])")
_CELL = re.compile(r"(?<!\\)(?=\|[^\n])")
_TOP_ITEM = re.compile(r"\n(?=(?:[-*+]|\d{1,9}[.)])[ \t])")
_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])")
_BLANK = re.compile(r"\n[ \t>]*\n")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile("(?<=[.!?\u2026])[\"'\u201d\u2019)\\]*_]*\\s+|(?<=[\u3002\uff01\uff1f])")
_WORD = re.compile(r"\s+")

_SEAMS: dict[str, tuple[re.Pattern[str], ...]] = {
    "table": (_ROW, _CELL, _WORD),
    "list": (_TOP_ITEM, _ITEM, _SENTENCE, _WORD),
    "code": (_BLANK, _LINE, _WORD),
    "quote": (_BLANK, _SENTENCE, _LINE, _WORD),
    "text": (_SENTENCE, _LINE, _WORD),
    "heading": (_WORD,),
    "image": (_WORD,),
}
_HEAD = re.compile(r"\|[^|]*\||(?:\S+\s+){1,4}")
#: The line between a table's header row and its body.
RULER = re.compile(
    r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?$"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A slice of the Markdown that fits, and how firmly it holds to the part before it."""

    span: Span
    size: int
    seam: int
    """0: the whole unit; 1: coarsest seam of its kind (row, item, sentence), then finer."""


def header_row(markdown: str, unit: Unit) -> Span | None:
    """Span of a table's header row and its ruler; None where the unit has none."""
    if unit.kind != "table":
        return None
    first = markdown.find("\n", unit.start, unit.end)
    if first < 0:
        return None
    second = markdown.find("\n", first + 1, unit.end)
    end = unit.end if second < 0 else second
    return (unit.start, end) if RULER.match(markdown[first + 1 : end]) else None


def parts(markdown: str, unit: Unit, span: Span, limit: int, size: Size) -> list[Part]:
    """`span` of `unit` as parts of at most `limit` tokens, cut at the coarsest seams that do.

    Nothing but white space lies between the parts. `limit` is at least 1; a single character
    that is more is a part all the same.
    """
    found: list[Part] = []
    seams = _SEAMS[unit.kind]
    todo: list[tuple[Span, int, int]] = [(span, 0, 0)]
    while todo:
        at, depth, seam = todo.pop()
        at = _trimmed(markdown, at)
        if at[0] == at[1]:
            continue
        tokens = size(markdown[at[0] : at[1]])
        if tokens <= limit or at[1] - at[0] == 1:
            found.append(Part(at, tokens, seam))
            continue
        pieces = [at]
        while len(pieces) == 1 and depth < len(seams):
            pieces = list(_split(markdown, at, seams[depth]))
            depth += 1
        if len(pieces) == 1:
            middle = (at[0] + at[1]) // 2
            pieces = [(at[0], middle), (middle, at[1])]
        first, *rest = pieces
        todo.extend((piece, depth, depth) for piece in reversed(rest))
        todo.append((first, depth, seam))
    return found


def _split(markdown: str, span: Span, seam: re.Pattern[str]) -> Iterator[Span]:
    start = span[0]
    for match in seam.finditer(markdown, span[0], span[1]):
        if markdown[start : match.end()].strip():
            yield (start, match.end())
            start = match.end()
    yield (start, span[1])


def _trimmed(markdown: str, span: Span) -> Span:
    """Without blank lines before, and white space after; the first line keeps its indent."""
    start, end = span
    while end > start and markdown[end - 1].isspace():
        end -= 1
    text = markdown[start:end]
    lead = len(text) - len(text.lstrip())
    line = text.rfind("\n", 0, lead)
    return (start + line + 1, end)


def priority(text: str) -> tuple[int, int]:
    """Where a seam before `text` stands in the order of joining, without regard to its place.

    The first cell or the first words decide, the rest only between parts that begin alike: an
    edit of the rest of a row moves no seam.
    """
    head = _HEAD.match(text)
    return _number(head.group() if head else text), _number(text)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def agglomerate(sizes: Sequence[int], order: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Join neighbours while the sum fits; ranges of indices, half open.

    `order` names the boundaries (i: between i - 1 and i) from the one to be joined first to the
    one to be joined last; those not named are kept. What a boundary becomes depends on its
    neighbours, not on all that stands before it, so a change moves few boundaries.
    """
    start_of = list(range(len(sizes)))
    end_of = [i + 1 for i in range(len(sizes))]
    total = list(sizes)
    for boundary in order:
        left, right = start_of[boundary - 1], boundary
        joined = total[left] + total[right]
        if joined > limit:
            continue
        end = end_of[right]
        total[left] = joined
        end_of[left] = end
        start_of[end - 1] = left
    ranges, i = [], 0
    while i < len(sizes):
        ranges.append((i, end_of[i]))
        i = end_of[i]
    return ranges

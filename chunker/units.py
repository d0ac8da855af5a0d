"""Markdown to units: markdown-it-py says where blocks are, offsets are carried and never searched.

Only the block rules run; the inside of a line is left to who reads it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from chunker import tokens
from chunker.headings import depths
from chunker.markdown_rules import markdown_parser
from chunker.model import Kind, Unit
from chunker.plain import plain
from chunker.roles import role_of

_KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "text",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "text",
}
_IMAGES = re.compile(r"(?:\[?!\[[^\]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?\s*)+")
_BOLD = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1)[^\n])+?)(?<=\S)\1\s*[:.]?(?:\s*\\)?")
_RULER = re.compile(r"[ \t>]*+(?:(?:[-*_][ \t]*){3,})?[ \t]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of Markdown by offsets, before it is a unit."""

    kind: Kind
    start: int
    end: int
    line: int
    level: int | None = None


def units(
    markdown: str,
    *,
    locators: Sequence[tuple[int, str]] = (),
    title: str = "",
    matter: int = 0,
) -> tuple[Unit, ...]:
    """All units of a Markdown text, in order.

    `locators` are the start offsets of the blocks that the text was written from, with where each
    came from; `title` is the document's; `matter` is the length of the front matter, which is one
    unit without words.
    """
    pieces = list(_pieces(markdown, matter))
    texts = [markdown[piece.start : piece.end] for piece in pieces]
    sizes = tokens.count_all(texts)
    plains = [plain(text) for text in texts]
    levels = [piece.level for piece in pieces if piece.level is not None]
    first = next((p for p, piece in zip(plains, pieces, strict=True) if piece.level), "")
    deep = iter(depths(levels, titled=bool(title) and _key(first) == _key(title)))
    starts = [at for at, _ in locators]
    seen: Counter[str] = Counter()
    path: list[tuple[str, str]] = []
    made: list[Unit] = []
    for index, piece in enumerate(pieces):
        depth = next(deep) if piece.level is not None else None
        if depth is not None:
            del path[depth - 1 :]
        name = f"{piece.kind}_{index + 1}"
        key = _identity(piece.kind, [text for _, text in path], _key(texts[index]))
        seen[key] += 1
        place = bisect_right(starts, piece.start) - 1
        made.append(
            Unit(
                id=name,
                kind=piece.kind,
                level=piece.level,
                depth=depth,
                parent=path[-1][0] if path else None,
                start=piece.start,
                end=piece.end,
                line=piece.line,
                tokens=sizes[index],
                anchor=hashlib.sha256(f"{key}\x1f{seen[key]}".encode()).hexdigest()[:16],
                locator=locators[place][1] if place >= 0 else "",
                role="empty"
                if piece.start < matter
                else role_of(piece.kind, texts[index], plains[index]),
                emphasised=piece.kind == "text" and bool(_BOLD.fullmatch(texts[index])),
            )
        )
        if depth is not None:
            path.append((name, _key(plains[index])))
    return tuple(made)


def _identity(kind: str, path: Sequence[str], text: str) -> str:
    """Hash of what makes a unit the same unit in the next crawl. Path and text are keys."""
    digest = hashlib.sha256()
    for field in (kind, *path, text):
        data = field.encode()
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.hexdigest()


def _key(text: str) -> str:
    """A text as it is compared: NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _pieces(markdown: str, matter: int) -> Iterator[Piece]:
    """Blocks of the text in order. What no block covers, and is not white space or a ruler, is
    a piece of text: nothing of the given text is lost (link definitions, odd nesting)."""
    lines = markdown.split("\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    done = 0
    if matter:
        done = markdown.count("\n", 0, matter)
        end = len(markdown[:matter].rstrip())
        yield Piece("code", 0, end, 0)
        done += 0 if markdown[:matter].endswith("\n") else 1
    source = "\n" * done + markdown[offsets[done] :] if matter else markdown
    for token in _top(markdown_parser().parse(source)):
        assert token.map is not None  # every block token has one
        first, last = token.map
        yield from _gap(lines, offsets, done, first)
        piece = _piece(token, lines, offsets, markdown)
        if piece is not None:
            yield piece
        done = max(done, last)
    yield from _gap(lines, offsets, done, len(lines))


def _top(found: Sequence[Token]) -> Iterator[Token]:
    return (token for token in found if token.level == 0 and token.type in _KINDS)


def _piece(
    token: Token, lines: Sequence[str], offsets: Sequence[int], markdown: str
) -> Piece | None:
    assert token.map is not None
    first, last = token.map
    start, end = _trimmed(lines, offsets, first, last)
    if start >= end:
        return None
    kind = _KINDS[token.type]
    if token.type == "code_block":
        start = offsets[first]  # its indent is part of the code
    level = int(token.tag[1]) if kind == "heading" else None
    if kind == "text" and "![" in markdown[start : start + 3]:
        kind = "image" if _IMAGES.fullmatch(markdown, start, end) else "text"
    return Piece(kind, start, end, bisect_right(offsets, start) - 1, level)


def _gap(lines: Sequence[str], offsets: Sequence[int], first: int, last: int) -> Iterator[Piece]:
    begin = None
    for number in range(first, last + 1):
        blank = number == last or bool(_RULER.fullmatch(lines[number]))
        if begin is None and not blank:
            begin = number
        elif begin is not None and blank:
            start, end = _trimmed(lines, offsets, begin, number)
            if start < end:
                yield Piece("text", start, end, bisect_right(offsets, start) - 1)
            begin = None


def _trimmed(
    lines: Sequence[str], offsets: Sequence[int], first: int, last: int
) -> tuple[int, int]:
    """Offsets of some lines without the white space around them."""
    while last > first and not lines[last - 1].strip():
        last -= 1
    while first < last and not lines[first].strip():
        first += 1
    if first >= last:
        return offsets[first], offsets[first]
    start = offsets[first] + len(lines[first]) - len(lines[first].lstrip())
    end = offsets[last - 1] + len(lines[last - 1].rstrip())
    return start, end

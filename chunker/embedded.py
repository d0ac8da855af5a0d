"""What the embedder reads of a chunk: its words, without the marks that cost it word pieces.

The heading path stands before the text and after it again, there with the headings that are in the
text: a sentence embedding weighs words and not places, and what a chunk is about is said by its
headings. A table row reads as a sentence, each
cell behind the name of its column. What each is worth is in `docs/chunking.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from chunker.cut import RULER
from chunker.plain import plain

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_PIPE = re.compile(r"(?<!\\)\|")


def embedded(heading_path: tuple[str, ...], text: str, headings: tuple[str, ...] = ()) -> str:
    """Heading path and text for the embedder; a function of what is shown, nothing added.

    `headings` are the words of the headings inside the text.
    """
    words = plain("\n".join(_read(text)))
    lines = (line for line in words.splitlines() if line.strip())
    return "\n".join((*heading_path, *lines, *heading_path, *headings))


def _read(text: str) -> Iterator[str]:
    """The lines of a text, those of tables as sentences."""
    lines = text.split("\n")
    columns: list[str] | None = None
    fence = ""
    for i, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
        if fence or "|" not in line:
            columns = None
            yield line
        elif columns is not None:
            if not RULER.match(line):
                yield _sentence(columns, _cells(line))
        elif i + 1 < len(lines) and "|" in lines[i + 1] and RULER.match(lines[i + 1]):
            columns = _cells(line)
            if i + 2 == len(lines) or "|" not in lines[i + 2]:
                yield line
        else:
            yield line


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _PIPE.split(row.strip().removeprefix("|").removesuffix("|"))]


def _sentence(columns: list[str], cells: list[str]) -> str:
    """`Model: Swift; Price: 500.`: each cell that says something, behind its column's name."""
    named = zip_longest(columns, cells, fillvalue="")
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell) + "."

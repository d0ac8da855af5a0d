"""Lines of a PDF as Markdown text: hyphens joined, bold runs marked, markers of lists known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunker.formats.pdf_page import Line, Word
from chunker.html.markdown_inline import escape, escape_line

_BULLET = re.compile(r"[•‣◦▪▫●○■□►✓✔➢➤\u2043\u00b7\uf0b7\uf0a7*–—-]")  # noqa: RUF001
_NUMBER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,4})[.)]")


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, on one page or over a page's end."""

    page: int
    lines: list[Line]
    marker: str = ""
    """Sign or number that a list item begins with."""
    left: float = 0.0
    """Left end of the first line, its marker included."""
    breaks: tuple[int, ...] = ()
    """Indices of lines that begin after a hard break."""
    gap: float = 0.0
    """White space above, in lines of its own size."""

    @property
    def text(self) -> str:
        """Plain words, without the marker."""
        return " ".join(word for line in self.lines for word in line.text.split())

    @property
    def bold(self) -> bool:
        """Bold from end to end."""
        return all(line.bold for line in self.lines)


def marker_of(line: Line) -> str:
    """The sign or number that begins a list item, else nothing."""
    if len(line.words) < 2:
        return ""
    first = line.words[0].text
    return first if _BULLET.fullmatch(first) or _NUMBER.fullmatch(first) else ""


def without_marker(line: Line) -> Line:
    """The line after its marker."""
    return Line(line.words[1:], line.hyphen)


def markdown(paragraph: Paragraph) -> str:
    """The paragraph's text with bold runs marked, safe to stand at the beginning of a line."""
    parts: list[list[Line]] = [[]]
    for index, line in enumerate(paragraph.lines):
        if index in paragraph.breaks:
            parts.append([])
        parts[-1].append(line)
    return "  \n".join(escape_line(inline(part)) for part in parts if part)


def inline(lines: Sequence[Line], *, bold: bool = True) -> str:
    """Lines as one line of running text."""
    runs: list[tuple[bool, str]] = []
    for word, glued in _joined(lines):
        marked = bold and word.bold
        text = escape(word.text)
        if runs and runs[-1][0] == marked:
            runs[-1] = (marked, runs[-1][1] + ("" if glued else " ") + text)
        else:
            runs.append((marked, ("" if glued or not runs else " ") + text))
    return "".join(_marked(text) if marked else text for marked, text in runs)


def _marked(text: str) -> str:
    core = text.strip()
    lead = text[: len(text) - len(text.lstrip())]
    return f"{lead}**{core}**" if any(map(str.isalnum, core)) else text


def _joined(lines: Sequence[Line]) -> Iterator[tuple[Word, bool]]:
    """Words, and whether a word is glued to the one before it (a hyphen at a line's end).

    Before a lower-case letter the hyphen was the line's, otherwise it is the word's own.
    """
    glued = False
    pending: Word | None = None
    for line in lines:
        for position, word in enumerate(line.words):
            if pending is not None:
                own = not word.text[:1].islower()
                yield (_with_hyphen(pending) if own else pending), glued
                glued, pending = True, None
            if line.hyphen and position == len(line.words) - 1:
                pending = word
            else:
                yield word, glued
                glued = False
    if pending is not None:
        yield _with_hyphen(pending), glued


def _with_hyphen(word: Word) -> Word:
    return Word(word.text + "-", word.x0, word.x1, word.y, word.size, word.bold, word.mono)

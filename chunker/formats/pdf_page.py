"""One page of a PDF as lines of words with places and fonts, read with pdfium (BSD, Apache)."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

_BOLD = re.compile(r"bold|black|heavy|demi|(?:^|[-+])(?:CMBX|SFBX)", re.I)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|fixed|(?:^|[-+])CMTT", re.I)
_LIGATURE = re.compile("[\ufb00-\ufb06]")
#: pdfium's sign for a hyphen at the end of a line, and the soft hyphen itself.
_HYPHENS = {"\ufffe", "\x02", "\u00ad"}
_FIXED_PITCH = 1
_BOLD_WEIGHT = 600
#: A rule is thinner than this, and longer than that, in points.
_THIN, _LONG = 3.0, 20.0


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands, in points from the lower left corner."""

    text: str
    x0: float
    x1: float
    y: float
    """Of the base line."""
    size: float
    bold: bool
    mono: bool


@dataclass(frozen=True)
class Line:
    """Words on one base line that follow each other in the page's content."""

    words: tuple[Word, ...]
    hyphen: bool = False
    """The last word goes on in the next line."""

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        """Left end."""
        return self.words[0].x0

    @property
    def x1(self) -> float:
        """Right end."""
        return max(word.x1 for word in self.words)

    @property
    def y(self) -> float:
        """Base line."""
        return self.words[0].y

    @cached_property
    def size(self) -> float:
        """Size of the type that most of the line is set in, in points."""
        sizes: dict[float, int] = {}
        for word in self.words:
            sizes[word.size] = sizes.get(word.size, 0) + len(word.text)
        return max(sizes, key=lambda size: (sizes[size], size))

    @cached_property
    def bold(self) -> bool:
        """Every word with a letter is bold."""
        lettered = [word for word in self.words if any(map(str.isalnum, word.text))]
        return bool(lettered) and all(word.bold for word in lettered)

    @cached_property
    def mono(self) -> bool:
        """Every word is set in a face of fixed width."""
        return all(word.mono for word in self.words)


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line that is drawn on the page, or the edge of a box."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Page:
    """What is on a page."""

    number: int
    height: float
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...]
    images: int


def read_page(page: Any, number: int) -> Page:
    """Read one page, `number` counted from 1."""
    text = page.get_textpage()
    try:
        lines = tuple(_lines(_words(text.raw, text.count_chars())))
        rules: list[Rule] = []
        images = 0
        for found in page.get_objects(
            filter=[pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3
        ):
            if found.type == pdfium.FPDF_PAGEOBJ_IMAGE:
                images += 1
            else:
                rules.extend(_rules(*found.get_bounds()))
        return Page(number, page.get_height(), lines, tuple(rules), images)
    finally:
        text.close()


def _rules(x0: float, y0: float, x1: float, y1: float) -> Iterator[Rule]:
    wide, high = x1 - x0, y1 - y0
    if high <= _THIN and wide >= _LONG:
        yield Rule(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2)
    elif wide <= _THIN and high >= _LONG / 2:
        yield Rule((x0 + x1) / 2, y0, (x0 + x1) / 2, y1)


def _words(text: Any, count: int) -> Iterator[Word | str]:
    """Words, with `"\\n"` where a line ends and `"-"` where it ends in a hyphen."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    letters: list[str] = []
    first = 0
    x0 = x1 = 0.0
    for index in range(count + 1):
        letter = chr(pdfium.FPDFText_GetUnicode(text, index)) if index < count else "\n"
        if letter.isspace() or letter in _HYPHENS or letter == "\0":
            if letters:
                yield _word(text, first, "".join(letters), x0, x1)
                letters = []
            if letter in _HYPHENS:
                yield "-"
            elif letter in "\r\n":
                yield "\n"
            continue
        pdfium.FPDFText_GetCharBox(text, index, left, right, bottom, top)
        if not letters:
            first, x0 = index, left.value
        x1 = right.value
        letters.append(letter)


def _word(text: Any, index: int, letters: str, x0: float, x1: float) -> Word:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text, index, x, y)
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(text, index, matrix):
        scale = math.hypot(matrix.c, matrix.d) or 1.0
    size = round(pdfium.FPDFText_GetFontSize(text, index) * scale, 1)
    buffer = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text, index, buffer, 128, flags)
    name = buffer.value.decode("utf-8", "replace")
    if _LIGATURE.search(letters):
        letters = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), letters)
    bold = bool(_BOLD.search(name)) or pdfium.FPDFText_GetFontWeight(text, index) >= _BOLD_WEIGHT
    mono = bool(_MONO.search(name)) or bool(flags.value & _FIXED_PITCH)
    return Word(letters, x0, x1, y.value, size, bold, mono)


def _lines(words: Iterator[Word | str]) -> Iterator[Line]:
    """Words to lines: pdfium ends a line, or the base line moves by more than a superscript."""
    line: list[Word] = []
    for word in words:
        if isinstance(word, str):
            if line:
                yield Line(tuple(line), word == "-")
            line = []
            continue
        if line and abs(word.y - line[0].y) > 0.6 * max(word.size, line[0].size):
            yield Line(tuple(line))
            line = []
        line.append(word)

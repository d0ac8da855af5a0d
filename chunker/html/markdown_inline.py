"""Running text: white space, escapes, marks around words, links and images."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from chunker.html.decode import well_formed

#: Collapsed to one space by HTML, and the no-break space with it: it is layout, not text.
_SPACE = re.compile(r"[ \t\n\r\f\u00a0]{2,}|[\t\n\r\f\u00a0]")
#: Never seen by a reader, and in the way of every comparison of words.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
#: Characters that CommonMark could read as a mark in the middle of a line.
_MARK = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"
    r"|~~|\](?=[(\[:])|!(?=\[)|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
)
_MAYBE_MARK = re.compile(r"[\\`*_~\]!<&]")
#: Beginnings of a line that CommonMark would read as a block.
_BLOCK = re.compile(
    r"(?P<number>\d{1,9})(?=[.)](?:\s|$))"
    r"|(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|`{3}|~{3}|=+\s*$|-+\s*$|\||\[[^\]]*\]:|:?-+:?\s*\|)"
)
_RULER = re.compile(r"(?:[-*_][ \t]*){3,}$")

#: Marks nested deeper than this add nothing that a reader sees.
_DEEPEST = 6


@dataclass(slots=True)
class Mark:
    """An open inline element: what is put around its text, and where that begins."""

    sign: str
    """`**`, `*`, `~~`, `` ` ``, `"`, `^`, `(` or `link`."""
    at: int
    """Index into the parts of the running text."""
    target: str = ""
    """Of a link."""


def clean(text: str) -> str:
    """Text of a node with white space collapsed, invisible characters out, and well formed."""
    text = _SPACE.sub(" ", text)
    return well_formed(text if text.isascii() else _INVISIBLE.sub("", text))


def escape(text: str) -> str:
    """Text that CommonMark reads as itself in the middle of a line."""
    if not _MAYBE_MARK.search(text):
        return text
    return _MARK.sub(lambda found: "\\" + found.group(), text)


def escape_line(line: str) -> str:
    """A line of running text that CommonMark does not read as the beginning of a block."""
    found = _BLOCK.match(line)
    if found:
        number = found["number"] or ""
        return f"{number}\\{line[len(number) :]}"
    return "\\" + line if _RULER.match(line) else line


class Running:
    """Text of one paragraph as it is gathered, with the marks that are open in it."""

    __slots__ = ("marks", "parts", "raw")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.marks: list[Mark] = []
        self.raw = 0

    def add(self, text: str) -> None:
        """Text of a node, any white space."""
        text = clean(text)
        if text:
            self.parts.append(text if self.raw else escape(text))

    def open(self, sign: str, target: str = "") -> None:
        """An inline element begins. Marks that say nothing new are left out."""
        nested = self.raw or len(self.marks) >= _DEEPEST
        if nested or any(mark.sign == sign for mark in self.marks):
            sign = ""
        self.marks.append(Mark(sign, len(self.parts), target))
        if sign == "`":
            self.raw += 1

    def close(self) -> None:
        """The innermost inline element ends."""
        mark = self.marks.pop()
        self._wrap(mark)
        if mark.sign == "`":
            self.raw -= 1

    def take(self, *, whole: bool = True) -> str:
        """The paragraph so far, as Markdown lines; the text starts anew, open marks stay open.

        `whole`: it will stand at the beginning of a line.
        """
        for mark in reversed(self.marks):
            self._wrap(mark)
            if mark.sign == "link":
                mark.sign = ""
            mark.at = 0
        text = "".join(self.parts)
        self.parts.clear()
        return tidy(text, whole=whole)

    def _wrap(self, mark: Mark) -> None:
        if not mark.sign:
            return
        inside = "".join(self.parts[mark.at :])
        del self.parts[mark.at :]
        core = inside.strip()
        if not core:
            self.parts.append(inside)
            return
        before = inside[: len(inside) - len(inside.lstrip())]
        after = inside[len(inside.rstrip()) :]
        previous = self.parts[-1] if self.parts else ""
        self.parts.append(before + _marked(mark, core, previous[-1:]) + after)


def _marked(mark: Mark, core: str, previous: str) -> str:
    sign = mark.sign
    if sign == "link":
        # Two links that touch are two links to a reader: keep them apart without their marks.
        gap = " " if previous == ")" else ""
        return f"{gap}[{core}]({mark.target})" if mark.target else core
    if sign == "`":
        fence = "`" * (1 + longest_run(core, "`"))
        pad = " " if core[0] == "`" or core[-1] == "`" else ""
        return f"{fence}{pad}{core}{pad}{fence}"
    if sign == "^":
        return f"^{core}" if core[0].isdigit() and previous.isalnum() else core
    if sign == '"':
        return f'"{core}"'
    if sign == "(":
        return f"({core})"
    return "\n".join(f"{sign}{line.strip()}{sign}" if line.strip() else "" for line in lines(core))


def lines(text: str) -> list[str]:
    """Lines of running text, cut at hard breaks only."""
    return text.split("\n")


def tidy(text: str, *, whole: bool = True) -> str:
    """Running text as Markdown: spaces collapsed, hard breaks marked, no line a block by chance
    (where it is `whole`: it stands at the beginning of a line).

    Two breaks in a row end a paragraph: the result may hold blank lines.
    """
    if "  " in text:
        text = re.sub(" {2,}", " ", text)
    if "\n" not in text:
        text = text.strip()
        return escape_line(text) if text and whole else text
    paragraphs = re.split(r"\n\s*\n", "\n".join(line.strip() for line in text.split("\n")))
    done = (
        "  \n".join(escape_line(line) if whole else line for line in paragraph.split("\n") if line)
        for paragraph in paragraphs
    )
    return "\n\n".join(one for one in done if one)


def longest_run(text: str, sign: str) -> int:
    """Length of the longest run of one character."""
    return max((len(run) for run in re.findall(re.escape(sign) + "+", text)), default=0)


def one_line(text: str) -> str:
    """Running text without its line breaks."""
    return re.sub(r"\s*\n\s*", " ", text)


class Addresses:
    """Absolute link targets of a page: RFC 3986, against `<base href>` where it has one."""

    __slots__ = ("_base", "_origin")

    def __init__(self, url: str, base: str | None) -> None:
        self._base = _join(url, base) if base else url
        try:
            parts = urlsplit(self._base)
        except ValueError:  # a broken base: as if there were none
            self._base = url
            parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

    def absolute(self, target: str | None) -> str:
        """The target as it goes into Markdown; empty where it leads nowhere a reader can go."""
        target = (target or "").strip()
        if not target or target[:11].lower() in {"javascript:", "vbscript:"}:
            return ""
        if target[:5].lower() == "data:":
            return ""
        if not target.startswith(("http://", "https://")):
            if self._origin and target[0] == "/" and target[1:2] != "/" and "/." not in target:
                target = self._origin + target
            else:
                target = _join(self._base, target)
        return _safe(target)


def _join(base: str, target: str) -> str:
    try:
        return urljoin(base, target)
    except ValueError:  # a broken IPv6 host: the address is kept as it was written
        return target


@lru_cache(maxsize=4096)
def _safe(target: str) -> str:
    return re.sub(r"[\s()<>\\]", lambda found: f"%{ord(found.group()) % 256:02X}", target)

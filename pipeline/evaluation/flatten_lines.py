"""The blocks of a Markdown text, and each block without the marks that shape it."""

from __future__ import annotations

import re

HEADING = re.compile(r" {0,3}#{1,6}\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_QUOTE = re.compile(r"\s*>\s?")
_TABLE_RULER = re.compile(r"\s*\|?[\s:|-]+\|?\s*$")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_]+?)(?<=[^\s*_])\1(?![\w*])")


def blocks(markdown: str) -> list[str]:
    """Headings, code fences, and what blank lines part, in order."""
    found: list[str] = []
    lines: list[str] = []
    fence = ""
    for line in [*markdown.splitlines(), ""]:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        alone = not fence and (not line.strip() or HEADING.match(line))
        if alone and lines:
            found.append("\n".join(lines))
            lines = []
        if alone and line.strip():
            found.append(line)
        elif not alone:
            lines.append(line)
    return [*found, "\n".join(lines)] if lines else found


def plain(text: str) -> str:
    """Inline text without emphasis."""
    return _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))


def bare(block: str) -> list[str]:
    """A block's items, rows and lines of text as paragraphs without marks; code as it is."""
    if _FENCE.match(block):
        return [block]
    paragraphs: list[str] = []
    for line in block.splitlines():
        if "|" in line and _TABLE_RULER.match(line):
            continue
        text = _QUOTE.sub("", line) if _QUOTE.match(line) else line
        is_row = text.lstrip().startswith("|")
        begins = is_row or bool(_ITEM.match(text)) or not paragraphs
        text = _ITEM.sub("", text, count=1) if not is_row else _cells(text)
        text = plain(text).strip()
        if begins:
            paragraphs.append(text)
        else:
            paragraphs[-1] += "\n" + text
    return [paragraph for paragraph in paragraphs if any(map(str.isalnum, paragraph))]


def _cells(row: str) -> str:
    return " ".join(cell.strip() for cell in row.strip().strip("|").split("|") if cell.strip())

"""Markdown without its marks: what a reader sees, for comparing words."""

from __future__ import annotations

import re

#: Stands for a piece of code while the marks around it are taken off.
_PUT_BY = re.compile("\x00")
_LINK = re.compile(r"(!?)\[((?:[^\[\]\\]|\\.)*)\]\([^()\s\x00]*\)")
_TAG = re.compile(
    r"(?<!\\)(?:</?[A-Za-z][^<>\n\x00]*>|<!--(?s:(?:(?!<!--).)*?)-->)"  # a comment is not seen
)
_CODE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<block>.*?)"
    r"(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<![\\`])(?P<ticks>`++)(?P<span>.+?)(?<!`)(?P=ticks)(?!`)",
    re.M | re.S,
)
_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?", re.M)
_HEADING = re.compile(r"^[ \t]*+#{1,6}(?:[ \t]+|$)|(?<![ \t])[ \t]++#++[ \t]*+$", re.M)
_SETEXT = re.compile(r"\n[ \t]*+(?:=++|-++)[ \t]*+$")
_DELIMITER = re.compile(
    r"^[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?$", re.M
)
_PIPE = re.compile(r"(?<!\\)\|")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*+|~~)|(?<![\w\\])_+|(?<!\\)_+(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """The words of some Markdown: no marks, link targets, HTML tags or comments; code as it is."""
    if "`" not in markdown and "~~~" not in markdown:
        return _prose(markdown).strip()
    codes: list[str] = []

    def put_by(found: re.Match[str]) -> str:
        codes.append(found["block"] or found["span"] or "")
        return "\x00"

    text = _prose(_CODE.sub(put_by, markdown.replace("\x00", "")))
    back = iter(codes)
    return _PUT_BY.sub(lambda _: next(back), text).strip()


def _prose(text: str) -> str:
    if "](" in text:
        text = _LINK.sub(r"\2", text)
        if "](" in text:  # an image in a link
            text = _LINK.sub(r"\2", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "\n" in text:
        text = _SETEXT.sub("", text)
    text = _LINE.sub("", text)
    if "#" in text:  # after the marks of items: the number in `## 1. Start` is no such mark
        text = _HEADING.sub("", text)
    if "|" in text:
        text = _PIPE.sub(" ", _DELIMITER.sub("", text))
    if "*" in text or "_" in text or "~" in text:
        text = _EMPHASIS.sub("", text)
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text

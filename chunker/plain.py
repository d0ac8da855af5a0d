"""Markdown without its marks: what a reader sees, for comparing words."""

from __future__ import annotations

import re

_LINK = re.compile(r"(!?)\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n`]*$", re.M)
_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?", re.M)
_HEADING = re.compile(r"^[ \t]*#{1,6}(?:[ \t]+|$)|[ \t]+#+[ \t]*$", re.M)
_SETEXT = re.compile(r"\n[ \t]*(?:=+|-+)[ \t]*$")
_DELIMITER = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.M)
_PIPE = re.compile(r"(?<!\\)\|")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*+|~~|`+)|(?<![\w\\])_+|(?<!\\)_+(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """The words of some Markdown, without marks, link targets and HTML tags."""
    text = markdown
    if "](" in text:
        text = _LINK.sub(r"\2", text)
        if "](" in text:  # an image in a link
            text = _LINK.sub(r"\2", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    if "#" in text:
        text = _HEADING.sub("", text)
    if "|" in text:
        text = _PIPE.sub(" ", _DELIMITER.sub("", text))
    text = _LINE.sub("", _SETEXT.sub("", text))
    text = _EMPHASIS.sub("", text)
    return _ESCAPE.sub(r"\1", text).strip() if "\\" in text else text.strip()

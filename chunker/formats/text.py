"""Markdown and plain text: the text is the document, nothing in it is changed."""

from __future__ import annotations

import re

from chunker.formats.source import Source, file_title
from chunker.html.decode import decode
from chunker.plain import plain

_MATTER = re.compile(r"(?P<sign>---|\+\+\+)[ \t]*\n(?P<body>.*?\n)?(?P=sign)[ \t]*(?:\n|\Z)", re.S)
_FIELD = re.compile(r"^(?P<key>[A-Za-z_]+)[ \t]*+[:=][ \t]*+(?P<value>\S.*)$", re.M)
_FIRST_HEADING = re.compile(r"^ {0,3}#[ \t]++(?P<atx>\S.*)$|^(?P<setext>\S.*)\n=+[ \t]*+$", re.M)
_CODE = re.compile(r"^(`{3,}+|~{3,}+).*?^\1", re.M | re.S)


def read_markdown(body: bytes, url: str, content_type: str | None) -> Source:
    """Markdown as given. Front matter gives title and language, and stays where it is."""
    decoded = decode(body, content_type, markup=False)
    text = newlines(decoded.text)
    matter = _MATTER.match(text)
    fields = _fields(matter["body"] or "") if matter else {}
    if matter and not fields:
        matter = None  # a ruler at the beginning, not front matter
    end = matter.end() if matter else 0
    heading = _FIRST_HEADING.search(_CODE.sub("", text[end : end + 20_000]))
    title = fields.get("title") or ""
    if heading and not title:
        title = plain(f"# {heading['atx'] or heading['setext']}")
    lang = fields.get("lang") or fields.get("language") or ""
    return Source(
        text,
        title or file_title(url),
        lang.lower() if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*", lang) else "",
        notes=decoded.notes,
        matter=end,
    )


def read_text(body: bytes, url: str, content_type: str | None) -> Source:
    """Plain text as given. What looks like Markdown in it is read as such."""
    decoded = decode(body, content_type, markup=False)
    return Source(newlines(decoded.text), file_title(url), notes=decoded.notes)


def newlines(text: str) -> str:
    """Text with one kind of line end, so that lines are counted alike by every later stage."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _fields(block: str) -> dict[str, str]:
    """Top-level `key: value` (YAML) or `key = value` (TOML) lines."""
    return {
        found["key"].lower(): found["value"].strip().strip("\"'")
        for found in _FIELD.finditer(block)
    }

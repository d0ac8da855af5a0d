"""DOCX: mammoth makes semantic HTML of it, and HTML has its way to Markdown already."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Any
from xml.etree import ElementTree

import mammoth  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser

from chunker.formats.archive import check, reading
from chunker.formats.source import Source, file_title
from chunker.html.markdown import render

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh > em
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='Block Text'] => blockquote > p:fresh
p[style-name='Source Code'] => pre:separator('\n')
p[style-name='HTML Preformatted'] => pre:separator('\n')
r[style-name='Verbatim Char'] => code
r[style-name='HTML Code'] => code
u => u
strike => s
"""
_DC = "{http://purl.org/dc/elements/1.1/}"


def read(body: bytes, url: str) -> Source:
    """A Word document as Markdown. Raises `BrokenDocumentError`."""
    check(body)
    with reading("the Word document"):
        made = mammoth.convert_to_html(
            io.BytesIO(body),
            style_map=_STYLES,
            convert_image=mammoth.images.img_element(_image),
            external_file_access=False,
        )
    tree = LexborHTMLParser(made.value)
    rendered = render(tree, {}, url)
    heading = tree.css_first("h1")
    title = _property(body, "title") or (heading.text(separator=" ").strip() if heading else "")
    blocks = [(start, _paragraph(place)) for start, place in rendered.blocks]
    return Source(
        rendered.markdown,
        " ".join(title.split()) or file_title(url),
        _property(body, "language").lower(),
        blocks,
    )


def _image(image: Any) -> dict[str, str]:
    return {"src": ""}


def _paragraph(place: str) -> str:
    """`block=12`: the document's blocks are counted as they stand in it."""
    found = re.match(r"[a-z0-9]+:nth-child\((\d+)\)", place)
    return f"block={found[1]}" if found else ""


def _property(body: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            tree = ElementTree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ElementTree.ParseError, zipfile.BadZipFile, zlib.error):
        return ""
    return (tree.findtext(f"{_DC}{name}") or "").strip()

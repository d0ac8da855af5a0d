"""PDF: page by page in the order of its content, to Markdown blocks with their page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2.raw import FPDF_ERR_PASSWORD  # type: ignore[import-untyped]

from chunker.errors import BrokenDocumentError
from chunker.formats import pdf_layout as layout
from chunker.formats.pdf_furniture import body_size, without_furniture
from chunker.formats.pdf_page import Page, read_page
from chunker.formats.pdf_table import PdfTable
from chunker.formats.pdf_text import Paragraph, inline, markdown
from chunker.formats.source import Source, file_title
from chunker.html.decode import well_formed
from chunker.html.markdown_blocks import Block, fence, write

#: pdfium is not safe to use from several threads.
_ONE_AT_A_TIME = Lock()
#: Lines of code further apart than this, in sizes of their type, have an empty one between.
_EMPTY_LINE = 1.9
#: A title in the metadata that is a file's name or a program's remark.
_NO_TITLE = re.compile(
    r"^(?:untitled.*|microsoft \w+ - .*|.*\.(?:docx?|pptx?|xlsx?|indd|pdf|tex|dvi))$", re.I
)


def read(body: bytes, url: str) -> Source:
    """A PDF as Markdown. Pages that are only images are named in the notes.

    Raises `BrokenDocumentError` where it is damaged, needs a password, or has no text at all.
    """
    with _ONE_AT_A_TIME:
        pages, contents, name, lang = _read(body)
    scanned = [page.number for page in pages if not page.lines and page.images]
    if not any(page.lines for page in pages):
        what = "its pages are scanned images" if scanned else "its pages are empty"
        raise BrokenDocumentError(f"the PDF has no text: {what}")
    pages = without_furniture(pages)
    blocks = list(_blocks(pages, contents))
    rendered = write(blocks)
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    title = name or re.sub(r"^#+\s+|\*\*", "", heading) or file_title(url)
    notes = (f"scanned, without text: page {', '.join(map(str, scanned))}",) if scanned else ()
    return Source(rendered.markdown, title, lang, rendered.blocks, notes)


def _read(body: bytes) -> tuple[list[Page], list[tuple[str, int]], str, str]:
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == FPDF_ERR_PASSWORD:
            raise BrokenDocumentError("the PDF is encrypted with a password") from error
        raise BrokenDocumentError(f"the PDF is damaged: {error}") from error
    try:
        pages = [_page(document, number) for number in range(1, len(document) + 1)]
        name = " ".join(well_formed(document.get_metadata_value("Title")).split())
        return pages, _contents(document), "" if _NO_TITLE.match(name) else name, ""
    except pypdfium2.PdfiumError as error:
        raise BrokenDocumentError(f"the PDF is damaged: {error}") from error
    finally:
        document.close()


def _page(document: Any, number: int) -> Page:
    page = document[number - 1]
    try:
        return read_page(page, number)
    finally:
        page.close()


def _contents(document: Any) -> list[tuple[str, int]]:
    """Titles and 0-based levels of the document's own table of contents."""
    return [(mark.get_title() or "", mark.level) for mark in document.get_toc(max_depth=6)]


def _blocks(pages: Sequence[Page], contents: Sequence[tuple[str, int]]) -> Iterator[Block]:
    found = layout.items(pages)
    levels = layout.heading_levels(found, contents, body_size(pages))
    listed: list[Paragraph] = []
    for index, item in enumerate(found):
        if isinstance(item, Paragraph) and item.marker and index not in levels:
            listed.append(item)
            continue
        if listed:
            yield _list(listed)
            listed = []
        place = f"page={item.page}"
        if isinstance(item, PdfTable):
            yield Block("table", _table(item), place)
        elif index in levels:
            text = " ".join(filter(None, [item.marker, inline(item.lines, bold=False)]))
            yield Block("heading", f"{'#' * levels[index]} {well_formed(text)}", place)
        elif all(line.mono for line in item.lines):
            yield Block("code", fence(well_formed(_code(item)), ""), place)
        else:
            yield Block("text", well_formed(markdown(item)), place)
    if listed:
        yield _list(listed)


def _list(listed: Sequence[Paragraph]) -> Block:
    """Items that follow each other as one list, nested by where their text begins."""
    lines: list[str] = []
    open_: list[tuple[float, int]] = []
    for item in listed:
        x0 = item.lines[0].x0
        while len(open_) > 1 and x0 < open_[-1][0] - 4:
            open_.pop()
        if not open_ or x0 > open_[-1][0] + 4:
            marker = _marker(item.marker)
            open_.append((x0, (open_[-1][1] if open_ else 0) + len(marker) + 1))
        marker = _marker(item.marker)
        indent = open_[-2][1] if len(open_) > 1 else 0
        text = well_formed(markdown(item)).replace("\n", "\n" + " " * (indent + len(marker) + 1))
        lines.append(f"{' ' * indent}{marker} {text}")
    return Block("list", "\n".join(lines), f"page={listed[0].page}")


def _marker(sign: str) -> str:
    found = re.fullmatch(r"\(?(\d{1,3})[.)]", sign)
    return f"{found[1]}." if found else "-"


def _table(table: PdfTable) -> str:
    rows = [
        [well_formed(inline(cell, bold=number >= table.header)) for cell in row]
        for number, row in enumerate(table.rows)
    ]
    rows = [[text.replace("|", "\\|") for text in row] for row in rows]
    head = [" ".join(filter(None, column)) for column in zip(*rows[: table.header], strict=True)]
    head = head or [""] * len(rows[0])
    written = [head, ["---"] * len(head), *rows[table.header :]]
    return "\n".join("| " + " | ".join(row) + " |" for row in written)


def _code(item: Paragraph) -> str:
    """Lines of code with the indents and empty lines that their places on the page give."""
    left = min(line.x0 for line in item.lines)
    wide = max((word.x1 - word.x0) / len(word.text) for line in item.lines for word in line.words)
    written: list[str] = []
    above = item.lines[0].y
    for line in item.lines:
        if above - line.y > _EMPTY_LINE * line.size:
            written.append("")
        written.append(" " * round((line.x0 - left) / wide) + line.text if wide else line.text)
        above = line.y
    return "\n".join(written)

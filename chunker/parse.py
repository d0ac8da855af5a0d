"""Any page to a document of units: the one entry, whatever the bytes are.

What a format needs is imported when a page has that format: `import chunker` stays fast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from chunker.formats.source import Source, file_title
from chunker.model import Document
from chunker.sniff import Format, sniff

#: Goes up with every change that can change a document.
PARSER_VERSION = "2"


def parse(
    body: bytes,
    url: str,
    content_type: str | None = None,
    *,
    source: str = "",
    verdicts: Mapping[str, bool] | None = None,
) -> Document:
    """The document of a stored page.

    `content_type` is the response's header, `source` the name that the document carries,
    `verdicts` what the site's profile says of this page's blocks. Raises
    `UnsupportedContentError` and `BrokenDocumentError`.
    """
    from chunker.html.decode import well_formed
    from chunker.units import units

    kind = sniff(body, url, content_type)
    read = _read(kind, body, url, content_type, verdicts)
    markdown = well_formed(read.markdown)
    return Document(
        source=source,
        url=url,
        title=read.title,
        lang=read.lang,
        markdown=markdown,
        units=units(markdown, locators=read.locators, title=read.title, matter=read.matter),
        content_hash=content_hash(read.title, read.lang, markdown),
        parser_version=PARSER_VERSION,
        format=kind,
        notes=read.notes,
        blocks=read.blocks,
    )


def content_hash(title: str, lang: str, markdown: str) -> str:
    """SHA-256 over title, language and Markdown, each with its length before it."""
    digest = hashlib.sha256()
    for text in (title, lang, markdown):
        data = text.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _read(
    kind: Format,
    body: bytes,
    url: str,
    content_type: str | None,
    verdicts: Mapping[str, bool] | None,
) -> Source:
    if kind == "html":
        return _html(body, url, content_type, verdicts)
    if kind == "docx":
        from chunker.formats import word

        return word.read(body, url)
    if kind == "pptx":
        from chunker.formats import slides

        return slides.read(body, url)
    if kind == "xlsx":
        from chunker.formats import sheets

        return sheets.read_workbook(body, url)
    if kind == "csv":
        from chunker.formats import sheets

        return sheets.read_csv(body, url, content_type)
    if kind == "pdf":
        from chunker.formats import pdf

        return pdf.read(body, url)
    from chunker.formats import text

    if kind == "markdown":
        return text.read_markdown(body, url, content_type)
    return text.read_text(body, url, content_type)


def _html(
    body: bytes, url: str, content_type: str | None, verdicts: Mapping[str, bool] | None
) -> Source:
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    from chunker.html import markdown, region
    from chunker.html.decode import decode
    from chunker.html.depth import bounded
    from chunker.html.title import language, title_of

    decoded = decode(body, content_type)
    text, cut = bounded(decoded.text)
    notes = (*decoded.notes, "nesting cut") if cut else decoded.notes
    try:
        tree = LexborHTMLParser(text)
    except SelectolaxError as error:  # any bytes are HTML: only memory can be wanting
        raise MemoryError("no memory for the tree of the page") from error
    chosen = region.choose(tree, url, verdicts)
    rendered = markdown.render(tree, chosen.dropped, url)
    title = title_of(tree, url) or file_title(url)
    return Source(
        rendered.markdown, title, language(tree), rendered.blocks, notes, blocks=chosen.blocks
    )

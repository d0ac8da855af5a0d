"""Any page to a document of units: the one entry, whatever the bytes are.

What a format needs is imported when a page has that format: `import chunker` stays fast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chunker.model import Document
from chunker.sniff import Format, sniff

#: Goes up with every change that can change a document.
PARSER_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Source:
    """What a format's reader makes of a body: Markdown, and what is known about it."""

    markdown: str
    title: str = ""
    lang: str = ""
    locators: Sequence[tuple[int, str]] = ()
    """Start offset of a block, and where in the source it came from."""
    notes: tuple[str, ...] = ()
    matter: int = 0
    """Length of the front matter."""
    extra: Mapping[str, str] = field(default_factory=dict)


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
    from chunker.html.decode import decode

    decoded = decode(body, content_type, markup=False)
    return Source(decoded.text, notes=decoded.notes)


def _html(
    body: bytes, url: str, content_type: str | None, verdicts: Mapping[str, bool] | None
) -> Source:
    from selectolax.lexbor import LexborHTMLParser

    from chunker.html import markdown, region
    from chunker.html.decode import decode
    from chunker.html.title import language, title_of

    decoded = decode(body, content_type)
    tree = LexborHTMLParser(decoded.text)
    chosen = region.choose(tree, url, verdicts)
    rendered = markdown.render(tree, chosen.dropped, url)
    return Source(
        rendered.markdown,
        title_of(tree, url),
        language(tree),
        rendered.blocks,
        decoded.notes,
    )

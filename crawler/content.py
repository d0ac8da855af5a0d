"""What a body is, from its bytes first: names and headers are often wrong.

The signatures are those of the WHATWG MIME sniffing standard (section 7) for the formats that hold
text, and of the formats' own standards for office files (ECMA-376, ODF 1.3 part 2).
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import PurePosixPath
from urllib.parse import urlsplit

HTML = "text/html"
PDF = "application/pdf"
TEXT = "text/plain"
MARKDOWN = "text/markdown"
CSV = "text/csv"

#: How much of a body is looked at, as in the standard (1,445 bytes) with room for long comments.
WINDOW = 4096
HTML_START = re.compile(
    rb"<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta"
    rb"|link|main|article|section)[\s>/\x00]",
    re.IGNORECASE,
)
XML_PREAMBLE = re.compile(rb"(?:\s*(?:<\?.*?\?>|<!--.*?-->))*\s*", re.DOTALL)
BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
#: Bytes that no text has (WHATWG MIME sniffing, "binary data byte").
BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
OFFICE_PARTS = {
    "word/": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "ppt/": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xl/": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
#: Characters of a media type that is stored in a document, at most.
MAX_TYPE = 100
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
LEGACY_OFFICE = {
    ".doc": "application/msword",
    ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
}
TEXT_SUFFIXES = {".md": MARKDOWN, ".markdown": MARKDOWN, ".csv": CSV, ".tsv": CSV}
TEXT_TYPES = {
    "text/plain": TEXT,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/csv": CSV,
    "text/tab-separated-values": CSV,
    "application/octet-stream": TEXT,
    "": TEXT,
}


def sniff(body: bytes, content_type: str, url: str) -> str | None:
    """The media type of a body that is worth storing, or None.

    `content_type` is the header's value, empty where there is none; it decides between kinds of
    text only, and so does the name at the end of `url`.
    """
    head = body[:WINDOW]
    if _is_pdf(body):
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _office(body)
    suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return LEGACY_OFFICE.get(suffix)
    if head.startswith(b"{\\rtf"):
        return "application/rtf"
    declared = content_type.partition(";")[0].strip().lower()
    if _is_html(head, declared):
        return HTML
    if _is_binary(head):
        return None
    if declared in TEXT_TYPES:
        return TEXT_SUFFIXES.get(suffix, TEXT_TYPES[declared])
    return None


def _is_pdf(body: bytes) -> bool:
    """The mark may stand behind other bytes (ISO 32000, Annex H); a page may speak of it."""
    opening = body[:1024].lstrip()
    behind = b"%PDF-" in opening and opening[:1] != b"<" and b"endobj" in body
    return opening.startswith(b"%PDF-") or behind


def is_media(content_type: str) -> bool:
    """Whether a response's header alone says that there is no text in it."""
    kind = content_type.partition("/")[0].strip().lower()
    return kind in ("image", "audio", "video", "font")


def _is_html(head: bytes, declared: str) -> bool:
    preamble = XML_PREAMBLE.match(head.lstrip(b"\xef\xbb\xbf"))
    start = head.lstrip(b"\xef\xbb\xbf")[preamble.end() if preamble else 0 :]
    if declared in ("text/html", "application/xhtml+xml"):
        # A stray NUL makes no page binary; a picture that is called a page has one in ten.
        few = len(BINARY.findall(head)) * 20 < len(head)
        return few or head.startswith(BOMS) or bool(HTML_START.match(start))
    # Text that declares itself as such may show HTML (WHATWG MIME sniffing, 7.1).
    may_be = declared in (
        "",
        "application/octet-stream",
        "application/pdf",
        "application/xml",
        "text/xml",
    )
    return may_be and bool(HTML_START.match(start))


def _is_binary(head: bytes) -> bool:
    return not head.startswith(BOMS) and bool(BINARY.search(head))


def _office(body: bytes) -> str | None:
    """The kind of a zip file that is a document; only its directory and its type are read."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = archive.namelist()
            if "[Content_Types].xml" in names:
                return next(
                    (kind for part, kind in OFFICE_PARTS.items() if _has(names, part)), None
                )
            if "mimetype" in names and archive.getinfo("mimetype").file_size < MAX_TYPE:
                kind = archive.read("mimetype").decode("ascii", "replace").strip()
                return kind if kind.startswith(OPEN_DOCUMENT) else None
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError):
        return None
    return None


def _has(names: list[str], part: str) -> bool:
    return any(name.startswith(part) for name in names)

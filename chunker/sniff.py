"""What the bytes of a page are. The bytes decide; the header and the name only break ties."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
import zipfile
from typing import Literal
from urllib.parse import urlsplit

from chunker.errors import BrokenDocumentError, UnsupportedContentError

Format = Literal["html", "markdown", "text", "pdf", "docx", "pptx", "xlsx", "csv"]

#: Bytes that are looked at for marks of a format.
_HEAD = 4096
_HTML = re.compile(
    rb"<!doctype\s+html|<(?:html|head|body|title|meta|link|script|style|article|main|section|"
    rb"div|table|ul|ol|p|h[1-6]|header|nav|span|a|br|b|i|img|form|center|font)[\s>/]",
    re.I,
)
_XML = re.compile(rb"^\s*<\?xml", re.I)
#: Bytes that no text has (the MIME Sniffing standard's "binary data bytes"), and the share of
#: them from which on a body that is not UTF-8 is no text with some damage: noise has 10%.
_BINARY = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_NOISE = 0.02
#: Kinds of characters that text in UTF-16 hardly has, and noise read as UTF-16 to a third.
_NOT_TEXT = {"Cc", "Cn", "Co", "Cs"}
_WIDE_NOISE = 0.1
_RIFF = re.compile(rb"RIFF.{4}(?:WAVE|AVI |WEBP|ACON|RMID)", re.S)
_SVG = re.compile(rb"<(?:!doctype\s+)?svg\b", re.I)
_OLE = b"\xd0\xcf\x11\xe0"
#: The part of an encrypted Office file that holds the rest, as it stands in the file's directory.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SIGNATURES = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF87a": "a GIF image",
    b"GIF89a": "a GIF image",
    b"\x1f\x8b": "gzip data",
    _OLE: "an Office file from before 2007",
    b"{\\rtf": "an RTF document",
    b"%!PS": "a PostScript document",
    b"Rar!\x1a\x07": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"OggS\x00": "an Ogg file",
    b"ID3\x02": "an MP3 file",
    b"ID3\x03": "an MP3 file",
    b"ID3\x04": "an MP3 file",
    b"wOFF\x00\x01\x00\x00": "a font",
    b"wOFFOTTO": "a font",
    b"wOF2\x00\x01\x00\x00": "a font",
    b"wOF2OTTO": "a font",
    b"\x00\x00\x01\x00": "an icon",
}
_SUFFIXES: dict[str, Format] = {
    "md": "markdown",
    "markdown": "markdown",
    "mdx": "markdown",
    "txt": "text",
    "csv": "csv",
    "tsv": "csv",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
}
_TYPES: dict[str, Format] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "text/plain": "text",
}
_OFFICE: tuple[tuple[str, Format], ...] = (
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
    ("xl/workbook.bin", "xlsx"),
)


def sniff(body: bytes, url: str = "", content_type: str | None = None) -> Format:
    """The format of a body.

    Raises `BrokenDocumentError` for an empty body or a damaged archive, and
    `UnsupportedContentError`, which names what the bytes look like, for anything else.
    """
    head = body[:_HEAD]
    if not head.strip(b"\x00 \t\r\n"):
        raise BrokenDocumentError("the document is empty")
    if _is_pdf(body):
        return "pdf"
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _archive(body)
    if head.startswith(_OLE) and _ENCRYPTED in body:
        raise BrokenDocumentError("the Office file is encrypted with a password")
    for signature, name in _SIGNATURES.items():
        if head.startswith(signature):
            raise UnsupportedContentError(f"the bytes are {name}")
    if _RIFF.match(head) or (head[4:8] == b"ftyp" and head[:2] == b"\x00\x00"):
        raise UnsupportedContentError("the bytes are an image, sound or film")
    return _text(head, url, (content_type or "").lower())


def _is_pdf(body: bytes) -> bool:
    """The mark may stand behind other bytes (ISO 32000, Annex H); a page may speak of it."""
    opening = body[:1024].lstrip()
    behind = b"%PDF-" in opening and opening[:1] != b"<" and b"endobj" in body
    return opening.startswith(b"%PDF-") or behind


def _text(head: bytes, url: str, declared: str) -> Format:
    if _is_noise(head, declared):
        raise UnsupportedContentError("the bytes are binary data of no known format")
    named = _SUFFIXES.get(urlsplit(url).path.rpartition(".")[2].lower()) if url else None
    claimed = _TYPES.get(declared.split(";")[0].strip())
    opening = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb"<!doctype\s+html|<html[\s>]", opening, re.I):
        return "html"
    if _XML.match(opening) and b"<html" not in head.lower():
        raise UnsupportedContentError("the bytes are XML that is not XHTML")
    if _SVG.match(opening):
        raise UnsupportedContentError("the bytes are an SVG image")
    if named in {"markdown", "csv"} and claimed in {None, "text", named}:
        return named
    if claimed in {"markdown", "csv"}:
        return claimed
    if opening[:1] == b"<" and _HTML.search(head):
        return "html"
    if claimed == "html" or (named == "html" and claimed is None):
        return "html"
    if claimed == "text" or named == "text":
        return "text"
    return "html" if _HTML.search(head) else "text"


def _is_noise(head: bytes, declared: str) -> bool:
    """Whether the bytes cannot be text in any encoding."""
    big = head.startswith(b"\xfe\xff") or "utf-16be" in declared
    if big or head.startswith(b"\xff\xfe") or "utf-16" in declared:
        text = head[: len(head) & ~1].decode("utf-16-be" if big else "utf-16-le", "replace")
        odd = sum(unicodedata.category(c) in _NOT_TEXT and c not in "\t\n\r\f\ufeff" for c in text)
        return odd + text.count("\ufffd") > max(1, _WIDE_NOISE * len(text))
    if head.count(0) > len(head) // 100:
        return True
    odd = len(head) - len(head.translate(None, _BINARY))
    return odd > max(1, _NOISE * len(head)) and not _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _archive(body: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise BrokenDocumentError(f"the archive is damaged: {error}") from error
    for name, kind in _OFFICE:
        if name in names:
            return kind
    raise UnsupportedContentError("the bytes are a ZIP archive that holds no Office document")

"""Bytes to well-formed text, in the order of the WHATWG HTML standard.

Byte order mark, then the header's charset, then `<meta>`, then detection; labels as in the WHATWG
Encoding standard. What comes out is the only text that later stages see.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

#: Bytes that `<meta charset>` is looked for in (the standard says 1,024; real pages are later).
_PRESCAN = 4096
#: Bytes that detection reads.
_SAMPLE = 64 * 1024
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_META = re.compile(rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml\b[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
#: Labels that the Encoding standard reads as a wider code page than their name says.
_WIDER = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "l1": "cp1252",
    "iso-8859-9": "cp1254",
    "latin5": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "chinese": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "ms_kanji": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "korean": "cp949",
    "big5": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "x-euc-jp": "euc_jp",
}
#: A label in `<meta>` that cannot be true of bytes in which it was read as ASCII.
_WIDE = {"utf-16", "utf-16le", "utf-16be", "utf_16", "utf-32", "ucs-2", "unicode"}
_NOT_TEXT = {"utf-7", "utf7", "replacement", "iso-2022-kr", "hz-gb-2312"}
_BROKEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
#: The same as bytes of UTF-8, but for surrogates, which it cannot hold.
_CONTROLS = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_LONG = 2000


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a body, and how it was read."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(body: bytes, content_type: str | None = None, *, markup: bool = True) -> Decoded:
    """Text of a body. Never fails: what cannot be read becomes U+FFFD and a note.

    `content_type` is the response's header; `markup` looks for `<meta>` and `<?xml encoding>`.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if body.startswith(mark):
            return _read(body[len(mark) :], name)
    declared = _CHARSET.search(content_type or "")
    name = known(declared[1]) if declared else ""
    if not name and markup:
        name = _in_markup(body)
    if name and name != "utf-8":
        return _read(body, name)
    try:
        return Decoded(well_formed(body.decode("utf-8")), "utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(body, name, error)


def known(label: str) -> str:
    """Python's name of an encoding label, by the Encoding standard; empty where there is none."""
    label = label.strip().lower()
    if label in _NOT_TEXT:
        return ""
    try:
        return codecs.lookup(_WIDER.get(label, label)).name
    except (LookupError, ValueError):
        return ""


def well_formed(text: str) -> str:
    """Text that every later stage can hold, of the same length, so that offsets stay true.

    Control characters become a space; NUL, lone surrogates and noncharacters U+FFFD.
    """
    if _is_clean(text) if len(text) > _LONG else not _BROKEN.search(text):
        return text
    return _BROKEN.sub(lambda found: " " if "\0" < found.group() <= "\x7f" else "\ufffd", text)


def _is_clean(text: str) -> bool:
    """Whether a long text is well formed: five times as fast as the expression."""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    if len(data.translate(None, _CONTROLS)) < len(data):
        return False
    return "\ufffe" not in text and "\uffff" not in text


def _in_markup(body: bytes) -> str:
    head = body[:_PRESCAN]
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    if not found:
        return ""
    label = found[1].decode("ascii", "replace").lower()
    return "utf-8" if label in _WIDE else known(label)


def _read(body: bytes, name: str) -> Decoded:
    try:
        return Decoded(well_formed(body.decode(name)), name)
    except UnicodeDecodeError:
        pass
    except (LookupError, ValueError):  # a codec of Python's that is not one of text
        name = "utf-8"
    text = body.decode(name, "replace")
    return Decoded(well_formed(text), name, (f"not all bytes are {name}",))


def _not_utf8(body: bytes, declared: str, error: UnicodeDecodeError) -> Decoded:
    """Bytes that no label names, or that are not the UTF-8 which they are said to be."""
    if declared or _nearly_utf8(body):
        text = body.decode("utf-8", "replace")
        if text.count("\ufffd") <= max(3, len(text) // 200):
            return Decoded(well_formed(text), "utf-8", ("not all bytes are utf-8",))
    name = detected(body)
    text = body.decode(name, "replace")
    return Decoded(well_formed(text), name, (f"encoding detected as {name}",))


def _nearly_utf8(body: bytes) -> bool:
    text = body.decode("utf-8", "replace")
    good = sum(1 for char in text if ord(char) > 127 and char != "\ufffd")
    return good > 20 * text.count("\ufffd")


def detected(body: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8; windows-1252 where nothing tells."""
    from charset_normalizer import from_bytes  # slow to import, seldom needed

    sample = body[:_SAMPLE]
    best = from_bytes(sample, steps=5, chunk_size=1024, threshold=0.2).best()
    if best is None or not best.alphabets:
        return "cp1252"
    return known(best.encoding) or "cp1252"

"""What a body is."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.content import is_media, sniff


def packed(*entries: tuple[str, bytes]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return body.getvalue()


ODT = b"application/vnd.oasis.opendocument.text"
TYPES = (b"[Content_Types].xml".decode(), b"<Types/>")


@pytest.mark.parametrize(
    ("body", "content_type", "name", "kind"),
    [
        (b"<p>x", "text/html", "a", "text/html"),
        (b"just words", "text/html", "a", "text/html"),
        (b"<html\x00>", "text/html", "a", "text/html"),
        (b"\xff\xfe<\x00p\x00>\x00", "text/html", "a", "text/html"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "text/html", "a", None),
        (b"<?xml version='1.0'?>\n<!-- c -->\n<html lang=en>", "", "a", "text/html"),
        (b"<?xml version='1.0'?><html>", "application/xml", "a", "text/html"),
        (b"<?xml version='1.0'?><rss>", "application/xml", "a", None),
        (b"<p>markup that is shown</p>", "text/plain", "a", "text/plain"),
        (b"\n%PDF-1.6\n", "text/html", "a.html", "application/pdf"),
        (b"\xffjunk %PDF-1.6 1 0 obj<<>>endobj", "text/html", "a", "application/pdf"),
        (b"<p>It begins with %PDF-1.6</p>", "text/html", "a", "text/html"),
        (b"It begins with %PDF-1.6", "text/plain", "a.md", "text/markdown"),
        (b"# Title", "text/plain", "README.md", "text/markdown"),
        (b"# Title", "text/markdown; charset=utf-8", "a", "text/markdown"),
        (b"a,b", "application/octet-stream", "t.csv", "text/csv"),
        (b"words", "", "a", "text/plain"),
        (b"\x00\x01", "text/plain", "a", None),
        (b"body { }", "text/css", "a", None),
        (b"{}", "application/json", "a", None),
        (b"{\\rtf1", "application/rtf", "a", "application/rtf"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", "old.doc", "application/msword"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", "thumbs.db", None),
        (packed(("mimetype", ODT), ("content.xml", b"")), "", "a", ODT.decode()),
        (packed(("readme.txt", b"x")), "application/zip", "a", None),
        (b"PK\x03\x04 cut off", "", "a.docx", None),
    ],
)
def test_kinds(body: bytes, content_type: str, name: str, kind: str | None) -> None:
    assert sniff(body, content_type, f"http://h/{name}") == kind


@pytest.mark.parametrize(
    ("part", "kind"), [("word/", "document"), ("ppt/", "presentation"), ("xl/", "sheet")]
)
def test_office_files_are_known_by_their_parts(part: str, kind: str) -> None:
    body = packed(TYPES, (f"{part}main.xml", b"<x/>"))
    assert (sniff(body, "application/octet-stream", "http://h/a") or "").endswith(kind)


def test_media_are_known_by_their_header() -> None:
    assert is_media("image/png") and is_media("Video/mp4; codecs=x") and is_media("font/woff2")
    assert not is_media("text/html") and not is_media("application/octet-stream")


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/plain", "application/zip"]))
def test_no_bytes_break_it(body: bytes, content_type: str) -> None:
    for start in (b"", b"PK\x03\x04", b"<!--", b"%PDF-"):
        sniff(start + body, content_type, "http://h/a.docx")

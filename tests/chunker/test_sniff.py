"""The bytes decide what a body is; header and name only break ties."""

import io
import random
import zipfile
import zlib

import pytest

from chunker.errors import BrokenDocumentError, UnsupportedContentError
from chunker.sniff import sniff


def archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return made.getvalue()


@pytest.mark.parametrize(
    ("body", "url", "header", "expected"),
    [
        (b"<!DOCTYPE html><p>a", "https://e.com/a.pdf", "application/pdf", "html"),
        (b"%PDF-1.6\n...", "https://e.com/a.html", "text/html", "pdf"),
        (b"\n\n%PDF-1.4", "https://e.com/a", None, "pdf"),
        (b"<p>fragment</p>", "https://e.com/a", None, "html"),
        (b"words before <div>x</div>", "https://e.com/a", "text/html; charset=utf-8", "html"),
        (b"\xef\xbb\xbf<html>", "https://e.com/a", None, "html"),
        (b'<?xml version="1.0"?><html xmlns="x">', "https://e.com/a", None, "html"),
        (b"# Title\n\n<div>x</div>", "https://e.com/a.md", None, "markdown"),
        (b"# Title", "https://e.com/a.md", "text/plain", "markdown"),
        (b"# Title", "https://e.com/a", "text/markdown", "markdown"),
        (b"<html><p>an error page", "https://e.com/a.md", "text/html", "html"),
        (b"a,b\n1,2", "https://e.com/a.csv", "text/plain", "csv"),
        (b"a,b\n1,2", "https://e.com/a", "text/csv", "csv"),
        (b"plain words", "https://e.com/a.txt", "text/plain", "text"),
        (b"plain words", "https://e.com/a", None, "text"),
        (b"damaged\x01 in one place, and words", "https://e.com/a", None, "text"),
        ("日本語の文章です。".encode("iso-2022-jp"), "https://e.com/a", None, "text"),
        ("日本語の文章です。".encode("shift-jis"), "https://e.com/a", None, "text"),
        ("Παράδειγμα κειμένου".encode("utf-16"), "https://e.com/a", None, "text"),
        ("Пример".encode("utf-16-be"), "https://e.com/a", "text/plain; charset=utf-16be", "text"),
        (b"1 < 2 and a <b> tag", "https://e.com/a.txt", "text/plain", "text"),
        (b"<p>A file begins with %PDF-1.7</p>", "https://e.com/a", "text/html", "html"),
        (b"junk\n%PDF-1.7\n1 0 obj <<>> endobj", "https://e.com/a", "text/html", "pdf"),
        (archive("word/document.xml"), "https://e.com/a.zip", None, "docx"),
        (archive("ppt/presentation.xml"), "https://e.com/a", None, "pptx"),
        (archive("xl/workbook.xml"), "https://e.com/a", "text/html", "xlsx"),
    ],
)
def test_format(body: bytes, url: str, header: str | None, expected: str) -> None:
    assert sniff(body, url, header) == expected


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"\x89PNG\r\n", "PNG"),
        (b"GIF89a", "GIF"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "sound"),
        (b"\x00\x00\x00\x18ftypmp42", "film"),
        (b"ID3\x03\x00", "MP3"),
        (b"wOF2\x00\x01\x00\x00", "font"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\xd0\xcf\x11\xe0\xa1", "Office"),
        (b"{\\rtf1 x}", "RTF"),
        (b"<svg xmlns='x'></svg>", "SVG"),
        (b'<?xml version="1.0"?><rss/>', "XML"),
        (b"a\x00b\x00c\x00\x01\x02", "binary"),
        (random.Random(1).randbytes(200), "binary"),
        (random.Random(2).randbytes(5000), "binary"),
        (b"\xff\xfe" + random.Random(3).randbytes(5000), "binary"),
        (zlib.compress(bytes(range(256)) * 9), "binary"),
        (archive("a.txt"), "ZIP"),
    ],
)
def test_what_cannot_be_parsed_is_named(body: bytes, names: str) -> None:
    with pytest.raises(UnsupportedContentError, match=names):
        sniff(body, "https://e.com/a.html", "text/html")


@pytest.mark.parametrize(
    "text",
    [
        "A file begins with %PDF-1.7",
        "GIF8 is no version",
        "ID3 tags",
        "RIFF is a container",
        "The ftyp box",
        "Rar! she said",
    ],
)
def test_text_that_begins_like_a_signature_is_text(text: str) -> None:
    assert sniff(text.encode(), "https://e.com/a.md", "text/plain") == "markdown"


@pytest.mark.parametrize("text", ["\x1f\x1f x", "\x1f\x1f", "\x01\x02\x03\x04"])
def test_control_characters_make_no_binary_of_text_in_utf_8(text: str) -> None:
    assert sniff(text.encode(), "https://e.com/a.md", "text/markdown; charset=utf-8") == "markdown"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n\t",
        b"PK\x03\x04 and then nothing",
        b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"),
    ],
)
def test_empty_damaged_and_encrypted(body: bytes) -> None:
    with pytest.raises(BrokenDocumentError):
        sniff(body)

"""Bytes to text, in the order of the WHATWG standard, well-formed at one place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunker.html.decode import decode, well_formed

JAPANESE = "これは日本語の文章です。検索に使います。"
CHINESE = "这是一个中文网页。用于测试编码。"
GERMAN = "Größe, Straße und Übermut: schöne Grüße"
RUSSIAN = "Это русский текст для проверки кодировки страницы"


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=latin-1", "café"),
        ("\ufeffcafé".encode("utf-16-le"), None, "café"),
        (GERMAN.encode("latin-1"), 'text/html; charset="ISO-8859-1"', GERMAN),
        (b"\x93q\x94", "text/html; charset=iso-8859-1", "\u201cq\u201d"),
        (JAPANESE.encode("cp932"), "text/html; charset=Shift_JIS", JAPANESE),
        (CHINESE.encode("gb18030"), "text/html; charset=gb2312", CHINESE),
        (b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251"), None, None),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">'
            + JAPANESE.encode("euc_jp"),
            None,
            None,
        ),
        (b'<?xml version="1.0" encoding="big5"?>' + "中文".encode("big5"), None, None),
        (b'<meta charset="utf-16">caf\xc3\xa9', None, None),
        (b'<!-- <meta charset="big5"> -->caf\xc3\xa9', None, None),
        (b"caf\xc3\xa9", "text/html; charset=no-such-thing", "café"),
    ],
)
def test_order_of_evidence(body: bytes, header: str | None, expected: str | None) -> None:
    text = decode(body, header).text
    if expected is None:
        assert text.endswith((RUSSIAN, JAPANESE, "中文", "café"))
    else:
        assert text == expected


def test_the_header_wins_over_meta() -> None:
    body = b'<meta charset="utf-8">' + RUSSIAN.encode("cp1251")
    assert decode(body, "text/html; charset=windows-1251").text.endswith(RUSSIAN)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE * 5, "cp932"),
        (CHINESE * 5, "gb18030"),
        (RUSSIAN * 3, "cp1251"),
        (GERMAN * 3, "cp1252"),
    ],
)
def test_detection_where_nothing_is_declared(text: str, encoding: str) -> None:
    found = decode(f"<html><body><p>{text}</p></body></html>".encode(encoding))
    assert text in found.text
    assert found.notes


def test_some_broken_bytes_do_not_change_the_encoding() -> None:
    found = decode(("é" * 200).encode() + b"\xff" + "ü".encode())
    assert found.encoding == "utf-8"
    assert found.text.endswith("\ufffdü")
    assert found.notes


def test_well_formed_keeps_the_length() -> None:
    for long in ("", "é" * 3000):
        assert well_formed(long) == long
        for bad, good in zip("\x00\ud800\x07\x0c\x7f\ufffe\uffff", "��   ��", strict=True):
            assert well_formed(f"a{long}{bad}") == f"a{long}{good}"


@given(
    st.binary(max_size=300), st.sampled_from([None, "text/html; charset=utf-16", "x; charset=big5"])
)
def test_any_bytes_become_text_that_can_be_written(body: bytes, header: str | None) -> None:
    text = decode(body, header).text
    text.encode("utf-8")
    assert "\x00" not in text

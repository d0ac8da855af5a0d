"""What a page says about itself and its links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from crawler.discovery import Discovery
from crawler.links import MAX_LINKS, header_canonical, read_html, robots_directives
from crawler.model import Missed, Scope, Task
from crawler.outcome import visit
from crawler.scope import Rules

URL = "https://example.com/dir/page"


def read(html: str | bytes, url: str = URL):  # type: ignore[no-untyped-def]
    body = html.encode() if isinstance(html, str) else html
    return read_html(HtmlResponse(url, body=body, encoding="utf-8"), "wrac")


def urls(html: str) -> list[str]:
    return [link.url for link in read(html).links]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="b">', ["https://example.com/dir/b"]),
        ("<A HREF=' /b\n'>", ["https://example.com/b"]),
        ('<area href="b">', ["https://example.com/dir/b"]),
        ('<iframe src="b"></iframe>', ["https://example.com/dir/b"]),
        ('<link rel="next" href="?page=2">', ["https://example.com/dir/page?page=2"]),
        ('<link rel="alternate" hreflang="de" href="/de/">', ["https://example.com/de/"]),
        ('<link rel="alternate" type="application/rss+xml" href="/feed">', []),
        ('<link rel="stylesheet" href="/a.css">', []),
        ('<link rel="alternate stylesheet" href="/a">', []),
        ('<a href="#top">', []),
        ('<a href="">', []),
        ('<a href="mailto:a@b"> <a href="JavaScript:x()"> <a href="tel:1">', []),
        ('<a href="http://[bad">', []),
        ('<a href="b#x"><a href="b?utm_source=1">', ["https://example.com/dir/b"]),
        ('<base href="/sub/"><a href="b">', ["https://example.com/sub/b"]),
        ('<a href="b"><base href="../">', ["https://example.com/b"]),
        ('<base target="_top"><base href="/sub/"><a href="b">', ["https://example.com/sub/b"]),
        ('<base href="javascript:x"><a href="b">', ["https://example.com/dir/b"]),
        ('<base href="//cdn.example/"><a href="b">', ["https://cdn.example/b"]),
    ],
)
def test_links(html: str, expected: list[str]) -> None:
    assert urls(html) == expected


def test_a_link_that_one_place_follows_is_followed() -> None:
    (link,) = read("<a rel=nofollow href=b></a><a href=b></a><a rel=nofollow href=b></a>").links
    assert not link.nofollow


@pytest.mark.parametrize(
    ("values", "directives"),
    [
        (["noindex, nofollow"], {"noindex", "nofollow"}),
        (["NOINDEX"], {"noindex"}),
        (["wrac: noindex"], {"noindex"}),
        (["otherbot: noindex"], set()),
        (["otherbot: noindex", "nofollow"], {"nofollow"}),
        (["max-snippet:20, noindex"], {"max-snippet:20", "noindex"}),
        (["max-video-preview: 0, none"], {"max-video-preview: 0", "none"}),
    ],
)
def test_robots_directives_of_headers(values: list[str], directives: set[str]) -> None:
    assert robots_directives(values, "wrac") == directives


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('</a>; rel="canonical"', "https://example.com/a"),
        ("<b>; rel=canonical", "https://example.com/dir/b"),
        ('</x>; rel=preload, </a>; title="a, b"; rel="canonical"', "https://example.com/a"),
        ("</x>; rel=next", None),
        ("rel=canonical", None),
        ("<" * 9000, None),
    ],
)
def test_canonical_links_in_headers(value: str, expected: str | None) -> None:
    assert header_canonical([value], URL) == expected


def test_a_page_of_links_alone_is_read_up_to_a_limit() -> None:
    assert (
        len(urls("".join(f'<a href="/{number}">' for number in range(MAX_LINKS + 50)))) == MAX_LINKS
    )


def test_an_answer_not_modified_that_nobody_asked_for_is_no_page() -> None:
    discovery = Discovery(Rules(Scope(seeds=(URL,))), None)
    outcome = visit(Task(URL, 0), HtmlResponse(URL, status=304), discovery, "wrac")
    assert isinstance(outcome, Missed)


@given(st.binary(max_size=200))
def test_no_bytes_break_it(body: bytes) -> None:
    read(b"<html><base href='" + body + b"'><a href='" + body + b"'>" + body)

"""One spelling for each URL."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import InvalidUrlError
from crawler.urls import canonical, host, join

SAME = [
    ("HTTP://WWW.Example.COM/a", "http://www.example.com/a"),
    ("http://example.com", "http://example.com/"),
    ("http://example.com.:80/", "http://example.com/"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("https://example.com:80/a", "https://example.com:80/a"),
    ("http://user:secret@example.com/a", "http://example.com/a"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/%7euser/%c3%a9", "http://example.com/~user/%C3%A9"),
    ("http://example.com/é", "http://example.com/%C3%A9"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    (" http://example.com/a\n", "http://example.com/a"),
    ("http://exam\tple.com/a", "http://example.com/a"),
    ("http:\\\\example.com\\a?b\\c", "http://example.com/a?b%5Cc"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com/a?", "http://example.com/a"),
    ("http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2"),
    ("http://example.com/?q=&q=&q=", "http://example.com/?q="),
    ("http://example.com/?tag=b&tag=a&tag=b", "http://example.com/?tag=a&tag=b"),
    ("http://example.com/?&&a=1&", "http://example.com/?a=1"),
    ("http://example.com/?utm_source=x&UTM_Medium=y&id=1", "http://example.com/?id=1"),
    ("http://example.com/?gclid=1&fbclid=2&msclkid=3&mc_cid=4", "http://example.com/"),
    ("http://example.com/?PHPSESSID=abc&p=1", "http://example.com/?p=1"),
    ("http://example.com/?sid=0123456789abcdef0", "http://example.com/"),
    ("http://example.com/a;jsessionid=12AB.node?x=1", "http://example.com/a?x=1"),
    ("http://example.com/a?x=%e9", "http://example.com/a?x=%E9"),
    ("http://[::0:1]/", "http://[::1]/"),
]
KEPT = [
    "http://example.com/index.html",
    "http://example.com/dir/",
    "http://example.com/Dir/Page",
    "http://example.com/?sid=7",
    "http://example.com/?download",
    "http://example.com/index.php?/news/view/3",
    "http://example.com/?q=a+b",
    "http://example.com/a%2Fb",
    "http://example.com/?u=http%3A%2F%2Fx",
]


@pytest.mark.parametrize(("given_url", "expected"), SAME)
def test_spellings_of_one_url_become_one(given_url: str, expected: str) -> None:
    assert canonical(given_url) == expected


@pytest.mark.parametrize("url", KEPT)
def test_what_may_be_another_page_is_kept(url: str) -> None:
    assert canonical(url) == url


@pytest.mark.parametrize(
    "url", ["http://", "http://[::1", "http://host:99999/", "http://host:port/", "//", "", "a/b"]
)
def test_what_names_no_host_is_no_url(url: str) -> None:
    with pytest.raises(InvalidUrlError):
        canonical(url)


# RFC 3986, 5.4.1 and 5.4.2, against http://a/b/c/d;p?q.
REFERENCES = [
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../..", "http://a/"),
    ("../../../g", "http://a/g"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
]


@pytest.mark.parametrize(("reference", "expected"), REFERENCES)
def test_references_resolve_as_rfc_3986_says(reference: str, expected: str) -> None:
    assert join("http://a/b/c/d;p?q", reference) == expected


def test_a_file_name_is_replaced_and_not_extended() -> None:
    assert join("http://a/x.php", "pdf/a.pdf") == "http://a/pdf/a.pdf"


def test_a_query_is_spelt_in_the_pages_encoding_and_a_path_in_utf_8() -> None:
    assert join("http://a/", "/é?é", "iso-8859-1") == "http://a/%C3%A9?%E9"


@pytest.mark.parametrize("encoding", ["no-such-encoding", "iso-8859-1"])
def test_what_an_encoding_does_not_have_is_spelt_in_utf_8(encoding: str) -> None:
    assert join("http://a/", "/?→", encoding) == "http://a/?%E2%86%92"


def test_hosts() -> None:
    assert host("https://WWW.Example.com.:8080/a") == "www.example.com"
    assert host("http://[::1]:80/") == "::1"
    assert host("http://[::1/") == ""


PARTS = st.text(alphabet="abAB09-._~%/&=?#:;@+ é\\[]\t", max_size=30)


@given(PARTS)
def test_canonical_is_a_fixed_point(rest: str) -> None:
    try:
        once = canonical(f"http://example.com/{rest}")
    except InvalidUrlError:
        return
    assert canonical(once) == once
    assert once.isascii()
    assert "#" not in once
    assert not any(mark in once for mark in " \t\\")


@given(st.lists(st.sampled_from(["a=1", "b=2", "c", "a=3", "utm_id=9", ""]), max_size=8))
def test_order_and_repetition_of_parameters_make_no_difference(pairs: list[str]) -> None:
    forward, backward = "&".join(pairs), "&".join(reversed(pairs + pairs))
    assert canonical(f"http://h/?{forward}") == canonical(f"http://h/?{backward}")


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_it(base: str, href: str) -> None:
    for call in (lambda: canonical(href), lambda: canonical(join(f"http://h/{base}", href))):
        with suppress(InvalidUrlError):
            assert call().isascii()

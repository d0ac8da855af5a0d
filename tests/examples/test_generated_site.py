"""A generated site has exactly its pages, all linked, always the same, and none like another."""

from __future__ import annotations

import re
from collections import Counter
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.generated import GENERATED, LINKS_PER_INDEX, GeneratedPages, generate_site
from examples.server import serve

PARAGRAPH = re.compile(r"<(p|li|dd|pre)>(.*?)</\1>", re.DOTALL)


def main_of(html: bytes) -> str:
    return re.search(r"<article>(.*)</article>", html.decode(), re.DOTALL)[1]  # type: ignore[index]


@given(st.integers(min_value=3, max_value=20_000))
def test_it_has_exactly_so_many_pages(count: int) -> None:
    pages = GeneratedPages(count)
    assert len(pages) == count
    assert pages.articles <= pages.indexes * LINKS_PER_INDEX


@pytest.mark.parametrize("count", [3, 52, 53, 160])
def test_links_lead_to_every_page_and_nowhere_else(count: int) -> None:
    site = generate_site(count)
    seen: set[str] = set()
    waiting = {"/"}
    while waiting:
        seen |= waiting
        bodies = [site.responses[path].body.decode() for path in waiting]
        waiting = {link for body in bodies for link in re.findall(r'<a [^>]*href="([^"]+)', body)}
        waiting -= seen
    assert seen == set(site.responses)


def test_a_page_is_the_same_in_every_run_and_in_a_site_of_any_size() -> None:
    small, large = generate_site(60), generate_site(5000)
    for index in range(1, 50):
        path = f"/page/{index}"
        assert main_of(small.respond(path).body) == main_of(large.respond(path).body)


def test_no_paragraph_and_no_code_stands_on_two_pages() -> None:
    site = generate_site(150)
    found = Counter(
        text
        for path in site.responses
        if path.startswith("/page/")
        for text in {text for _, text in PARAGRAPH.findall(main_of(site.respond(path).body))}
    )
    assert [text for text, pages in found.items() if pages > 1] == []


def test_images_and_robots_are_served_and_other_paths_are_not() -> None:
    with serve(pages=20) as running:
        site = running.sites[GENERATED]
        sources = {
            source
            for path in site.responses
            for source in re.findall(r'src="([^"]+)"', site.respond(path).body.decode())
        }
        for path in {"/", "/page/1", "/robots.txt", *sources}:
            with urlopen(running.urls[GENERATED] + path, timeout=10) as response:
                assert response.status == 200
    assert {site.respond(path).status for path in ("/page/0", "/page/01", "/page/20", "/x")} == {
        404
    }


def test_a_site_too_small_to_have_an_article_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        generate_site(2)

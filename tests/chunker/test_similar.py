"""What counts as the same page, and what only looks like it."""

from __future__ import annotations

from itertools import combinations

import pytest

import chunker
from chunker.similar import same, sketch
from examples.generated import GeneratedPages
from examples.site import read_site, site_names

TEXT = "".join(
    f"<p>Paragraph {word} of a text that is long enough to be told from another by its words.</p>"
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
)


def page(body: str, title: str = "Title", lang: str = "en") -> chunker.Document:
    html = f"<!doctype html><html lang={lang}><title>{title}</title><main>{body}</main></html>"
    return chunker.parse(html.encode(), "https://a.example/x", "text/html")


WHOLE = page(f"<h1>How it is done</h1>{TEXT}")


@pytest.mark.parametrize(
    "other",
    [
        page(f"<h1>How it is done</h1>{TEXT}", title="Print: Title"),
        page(f"<h1>How it is done</h1>{TEXT}", lang="de"),
        page(f"<h1>How it is done</h1>{TEXT}<p>Printed on 2026-01-05 at 12:30</p>"),
        page(f"<h1>How it is done</h1>{TEXT}<p>Back to the page</p>"),
    ],
)
def test_views_of_one_page_are_the_same(other: chunker.Document) -> None:
    assert same(WHOLE, other) and same(other, WHOLE)
    assert set(sketch(WHOLE)) & set(sketch(other))


@pytest.mark.parametrize(
    "other",
    [
        page(f"<h1>How it is undone</h1>{TEXT}"),
        page(f"<h1>How it is done</h1>{TEXT}<p>Price: 20 euro</p>"),
        page(f"<h1>How it is done</h1>{TEXT.replace('seven', 'eleven')}"),
        page(f"<h1>How it is done</h1>{TEXT}{TEXT}"),
        page(f"<h1>How it is done</h1>{TEXT}<h2>Not for children</h2>"),
    ],
)
def test_variants_of_a_page_are_not(other: chunker.Document) -> None:
    assert not same(WHOLE, other) and not same(other, WHOLE)


def test_short_pages_are_the_same_only_under_one_title() -> None:
    hours = "<p>Open from Monday to Friday.</p>"
    assert same(page(hours, "Branch A"), page(hours, "Branch A"))
    assert not same(page(hours, "Branch A"), page(hours, "Branch B"))
    assert not same(page(hours), page("<p>Closed on Sundays.</p>"))
    assert not same(page(""), page(""))
    assert sketch(page("")) == ()


def test_no_two_pages_of_the_example_sites_are_taken_for_one() -> None:
    for name in site_names():
        found = {
            page.path: chunker.parse(
                site.responses[page.path].body, f"https://a.example{page.path}", "text/html"
            )
            for site in [read_site(name, "https://a.example")]
            for page in site.pages
        }
        assert len(found) > 9
        assert not [pair for pair in combinations(found, 2) if same(found[pair[0]], found[pair[1]])]


def test_no_two_generated_pages_are_taken_for_one() -> None:
    pages = GeneratedPages(120)
    found = [chunker.parse(pages[path].body, "https://a.example/x", "text/html") for path in pages]
    assert not [pair for pair in combinations(found, 2) if same(*pair)]

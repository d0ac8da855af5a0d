"""Which URLs belong to a source, and the budgets against traps."""

from __future__ import annotations

import re
from itertools import count, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.model import Scope
from crawler.scope import Rules
from crawler.settings import allowed_names
from crawler.templates import template
from crawler.traps import Traps
from crawler.urls import host

SEED = "https://www.example.com/start"


def why_not(url: str, depth: int = 1, **scope: object) -> str | None:
    return Rules(Scope(seeds=(SEED,), **scope)).why_not(url, depth)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://www.example.com/a", None),
        ("https://example.com/a", None),
        ("http://example.com/a", None),
        ("https://example.com:8443/a", "out_of_scope"),
        ("https://docs.example.com/a", "out_of_scope"),
        ("https://example.com.evil.test/a", "out_of_scope"),
        ("https://notexample.com/", "out_of_scope"),
        ("ftp://example.com/a", "bad_scheme"),
        ("https://example.com/" + "a" * 3000, "too_long"),
        ("https://example.com/photo.JPEG", "file_type"),
        ("https://example.com/v1.2", None),
        ("https://example.com/a.pdf", None),
        ("https://example.com/?file=a.png", None),
    ],
)
def test_a_source_is_its_seeds_sites(url: str, reason: str | None) -> None:
    assert why_not(url) == reason


def test_more_hosts_with_and_without_ports() -> None:
    hosts = ("docs.example.com", "api.example.com:8443")
    assert why_not("https://docs.example.com:99/", hosts=hosts) is None
    assert why_not("https://api.example.com:8443/", hosts=hosts) is None
    assert why_not("https://api.example.com/", hosts=hosts) == "out_of_scope"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://other.test/", None),
        ("https://www.other.test/", None),
        ("https://a.b.other.test:8080/", None),
        ("https://another.test/", "out_of_scope"),
        ("https://other.test.evil.test/", "out_of_scope"),
    ],
)
def test_a_domain_with_all_below_it(url: str, reason: str | None) -> None:
    assert why_not(url, hosts=("*.other.test",)) == reason


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/docs/*", "https://example.com/docs/a/b?c=d", True),
        ("/docs/*", "https://example.com/old/docs/a", False),
        ("/docs/", "https://example.com/docs/a", True),
        ("/docs/", "https://example.com/docs/", True),
        ("/docs", "https://example.com/docs", True),
        ("/docs", "https://example.com/docs/a", False),
        ("*.pdf", "https://example.com/a/b.pdf", True),
        ("*.pdf", "https://example.com/a/b.pdf.html", False),
        ("*?print=*", "https://example.com/a?print=1", True),
        ("www.example.com/*", "https://www.example.com/a", True),
        ("www.example.com/*", "https://example.com/a", False),
        ("https://example.com/a*", "https://example.com/abc", True),
        ("http://example.com/a*", "https://example.com/abc", False),
        ("/a.b", "https://example.com/axb", False),
    ],
)
def test_patterns(pattern: str, url: str, matches: bool) -> None:
    assert why_not(url, exclude=(pattern,)) == ("excluded" if matches else None)
    assert why_not(url, include=(pattern,)) == (None if matches else "not_included")


def test_a_seed_need_not_be_included_but_can_be_excluded() -> None:
    assert why_not(SEED, include=("/docs/*",)) is None
    assert why_not(SEED, exclude=("/start",)) == "excluded"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Bücher.example", "http://xn--bcher-kva.example/"),
        ("::1", "http://[::1]:8000/"),
        ("[::0:1]:81", "http://[::1]:81/"),
        ("127.0.0.1", "http://127.0.0.1:5/"),
    ],
)
def test_hosts_are_named_as_people_write_them(name: str, url: str) -> None:
    assert why_not(url, hosts=(name,)) is None
    assert host(url) in allowed_names(Scope(seeds=(SEED,), allow_hosts=(name,)))


def test_depth_counts_from_the_seeds() -> None:
    assert why_not("https://example.com/a", 2, max_depth=2) is None
    assert why_not("https://example.com/a", 3, max_depth=2) == "too_deep"


def test_a_seed_without_scheme_is_taken_for_https() -> None:
    assert Rules(Scope(seeds=("example.com/docs",))).seeds == ("https://example.com/docs",)


def test_templates_leave_numbers_hashes_and_values_out() -> None:
    assert template("http://h/2024/05/news") == template("http://h/1999/12/news")
    assert template("http://h/p?b=1&a=x") == template("http://h/p?a=y&b=2")
    assert template("http://h/p?a=1") != template("http://h/p?b=1")
    assert template("http://h/c/deadbeefdeadbeef") == template("http://h/c/0123456789abcdef")
    assert template("http://h/decade") != template("http://h/facade")


def accepted(form: str, budget: int) -> int:
    """How many URLs of a form, with a number in it, are accepted before the trap closes."""
    traps = Traps(budget)
    return len(list(takewhile(lambda n: not traps.caught(form.format(n)), count())))


def test_the_more_generated_a_template_looks_the_smaller_is_its_budget() -> None:
    assert accepted("http://h/item/{}", 100) == 100
    assert accepted("http://h/item?id={}", 100) == 100
    assert accepted("http://h/list?page={}&sort=a", 100) == 20
    assert accepted("http://h/list?colour={}&size=b&sort=c", 100) == 2
    assert accepted("http://h/events?date={}", 100) == 2
    assert accepted("http://h/archive/2024/{:02}", 100) == 2
    assert accepted("http://h/archive/2024/{:02}/a-story", 100) == 100


def test_all_queries_of_one_path_share_a_budget() -> None:
    traps = Traps(50)
    taken = sum(
        not traps.caught(f"http://h/shop?{name}={value}")
        for name in "abcdefgh"
        for value in range(20)
    )
    assert taken == 50


def test_a_url_counts_once_and_stays_accepted() -> None:
    traps = Traps(2)
    urls = [f"http://h/item/{number}" for number in (1, 2, 1, 2, 3, 1)]
    assert [traps.caught(url) for url in urls] == [False, False, False, False, True, False]


def test_what_an_earlier_crawl_accepted_counts() -> None:
    traps = Traps(3)
    for number in range(3):
        traps.count(f"http://h/item/{number}")
    assert traps.caught("http://h/item/9")
    assert not traps.caught("http://h/item/1")


def test_plain_pages_have_no_budget() -> None:
    traps = Traps(1)
    words = ("http://h/" + "x" * length for length in range(1, 200))
    assert not any(traps.caught(url) for url in words)


@pytest.mark.parametrize(
    "path", ["/a/a/a", "/a/b/a/b/a/b/", "/x/a/b/c/a/b/c/a/b/c", "/a" + "/b/c" * 20]
)
def test_paths_that_repeat_or_grow_are_traps(path: str) -> None:
    assert Traps(1000).caught(f"http://h{path}")


@pytest.mark.parametrize("path", ["/a/a", "/a/b/a/b", "/aa/a/aaa", "/de/docs/de"])
def test_paths_that_only_look_like_it_are_none(path: str) -> None:
    assert not Traps(1000).caught(f"http://h{path}")


def test_a_site_that_generates_templates_runs_out_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.traps.MAX_TEMPLATES", 10)
    traps = Traps(7)
    taken = sum(not traps.caught(f"http://h/{'x' * n}?a=1") for n in range(1, 500))
    # Five URLs make two templates each; the others share the budget of the last.
    assert taken == 5 + 7


@given(
    st.lists(st.text("ab/", max_size=3), min_size=1, max_size=5),
    st.text("ab/", max_size=12),
)
def test_a_star_matches_anything_and_nothing_else_does(pieces: list[str], path: str) -> None:
    pattern = "https://a.example/" + "*".join(pieces)
    rules = Rules(Scope(seeds=("https://a.example/",), exclude=(pattern,)))
    whole = pattern + "*" if pattern.endswith("/") else pattern
    simple = re.compile(".*".join(map(re.escape, whole.split("*"))))
    url = f"https://a.example/{path}"
    assert (rules.why_not(url) == "excluded") == bool(simple.fullmatch(url))


@pytest.mark.timeout(20)
def test_no_address_makes_a_pattern_slow() -> None:
    rules = Rules(Scope(seeds=("https://a.example/",), exclude=("*" + "a*" * 12 + "z",)))
    assert rules.why_not("https://a.example/" + "a" * 1900) is None

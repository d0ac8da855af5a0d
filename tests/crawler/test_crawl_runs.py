"""Crawls as a whole: killed and resumed, repeated, limited, slowed down, and dry."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from crawler.model import Found
from tests.crawler.crawling import Crawl, crawl, ledger_of
from tests.crawler.site import Answer, Asked, Route, Site

PAGES = 80
CONCURRENCY = 4
#: Tasks that a crawl holds at a time: twice what it asks for at once, over all hosts.
WINDOW = 4 * CONCURRENCY


def _tree(site: Site, pages: int) -> None:
    """Pages that each lead to the next three: found on the way, not all at the start."""
    for number in range(pages):
        links = [f"/p{child}" for child in range(3 * number + 1, 3 * number + 4) if child < pages]
        site.page(f"/p{number}", *links, "/p0", ETag=f'"{number}"')


def test_a_killed_crawl_loses_nothing_and_repeats_only_what_was_in_flight(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with Site(latency=0.02).serving() as site:
        _tree(site, PAGES)
        for requests in (15, 45):
            process = Crawl(ledger, f"{site.url}/p0", concurrency_per_host=CONCURRENCY)
            site.wait_for_requests(requests)
            process.kill()
        crawl(ledger, f"{site.url}/p0", concurrency_per_host=CONCURRENCY)
        asked = Counter(one.path for one in site.log if one.path.startswith("/p"))
    outcomes = ledger_of(ledger).outcomes()
    assert len(outcomes) == PAGES
    assert all(outcome["kind"] == "Fetched" for outcome in outcomes.values())
    assert ledger_of(ledger).unfinished() == 0
    assert sum(asked.values()) - PAGES <= 2 * WINDOW
    assert max(asked.values()) <= 3


def test_a_traps_budget_counts_what_an_earlier_crawl_took_in(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with Site().serving() as site:
        site.page("/p0", *(f"/item/{number}" for number in range(9)))
        for number in range(20):
            site.page(f"/item/{number}")
        crawl(ledger, f"{site.url}/p0", max_per_template=10)
        ledger_of(ledger).new_pass()
        site.page("/p0", *(f"/item/{number}" for number in reversed(range(20))))
        crawl(ledger, f"{site.url}/p0", max_per_template=10)
    links = ledger_of(ledger).links()
    taken = [url for url, why in links.items() if "/item/" in url and why is None]
    assert len(taken) == 10
    assert {f"{site.url}/item/{number}" for number in range(9)} < set(taken)


def test_a_second_pass_asks_conditionally_and_moves_no_body(tmp_path: Path) -> None:
    modified = "Tue, 01 Jan 2030 00:00:00 GMT"
    with Site().serving() as site:
        _tree(site, 9)
        site.page("/p1", "/p4", "/p5", "/p6", Last_Modified=modified)
        for path, route in site.routes.items():
            assert isinstance(route, Answer)
            site.routes[path] = _conditional(route)
        crawl(tmp_path / "ledger.db", f"{site.url}/p0")
        frontier = ledger_of(tmp_path / "ledger.db")
        frontier.new_pass()
        site.page("/p2", "/p7", "/p8", "/new")
        site.page("/new")
        tally = crawl(tmp_path / "ledger.db", f"{site.url}/p0")
    assert (tally.not_modified, tally.fetched) == (8, 2)
    outcomes = {url.removeprefix(site.url): one for url, one in frontier.outcomes().items()}
    assert outcomes["/p0"]["kind"] == outcomes["/p1"]["kind"] == "NotModified"
    assert outcomes["/p2"]["kind"] == outcomes["/new"]["kind"] == "Fetched"


def _conditional(answer: Answer) -> Route:
    """The same answer, or 304 to a request that carries the answer's own validator."""
    etag, modified = answer.headers.get("ETag", "none"), answer.headers.get("Last-Modified", "none")

    def route(asked: Asked, times: int) -> Answer:
        match = (asked.headers.get("if-none-match"), asked.headers.get("if-modified-since"))
        return Answer(status=304) if etag in match or modified in match else answer

    return route


def test_page_and_depth_limits_hold(tmp_path: Path) -> None:
    with Site().serving() as site:
        _tree(site, 50)
        tally = crawl(tmp_path / "few.db", f"{site.url}/p0", max_pages=7)
        asked = [one for one in site.log if one.path.startswith("/p")]
        assert tally.fetched == len(asked) == 7
        crawl(tmp_path / "flat.db", f"{site.url}/p0", max_depth=1)
    links = ledger_of(tmp_path / "flat.db").links()
    assert sorted(url.removeprefix(site.url) for url, why in links.items() if why is None) == [
        "/p0",
        "/p1",
        "/p2",
        "/p3",
    ]
    assert links[f"{site.url}/p4"] == "too_deep"


def test_a_crawl_delay_is_kept_and_requests_go_one_by_one(tmp_path: Path) -> None:
    with Site(latency=0.01).serving() as site:
        _tree(site, 6)
        site.routes["/robots.txt"] = Answer("User-agent: wrac\nCrawl-delay: 0.2\n")
        crawl(tmp_path / "ledger.db", f"{site.url}/p0")
        times = [one.at for one in site.log if one.path.startswith("/p")]
    assert times[-1] - times[0] >= 5 * 0.2 * 0.95
    assert site.most_at_once <= 2  # the sitemap goes beside robots.txt, before it is read


def test_a_site_without_rules_for_now_is_left_alone(tmp_path: Path) -> None:
    with Site().serving() as site:
        _tree(site, 3)
        site.routes["/robots.txt"] = Answer("oops", 500)
        tally = crawl(tmp_path / "ledger.db", f"{site.url}/p0")
        assert {one.path for one in site.log} == {"/robots.txt"}
    assert tally.reasons == {"robots_unavailable": 1}
    (outcome,) = ledger_of(tmp_path / "ledger.db").outcomes().values()
    assert outcome["transient"] is True


def test_robots_txt_and_sitemaps_are_followed_where_they_moved(tmp_path: Path) -> None:
    with Site().serving() as site:
        site.page("/p0", "/forbidden")
        site.redirect("/robots.txt", "/moved/rules", 301)
        site.routes["/moved/rules"] = Answer("User-agent: *\nDisallow: /forbidden\n")
        site.redirect("/sitemap.xml", "/moved/map", 302)
        site.routes["/moved/map"] = Answer("<urlset><url><loc>/listed</loc></url></urlset>")
        site.page("/listed")
        crawl(tmp_path / "ledger.db", f"{site.url}/p0")
    outcomes = ledger_of(tmp_path / "ledger.db").outcomes()
    reasons = {url.removeprefix(site.url): one["reason"] for url, one in outcomes.items()}
    assert reasons == {"/p0": None, "/listed": None, "/forbidden": "robots"}


def test_a_host_that_asks_for_an_hour_is_asked_nothing_more(tmp_path: Path) -> None:
    with Site().serving() as site:
        site.page("/p0", *(f"/late/{name}" for name in "abcdef"))
        for name in "abcdef":
            site.routes[f"/late/{name}"] = Answer("", 503, {"Retry-After": "3600"})
        tally = crawl(tmp_path / "ledger.db", f"{site.url}/p0", concurrency_per_host=1)
        late = [one.path for one in site.log if one.path.startswith("/late/")]
    assert len(late) == 1
    assert (tally.fetched, tally.reasons) == (1, {"rate_limited": 6})


def test_a_url_on_record_that_is_none_ends_no_crawl(tmp_path: Path) -> None:
    with Site().serving() as site:
        site.page("/p0")
        ledger_of(tmp_path / "ledger.db").discovered([Found("no url", 1, None)])
        tally = crawl(tmp_path / "ledger.db", f"{site.url}/p0")
    assert (tally.fetched, tally.reasons) == (1, {"bad_url": 1})


def test_an_unknown_host_of_a_seed_is_an_outcome_not_an_error(tmp_path: Path) -> None:
    tally = crawl(tmp_path / "ledger.db", "http://nosuch.invalid/")
    assert tally.reasons == {"dns": 1}


def test_a_dry_run_lists_every_url_with_its_reason() -> None:
    with Site().serving() as site:
        site.page("/", "/docs/a", "/blog/b", "/docs/missing", "https://other.example/")
        site.page("/docs/a")
        listings = crawl(None, f"{site.url}/", exclude=("/blog/*",))
    verdicts = {one.url.removeprefix(site.url): one.reason for one in listings}
    assert verdicts == {
        "/": None,
        "/docs/a": None,
        "/blog/b": "excluded",
        "/docs/missing": "not_found",
        "https://other.example/": "out_of_scope",
    }


@pytest.mark.parametrize("seed", ["ftp://127.0.0.1/", "http://", "https://[::1/"])
def test_a_seed_that_is_no_web_address_is_said_to_be_none(seed: str) -> None:
    from crawler.errors import SeedError
    from crawler.model import Scope
    from crawler.scope import Rules

    with pytest.raises(SeedError, match="seed"):
        Rules(Scope(seeds=(seed,)))


def test_a_frontier_that_fails_ends_the_crawl_with_its_own_error(tmp_path: Path) -> None:
    with Site().serving() as site:
        _tree(site, 30)
        ledger = tmp_path / "ledger.db"
        ledger_of(ledger).break_after(5)
        with pytest.raises(sqlite3.IntegrityError, match="the disk is full"):
            crawl(ledger, f"{site.url}/p0")
    assert len(ledger_of(ledger).outcomes()) == 5

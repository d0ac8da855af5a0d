"""One crawl of the hostile site, and what must hold of it afterwards."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler import reasons
from crawler.model import Tally
from tests.crawler import hostile
from tests.crawler.crawling import AGENT, crawl, ledger_of
from tests.crawler.site import Site


class Crawled:
    """The site, its request log, and what the crawl recorded, by path."""

    def __init__(self, site: Site, ledger: Path, tally: Tally) -> None:
        self.site = site
        self.tally = tally
        self.ledger = ledger_of(ledger)
        outcomes = self.ledger.outcomes()
        self.outcomes = {self.short(url): outcome for url, outcome in outcomes.items()}
        self.links = {self.short(url): reason for url, reason in self.ledger.links().items()}

    def short(self, url: str) -> str:
        return url.removeprefix(self.site.url)

    def reason(self, path: str) -> Any:
        return self.outcomes[path]["reason"]

    def kind(self, path: str) -> Any:
        assert self.outcomes[path]["kind"] == "Fetched", self.outcomes[path]
        return self.outcomes[path]["content_type"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        closed_port = closed.getsockname()[1]
    ledger = tmp_path_factory.mktemp("crawl") / "ledger.db"
    with Site().serving() as site:
        hostile.build(site, closed_port)
        tally = crawl(
            ledger,
            f"{site.url}/",
            hosts=(
                "localhost",
                "2130706433",
                "[::ffff:127.0.0.1]",
                "nosuch.invalid",
                f"127.0.0.1:{closed_port}",
            ),
            max_body_bytes=hostile.LIMIT,
            max_per_template=150,
            timeout=1.5,
        )
        yield Crawled(site, ledger, tally)


def test_the_crawl_ends_with_every_url_decided(crawled: Crawled) -> None:
    assert crawled.ledger.unfinished() == 0
    assert crawled.tally.fetched == sum(
        outcome["kind"] == "Fetched" for outcome in crawled.outcomes.values()
    )
    # The port that is closed was tried three times, for its robots.txt.
    assert crawled.tally.requests == len(crawled.site.log) + 3


def test_every_reason_is_a_known_word(crawled: Crawled) -> None:
    words = {outcome["reason"] for outcome in crawled.outcomes.values()}
    words |= set(crawled.links.values())
    known = reasons.ELSEWHERE | reasons.SKIPPED | reasons.FAILED
    assert words - {None} <= known


@pytest.mark.parametrize(
    ("path", "times"),
    [("/based/a", 1), ("/second/a", 0), ("/base/a", 0), ("/pdf/a.pdf", 1), ("/x.php/pdf/a.pdf", 0)],
)
def test_links_resolve_against_the_first_base_and_as_rfc_3986_says(
    crawled: Crawled, path: str, times: int
) -> None:
    assert crawled.site.asked(path) == times


def test_one_page_is_asked_for_once_whatever_its_parameters_order_and_noise(
    crawled: Crawled,
) -> None:
    assert [one.path for one in crawled.site.log if one.path.startswith("/list")] == [
        "/list?a=1&b=2"
    ]


def test_a_query_is_spelt_in_the_encoding_of_the_page_that_links_to_it(crawled: Crawled) -> None:
    assert crawled.site.asked("/latin?q=%E9") == 1


def test_a_calendar_ends_by_its_budget(crawled: Crawled) -> None:
    asked = [one.path for one in crawled.site.log if one.path.startswith("/calendar")]
    assert asked == [f"/calendar?month={month}&year=2020" for month in (1, 2, 3)]
    assert crawled.links["/calendar?month=4&year=2020"] == "trap"


def test_a_path_that_repeats_itself_is_a_trap(crawled: Crawled) -> None:
    assert crawled.site.asked("/growing/growing/") == 1
    assert crawled.site.asked("/growing/growing/growing/") == 0
    assert crawled.links["/growing/growing/growing/"] == "trap"


def test_links_of_broken_markup_are_found(crawled: Crawled) -> None:
    assert crawled.kind("/broken-markup") == "text/html"
    assert crawled.reason("/from-broken") == "not_found"
    assert crawled.reason("/from-broken-2") == "not_found"


def test_each_hop_of_a_redirect_is_visited_once_and_leads_to_one_page(crawled: Crawled) -> None:
    for path, target in (("/hop-1", "/hop-2"), ("/hop-2", "/target"), ("/hop-3", "/target")):
        assert crawled.reason(path) == "redirect"
        assert crawled.short(crawled.outcomes[path]["target"]) == target
        assert crawled.site.asked(path) == 1
    assert crawled.kind("/target") == "text/html"
    assert crawled.site.asked("/target") == 1


def test_redirects_that_go_in_circles_end(crawled: Crawled) -> None:
    assert crawled.site.asked("/loop-1") == crawled.site.asked("/loop-2") == 1
    assert crawled.reason("/self") == "redirect_loop"
    assert crawled.site.asked("/self") == 1


def test_a_redirect_out_of_the_site_is_not_followed(crawled: Crawled) -> None:
    assert crawled.reason("/away") == "out_of_scope"
    assert crawled.outcomes["/away"]["target"] == "http://other.example/landing"
    assert crawled.reason("/inside") == "out_of_scope"
    assert crawled.reason("/no-place") == "bad_url"


def test_robots_holds_for_the_target_of_a_redirect(crawled: Crawled) -> None:
    assert crawled.reason("/private/landing") == "robots"
    assert crawled.site.asked("/private/landing") == 0


def test_a_meta_refresh_is_a_redirect_unless_it_reloads_the_page(crawled: Crawled) -> None:
    assert crawled.reason("/refresh") == "redirect"
    assert crawled.kind("/refreshed") == crawled.kind("/reloads") == "text/html"


@pytest.mark.parametrize("name", ["localhost", "2130706433", "[::ffff:7f00:1]"])
def test_no_name_of_a_forbidden_address_is_connected_to(crawled: Crawled, name: str) -> None:
    assert crawled.reason(f"http://{name}:{crawled.site.port}/secret") == "forbidden_address"
    assert crawled.site.asked("/secret") == 0
    assert {one.headers["host"] for one in crawled.site.log} == {f"127.0.0.1:{crawled.site.port}"}


def test_a_redirect_to_a_forbidden_address_is_not_followed(crawled: Crawled) -> None:
    assert crawled.reason("/into-secret") == "redirect"
    assert crawled.site.asked("/secret") == 0


def test_hosts_that_are_not_there(crawled: Crawled) -> None:
    assert crawled.reason("http://nosuch.invalid/page") == "dns"
    closed = next(url for url in crawled.outcomes if url.endswith("/closed"))
    assert crawled.reason(closed) == "connect"
    assert crawled.outcomes[closed]["transient"]


def test_robots_txt_is_obeyed(crawled: Crawled) -> None:
    assert crawled.reason("/private/page") == "robots"
    assert not any(one.path.startswith("/private/") for one in crawled.site.log)
    assert crawled.site.asked("/robots.txt") == 1


def test_links_out_of_scope_are_on_record_with_their_reason(crawled: Crawled) -> None:
    assert crawled.links["http://other.example/page"] == "out_of_scope"
    assert crawled.links["ftp://127.0.0.1/file"] == "bad_scheme"
    assert crawled.links["/photo.JPG"] == "file_type"
    assert "too_long" in crawled.links.values()
    assert not any(url.startswith(("mailto:", "javascript:")) for url in crawled.links)


@pytest.mark.parametrize(
    ("path", "noindex"),
    [
        ("/noindex", True),
        ("/noindex-for-us", True),
        ("/noindex-header", True),
        ("/noindex-for-others", False),
        ("/target", False),
    ],
)
def test_noindex_is_read_from_page_and_header(crawled: Crawled, path: str, noindex: bool) -> None:
    assert crawled.outcomes[path]["noindex"] is noindex


def test_nofollow_is_honoured(crawled: Crawled) -> None:
    assert crawled.site.asked("/only-nofollow") == crawled.site.asked("/only-rel-nofollow") == 0
    assert crawled.links["/only-rel-nofollow"] == "nofollow"


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/canonical-relative", "/canonical-relative"),
        ("/canonical-other", "/target"),
        ("/canonical-header", "/target"),
        ("/canonical-away", None),
        ("/canonical-twice", None),
    ],
)
def test_a_canonical_link_is_resolved_and_kept_in_scope(
    crawled: Crawled, path: str, canonical: str | None
) -> None:
    named = crawled.outcomes[path]["canonical"]
    assert (crawled.short(named) if named else None) == canonical


def test_nothing_that_opens_a_session_is_stored(crawled: Crawled) -> None:
    headers = crawled.outcomes["/cookie"]["headers"]
    assert headers["etag"] == '"c"'
    assert "very-secret" not in str(headers)


def test_requests_carry_the_operators_name_and_no_cookie(crawled: Crawled) -> None:
    assert {one.headers["user-agent"] for one in crawled.site.log} == {AGENT}
    assert not any("cookie" in one.headers for one in crawled.site.log)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/called-html.html", "application/pdf"),
        ("/called-pdf.pdf", "text/html"),
        ("/notes.md", "text/markdown"),
        ("/data.csv", "text/csv"),
        ("/plain.txt", "text/plain"),
        ("/code.txt", "text/plain"),
        ("/untyped", "text/html"),
        (
            "/letter.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
    ],
)
def test_bodies_are_known_by_their_bytes(crawled: Crawled, path: str, kind: str) -> None:
    assert crawled.kind(path) == kind


@pytest.mark.parametrize("path", ["/binary", "/picture", "/archive", "/data.json"])
def test_bodies_without_text_are_not_stored(crawled: Crawled, path: str) -> None:
    assert crawled.reason(path) == "file_type"
    assert crawled.outcomes[path]["body"] is None


def test_a_picture_is_not_downloaded(crawled: Crawled) -> None:
    # Its 2,000 bytes would drip for 20 s, and the time-out is 1.5 s.
    assert crawled.reason("/picture") == "file_type"
    assert crawled.site.asked("/picture") == 1


@pytest.mark.parametrize("path", [*(f"/bomb-{number}" for number in range(5)), "/large"])
def test_bodies_are_capped_after_decompression(crawled: Crawled, path: str) -> None:
    assert crawled.reason(path) == "too_large"
    assert crawled.site.asked(path) == 1


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_packed_bodies_are_stored_unpacked(crawled: Crawled, coding: str) -> None:
    assert crawled.outcomes[f"/small-{coding}"]["body"] == b"<p>small</p>"
    assert "content-encoding" not in crawled.outcomes[f"/small-{coding}"]["headers"]


@pytest.mark.parametrize(
    ("path", "reason", "status", "transient", "times"),
    [
        ("/status-401", "denied", 401, False, 1),
        ("/status-403", "denied", 403, False, 1),
        ("/from-broken", "not_found", 404, False, 1),
        ("/status-410", "gone", 410, False, 1),
        ("/status-418", "client_error", 418, False, 1),
        ("/status-500", "server_error", 500, True, 3),
        ("/not-gzip", "broken_body", None, False, 1),
        ("/empty", "empty", 200, False, 1),
        ("/drip", "timeout", None, True, 3),
        ("/cut-short", "truncated", None, True, 3),
        ("/endless-headers", "too_large", None, False, 3),
    ],
)
def test_failures_are_recorded_and_only_those_that_may_pass_are_retried(
    crawled: Crawled, path: str, reason: str, status: int | None, transient: bool, times: int
) -> None:
    outcome = crawled.outcomes[path]
    assert (outcome["reason"], outcome["status"], outcome["transient"]) == (
        reason,
        status,
        transient,
    )
    assert crawled.site.asked(path) == times


def test_many_headers_are_no_fault(crawled: Crawled) -> None:
    assert crawled.kind("/many-headers") == "text/html"


def test_a_page_that_fails_for_a_while_is_fetched(crawled: Crawled) -> None:
    assert crawled.outcomes["/flaky"]["body"] == b"<p>at last</p>"
    assert crawled.site.asked("/flaky") == 3


def test_a_host_that_asks_for_a_second_gets_it(crawled: Crawled) -> None:
    first, second = (one.at for one in crawled.site.log if one.path == "/busy")
    assert second - first >= 0.99
    between = [one for one in crawled.site.log if first < one.at < first + 0.9]
    # What was on its way already arrives; nothing is sent after the answer was read.
    assert len(between) <= 4
    assert crawled.kind("/busy") == "text/html"


@pytest.mark.parametrize("name", ["sitemap", "packed", "list", "encoded"])
def test_pages_are_found_by_sitemaps_of_every_form(crawled: Crawled, name: str) -> None:
    assert crawled.kind(f"/only-in-{name}") == "text/html"


def test_sitemaps_are_read_once_and_their_circles_end(crawled: Crawled) -> None:
    maps = [one.path for one in crawled.site.log if one.path.startswith(("/maps/", "/sitemap"))]
    assert len(maps) == len(set(maps)) == 7
    assert crawled.links["http://other.example/mapped"] == "out_of_scope"

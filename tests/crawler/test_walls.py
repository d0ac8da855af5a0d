"""Sites that answer everything with a page, and pages that turn into something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawler.crawling import crawl, ledger_of
from tests.crawler.site import Answer, Asked, Site

FRAME = "<nav>Home Products Service Contact</nav><footer>Imprint and privacy of Example</footer>"
TEXTS = {
    "/": "Welcome to the workshop, where bicycles of every age are mended and ridden again.",
    "/wheels": "A wheel is trued by turning its nipples a quarter at a time, from the valve on.",
    "/brakes": "A disc brake that squeals has oil on its pads; sand them, or put in new ones.",
    "/contact": "Call us.",
}


def html(text: str) -> Answer:
    return Answer(
        f"<title>Example</title>{FRAME}<main>{text}</main>", 200, {"Content-Type": "text/html"}
    )


def a_site(site: Site) -> None:
    links = "".join(f'<a href="{path}">x</a>' for path in [*TEXTS, "/no-such", "/also/not?a=b"])
    for path, text in TEXTS.items():
        site.routes[path] = html(text + (links if path == "/" else ""))


def for_all_else(answer: Answer | None, site: Site) -> None:
    """What the site says of what it does not have."""

    def route(asked: Asked, times: int) -> Answer:
        if asked.path in ("/robots.txt", "/sitemap.xml"):
            return Answer("", 404)
        if answer is not None:
            return answer
        return html(f"Nothing is at {asked.path}. It is {asked.at:.0f} o'clock.")

    site.fallback = route


def reasons_of(ledger: Path, site: Site) -> dict[str, object]:
    outcomes = ledger_of(ledger).outcomes()
    return {url.removeprefix(site.url): outcome["reason"] for url, outcome in outcomes.items()}


def test_a_page_that_says_that_nothing_is_there_is_none(tmp_path: Path) -> None:
    with Site().serving() as site:
        a_site(site)
        for_all_else(None, site)
        crawl(tmp_path / "ledger", f"{site.url}/")
    found = reasons_of(tmp_path / "ledger", site)
    assert found.pop("/no-such") == found.pop("/also/not?a=b") == "soft404"
    assert found == dict.fromkeys(TEXTS)


def test_a_site_that_answers_404_is_asked_once(tmp_path: Path) -> None:
    with Site().serving() as site:
        a_site(site)
        crawl(tmp_path / "ledger", f"{site.url}/")
    probes = {one.path for one in site.log} - {*TEXTS, "/no-such", "/also/not?a=b"}
    assert len(probes - {"/robots.txt", "/sitemap.xml"}) == 1
    assert reasons_of(tmp_path / "ledger", site)["/no-such"] == "not_found"


def test_a_front_page_that_answers_for_everything_stays(tmp_path: Path) -> None:
    with Site().serving() as site:
        a_site(site)
        front = site.routes["/"]
        assert isinstance(front, Answer)
        for_all_else(front, site)
        for _ in range(2):
            crawl(tmp_path / "ledger", f"{site.url}/")
            frontier = ledger_of(tmp_path / "ledger")
            frontier.new_pass()
    found = reasons_of(tmp_path / "ledger", site)
    assert found["/"] is None
    assert found["/no-such"] == "soft404"


LOGIN = "<form>Sign in <input type=password name=p> <input name=csrf value={}></form>"
WALLS = {
    "maintenance": html("We are back soon."),
    "shell": Answer(
        "<!doctype html><div id=root></div><script src=/app.js></script>",
        200,
        {"Content-Type": "text/html"},
    ),
    "login": html(LOGIN.format("abc")),
}


@pytest.mark.parametrize(
    ("wall", "everywhere"),
    [("maintenance", True), ("shell", True), ("login", True), ("login", False)],
)
def test_a_wall_in_front_of_a_site_replaces_no_page(
    tmp_path: Path, wall: str, everywhere: bool
) -> None:
    """`everywhere`: it stands before what is not there as well."""
    with Site().serving() as site:
        a_site(site)
        crawl(tmp_path / "ledger", f"{site.url}/")
        before = {
            url: one["body"] for url, one in ledger_of(tmp_path / "ledger").outcomes().items()
        }
        ledger_of(tmp_path / "ledger").new_pass()
        for path in TEXTS:
            site.routes[path] = WALLS[wall]
        if everywhere:
            for_all_else(WALLS[wall], site)
        crawl(tmp_path / "ledger", f"{site.url}/")
    after = {url: one["body"] for url, one in ledger_of(tmp_path / "ledger").outcomes().items()}
    assert after == before
    assert {reasons_of(tmp_path / "ledger", site)[path] for path in TEXTS} <= {"soft404", "login"}


def test_a_log_in_box_beside_the_text_changes_nothing(tmp_path: Path) -> None:
    with Site().serving() as site:
        a_site(site)
        crawl(tmp_path / "ledger", f"{site.url}/")
        ledger_of(tmp_path / "ledger").new_pass()
        site.routes["/wheels"] = html(TEXTS["/wheels"] + LOGIN)
        crawl(tmp_path / "ledger", f"{site.url}/")
    assert reasons_of(tmp_path / "ledger", site)["/wheels"] is None

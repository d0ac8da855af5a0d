"""One host, one crawl, at the host's pace: also after a kill, on every database."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.model import Found, HostPace, Politeness, Scope
from pipeline.frontier import LedgerFrontier
from pipeline.ledger import Ledger, open_ledger
from pipeline.ledger.sources import RUN_LEASE
from pipeline.pagestore import PageStore
from tests.crawler.site import Answer, Site
from tests.pipeline.test_ledger import PINS

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def second(number: float) -> datetime:
    return NOW + timedelta(seconds=number)


@pytest.fixture
def two(ledger: Ledger) -> Ledger:
    """A ledger with two sources, each with a run that works on it."""
    for name in ("a", "b"):
        ledger.sources.declare(name, name, Scope(seeds=("https://x.example/",)), PINS, NOW)
        ledger.sources.take(name, f"run of {name}", NOW)
    return ledger


def take(ledger: Ledger, source: str, at: datetime, *names: str) -> dict[str, HostPace]:
    return ledger.hosts.take(source, f"run of {source}", names, at)


def test_a_host_is_asked_for_one_source_at_a_time(two: Ledger) -> None:
    assert take(two, "a", NOW, "x", "y") == {"x": HostPace(), "y": HostPace()}
    assert take(two, "b", NOW, "x", "z") == {"z": HostPace()}
    assert two.hosts.of_others("b", {"x", "y", "z"}, NOW) == {"x", "y"}
    two.hosts.release("a", NOW)
    assert take(two, "b", NOW, "x") == {"x": HostPace()}


def test_the_next_crawl_keeps_the_gap_that_the_host_asked_for(two: Ledger) -> None:
    take(two, "a", NOW, "x")
    two.hosts.keep("x", HostPace(gap=10), NOW)
    two.hosts.release("a", second(100))
    assert take(two, "b", second(103), "x") == {"x": HostPace(10, 7)}


def test_a_crawl_that_was_killed_is_taken_to_have_asked_just_now(two: Ledger) -> None:
    take(two, "a", NOW, "x")
    two.hosts.keep("x", HostPace(gap=10), NOW)
    # The same source's next process, and another source once the run's lease has run out.
    assert take(two, "a", second(50), "x") == {"x": HostPace(10, 10)}
    late = NOW + RUN_LEASE + timedelta(seconds=1)
    two.sources.take("b", "run of b", late)
    assert take(two, "b", late, "x") == {"x": HostPace(10, 10)}


def test_a_host_that_asked_to_be_left_alone_is_left_alone_by_the_next_crawl(two: Ledger) -> None:
    take(two, "a", NOW, "x")
    two.hosts.keep("x", HostPace(wait=3600), NOW)
    two.hosts.release("a", second(1))
    assert take(two, "b", second(600), "x") == {"x": HostPace(0, 3000)}


def test_hosts_that_nobody_asked_for_long_are_let_go(two: Ledger) -> None:
    take(two, "a", NOW, "x", "y")
    two.hosts.keep("x", HostPace(gap=10), NOW)
    two.hosts.release("a", NOW)
    take(two, "b", NOW, "y")
    two.hosts.forget_idle(second(60))
    two.hosts.release("b", NOW)
    assert take(two, "b", second(61), "x") == {"x": HostPace()}


def test_pages_of_a_host_that_another_crawl_asks_wait(two: Ledger, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    for name in ("a", "b"):
        two.sources.take(name, f"run of {name}", now)
        two.sources.begin_pass(name)
    links = [Found(f"https://x.example/{n}", 0, None) for n in range(5)]
    two.visits.discovered("b", [*links, Found("https://y.example/", 1, None)])
    take(two, "a", now, "x.example")
    source = two.sources.get("b")
    frontier = LedgerFrontier(two, PageStore(str(tmp_path)), source, "run of b")
    assert [task.url for task in frontier.claim(3)] == ["https://y.example/"]
    assert frontier.pace("x.example") is None
    two.hosts.release("a", now)
    assert len(frontier.claim(3)) == 3


def crawl(ledger_url: str, folder: str, runner: str) -> None:
    """A crawl in a process of its own, which can be killed."""
    from crawler.crawl import run

    ledger = open_ledger(ledger_url)
    source = ledger.sources.get("a")
    frontier = LedgerFrontier(ledger, PageStore(folder), source, runner)
    run("a", source.scope, Politeness(user_agent="test"), frontier)


def test_a_host_is_asked_no_faster_after_a_kill(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    ledger = open_ledger(url)
    delay = 1.0
    with Site().serving() as site:
        rules = f"User-agent: *\nCrawl-delay: {delay}\n"
        site.routes["/robots.txt"] = Answer(rules, headers={"Content-Type": "text/plain"})
        site.page("/", *(f"/{n}" for n in range(4)))
        for number in range(4):
            site.page(f"/{number}")
        scope = Scope(seeds=(f"{site.url}/",), allow_hosts=("127.0.0.1",))
        ledger.sources.declare("a", "a", scope, PINS, NOW)
        ledger.sources.take("a", "run", datetime.now(UTC))
        ledger.sources.begin_pass("a")
        start = multiprocessing.get_context("spawn").Process
        for asked in (2, 4):
            process = start(target=crawl, args=(url, str(tmp_path / "store"), "run"))
            process.start()
            site.wait_for_requests(asked)
            process.kill()
            process.join()
        last = start(target=crawl, args=(url, str(tmp_path / "store"), "run"))
        last.start()
        last.join()
        times = [one.at for one in site.log]
        assert all(site.asked(f"/{number}") for number in range(4))
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) > 0.9 * delay, gaps

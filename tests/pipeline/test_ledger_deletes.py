"""How many pages may leave a source in one pass, on every database."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawler.model import Found, Missed, NotModified
from pipeline.ledger import Ledger
from tests.pipeline.test_ledger import (
    NOW,
    PINNED,
    SEED,
    declare,
    fetched,
    index,
    miss,
    states,
    visit,
)

SHARE = 0.1
ALL = [f"{SEED}p{number:02}" for number in range(20)]
Answers = Callable[[Ledger, str, int], None]


def settle(ledger: Ledger) -> bool:
    """The end of a pass; whether its removals are held."""
    settled = ledger.settlements.settle("docs", PINNED, SHARE)
    ledger.sources.end_pass("docs", NOW)
    return settled.held


def a_site_of_twenty(ledger: Ledger) -> None:
    declare(ledger)
    for url in ALL:
        visit(ledger, fetched(url), f"h{url}")
    assert not settle(ledger)
    assert index(ledger) == ALL


def a_pass(ledger: Ledger, answers: Answers, urls: list[str], alive: bool = True) -> bool:
    number = ledger.sources.begin_pass("docs")
    for url in urls:
        answers(ledger, url, number)
    for url in ALL:
        if alive and url not in urls:
            visit(ledger, fetched(url), f"h{url}", number)
    return settle(ledger)


def not_found(ledger: Ledger, url: str, number: int) -> None:
    miss(ledger, Missed(url, "not_found", 404, NOW), number)


def soft_404(ledger: Ledger, url: str, number: int) -> None:
    miss(ledger, Missed(url, "soft404", 200, NOW), number)


def robots(ledger: Ledger, url: str, number: int) -> None:
    miss(ledger, Missed(url, "robots", None, NOW), number)


def log_in(ledger: Ledger, url: str, number: int) -> None:
    visit(ledger, fetched(SEED + "login"), "login", number)
    miss(ledger, Missed(url, "redirect", 302, NOW, target=SEED + "login"), number)


def log_in_for_good(ledger: Ledger, url: str, number: int) -> None:
    visit(ledger, fetched(SEED + "login"), "login", number)
    miss(ledger, Missed(url, "redirect", 301, NOW, target=SEED + "login"), number)


def noindex(ledger: Ledger, url: str, number: int) -> None:
    visit(ledger, fetched(url, noindex=True), "other", number)


def empties(ledger: Ledger, url: str, number: int) -> None:
    visit(ledger, fetched(url), f"shell of {url}", number)
    for job in ledger.work.claim("docs", "run", 100):
        assert job.has_changed
        ledger.work.emptied(job)


def canonical(ledger: Ledger, url: str, number: int) -> None:
    visit(ledger, fetched(SEED), "front", number)
    visit(ledger, fetched(url, canonical=SEED), f"h{url}", number)


NONSENSE = (not_found, soft_404, robots, log_in, log_in_for_good, noindex, empties, canonical)


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_a_site_that_answers_nonsense_loses_nothing(ledger: Ledger, nonsense: Answers) -> None:
    a_site_of_twenty(ledger)
    held = [a_pass(ledger, nonsense, ALL) for _ in range(3)]
    assert held[-1]
    assert set(ALL).isdisjoint(index(ledger))
    assert {states(ledger)[url] for url in ALL} == {("indexed", "held")}
    assert ledger.sources.get("docs").held >= len(ALL) - 1
    # It comes to its senses: nothing is held and nothing was lost.
    assert not a_pass(ledger, not_found, [])
    # What was begun and not ended is done again to be sure, the rest costs nothing.
    assert index(ledger) == ALL if nonsense is empties else set(ALL).isdisjoint(index(ledger))
    assert {states(ledger)[url] for url in ALL} == {("indexed", None)}
    assert ledger.sources.get("docs").held == 0


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_what_is_held_leaves_when_it_is_confirmed(ledger: Ledger, nonsense: Answers) -> None:
    a_site_of_twenty(ledger)
    for _ in range(2):
        a_pass(ledger, nonsense, ALL)
    assert ledger.settlements.confirm("docs") == len(ALL)
    assert set(ALL) <= set(index(ledger))
    assert not {states(ledger)[url][0] for url in ALL} & {"indexed", "pending"}
    assert ledger.sources.get("docs").held == 0
    assert ledger.settlements.confirm("docs") == 0


@pytest.mark.parametrize("answers", NONSENSE)
def test_a_few_pages_leave_unasked(ledger: Ledger, answers: Answers) -> None:
    a_site_of_twenty(ledger)
    assert not [held for held in (a_pass(ledger, answers, ALL[:2]) for _ in range(2)) if held]
    assert set(ALL[:2]) <= set(index(ledger))
    assert {states(ledger)[url][0] for url in ALL[2:]} == {"indexed"}


def test_pages_that_move_to_new_addresses_are_no_loss(ledger: Ledger) -> None:
    a_site_of_twenty(ledger)

    def moved(ledger: Ledger, url: str, number: int) -> None:
        visit(ledger, fetched(f"{url}-new"), f"h{url}", number)
        miss(ledger, Missed(url, "redirect", 301, NOW, target=f"{url}-new"), number)

    assert not a_pass(ledger, moved, ALL)
    index(ledger)
    assert {states(ledger)[url][0] for url in ALL} == {"skipped"}
    assert {states(ledger)[f"{url}-new"][0] for url in ALL} == {"indexed"}


def test_the_last_page_of_a_source_does_not_leave_unasked(ledger: Ledger) -> None:
    declare(ledger)
    visit(ledger, fetched(SEED))
    settle(ledger)
    index(ledger)
    assert [a_pass(ledger, not_found, [SEED], alive=False) for _ in range(2)] == [False, True]
    assert states(ledger)[SEED] == ("indexed", "held")


@pytest.mark.parametrize("nonsense", [not_found, soft_404, robots, log_in, noindex])
def test_a_page_that_is_not_modified_stays(ledger: Ledger, nonsense: Answers) -> None:
    a_site_of_twenty(ledger)
    for _ in range(2):
        a_pass(ledger, nonsense, ALL)
    number = ledger.sources.begin_pass("docs")
    for url in ALL:
        ledger.visits.record("docs", number, [(NotModified(url, NOW), "")], PINNED)
    assert not settle(ledger)
    assert {states(ledger)[url] for url in ALL} == {("indexed", None)}


def test_what_is_held_is_named(ledger: Ledger) -> None:
    a_site_of_twenty(ledger)
    for _ in range(2):
        a_pass(ledger, not_found, ALL)
    row = ledger.pages.get("docs", ALL[0])
    assert row is not None and row.detail is not None and "not_found" in row.detail
    assert ledger.pages.counts("docs").reasons["held"] == len(ALL)


def test_a_failure_leaves_what_is_held_as_it_is(ledger: Ledger) -> None:
    a_site_of_twenty(ledger)
    for _ in range(2):
        a_pass(ledger, not_found, ALL)

    def fails(ledger: Ledger, url: str, number: int) -> None:
        miss(ledger, Missed(url, "server_error", 500, NOW, transient=True), number)

    assert a_pass(ledger, fails, ALL)
    assert ledger.settlements.confirm("docs") == len(ALL)


def test_pages_of_this_pass_are_no_loss(ledger: Ledger) -> None:
    a_site_of_twenty(ledger)
    number = ledger.sources.begin_pass("docs")
    new = [f"{SEED}new{count}" for count in range(30)]
    ledger.visits.discovered("docs", [Found(url, 1, SEED) for url in new])
    for url in new:
        visit(ledger, fetched(url), "n", number)
        visit(ledger, fetched(url, noindex=True), "n", number)
    assert not settle(ledger)
    assert set(index(ledger)) <= set(new)

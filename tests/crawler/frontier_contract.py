"""What every frontier must keep, whoever implements it.

Subclass `DurableFrontierContract` and give it a fixture `frontiers`: a callable that opens a
frontier, with `max_pages` (or None) as its argument, on the same store each time it is called in
one test, as a new process would. `FrontierContract` is for a store that dies with its object. The
two classes at the end are for what a frontier may offer besides.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from crawler import reasons
from crawler.model import Fetched, Found, Missed, NotModified
from crawler.ports import BatchFrontier, Frontier, RememberingFrontier

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SITE = "https://site.example"
Open = Callable[[int | None], Frontier]


def url(name: str | int) -> str:
    return f"{SITE}/{name}"


def found(name: str | int, depth: int = 0, reason: str | None = None) -> Found:
    return Found(url(name), depth, None if depth == 0 else url(0), reason)


def page(name: str | int, *links: Found, etag: str | None = None) -> Fetched:
    return Fetched(
        url=url(name),
        final_url=url(name),
        status=200,
        headers={"content-type": "text/html"},
        content_type="text/html",
        body=f"<p>{name}</p>".encode(),
        fetched_at=AT,
        etag=etag,
        links=links,
    )


def missed(name: str | int, reason: str = reasons.NOT_FOUND, transient: bool = False) -> Missed:
    return Missed(url(name), reason, 404, AT, transient)


def claimed(frontier: Frontier, limit: int = 100) -> list[str]:
    return [task.url.removeprefix(f"{SITE}/") for task in frontier.claim(limit)]


class FrontierContract:
    """The tests; see the module for what a subclass gives."""

    @pytest.fixture
    def frontier(self, frontiers: Open) -> Frontier:
        return frontiers(None)

    def test_an_empty_one_hands_out_nothing(self, frontier: Frontier) -> None:
        assert claimed(frontier) == []

    def test_a_link_is_handed_out_once_however_often_it_is_found(self, frontier: Frontier) -> None:
        frontier.discovered([found("a"), found("a")])
        frontier.discovered([found("a"), found("b")])
        assert sorted(claimed(frontier)) == ["a", "b"]
        frontier.discovered([found("a")])
        assert claimed(frontier) == []
        frontier.record(page("a"))
        frontier.discovered([found("a")])
        assert claimed(frontier) == []

    def test_no_more_is_handed_out_than_asked_for(self, frontier: Frontier) -> None:
        frontier.discovered([found(number) for number in range(5)])
        handed = [claimed(frontier, 2), claimed(frontier, 2), claimed(frontier, 2)]
        assert [len(names) for names in handed] == [2, 2, 1]
        assert len({name for names in handed for name in names}) == 5

    def test_what_is_near_to_the_seeds_comes_first(self, frontier: Frontier) -> None:
        frontier.discovered([found("deep", 3), found("near", 1), found("seed", 0), found("mid", 2)])
        assert claimed(frontier) == ["seed", "near", "mid", "deep"]

    def test_a_task_carries_url_and_depth(self, frontier: Frontier) -> None:
        frontier.discovered([found("a", 2)])
        (task,) = frontier.claim(1)
        assert (task.url, task.depth) == (url("a"), 2)

    def test_what_is_out_of_scope_is_never_handed_out(self, frontier: Frontier) -> None:
        frontier.discovered([found("in"), found("out", 1, reasons.OUT_OF_SCOPE)])
        assert claimed(frontier) == ["in"]

    def test_what_was_out_and_is_found_in_scope_is_handed_out(self, frontier: Frontier) -> None:
        frontier.discovered([found("a", 3, reasons.TOO_DEEP)])
        assert claimed(frontier) == []
        frontier.discovered([found("a", 1)])
        assert claimed(frontier) == ["a"]
        frontier.record(page("a"))
        frontier.discovered([found("a", 3, reasons.TOO_DEEP)])
        assert claimed(frontier) == []

    def test_the_links_of_a_recorded_page_are_discovered(self, frontier: Frontier) -> None:
        frontier.discovered([found("a")])
        assert claimed(frontier) == ["a"]
        frontier.record(page("a", found("b", 1), found("c", 1, reasons.EXCLUDED)))
        assert claimed(frontier) == ["b"]

    def test_a_visited_url_is_not_handed_out_again(self, frontier: Frontier) -> None:
        frontier.discovered([found("a"), found("b"), found("c")])
        assert len(claimed(frontier)) == 3
        frontier.record(page("a"))
        frontier.record(missed("b"))
        frontier.record(NotModified(url("c"), AT))
        assert claimed(frontier) == []

    def test_an_outcome_of_an_unknown_url_is_recorded(self, frontier: Frontier) -> None:
        frontier.record(page("a", found("b", 1)))
        frontier.discovered([found("a")])
        assert claimed(frontier) == ["b"]

    def test_a_redirect_is_no_page_and_its_target_is_a_task(self, frontier: Frontier) -> None:
        frontier.discovered([found("old")])
        assert claimed(frontier) == ["old"]
        frontier.discovered([found("new")])
        frontier.record(Missed(url("old"), reasons.REDIRECT, 301, AT, target=url("new")))
        assert claimed(frontier) == ["new"]

    def test_a_pass_hands_out_no_more_pages_than_its_budget(self, frontiers: Open) -> None:
        frontier = frontiers(3)
        frontier.discovered([found(number) for number in range(9)])
        first = claimed(frontier, 2)
        assert len(first) == 2
        (last,) = claimed(frontier, 5)
        for name in (*first, last):
            frontier.record(page(name))
        assert claimed(frontier) == []

    def test_a_visit_without_a_page_gives_its_place_back(self, frontiers: Open) -> None:
        frontier = frontiers(2)
        frontier.discovered([found(number) for number in range(9)])
        lost, kept = claimed(frontier)
        frontier.record(missed(lost))
        frontier.record(page(kept))
        (third,) = claimed(frontier)
        frontier.record(NotModified(url(third), AT))
        assert claimed(frontier) == []

    def test_a_site_of_dead_links_ends_by_the_budget_too(self, frontiers: Open) -> None:
        frontier = frontiers(2)
        frontier.discovered([found(number) for number in range(200)])
        visits = 0
        while names := claimed(frontier, 5):
            visits += len(names)
            for name in names:
                frontier.record(missed(name))
        assert 2 < visits <= 2 * 2 + 20


class DurableFrontierContract(FrontierContract):
    """What a new process finds after the old one was killed."""

    def test_what_was_claimed_and_not_recorded_is_handed_out_by_a_new_process(
        self, frontiers: Open, frontier: Frontier
    ) -> None:
        frontier.discovered([found("a"), found("b"), found("c")])
        assert len(claimed(frontier)) == 3
        frontier.record(page("b"))
        assert sorted(claimed(frontiers(None))) == ["a", "c"]

    def test_links_and_outcomes_outlive_the_process(
        self, frontiers: Open, frontier: Frontier
    ) -> None:
        frontier.discovered([found("a")])
        assert claimed(frontier) == ["a"]
        frontier.record(page("a", found("b", 1)))
        later = frontiers(None)
        assert claimed(later) == ["b"]
        later.discovered([found("a")])
        assert claimed(later) == []

    def test_what_was_visited_stays_visited(self, frontiers: Open, frontier: Frontier) -> None:
        frontier.discovered([found("a"), found("b")])
        assert len(claimed(frontier)) == 2
        frontier.record(page("a"))
        frontier.record(missed("b"))
        assert claimed(frontiers(None)) == []

    def test_the_budget_counts_what_earlier_processes_spent(self, frontiers: Open) -> None:
        frontier = frontiers(2)
        frontier.discovered([found(number) for number in range(5)])
        kept, lost = claimed(frontier)
        frontier.record(page(kept))
        later = frontiers(2)
        assert claimed(later) == [lost]
        later.record(page(lost))
        assert claimed(later) == []


class BatchFrontierContract:
    """For a frontier that also keeps `BatchFrontier`; mixed into one of the contracts above."""

    def test_outcomes_in_a_batch_are_recorded_as_each_in_turn(self, frontiers: Open) -> None:
        frontier = frontiers(6)
        assert isinstance(frontier, BatchFrontier)
        frontier.discovered([found("a"), found("b"), found("c")])
        assert len(claimed(frontier)) == 3
        frontier.record_all(
            [page("a", found("d", 1)), missed("b"), NotModified(url("c"), AT), page("e")]
        )
        assert claimed(frontier) == ["d"]

    def test_an_empty_batch_is_nothing(self, frontiers: Open) -> None:
        frontier = frontiers(None)
        assert isinstance(frontier, BatchFrontier)
        frontier.record_all([])
        assert claimed(frontier) == []


class RememberingFrontierContract:
    """For a frontier that also keeps `RememberingFrontier`."""

    def test_it_says_what_is_in_scope(self, frontiers: Open) -> None:
        frontier = frontiers(None)
        assert isinstance(frontier, RememberingFrontier)
        frontier.discovered([found("a"), found("b"), found("out", 1, reasons.TRAP)])
        frontier.claim(1)
        frontier.record(page("a", found("c", 1)))
        assert sorted(frontier.accepted()) == [url("a"), url("b"), url("c")]

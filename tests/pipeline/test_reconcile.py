"""The loop: what differs is made so, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from crawler.model import Fetched, Found
from pipeline.budgets import BudgetError, Budgets
from pipeline.errors import ServiceMissingError
from pipeline.ledger import Job, Ledger
from pipeline.ledger.work import MAX_ATTEMPTS, MAX_INTERRUPTIONS, SUSPECT
from pipeline.pages import Failed, Indexed, Report, Result
from pipeline.reconcile import BATCH, PATIENCE, Batch, Reconciler
from pipeline.settings import Budget, Settings
from tests.pipeline.test_ledger import PINNED, SEED, declare, states

NOW = datetime(2026, 5, 1, tzinfo=UTC)
Answer = Callable[[Job], Result | str]


@dataclass
class ScriptedPool:
    """Stands in for the workers: answers each job as the test says; a text is a worker's death."""

    answer: Answer
    at_once: int = 2
    flight: list[Sequence[Job]] = field(default_factory=list)
    seen: list[list[str]] = field(default_factory=list)

    @property
    def room(self) -> bool:
        return len(self.flight) < self.at_once

    @property
    def idle(self) -> bool:
        return not self.flight

    def submit(self, jobs: Sequence[Job]) -> None:
        assert self.room
        self.flight.append(jobs)
        self.seen.append([job.url for job in jobs])

    def collect(self, timeout: float) -> list[Batch]:
        if not self.flight:
            return []
        jobs = self.flight.pop(0)
        results = [self.answer(job) for job in jobs]
        deaths = [result for result in results if isinstance(result, str)]
        if deaths:
            return [Batch(jobs, None, deaths[0])]
        return [Batch(jobs, results)]


def indexed(job: Job) -> Indexed:
    return Indexed(job, "d", "", "T", 1, 1, 0, 0, 1, 0, False, False, False)


def pages(ledger: Ledger, *names: str) -> None:
    declare(ledger)
    for name in names:
        page = Fetched(SEED + name, SEED + name, 200, {}, "text/html", b"x", NOW)
        ledger.visits.discovered("docs", [Found(SEED + name, 1, SEED)])
        ledger.visits.record("docs", 1, [(page, f"h-{name}")], PINNED)


def reconcile(ledger: Ledger, answer: Answer, **more: object) -> tuple[Report, ScriptedPool]:
    pool = ScriptedPool(answer)
    clock = [0.0]

    def wait(seconds: float) -> None:
        clock[0] += seconds

    loop = Reconciler(
        ledger, ledger.sources.get("docs"), "run", pool, now=lambda: clock[0], wait=wait
    )
    return loop.run(**more), pool  # type: ignore[arg-type]


def test_everything_that_differs_is_worked_on_in_batches(ledger: Ledger) -> None:
    names = [f"p{number:03}" for number in range(BATCH * 2 + 3)]
    pages(ledger, *names)
    report, pool = reconcile(ledger, indexed)
    assert report.indexed == len(names)
    assert sorted(url for batch in pool.seen for url in batch) == [SEED + name for name in names]
    assert max(len(batch) for batch in pool.seen) == BATCH
    assert ledger.work.waiting("docs") == 0


def test_it_goes_on_while_more_is_to_come(ledger: Ledger) -> None:
    pages(ledger, "a")
    calls = [0]

    def more() -> bool:
        calls[0] += 1
        if calls[0] == 3:
            pages(ledger, "b")
        return calls[0] < 4

    report, _ = reconcile(ledger, indexed, more=more)
    assert report.indexed == 2


def test_a_page_that_fails_costs_only_itself(ledger: Ledger) -> None:
    pages(ledger, "a", "bad", "c")

    def answer(job: Job) -> Result:
        if "bad" in job.url:
            return Failed(job, "unreadable", "truncated")
        return indexed(job)

    report, _ = reconcile(ledger, answer)
    assert (report.indexed, report.failed) == (2, 1)
    assert states(ledger)[SEED + "bad"] == ("failed", "unreadable")


def test_a_page_that_kills_its_worker_is_set_aside_after_three_tries(ledger: Ledger) -> None:
    pages(ledger, "a", "poison", "z")
    tries = []

    def answer(job: Job) -> Result | str:
        if "poison" in job.url:
            tries.append(job.attempts)
            return "killed by signal 9"
        return indexed(job)

    report, pool = reconcile(ledger, answer)
    assert tries == [0, 1, 2]
    assert (report.indexed, report.failed) == (2, 1)
    assert states(ledger)[SEED + "poison"] == ("failed", "killed_worker")
    # After the first death each page of the batch came alone.
    assert all(len(batch) == 1 for batch in pool.seen[1:])


def test_a_run_that_is_interrupted_or_killed_is_no_try_of_its_pages(ledger: Ledger) -> None:
    pages(ledger, "a", "b")

    def interrupt(job: Job) -> Result:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reconcile(ledger, interrupt)
    for _ in range(MAX_ATTEMPTS + 1):  # killed: nobody frees what was claimed
        jobs = ledger.work.claim("docs", "run", 10)
        assert {job.attempts for job in jobs} == {0}
        ledger.work.release_all("docs")
    report, _ = reconcile(ledger, indexed)
    assert (report.indexed, report.failed) == (2, 0)


def test_a_page_that_many_runs_were_killed_at_is_set_aside(ledger: Ledger) -> None:
    pages(ledger, "a", "b")
    for number in range(MAX_INTERRUPTIONS):
        jobs = ledger.work.claim("docs", "run", 10)
        assert len(jobs) == (2 if number < SUSPECT else 1)  # suspects come alone
        ledger.work.release_all("docs")
    assert states(ledger)[SEED + "a"] == ("failed", "killed_run")
    reconcile(ledger, indexed)
    assert states(ledger)[SEED + "b"][0] == "indexed"


def test_a_service_that_comes_back_costs_no_page(ledger: Ledger) -> None:
    pages(ledger, "a", "b")
    away = [PATIENCE - 1]

    def answer(job: Job) -> Result:
        if job.url.endswith("a") and away[0]:
            away[0] -= 1
            return Failed(job, "index_unavailable", "gone", transient=True)
        return indexed(job)

    report, _ = reconcile(ledger, answer)
    assert (report.indexed, report.failed) == (2, 0)


def test_a_service_that_stays_away_ends_the_run_and_keeps_the_work(ledger: Ledger) -> None:
    pages(ledger, "a")
    with pytest.raises(ServiceMissingError, match="gone"):
        reconcile(ledger, lambda job: Failed(job, "index_unavailable", "gone", transient=True))
    assert ledger.work.waiting("docs") == 1
    [job] = ledger.work.claim("docs", "next", 1)
    assert job.attempts == 0  # it was not the page's fault


def test_usage_is_booked_to_the_customer(ledger: Ledger) -> None:
    pages(ledger, "a", "b")
    reconcile(ledger, indexed)
    booked = {what: amount for _, _, what, amount in ledger.usage.by_day("acme")}
    assert booked == {"pages_indexed": 2, "embedded_texts": 2, "plans": 2}


def test_a_budget_that_is_used_up_ends_the_run_after_what_is_in_flight(ledger: Ledger) -> None:
    pages(ledger, *(f"{number:03}" for number in range(4 * BATCH)))
    limits = Settings(budgets={"acme": Budget(embeddings_per_day=BATCH)})
    pool = ScriptedPool(indexed)
    loop = Reconciler(ledger, ledger.sources.get("docs"), "run", pool)
    loop.before_claim = Budgets(limits, ledger, "acme").loop
    with pytest.raises(BudgetError, match="embeddings a day"):
        loop.run()
    booked = {what: amount for _, _, what, amount in ledger.usage.by_day("acme")}
    # Two batches were claimed before the first was booked: both are paid for, and booked.
    assert booked["embedded_texts"] == 2 * BATCH
    assert len(pool.seen) == 2
    assert pool.idle
    assert ledger.work.waiting("docs") == 2 * BATCH
    assert ledger.work.claim("docs", "next", 1)[0].attempts == 0


def test_a_budget_that_is_used_up_is_no_error_where_nothing_waits(ledger: Ledger) -> None:
    pages(ledger, "a")
    reconcile(ledger, indexed)
    loop = Reconciler(ledger, ledger.sources.get("docs"), "run", ScriptedPool(indexed))
    loop.before_claim = Budgets(
        Settings(budgets={"*": Budget(embeddings_per_day=1)}), ledger, "acme"
    ).loop
    assert loop.run().indexed == 0


def test_a_page_that_is_done_twice_in_a_run_counts_once(ledger: Ledger) -> None:
    pages(ledger, "a", "b")
    source = ledger.sources.get("docs")
    loop = Reconciler(ledger, source, "run", ScriptedPool(indexed))
    loop.run()
    ledger.sources.publish("docs", "v1", [SEED + "a"], settled=True)
    assert ledger.work.waiting("docs") == 1
    report = loop.run()
    assert (report.indexed, report.chunks_added) == (2, 3)


def test_a_removal_that_fails_ends_the_run_and_is_tried_by_the_next(ledger: Ledger) -> None:
    pages(ledger, "a")
    reconcile(ledger, indexed)
    ledger.settlements.rescope("docs", lambda url, depth: "excluded")
    for _ in range(2):
        report, pool = reconcile(ledger, lambda job: Failed(job, "index", "damaged"))
        assert (report.failed, pool.seen) == (1, [[SEED + "a"]])
        ledger.work.release_all("docs")


def test_a_pause_that_ends_between_two_looks_loses_no_page(ledger: Ledger) -> None:
    pages(ledger, "a")
    clock, away = [0.0], [True]

    def answer(job: Job) -> Result:
        return Failed(job, "away", "", transient=True) if away.pop() else indexed(job)

    def moved() -> None:
        clock[0] += 0.6  # counting a large source takes a while
        away.append(clock[0] < 1)

    loop = Reconciler(
        ledger,
        ledger.sources.get("docs"),
        "run",
        ScriptedPool(answer),
        on_change=moved,
        now=lambda: clock[0],
        wait=lambda _: None,
    )
    assert loop.run().indexed == 1

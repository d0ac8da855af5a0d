"""The loop: what differs from what is wanted is made so. Knows neither Ray nor a clock's hour."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import structlog

from pipeline.budgets import BudgetError
from pipeline.errors import ServiceMissingError
from pipeline.ledger import Job, Ledger, Source
from pipeline.ledger.work import MAX_ATTEMPTS, Done
from pipeline.pages import NOTHING, Emptied, Failed, Indexed, Report, Result, Unchanged, usage

log = structlog.get_logger()

#: Pages of a batch. Large enough that handing it over costs little, small enough to fill batches
#: of the embedder without holding many documents.
BATCH = 16
#: Seconds between two looks at the ledger while nothing is to be done.
POLL = 0.2
#: Batches that may fail for want of a service, one after the other, before the run gives up.
PATIENCE = 6


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that came back. `results` None: its worker died, `detail` says how."""

    jobs: Sequence[Job]
    results: Sequence[Result] | None
    detail: str = ""


class Pool(Protocol):
    """Runs batches of jobs through the stages, a bounded number at a time."""

    @property
    def room(self) -> bool:
        """Whether another batch may be submitted."""

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""

    def submit(self, jobs: Sequence[Job]) -> None: ...

    def collect(self, timeout: float) -> list[Batch]:
        """Batches that ended, waiting up to `timeout` seconds for the first."""


@dataclass(slots=True)
class Reconciler:
    """Makes a source's index what is wanted."""

    ledger: Ledger
    source: Source
    runner: str
    pool: Pool
    report: Report = field(default_factory=Report)
    on_change: Callable[[], None] = lambda: None
    """Called whenever something moved, and at least every `POLL` seconds."""
    stopping: Callable[[], bool] = lambda: False
    """Whether to claim nothing more: the loop ends with what is in flight."""
    before_claim: Callable[[], None] = lambda: None
    """Called before pages are claimed. A `BudgetError` ends the run, after what is in flight, where
    pages wait; they go on waiting."""
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    _failures: int = 0
    _pause_until: float = 0.0
    _refused: BudgetError | None = None

    def hold(self, still: Callable[[], bool]) -> None:
        """Wait for as long as `still()` says so, showing progress."""
        while still():
            self.on_change()
            self.wait(POLL)

    def run(self, more: Callable[[], bool] = lambda: False) -> Report:
        """Work until nothing differs and `more()` says that nothing is still to come.

        Raises `ServiceMissingError` where a service stays away, `BudgetError` where `before_claim`
        did; what waits is kept.
        """
        try:
            return self._run(more)
        except BaseException:
            self.ledger.work.let_go(self.source.name, self.runner)
            raise

    def _run(self, more: Callable[[], bool]) -> Report:
        while True:
            # Both asked before the ledger is: what came last, or waited until now, is still seen.
            coming, paused = more(), self.now() < self._pause_until
            claimed = self._fill()
            self.on_change()
            if self.pool.idle:
                if self._refused is not None:
                    raise self._refused
                if not claimed and not coming and (not paused or self.stopping()):
                    return self.report
                self.wait(POLL)
            for batch in self.pool.collect(POLL):
                self._settle(batch)

    def _fill(self) -> int:
        claimed = 0
        while self.pool.room and self.now() >= self._pause_until and not self.stopping():
            if not self._may_claim():
                break
            jobs = self.ledger.work.claim(self.source.name, self.runner, BATCH)
            if not jobs:
                break
            self.pool.submit(jobs)
            claimed += len(jobs)
        return claimed

    def _may_claim(self) -> bool:
        try:
            self.before_claim()
        except BudgetError as error:
            # Where nothing waits, nothing would be paid for: no reason to end the run.
            self._refused = error if self.ledger.work.waiting(self.source.name) else None
            return False
        return True

    def _settle(self, batch: Batch) -> None:
        if batch.results is None:
            for job in batch.jobs:
                self._worker_died(job, batch.detail)
            return
        done: list[Done] = []
        away: Failed | None = None
        for result in batch.results:
            self.report.usage += usage(result)
            if isinstance(result, Failed) and result.transient:
                self.ledger.work.release(result.job)
                away = result
                continue
            last = result.job.indexed_at
            self.report.add(result, again=last is not None and last >= self.started)
            if isinstance(result, Failed):
                log.warning("page failed", url=result.job.url, reason=result.reason)
                self.ledger.work.failed(result.job, result.reason, result.detail)
            elif isinstance(result, Emptied):
                self.ledger.work.emptied(result.job)
            else:
                done.append(_done(result))
        if done:
            self.ledger.work.done(done, datetime.now(UTC))
        self._book(batch.results)
        self._wait_or_go_on(away)

    def _worker_died(self, job: Job, detail: str) -> None:
        if job.attempts + 1 < MAX_ATTEMPTS:
            self.ledger.work.give_back(job)
            return
        failure = Failed(job, "killed_worker", f"its worker died {MAX_ATTEMPTS} times: {detail}")
        log.error("page set aside", url=job.url, detail=detail)
        self.report.add(failure)
        self.ledger.work.failed(job, failure.reason, failure.detail)

    def _wait_or_go_on(self, away: Failed | None) -> None:
        """Back off, doubling, while a service is away; give up after a number of times."""
        if away is None:
            self._failures = 0
            return
        self._failures += 1
        if self._failures >= PATIENCE:
            raise ServiceMissingError(
                f"{away.reason}: {away.detail}",
                "nothing is lost: run the command again when the service is back",
            )
        self._pause_until = self.now() + 0.5 * 2**self._failures
        log.warning("waiting for a service", reason=away.reason, detail=away.detail)

    def _book(self, results: Sequence[Result]) -> None:
        indexed = [result for result in results if isinstance(result, Indexed)]
        paid = sum((usage(result) for result in results), NOTHING)
        self.ledger.usage.add(
            self.source.customer,
            datetime.now(UTC).date(),
            {
                "pages_indexed": len(indexed),
                "embedded_texts": sum(result.embedded for result in indexed),
                "embedded_tokens": sum(result.embedded_tokens for result in indexed),
                "plans": sum(not result.plan_cached for result in indexed),
                "plan_calls": paid.calls,
                "plan_input_tokens": paid.input_tokens,
                "plan_cached_input_tokens": paid.cached_input_tokens,
                "plan_output_tokens": paid.output_tokens,
            },
        )


def _done(result: Result) -> Done:
    match result:
        case Indexed():
            return Done(
                result.job, result.chunks, result.document_hash, result.title, result.sketch
            )
        case Unchanged():
            job = result.job
            return Done(job, job.chunks, job.document_hash, job.title)
        case _:
            return Done(result.job, 0, None, None)

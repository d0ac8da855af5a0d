"""Gives many sources their turns, side by side and in fairness. Knows neither Ray nor the crawl.

Who is due and was served longest ago comes next. A turn has a length: a large source gives its
place up and comes again, so that no source waits for the end of another. Everything it goes by is
in the ledger and in the files: a scheduler that is killed is gone on with by the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Protocol

import structlog

from pipeline.budgets import BudgetError
from pipeline.errors import SourceBusyError
from pipeline.faults import describe
from pipeline.ledger import Ledger
from pipeline.ledger.schedules import next_day
from pipeline.sources.spec import SourceSpec
from pipeline.sources.watched import Declared, WatchedFiles

log = structlog.get_logger()

#: Seconds between two looks at files and ledger.
TICK = 1.0
#: With `once`, a pass that was cut short is waited for if its next turn comes within this time.
SOON = timedelta(minutes=10)
#: When a source is looked at again that another process works on.
BUSY_WAIT = timedelta(minutes=1)


class Turn(Protocol):
    """What a turn came to."""

    @property
    def whole(self) -> bool:
        """Whether nothing of the pass is left for another turn."""


Work = Callable[[Declared, Callable[[], bool]], Turn]
"""One turn of a source: ends early when the second argument says so. Raises what ended it."""


@dataclass(slots=True)
class Scheduler:
    """Takes turns until it is stopped, or, with `once`, until each source had a whole pass."""

    ledger: Ledger
    files: WatchedFiles
    work: Work
    at_once: int
    once: bool = False
    only: Collection[str] = ()
    """Names of the sources that it minds; empty: all."""
    on_end: Callable[[str, Turn | Exception], None] = lambda name, came_to: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _running: dict[str, Future[Turn]] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)
    _cut: set[str] = field(default_factory=set)
    _declared: dict[str, SourceSpec] = field(default_factory=dict)

    def run(self, stopping: Event) -> None:
        """Returns once `stopping` is set and what ran has ended, or with `once` all is done."""
        with ThreadPoolExecutor(self.at_once, thread_name_prefix="turn") as threads:
            try:
                while not stopping.is_set():
                    self._declare()
                    begun = self._begin(threads, stopping)
                    if self.once and not begun and not self._running and not self._cut_short():
                        return
                    stopping.wait(TICK)
                    self._collect()
            finally:
                stopping.set()  # the turns see it, and the pool waits for their ends
        self._collect()

    def _declare(self) -> None:
        """Bring the ledger's schedules in line with the files, where those changed."""
        for name, declared in self._minded().items():
            if self._declared.get(name) != declared.spec:
                self.ledger.schedules.declare(name, declared.spec.schedule)
                self._declared[name] = declared.spec
        for name in self._running.keys() - self.files.sources.keys():
            self.ledger.schedules.stop(name, self.now())

    def _minded(self) -> dict[str, Declared]:
        sources = self.files.refreshed()
        return {name: one for name, one in sources.items() if not self.only or name in self.only}

    def _begin(self, threads: ThreadPoolExecutor, stopping: Event) -> int:
        begun = 0
        for declared in self._due():
            if len(self._running) >= self.at_once:
                break
            self._running[declared.name] = threads.submit(self.work, declared, stopping.is_set)
            begun += 1
        return begun

    def _due(self) -> list[Declared]:
        """Sources whose turn it may be, that which was served longest ago first."""
        waiting: list[tuple[datetime, Declared]] = []
        for name, declared in self._minded().items():
            standing = self.ledger.schedules.get(name)
            if standing is None or name in self._running or name in self._done:
                continue
            if standing.is_due(self.now()):
                waiting.append((standing.served_at or datetime.min.replace(tzinfo=UTC), declared))
        return [declared for _, declared in sorted(waiting, key=lambda one: (one[0], one[1].name))]

    def _cut_short(self) -> bool:
        """Whether a pass waits for its next turn, and that is not a day away."""
        standings = [self.ledger.schedules.get(name) for name in self._cut]
        return any(one is not None and one.is_due(self.now() + SOON) for one in standings)

    def _collect(self) -> None:
        for name, future in [(n, f) for n, f in self._running.items() if f.done()]:
            del self._running[name]
            error = future.exception()
            if isinstance(error, SourceBusyError):
                self.ledger.schedules.postpone(name, self.now() + BUSY_WAIT)
                log.warning("source is busy", source=name, by=str(error))
            elif isinstance(error, BudgetError):
                self.ledger.schedules.postpone(name, next_day(self.now()))
                log.warning("source waits for its customer's budget", source=name, why=str(error))
            elif isinstance(error, Exception):
                again = self.ledger.schedules.failed(name, describe(error), self.now())
                log.warning("turn failed", source=name, error=describe(error), again=str(again))
            elif error is not None:
                raise error
            if self.once:
                ended = error is not None or future.result().whole
                (self._done if ended else self._cut).add(name)
                self._cut -= self._done
            self.on_end(name, error if isinstance(error, Exception) else future.result())

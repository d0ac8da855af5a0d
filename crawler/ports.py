"""What the crawl needs from outside: a durable frontier that also records what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from crawler.model import Found, HostPace, Outcome, Tally, Task


class Frontier(Protocol):
    """The durable queue of one source's crawl pass.

    Calls come one at a time, though not from the thread that opened it. Every call is durable when
    it returns. A task that was claimed and not recorded (the process
    was killed) is handed out again by the next `claim` of a new process.
    """

    def claim(self, limit: int) -> Sequence[Task]:
        """Up to `limit` URLs not yet visited in this pass, nearest to the seeds first.

        Hands out nothing once the page budget of the pass is spent.
        """

    def discovered(self, links: Sequence[Found]) -> None:
        """Record links. URLs known already keep what is known of them."""

    def record(self, outcome: Outcome) -> None:
        """Record what a visit came to, body and links included."""


@runtime_checkable
class RememberingFrontier(Frontier, Protocol):
    """A frontier that can say what it holds, so that the budgets of traps outlive a crawl."""

    def accepted(self) -> Iterable[str]:
        """Every URL in scope that the source has on record, from this pass and earlier ones."""

    def feeds(self) -> Sequence[str]:
        """Feeds that pages of the source named: a page that is not modified names none again."""


@runtime_checkable
class BatchFrontier(Frontier, Protocol):
    """A frontier that records several outcomes at the cost of about one."""

    def record_all(self, outcomes: Sequence[Outcome]) -> None:
        """As `record` of each in turn, durable as one."""


@runtime_checkable
class KeepingFrontier(Frontier, Protocol):
    """A frontier that can show what it keeps of a page, so that a crawl sees what became of it."""

    def stored(self, url: str) -> bytes | None:
        """The body that is kept of a page and wanted in the index; None where there is none."""


@runtime_checkable
class PacedFrontier(Frontier, Protocol):
    """A frontier that gives hosts to one crawl at a time and remembers what they asked for."""

    def pace(self, name: str) -> HostPace | None:
        """How a host may be asked now, which this crawl holds from then on; None: another does."""

    def keep_pace(self, name: str, pace: HostPace) -> None:
        """Remember what a host asked for, for the crawls that come after this one."""


@runtime_checkable
class CountedFrontier(Frontier, Protocol):
    """A frontier that is told at the end what the whole crawl came to."""

    def counted(self, tally: Tally) -> None:
        """What was asked and received, with what no outcome tells: robots.txt, repetitions."""

"""The crawl's durable queue, over ledger and page store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from crawler import budget
from crawler.model import Fetched, Found, HostPace, Missed, Outcome, Tally, Task
from crawler.urls import host
from pipeline.budgets import Budgets
from pipeline.ledger import Ledger, Source
from pipeline.pagestore import DamagedFileError, MissingBodyError, PageStore

#: Tasks looked through for one that is not on a host that another source's crawl asks.
BEHIND_A_HOST = 2_000


class LedgerFrontier:
    """`crawler.ports`' batch, remembering and paced frontier for one pass of one source.

    Claims are kept in memory only: what was claimed and not recorded when the process died is
    not visited yet, and is claimed again by the next.
    """

    def __init__(
        self,
        ledger: Ledger,
        store: PageStore,
        source: Source,
        runner: str | None = None,
        asks: bool = True,
        budgets: Budgets | None = None,
    ) -> None:
        """`asks`: whether its outcomes come of requests, which count as the customer's."""
        self._asks = asks
        self._budgets = budgets
        self._booked = Counter[str]()
        self._ledger = ledger
        self._store = store
        self._source = source
        self._runner = runner
        self._pins = source.pins.fingerprint
        self._in_flight: set[str] = set()
        self._paces: dict[str, HostPace] = {}
        self._pages, self._misses = ledger.visits.visited(source.name, source.pass_number)

    def claim(self, limit: int) -> Sequence[Task]:
        # Nothing to an orphan whose source another run took over, nor after the end of a turn.
        name, now = self._source.name, datetime.now(UTC)
        allowed = self._ledger.schedules.allows(name, self._runner, now)
        if allowed is not None:
            limit = min(limit, allowed - len(self._in_flight))
        left = budget.left(
            self._source.scope.max_pages, self._pages, self._misses, len(self._in_flight)
        )
        if left is not None:
            limit = min(limit, left)
        if self._budgets is not None and (more := self._budgets.requests_left()) is not None:
            limit = min(limit, more - len(self._in_flight))
        if limit <= 0:
            return ()
        tasks = self._of_held_hosts(self._ledger.visits.pending(name, limit, self._in_flight))
        if not tasks and not self._in_flight:
            # All that comes first may be on a host that another source's crawl asks.
            tasks = self._of_held_hosts(self._ledger.visits.pending(name, BEHIND_A_HOST, ()))[
                :limit
            ]
        self._in_flight.update(task.url for task in tasks)
        return self._asked_whole(tasks)

    def pace(self, name: str) -> HostPace | None:
        if self._runner is None:
            return HostPace()
        self._take({name})
        return self._paces.get(name)

    def keep_pace(self, name: str, pace: HostPace) -> None:
        if self._runner is not None:
            self._ledger.hosts.keep(name, pace, datetime.now(UTC))

    def discovered(self, links: Sequence[Found]) -> None:
        self._ledger.visits.discovered(self._source.name, _of_site(links))

    def accepted(self) -> Iterable[str]:
        return self._ledger.visits.accepted(self._source.name)

    def _asked_whole(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """The tasks, without validators where the body is lost: "not modified" would not help."""
        conditional = [task.url for task in tasks if task.etag or task.last_modified]
        hashes = self._ledger.pages.body_hashes(self._source.name, conditional)
        lost = {
            url
            for url, digest in hashes.items()
            if not self._store.has_body(self._source.customer, digest)
        }
        return [
            replace(task, etag=None, last_modified=None) if task.url in lost else task
            for task in tasks
        ]

    def stored(self, url: str) -> bytes | None:
        digest = self._ledger.pages.wanted_body(self._source.name, url)
        try:
            return None if digest is None else self._store.body(self._source.customer, digest)
        except (MissingBodyError, DamagedFileError):
            return None

    def feeds(self) -> Sequence[str]:
        return self._ledger.schedules.feeds(self._source.name)

    def record(self, outcome: Outcome) -> None:
        self.record_all([outcome])

    def record_all(self, outcomes: Sequence[Outcome]) -> None:
        source = self._source
        visits = [self._stored(outcome) for outcome in outcomes]
        self._ledger.visits.record(source.name, source.pass_number, visits, self._pins)
        if self._asks:
            self._spend(outcomes)
        self._in_flight.difference_update(outcome.url for outcome in outcomes)
        misses = sum(isinstance(outcome, Missed) for outcome in outcomes)
        self._misses += misses
        self._pages += len(outcomes) - misses

    def _of_held_hosts(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Those whose hosts this crawl may ask: no host is asked for two sources at a time."""
        if self._runner is None:
            return tasks
        self._take({host(task.url) for task in tasks})
        return [task for task in tasks if host(task.url) in self._paces]

    def _take(self, hosts: set[str]) -> None:
        wanted = hosts - self._paces.keys()
        if wanted and self._runner is not None:
            now = datetime.now(UTC)
            self._paces |= self._ledger.hosts.take(self._source.name, self._runner, wanted, now)

    def _spend(self, outcomes: Sequence[Outcome]) -> None:
        source, now = self._source, datetime.now(UTC)
        size = sum(len(one.body) for one in outcomes if isinstance(one, Fetched))
        self._book({"requests": len(outcomes), "bytes": size}, now)
        self._ledger.schedules.spend(source.name, len(outcomes), size, now)
        if feeds := [url for one in outcomes if isinstance(one, Fetched) for url in one.feeds]:
            self._ledger.schedules.add_feeds(source.name, feeds)

    def counted(self, tally: Tally) -> None:
        """Book what the engine counted over what its outcomes told: robots.txt, repetitions."""
        whole = {"requests": tally.requests, "bytes": tally.bytes}
        rest = {what: amount - self._booked[what] for what, amount in whole.items()}
        self._book(rest, datetime.now(UTC))

    def _book(self, amounts: Mapping[str, int], now: datetime) -> None:
        self._booked.update(amounts)
        self._ledger.usage.add(self._source.customer, now.date(), amounts)

    def _stored(self, outcome: Outcome) -> tuple[Outcome, str]:
        """The outcome with the hash of its body, which is in the page store by now."""
        if not isinstance(outcome, Fetched):
            return outcome, ""
        source = self._source
        digest = self._store.put_body(source.customer, outcome.body)
        metadata = {
            "url": outcome.url,
            "final_url": outcome.final_url,
            "status": outcome.status,
            "headers": dict(outcome.headers),
            "content_type": outcome.content_type,
            "fetched_at": outcome.fetched_at.isoformat(),
            "body": digest,
        }
        self._store.put_fetch(source.customer, source.name, outcome.url, metadata)
        return replace(outcome, links=tuple(_of_site(outcome.links))), digest


def _of_site(links: Sequence[Found]) -> list[Found]:
    """Links to other sites are nobody's pages; they are not kept."""
    return [link for link in links if link.reason != "out_of_scope"]

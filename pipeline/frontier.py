"""The crawl's durable queue, over ledger and page store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from crawler.model import Fetched, Found, Missed, NotModified, Outcome, Task
from pipeline.ledger import Ledger, Source
from pipeline.pagestore import PageStore


class LedgerFrontier:
    """`crawler.ports.Frontier` for one pass of one source.

    Claims are kept in memory only: what was claimed and not recorded when the process died is
    not visited yet, and is claimed again by the next.
    """

    def __init__(
        self, ledger: Ledger, store: PageStore, source: Source, runner: str | None = None
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._source = source
        self._runner = runner
        self._in_flight: set[str] = set()
        self._visited = ledger.visits.visited(source.name, source.pass_number)

    def claim(self, limit: int) -> Sequence[Task]:
        if self._runner and self._ledger.sources.runner(self._source.name) != self._runner:
            return ()  # another run took the source over: this one is an orphan and ends
        budget = self._source.scope.max_pages
        if budget is not None:
            limit = min(limit, budget - self._visited - len(self._in_flight))
        if limit <= 0:
            return ()
        tasks = self._ledger.visits.pending(
            self._source.name, self._source.pass_number, limit, self._in_flight
        )
        self._in_flight.update(task.url for task in tasks)
        return tasks

    def discovered(self, links: Sequence[Found]) -> None:
        self._ledger.visits.discovered(self._source.name, _of_site(links))

    def record(self, outcome: Outcome) -> None:
        name, number = self._source.name, self._source.pass_number
        if isinstance(outcome, Fetched):
            self._record_page(outcome)
        elif isinstance(outcome, NotModified):
            self._ledger.visits.not_modified(name, number, outcome)
        else:
            self._ledger.visits.missed(name, number, outcome)
        self._in_flight.discard(outcome.url)
        self._visited += not isinstance(outcome, Missed)
        self._ledger.usage.add(
            self._source.customer,
            datetime.now(UTC).date(),
            {"requests": 1, "bytes": len(outcome.body) if isinstance(outcome, Fetched) else 0},
        )

    def _record_page(self, page: Fetched) -> None:
        source = self._source
        digest = self._store.put_body(source.customer, page.body)
        metadata = {
            "url": page.url,
            "final_url": page.final_url,
            "status": page.status,
            "headers": dict(page.headers),
            "content_type": page.content_type,
            "fetched_at": page.fetched_at.isoformat(),
            "body": digest,
        }
        self._store.put_fetch(source.customer, source.name, page.url, metadata)
        self._ledger.visits.fetched(
            source.name,
            source.pass_number,
            replace(page, links=tuple(_of_site(page.links))),
            digest,
            source.pins.fingerprint,
        )


def _of_site(links: Sequence[Found]) -> list[Found]:
    """Links to other sites are nobody's pages; they are not kept."""
    return [link for link in links if link.reason != "out_of_scope"]

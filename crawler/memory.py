"""A frontier in memory, for a crawl that stores nothing: it keeps verdicts and no bodies."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crawler import budget
from crawler.model import Fetched, Found, Missed, Outcome, Task


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of a URL. `reason` is None where it is a page, or was not asked for."""

    url: str
    depth: int
    found_on: str | None
    reason: str | None = None
    status: int | None = None
    target: str | None = None
    visited: bool = False


class MemoryFrontier:
    """The frontier's contract without its durability; memory grows with the URLs met."""

    def __init__(self, max_pages: int | None = None) -> None:
        self._max_pages = max_pages
        self._known: dict[str, Listing] = {}
        self._waiting: list[tuple[int, int, str]] = []
        self._in_flight: set[str] = set()
        self._pages = self._misses = 0

    def claim(self, limit: int) -> Sequence[Task]:
        left = budget.left(self._max_pages, self._pages, self._misses, len(self._in_flight))
        limit = limit if left is None else min(limit, left)
        tasks: list[Task] = []
        while len(tasks) < limit and self._waiting:
            depth, _, url = heapq.heappop(self._waiting)
            self._in_flight.add(url)
            tasks.append(Task(url, depth))
        return tasks

    def discovered(self, links: Sequence[Found]) -> None:
        for link in links:
            known = self._known.get(link.url)
            if known is None or (known.reason and not known.visited and link.reason is None):
                self._known[link.url] = Listing(link.url, link.depth, link.found_on, link.reason)
                if link.reason is None:
                    heapq.heappush(self._waiting, (link.depth, len(self._known), link.url))

    def record(self, outcome: Outcome) -> None:
        self._in_flight.discard(outcome.url)
        known = self._known.get(outcome.url) or Listing(outcome.url, 0, None)
        if isinstance(outcome, Missed):
            self._misses += 1
            self._known[outcome.url] = replace(
                known,
                reason=outcome.reason,
                status=outcome.status,
                target=outcome.target,
                visited=True,
            )
            return
        self._pages += 1
        status = outcome.status if isinstance(outcome, Fetched) else 304
        noindex = isinstance(outcome, Fetched) and outcome.noindex
        self._known[outcome.url] = replace(
            known, reason="noindex" if noindex else None, status=status, visited=True
        )
        if isinstance(outcome, Fetched):
            self.discovered(outcome.links)

    def listings(self) -> list[Listing]:
        """Every URL met, in the order they were."""
        return list(self._known.values())

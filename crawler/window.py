"""The tasks that a crawl holds at a time: claimed from the frontier and not recorded yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from crawler.frontier_thread import FrontierThread
from crawler.model import Task

#: Sitemaps find pages at this depth: until they are read, nothing deeper is begun by level.
DEPTH_OF_LISTED = 1


class Window:
    """Claims tasks so that there are always some to send and never many to lose.

    With `by_level` no task is begun before all nearer ones are done. Where depth is limited this
    makes the pages of a source independent of how fast each of them answers: a page's depth is the
    least there is before anything is decided by it.
    """

    def __init__(
        self, frontier: FrontierThread, size: int, by_level: bool, finding: Callable[[], bool]
    ) -> None:
        """`size` is the most tasks held; `finding` says whether more may be found besides them."""
        self._frontier = frontier
        self._size = size
        self._by_level = by_level
        self._finding = finding
        self._begun = 0
        self._claimed: list[Task] = []
        self._level = 0
        self._changed = asyncio.Event()
        self._closed = False

    async def next(self) -> Sequence[Task]:
        """Tasks to begin, as soon as there are some; none when there will be no more."""
        while not self._closed:
            self._changed.clear()
            await self._claim()
            if tasks := self._take():
                self._begun += len(tasks)
                return tasks
            idle = not self._begun and not self._claimed and not self._finding()
            if idle and not self._changed.is_set():
                return ()
            await self._changed.wait()
        return ()

    def done(self) -> None:
        """A task is recorded."""
        self._begun -= 1
        self._changed.set()

    def found(self) -> None:
        """There may be more to claim, or nothing more to be found."""
        self._changed.set()

    def close(self) -> None:
        """Nothing more is begun."""
        self._closed = True
        self._changed.set()

    async def _claim(self) -> None:
        free = self._size - self._begun - len(self._claimed)
        if free >= self._size // 2:
            self._claimed += await self._frontier.claim(free)
        elif self._by_level and not self._begun:
            # What was found last may be nearer than all that is held.
            self._claimed += await self._frontier.claim(1)

    def _take(self) -> list[Task]:
        if self._by_level and self._claimed and not self._begun:
            nearest = min(task.depth for task in self._claimed)
            if nearest <= DEPTH_OF_LISTED or not self._finding():
                self._level = nearest
        tasks = [task for task in self._claimed if not self._by_level or task.depth <= self._level]
        self._claimed = [task for task in self._claimed if task not in tasks]
        return tasks

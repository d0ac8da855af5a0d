"""The frontier's calls on a thread of their own: the reactor goes on while the ledger commits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from crawler.model import Found, HostPace, Outcome, Task
from crawler.ports import (
    BatchFrontier,
    Frontier,
    KeepingFrontier,
    PacedFrontier,
    RememberingFrontier,
)

T = TypeVar("T")
#: Outcomes in one call at most: bodies are held until they are recorded.
BATCH = 32


class FrontierThread:
    """A frontier whose calls are awaited and run one at a time.

    Outcomes that come while the thread is busy are recorded together, where the frontier can.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="frontier")
        self._outcomes: deque[tuple[Outcome, asyncio.Future[None]]] = deque()
        self._recorder: asyncio.Task[None] | None = None

    async def accepted(self, take: Callable[[Iterable[str]], None]) -> None:
        """Calls `take`, on the thread, with the URLs that the frontier holds, if it can say."""
        frontier = self._frontier
        if isinstance(frontier, RememberingFrontier):
            await self._run(lambda: take(frontier.accepted()))

    async def feeds(self) -> Sequence[str]:
        """The feeds that the frontier knows of, if it can say."""
        frontier = self._frontier
        if not isinstance(frontier, RememberingFrontier):
            return ()
        return await self._run(frontier.feeds)

    async def stored(self, url: str) -> bytes | None:
        """The body that the frontier keeps of a page, if it can show it."""
        frontier = self._frontier
        if not isinstance(frontier, KeepingFrontier):
            return None
        return await self._run(lambda: frontier.stored(url))

    async def claim(self, limit: int) -> Sequence[Task]:
        return await self._run(lambda: self._frontier.claim(limit))

    async def discovered(self, links: Sequence[Found]) -> None:
        await self._run(lambda: self._frontier.discovered(links))

    async def record(self, outcome: Outcome) -> None:
        """Returns when the outcome is durable; raises what the frontier raises."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._outcomes.append((outcome, done))
        if self._recorder is None:
            self._recorder = asyncio.ensure_future(self._record_what_waits())
        await done

    async def pace(self, host: str) -> HostPace | None:
        """How a host may be asked, by a frontier that knows; None: another crawl asks it."""
        frontier = self._frontier
        if not isinstance(frontier, PacedFrontier):
            return HostPace()
        return await self._run(lambda: frontier.pace(host))

    async def keep_pace(self, host: str, pace: HostPace) -> None:
        """Have the frontier remember what a host asked for, if it can."""
        frontier = self._frontier
        if isinstance(frontier, PacedFrontier):
            await self._run(lambda: frontier.keep_pace(host, pace))

    def close(self) -> None:
        self._thread.shutdown()

    async def _record_what_waits(self) -> None:
        while self._outcomes:
            count = min(BATCH, len(self._outcomes))
            batch = [self._outcomes.popleft() for _ in range(count)]
            outcomes = [outcome for outcome, _ in batch]
            try:
                await self._run(lambda outcomes=outcomes: self._record(outcomes))  # type: ignore[misc]
            except Exception as error:
                for _, done in batch:
                    done.set_exception(error)
            else:
                for _, done in batch:
                    done.set_result(None)
        self._recorder = None

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        if isinstance(self._frontier, BatchFrontier):
            self._frontier.record_all(outcomes)
            return
        for outcome in outcomes:
            self._frontier.record(outcome)

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

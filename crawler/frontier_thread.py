"""The frontier's calls on a thread of their own: the reactor goes on while the ledger commits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from crawler.model import Found, Outcome, Task
from crawler.ports import Frontier

P = ParamSpec("P")
T = TypeVar("T")


class FrontierThread:
    """A frontier whose calls are awaited. They run one at a time, in the order they were made."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="frontier")

    async def claim(self, limit: int) -> Sequence[Task]:
        return await self._run(self._frontier.claim, limit)

    async def discovered(self, links: Sequence[Found]) -> None:
        await self._run(self._frontier.discovered, links)

    async def record(self, outcome: Outcome) -> None:
        await self._run(self._frontier.record, outcome)

    def close(self) -> None:
        self._thread.shutdown()

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: call(*args, **kwargs))

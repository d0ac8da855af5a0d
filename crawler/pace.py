"""When a host may be asked again: Crawl-delay, Retry-After, and back-off where it gives none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Protocol

from crawler import reasons
from crawler.errors import UnavailableError
from crawler.model import HostPace

#: Seconds that a crawl waits for a host; one that asks for more is left alone in this pass.
MAX_WAIT = 120.0
#: The first wait where a host gives none; it doubles with each answer of that kind in a row.
FIRST_WAIT = 1.0
HELD_STATUSES = frozenset({429, 503})


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, in both forms of RFC 9110 section 10.2.3."""
    text = value.strip()
    if text.isdecimal():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())


class PaceMemory(Protocol):
    """Remembers paces of hosts beyond the process (`crawler/frontier_thread.py`)."""

    async def pace(self, host: str) -> HostPace | None: ...

    async def keep_pace(self, host: str, pace: HostPace) -> None: ...


class Pace:
    """What each host has asked for. `gap` is the least seconds between two requests to a host."""

    def __init__(
        self,
        gap: float,
        clock: Callable[[], float] = monotonic,
        memory: PaceMemory | None = None,
    ) -> None:
        """`memory` outlives the crawl: it is asked before the first request to a host, and told."""
        self._gap = gap
        self._clock = clock
        self._memory = memory
        self._taken: dict[str, asyncio.Task[None]] = {}
        self._gaps_before: dict[str, float] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._crawl_delays: dict[str, float] = {}
        self._free_at: dict[str, float] = {}
        self._held_in_a_row: dict[str, int] = {}

    def gap(self, host: str) -> float:
        return max(self._gap, self._crawl_delays.get(host, 0.0))

    def crawl_delay(self, host: str, seconds: float) -> None:
        """The host's robots.txt was read, and sets a delay (0: none)."""
        if seconds:
            self._crawl_delays[host] = max(seconds, self._crawl_delays.get(host, 0.0))
        self._tell(host)

    def has_crawl_delay(self, host: str) -> bool:
        return host in self._crawl_delays

    def answered(self, host: str, status: int, retry_after_header: str) -> None:
        """Takes note of an answer: 429 and 503 hold the host, all others end its back-off."""
        if status not in HELD_STATUSES:
            self._held_in_a_row.pop(host, None)
            return
        times = self._held_in_a_row.get(host, 0)
        self._held_in_a_row[host] = times + 1
        asked = retry_after(retry_after_header, datetime.now(UTC)) if retry_after_header else None
        wait = min(FIRST_WAIT * 2**times, MAX_WAIT) if asked is None else asked
        self._free_at[host] = max(self._free_at.get(host, 0.0), self._clock() + wait)
        self._tell(host)

    def wait_for(self, host: str) -> float:
        """Seconds until a held host may be asked again. Raises UnavailableError beyond MAX_WAIT."""
        if host not in self._free_at:
            return 0.0
        wait = self._free_at[host] - self._clock()
        if wait > MAX_WAIT:
            raise UnavailableError(
                reasons.RATE_LIMITED, f"{host} asks to be left alone {wait:.0f} s"
            )
        return max(0.0, wait)

    async def turn(self, host: str) -> None:
        """Returns when a request may go to the host; those that waited go one after the other.

        Raises UnavailableError where the host asks for more than MAX_WAIT, or where another crawl
        asks it.
        """
        if self._memory is not None:
            if host not in self._taken:
                self._taken[host] = asyncio.ensure_future(self._take(host, self._memory))
            await self._taken[host]
        waited = False
        while (wait := self.wait_for(host)) > 0:
            waited = True
            await asyncio.sleep(wait)
        if waited:
            # Until robots.txt is read, the gap that an earlier crawl read there holds.
            gap = max(self.gap(host), self._gaps_before.pop(host, 0.0))
            self._free_at[host] = self._clock() + gap

    async def _take(self, host: str, memory: PaceMemory) -> None:
        pace = await memory.pace(host)
        if pace is None:
            del self._taken[host]
            raise UnavailableError(reasons.RATE_LIMITED, f"{host} is asked for another source")
        if pace.wait > 0:
            self._gaps_before[host] = pace.gap
            self._free_at[host] = max(self._free_at.get(host, 0.0), self._clock() + pace.wait)

    def _tell(self, host: str) -> None:
        if self._memory is None:
            return
        wait = max(0.0, self._free_at.get(host, 0.0) - self._clock())
        telling = asyncio.ensure_future(
            self._memory.keep_pace(host, HostPace(self.gap(host), wait))
        )
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

"""Answers that stand in for pages: what a site says 200 with to everything, and log-in pages.

A site that answers 200 for what is not there (a "soft 404") is known by asking it, once a crawl,
for a page that cannot be there. What it sends while it is broken or locked is known the same way:
every page is like that answer then. A page that is kept already is compared with its stored body,
so that one which was always like this stays.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from scrapy.http import HtmlResponse, Response

from crawler import reasons
from crawler.content import HTML
from crawler.model import Fetched, Missed, Outcome, Task
from crawler.urls import origin

#: A word without digits: what counts up or tells the time is in every page anew.
WORD = re.compile(r"[^\W\d_]{2,}")
PASSWORD = re.compile(rb"<input\b[^>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
#: A page is like another that has about its words: at most this many of them lack, or are besides,
#: and no more than one in so many.
MOST_LACKING, MOST_BESIDES, ONE_IN = 1, 4, 8
#: Shares of its words that a page has kept: less, and with a field for a password it is a log-in
#: page; more, and it is the same page.
KEPT, MOSTLY_KEPT = 0.6, 0.8
#: Log-in pages of one crawl that are remembered.
LOG_INS = 20

Ask = Callable[[str], Awaitable[Response]]
Stored = Callable[[str], Awaitable[bytes | None]]


@dataclass(frozen=True, slots=True)
class Missing:
    """What an origin answers for pages that are not there.

    `changing`: words that differ from one such answer to the next.
    """

    words: frozenset[str]
    changing: frozenset[str] = frozenset()

    def is_like(self, words: frozenset[str]) -> bool:
        """Whether a page of these words is such an answer."""
        own, other = self.words - self.changing, words - self.changing
        allowed = len(own) // ONE_IN
        lacking, besides = len(own - other), len(other - own)
        return lacking <= min(MOST_LACKING, allowed) and besides <= min(MOST_BESIDES, allowed)


class Walls:
    """Judges the pages of one crawl."""

    def __init__(self, ask: Ask, stored: Stored) -> None:
        """`ask` makes a request; `stored` gives the kept body of a page, or None."""
        self._ask = ask
        self._stored = stored
        self._log_ins: deque[Missing] = deque(maxlen=LOG_INS)
        self._missing: dict[str, asyncio.Task[Missing | None]] = {}

    async def judged(self, task: Task, response: Response, page: Fetched) -> Outcome:
        """The page, or the miss that it is. One that is new and that a person named is a page."""
        if page.content_type != HTML:
            return page
        stored = await self._stored(task.url) if task.depth == 0 else None
        if task.depth == 0 and stored is None:
            return page
        site = origin(task.url)
        if site not in self._missing:
            self._missing[site] = asyncio.ensure_future(self._missing_of(site))
        missing = await self._missing[site]
        locks = bool(PASSWORD.search(page.body))
        if missing is None and not locks:
            return page
        words = read_words(response)
        alike = missing is not None and missing.is_like(words)
        if not alike and not locks:
            return page
        stored = stored or await self._stored(task.url)
        if stored is None:
            return _missed(page, reasons.SOFT_404) if alike else page
        before = read_words(response.replace(body=stored))
        kept = len(before & words) / max(1, len(before))
        if locks and not PASSWORD.search(stored) and (kept < KEPT or self._is_log_in(words)):
            self._log_ins.append(Missing(words))
            return _missed(page, reasons.LOGIN)
        # One that is named, and that is shown for what is not there, changes like any other.
        same = task.depth == 0 and kept >= MOSTLY_KEPT
        if alike and not same and missing is not None and not missing.is_like(before):
            return _missed(page, reasons.SOFT_404)
        return page

    def _is_log_in(self, words: frozenset[str]) -> bool:
        """Whether another page turned into these words and a field for a password."""
        return any(one.is_like(words) for one in self._log_ins)

    async def _missing_of(self, site: str) -> Missing | None:
        """What a site says with 200 of what it has not; None where it says that it has not."""
        first = await self._nothing(site)
        second = await self._nothing(site) if first is not None else None
        if first is None or second is None:
            return None
        return Missing(first, first ^ second)

    async def _nothing(self, site: str) -> frozenset[str] | None:
        try:
            response = await self._ask(f"{site}/{secrets.token_hex(12)}")
        except Exception:
            # Nothing can be said: it is forbidden to ask, or the site fails.
            return None
        return read_words(response) if response.status == 200 else None


def read_words(response: Response) -> frozenset[str]:
    """The words that a reader of a page sees, without those of its own address."""
    if not isinstance(response, HtmlResponse):
        response = response.replace(cls=HtmlResponse)
    seen = response.xpath("//text()[not(ancestor::script|ancestor::style|ancestor::template)]")
    text = " ".join(seen.getall())
    found = frozenset(WORD.findall(text.casefold()))
    return found - frozenset(WORD.findall(response.url.casefold()))


def _missed(page: Fetched, reason: str) -> Missed:
    return Missed(page.url, reason, page.status, page.fetched_at)

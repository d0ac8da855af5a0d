"""The spider: takes tasks from the frontier, asks for them, and records what came of each.

The frontier is the only queue. Scrapy's scheduler holds what was claimed and not sent yet (never
more than a window), retries, and sitemaps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from crawler import reasons
from crawler.access import Access
from crawler.discovery import Discovery
from crawler.errors import BrowserError, RefusedError, UnavailableError
from crawler.failures import classify
from crawler.frontier_thread import FrontierThread
from crawler.links import Link
from crawler.model import (
    MAX_FEEDS,
    Fetched,
    Found,
    Missed,
    NotModified,
    Outcome,
    Politeness,
    Tally,
    Task,
)
from crawler.outcome import visit
from crawler.pace import Pace
from crawler.rendering import Browser
from crawler.session import Session
from crawler.settings import HOSTS_AT_ONCE
from crawler.sitemaps import SitemapReader
from crawler.urls import host, origin
from crawler.walls import Walls
from crawler.window import DEPTH_OF_LISTED, Window

#: Tasks held at a time, as a multiple of the requests that are under way.
TASKS_AT_A_TIME = 2


class SiteSpider(Spider):
    """Crawls a source until its frontier hands out nothing more and nothing is in flight."""

    name = "site"

    def __init__(
        self,
        name: str,
        discovery: Discovery,
        politeness: Politeness,
        frontier: FrontierThread,
        tally: Tally,
        progress: Callable[[Tally], None] | None,
        fast_hosts: frozenset[str],
        access: Access | None = None,
    ) -> None:
        super().__init__(name)
        self.pace = Pace(politeness.delay, memory=frontier)
        self.tally = tally
        self.failure: BaseException | None = None
        """What made the frontier fail; the crawl has ended because of it."""
        self._discovery = discovery
        self._frontier = frontier
        self._progress = progress
        self._fast_hosts = fast_hosts
        self._feeds: set[str] = set()
        self._browser = (
            Browser(self._ask, discovery.rules.may_ask, politeness) if politeness.render else None
        )
        self._walls = Walls(self._ask_for, frontier.stored)
        self._session = (
            Session(access, discovery.rules.seeds[0], self._ask)
            if access is not None and access.lets_in
            else None
        )
        self._sitemaps = SitemapReader(
            politeness.max_body_bytes, self._listed, lambda: self._window.found()
        )
        self._window = Window(
            frontier,
            size=TASKS_AT_A_TIME * HOSTS_AT_ONCE * politeness.concurrency_per_host,
            by_level=discovery.rules.max_depth is not None,
            finding=lambda: self._sitemaps.open > 0,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._received, signals.bytes_received)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        seeds = self._discovery.rules.seeds
        with self._fatal():
            if self._session is not None:
                await self._session.open()
            await self._frontier.accepted(self._discovery.accepted_before)
            why_not = self._discovery.rules.why_not
            await self._tell(tuple(Found(seed, 0, None, why_not(seed)) for seed in seeds))
            if self._discovery.rules.max_depth != 0:
                usual = (f"{origin(seed)}/sitemap.xml" for seed in seeds)
                self._feeds.update(await self._frontier.feeds())
                for request in self._sitemaps.requests([*usual, *self._feeds]):
                    yield request
            while tasks := await self._window.next():
                for task in tasks:
                    try:
                        request = self._request(task)
                    except ValueError as error:
                        # One URL on record that Scrapy does not take must not end the crawl.
                        missed = Missed(task.url, reasons.BAD_URL, None, _now(), detail=str(error))
                        await self._settle(task, missed)
                    else:
                        yield request
            if self._session is not None:
                await self._session.close()

    def announce(self, lists: Iterable[str]) -> None:
        """A robots.txt names sitemaps, or a page a feed: they are read if links are followed."""
        if self._discovery.rules.max_depth == 0:
            return
        for request in self._sitemaps.requests(lists):
            self.crawler.engine.crawl(request)

    def _name_feeds(self, feeds: Iterable[str]) -> None:
        """A page names feeds. A site that has one for each page has its first ones read."""
        for feed in feeds:
            if feed not in self._feeds and len(self._feeds) < MAX_FEEDS:
                self._feeds.add(feed)
                self.announce([feed])

    async def page(self, response: Response, task: Task) -> None:
        """Callback of a task that got an answer, whatever its status."""
        if self._session is not None:
            with self._fatal():
                await self._session.saw(response)
        try:
            with self._fatal(BrowserError):
                response = await self._shown(response)
            agent = self.settings["ROBOTSTXT_USER_AGENT"]
            outcome = visit(task, response, self._discovery, agent)
            if isinstance(outcome, Fetched):
                outcome = await self._walls.judged(task, response, outcome)
        except CloseSpider:
            raise
        except (RefusedError, UnavailableError) as error:
            reason, transient, detail = classify(error)
            outcome = Missed(task.url, reason, response.status, _now(), transient, detail)
        except Exception as error:
            self.logger.exception("cannot read %s", task.url)
            outcome = Missed(
                task.url, reasons.ERROR, response.status, _now(), detail=repr(error)[:500]
            )
        await self._settle(task, outcome)

    async def missed(self, failure: Failure) -> None:
        """Errback of a task that got none."""
        task: Task = failure.request.cb_kwargs["task"]  # type: ignore[attr-defined]
        reason, transient, detail = classify(failure.value or failure)
        await self._settle(task, Missed(task.url, reason, None, _now(), transient, detail))

    async def _ask(self, request: Request) -> Response:
        """The answer to a request that is no task's, whatever its status."""
        return await self.crawler.engine.download_async(request.replace(callback=NO_CALLBACK))

    async def _ask_for(self, url: str) -> Response:
        return await self._shown(await self._ask(Request(url, meta={"dont_redirect": True})))

    async def _shown(self, response: Response) -> Response:
        """What a reader would see of an answer."""
        return response if self._browser is None else await self._browser.rendered(response)

    async def closed(self, reason: str) -> None:
        """Scrapy's call at the end of the crawl."""
        if self._browser is not None:
            await self._browser.close()

    def _request(self, task: Task) -> Request:
        headers = {}
        # A shell may be as it was while what it loads is not.
        ask_anew = self._browser is not None
        if task.etag and not ask_anew:
            headers["If-None-Match"] = task.etag
        if task.last_modified and not ask_anew:
            headers["If-Modified-Since"] = task.last_modified
        return Request(
            task.url,
            headers=headers,
            callback=self.page,
            errback=self.missed,
            cb_kwargs={"task": task},
            # The frontier knows what was visited; a redirect is a hop that it decides on.
            dont_filter=True,
            meta={
                "dont_redirect": True,
                "autothrottle_dont_adjust_delay": host(task.url) in self._fast_hosts,
            },
        )

    async def _settle(self, task: Task, outcome: Outcome) -> None:
        with self._fatal():
            if isinstance(outcome, Missed) and outcome.target is not None:
                # Before the record: a crash in between must not lose the target.
                link = Link(outcome.target)
                await self._tell(self._discovery.found([link], task.depth, task.url))
            await self._frontier.record(outcome)
            if isinstance(outcome, Fetched):
                self._discovery.told(outcome.links)
                self._name_feeds(outcome.feeds)
            self._count(outcome)
        self._window.done()

    async def _listed(self, links: list[Link], sitemap: str) -> None:
        with self._fatal():
            await self._tell(self._discovery.found(links, DEPTH_OF_LISTED, sitemap))

    async def _tell(self, found: tuple[Found, ...]) -> None:
        if found:
            await self._frontier.discovered(found)
            self._discovery.told(found)

    @contextmanager
    def _fatal(self, kind: type[Exception] = Exception) -> Iterator[None]:
        """What fails in here is the frontier, or whoever is told of progress: the crawl ends.

        `kind` is what ends it, where a page may fail in here as well.
        """
        try:
            yield
        except CloseSpider:
            raise
        except kind as error:
            self.failure = error
            self._window.close()
            raise CloseSpider("frontier") from error

    def _count(self, outcome: Outcome) -> None:
        tally = self.tally
        if isinstance(outcome, Fetched):
            tally.fetched += 1
        elif isinstance(outcome, NotModified):
            tally.not_modified += 1
        else:
            tally.missed += 1
            tally.reasons[outcome.reason] = tally.reasons.get(outcome.reason, 0) + 1
        if self._progress is not None:
            self._progress(tally)

    def _received(self, data: bytes) -> None:
        self.tally.bytes += len(data)


def _now() -> datetime:
    return datetime.now(UTC)

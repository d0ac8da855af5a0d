"""robots.txt as RFC 9309 has it, parsed by Scrapy's Protego.

Scrapy's own middleware reads the body of any answer as rules and takes a failure for a permission;
the RFC (2.3.1) wants 4xx to allow all, 5xx and failures of the network to forbid all.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import urljoin

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import ProtegoRobotParser

from crawler import reasons
from crawler.errors import RefusedError, UnavailableError
from crawler.failures import classify
from crawler.urls import host, origin

#: RFC 9309, 2.5: at least 500 KiB are read.
MAX_BYTES = 500 * 1024
#: Statuses that say "not now": unlike other 4xx they allow nothing.
UNAVAILABLE = frozenset({408, 429})
#: Failures that a page of the origin would have too: their own words say more.
PAGES_FAIL_ALIKE = frozenset(
    {
        reasons.CONNECT,
        reasons.DNS,
        reasons.FORBIDDEN_ADDRESS,
        reasons.RATE_LIMITED,
        reasons.TLS,
    }
)


@dataclass(frozen=True, slots=True)
class Robots:
    """What the robots.txt of one origin came to: rules, or why nothing may be asked now."""

    rules: ProtegoRobotParser | None = None
    refusal: str | None = None
    detail: str = ""


class RobotsMiddleware:
    """Asks for each origin's robots.txt once, before its first page, and holds to it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._agent = crawler.settings["ROBOTSTXT_USER_AGENT"]
        self._robots: dict[str, asyncio.Task[Robots]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt"):
            return
        site = origin(request.url)
        if site not in self._robots:
            self._robots[site] = asyncio.ensure_future(self._ask(site))
        robots = await self._robots[site]
        if robots.refusal is not None:
            if robots.refusal == reasons.FORBIDDEN_ADDRESS:
                raise RefusedError(robots.refusal, robots.detail)
            raise UnavailableError(robots.refusal, robots.detail)
        if robots.rules is not None and not robots.rules.allowed(request.url, self._agent):
            raise RefusedError(reasons.ROBOTS, f"{site}/robots.txt")
        if self._crawler.spider.pace.has_crawl_delay(host(site)):  # type: ignore[union-attr]
            request.meta["autothrottle_dont_adjust_delay"] = True

    async def _ask(self, site: str) -> Robots:
        engine = self._crawler.engine
        assert engine is not None
        request = Request(
            f"{site}/robots.txt",
            callback=NO_CALLBACK,
            meta={"dont_obey_robotstxt": True, "autothrottle_dont_adjust_delay": True},
        )
        try:
            response = await engine.download_async(request)
        except IgnoreRequest:
            # More redirects than are followed: as if there were none (RFC 9309, 2.3.1.2).
            return Robots()
        except Exception as error:
            return _unavailable(error)
        if response.status >= 500 or response.status in UNAVAILABLE:
            detail = f"{site}/robots.txt answers {response.status}"
            return Robots(refusal=reasons.ROBOTS_UNAVAILABLE, detail=detail)
        if not 200 <= response.status < 300:
            return Robots()
        return self._read(site, response)

    def _read(self, site: str, response: Response) -> Robots:
        rules = ProtegoRobotParser(response.body[:MAX_BYTES], self._crawler.spider)
        delay = float(rules.crawl_delay(self._agent) or 0.0)
        self._crawler.spider.pace.crawl_delay(host(site), delay)  # type: ignore[union-attr]
        if delay:
            self._slow_down(host(site))
        listed = [urljoin(response.url, url) for url in rules.rp.sitemaps]
        self._crawler.spider.announce(listed)  # type: ignore[union-attr]
        return Robots(rules)

    def _slow_down(self, name: str) -> None:
        gap = self._crawler.spider.pace.gap(name)  # type: ignore[union-attr]
        engine = self._crawler.engine
        assert engine is not None
        downloader = engine.downloader
        downloader.per_slot_settings.setdefault(name, {}).update(delay=gap, concurrency=1)
        if slot := downloader.slots.get(name):
            slot.delay, slot.concurrency = gap, 1


def _unavailable(error: Exception) -> Robots:
    """What holds for the pages of an origin when its robots.txt could not be had."""
    reason, _, detail = classify(error)
    if reason == reasons.FILE_TYPE:
        # A picture: there is no robots.txt here.
        return Robots()
    if reason in PAGES_FAIL_ALIKE:
        return Robots(refusal=reason, detail=detail)
    return Robots(refusal=reasons.ROBOTS_UNAVAILABLE, detail=f"{reason}: {detail}")

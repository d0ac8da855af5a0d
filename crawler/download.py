"""The download handler: Scrapy's for HTTP/1.1, with the host's pace and the guard on addresses."""

from __future__ import annotations

from typing import Any, cast

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.error import DNSLookupError

from crawler import reasons
from crawler.addresses import GuardedResolver
from crawler.errors import RefusedError
from crawler.headers import BoundedHeadersFactory
from crawler.model import Tally
from crawler.pace import Pace
from crawler.urls import host


class GuardedHandler(HTTP11DownloadHandler):
    """Waits until the host may be asked, and says so where its address must not be connected to."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        self._pool._factory = BoundedHeadersFactory
        self._resolver = cast("GuardedResolver", reactor.nameResolver)
        self._pace: Pace = crawler.spider.pace  # type: ignore[union-attr]
        self._tally: Tally = crawler.spider.tally  # type: ignore[union-attr]

    async def _check(self, name: str) -> None:
        """Where a proxy connects, this machine's look-up of the name is checked in its place."""
        from twisted.internet import reactor

        look_up: Any = reactor.resolve
        try:
            address: str = await maybe_deferred_to_future(look_up(name))
        except DNSLookupError as error:
            raise CannotResolveHostError(str(error)) from error
        if not self._resolver.may_connect(name, address):
            raise RefusedError(reasons.FORBIDDEN_ADDRESS, f"{name} is {address}")

    async def download_request(self, request: Request) -> Response:
        name = host(request.url)
        await self._pace.turn(name)
        self._tally.requests += 1
        try:
            if request.meta.get("proxy"):
                await self._check(name)
            response = await super().download_request(request)
        except CannotResolveHostError as error:
            self._tally.requests -= 1
            if address := self._resolver.refusal(name):
                raise RefusedError(reasons.FORBIDDEN_ADDRESS, f"{name} is {address}") from error
            raise
        retry_after = response.headers.get("Retry-After") or b""
        self._pace.answered(name, response.status, retry_after.decode("latin-1"))
        return response

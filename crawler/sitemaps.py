"""Sitemaps and feeds as sources of links: those that robots.txt and pages name, `/sitemap.xml`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import islice

from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from crawler import listings
from crawler.errors import InvalidUrlError
from crawler.links import Link
from crawler.urls import canonical

#: Sitemaps read in one crawl, and how deep an index may name indexes (the protocol has no nesting).
MAX_SITEMAPS = 1_000
MAX_NESTING = 3
BATCH = 500


class SitemapReader:
    """Requests sitemaps and hands on the links in them; each sitemap is read once."""

    def __init__(
        self,
        max_bytes: int,
        deliver: Callable[[list[Link], str], Awaitable[None]],
        changed: Callable[[], None],
    ) -> None:
        """`deliver` gets links and a sitemap's URL; `changed` is called when a sitemap is done.

        What a packed sitemap holds beyond `max_bytes` is not read.
        """
        self._max_bytes = max_bytes
        self._deliver = deliver
        self._changed = changed
        self._seen: set[str] = set()
        self.open = 0
        """Sitemaps that are asked for or read now."""

    def requests(self, urls: Iterable[str], nesting: int = 0) -> Iterator[Request]:
        """Requests for the sitemaps among `urls` that were not asked for before."""
        for url in urls:
            try:
                spelt = canonical(url)
            except InvalidUrlError:
                continue
            fresh = spelt not in self._seen and len(self._seen) < MAX_SITEMAPS
            if not fresh or nesting > MAX_NESTING or not spelt.startswith(("http://", "https://")):
                continue
            self._seen.add(spelt)
            self.open += 1
            yield Request(
                spelt,
                callback=self._read,
                errback=self._missed,
                dont_filter=True,
                cb_kwargs={"nesting": nesting},
            )

    async def _read(self, response: Response, nesting: int) -> AsyncIterator[Request]:
        try:
            if response.status != 200:
                return
            kind, listed = listings.read(response.body, response.url, self._max_bytes)
            if kind == listings.INDEX:
                for request in self.requests((one.url for one in listed), nesting + 1):
                    yield request
            else:
                while batch := list(islice(listed, BATCH)):
                    await self._deliver(listings.links(batch), response.url)
        finally:
            self._done()

    def _missed(self, failure: Failure) -> None:
        self._done()

    def _done(self) -> None:
        self.open -= 1
        self._changed()

"""Sitemaps as a source of links: those that robots.txt names and `/sitemap.xml`.

Format: sitemaps.org protocol 0.9, read by Scrapy's reader; also its plain text form, and gzip
whether the server says so or not. A sitemap is known by its bytes, never by its name.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import islice

from lxml import etree  # type: ignore[import-untyped]
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.sitemap import Sitemap
from twisted.python.failure import Failure

from crawler.errors import InvalidUrlError
from crawler.links import Link
from crawler.urls import canonical, join

#: Sitemaps read in one crawl, and how deep an index may name indexes (the protocol has no nesting).
MAX_SITEMAPS = 1_000
MAX_NESTING = 3
BATCH = 500
GZIP = b"\x1f\x8b"
#: zlib's largest window, and its sign for a gzip header.
GZIP_WINDOW = zlib.MAX_WBITS | 16
BOM = b"\xef\xbb\xbf"


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
            kind, urls = (
                _entries(response, self._max_bytes) if response.status == 200 else ("", iter(()))
            )
            if kind == "sitemapindex":
                for request in self.requests(urls, nesting + 1):
                    yield request
            else:
                while batch := list(islice(urls, BATCH)):
                    await self._deliver(_links(batch), response.url)
        finally:
            self._done()

    def _missed(self, failure: Failure) -> None:
        self._done()

    def _done(self) -> None:
        self.open -= 1
        self._changed()


def _entries(response: Response, max_bytes: int) -> tuple[str, Iterator[str]]:
    """Kind of sitemap (`urlset`, `sitemapindex`, or nothing) and the absolute URLs in it."""
    body = response.body
    if body.startswith(GZIP):
        try:
            body = zlib.decompressobj(GZIP_WINDOW).decompress(body, max_bytes)
        except zlib.error:
            return "", iter(())
    text = body.removeprefix(BOM).lstrip()
    if not text.startswith(b"<"):
        return "urlset", _lines(text)
    try:
        sitemap = Sitemap(text)
    except (etree.LxmlError, StopIteration):
        return "", iter(())
    if sitemap.type not in ("urlset", "sitemapindex"):
        return "", iter(())
    return sitemap.type, _locations(sitemap, response.url)


def _lines(text: bytes) -> Iterator[str]:
    for line in text.decode("utf-8", "replace").splitlines():
        if line.startswith(("http://", "https://")):
            yield line.strip()


def _locations(sitemap: Sitemap, base: str) -> Iterator[str]:
    try:
        for entry in sitemap:
            if entry.get("loc"):
                yield join(base, entry["loc"])
    except (etree.LxmlError, InvalidUrlError):
        # What was readable has been handed on.
        return


def _links(urls: list[str]) -> list[Link]:
    links = []
    for url in urls:
        try:
            links.append(Link(canonical(url)))
        except InvalidUrlError:
            continue
    return links

"""Stops a download at its headers where they say that it is an image, a film, a sound or a font."""

from __future__ import annotations

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers

from crawler.content import is_media


class StopMedia:
    """A Scrapy extension on the signal that a response's headers are there."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StopMedia:
        extension = cls()
        crawler.signals.connect(extension.headers_received, signals.headers_received)
        return extension

    def headers_received(self, headers: Headers, request: Request) -> None:
        content_type = headers.get("Content-Type")
        if content_type and is_media(content_type.decode("latin-1")):
            raise StopDownload(fail=True)

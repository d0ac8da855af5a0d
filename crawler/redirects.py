"""Redirects of robots.txt and of sitemaps; those of pages are hops between tasks (`outcome.py`)."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.http import Response


class FileRedirectMiddleware(RedirectMiddleware):
    """Scrapy's, which sends no Referer and looks for no middleware that would set one."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FileRedirectMiddleware:
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)

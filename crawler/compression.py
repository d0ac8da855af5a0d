"""Scrapy's decompression, whose failures get reasons: over the limit, or not what it says it is."""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler import reasons
from crawler.errors import RefusedError


class DecompressionMiddleware(HttpCompressionMiddleware):
    """The limit is DOWNLOAD_MAXSIZE, counted after decompression, for every content coding."""

    def process_response(  # type: ignore[override] # its third argument is deprecated
        self, request: Request, response: Response
    ) -> Request | Response:
        if not response.body:
            return response
        try:
            return super().process_response(request, response)
        except IgnoreRequest as error:
            raise RefusedError(reasons.TOO_LARGE, str(error)) from error
        except Exception as error:
            # Each codec has errors of its own, without a common base.
            raise RefusedError(reasons.BROKEN_BODY, f"{type(error).__name__}: {error}") from error

"""What the scripts of a page may ask for, and where the answers come from: the crawl's own client.

Only scripts and data, by GET, from the hosts of the source and not excluded by it. Pictures, fonts,
films and frames are refused, style sheets are empty, and the page does not go elsewhere: none of
them adds text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response

if TYPE_CHECKING:
    from playwright.async_api import Request as PageRequest
    from playwright.async_api import Route

ASKED = frozenset({"script", "fetch", "xhr"})
#: Requests of one page, and redirects of one of them.
MAX_REQUESTS, MAX_HOPS = 200, 5
#: Bytes of scripts that are kept for the other pages of the crawl.
MAX_KEPT = 32 * 1024 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: What is not true any more of an answer that is unpacked, and what a script must not see.
NOT_PASSED_ON = (
    b"Content-Encoding",
    b"Content-Length",
    b"Transfer-Encoding",
    b"Connection",
    b"Set-Cookie",
)

Ask = Callable[[Request], Awaitable[Response]]
MayAsk = Callable[[str], bool]


class Scripts:
    """Scripts that pages of one crawl share, so that a site is asked once for each."""

    def __init__(self) -> None:
        self._kept: dict[str, Response] = {}
        self._bytes = 0

    def get(self, url: str) -> Response | None:
        return self._kept.get(url)

    def keep(self, url: str, response: Response) -> None:
        if response.status == 200 and self._bytes + len(response.body) <= MAX_KEPT:
            self._bytes += len(response.body)
            self._kept[url] = response


class PageRequests:
    """Answers the requests of one page, the page itself first."""

    def __init__(
        self, page: Response, ask: Ask, may_ask: MayAsk, scripts: Scripts, max_bytes: int
    ) -> None:
        """`max_bytes` is for all that the page asks for together."""
        self._page: Response | None = page
        self._ask = ask
        self._may_ask = may_ask
        self._scripts = scripts
        self._bytes_left = max_bytes
        self._requests_left = MAX_REQUESTS

    async def answer(self, route: Route) -> None:
        """Playwright's handler: every request of the page comes here, none goes by."""
        from playwright.async_api import Error

        # A page that is closed meanwhile takes no answer.
        with suppress(Error):
            if route.request.is_navigation_request():
                page, self._page = self._page, None
                # "No content" leaves a page as it is; a refusal would put an error's in its place.
                await (_fulfil(route, page) if page is not None else route.fulfill(status=204))
            elif route.request.resource_type == "stylesheet":
                await route.fulfill(status=200, content_type="text/css", body="")
            elif (response := await self._response(route.request)) is not None:
                await _fulfil(route, response)
            else:
                await route.abort()

    async def _response(self, request: PageRequest) -> Response | None:
        if request.resource_type not in ASKED or request.method != "GET":
            return None
        shared = request.resource_type == "script"
        response = self._scripts.get(request.url) if shared else None
        if response is None:
            try:
                response = await self._fetched(request)
            except Exception:
                # To the page it is a network that fails, whatever refused it.
                return None
            if response is not None and shared:
                self._scripts.keep(request.url, response)
        return response

    async def _fetched(self, request: PageRequest) -> Response | None:
        url = request.url
        accept = request.headers.get("accept", "*/*")
        for _ in range(1 + MAX_HOPS):
            asked = Request(url, headers={"Accept": accept}, meta={"dont_redirect": True})
            if not self._may_ask(asked.url) or self._requests_left < 1 or self._bytes_left < 1:
                return None
            self._requests_left -= 1
            asked.meta["download_maxsize"] = self._bytes_left
            response = await self._ask(asked)
            self._bytes_left -= len(response.body)
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or location is None:
                return response
            url = urljoin(response.url, location.decode("latin-1"))
        return None


async def _fulfil(route: Route, response: Response) -> None:
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.title() not in NOT_PASSED_ON
    }
    await route.fulfill(status=response.status, headers=headers, body=response.body)

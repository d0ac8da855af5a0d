"""Runs the scripts of pages in a browser that has no network of its own.

The page is asked for as ever, and its answer is given to the browser; whatever its scripts ask for
goes through the crawl's own client (`crawler/page_requests.py`), where the checks of addresses,
robots.txt, paces, caps and log-ins are. Chromium's own connections lead to a proxy whose name does
not resolve: what is not answered by the crawl reaches nobody.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse, Response

from crawler import reasons
from crawler.content import HTML, sniff
from crawler.errors import BrowserError, RefusedError, UnavailableError
from crawler.model import Politeness
from crawler.page_requests import Ask, MayAsk, PageRequests, Scripts

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright

EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")
#: Pages that are rendered at a time; each is a process of Chromium's.
PAGES_AT_ONCE = 2
#: Share of a page's time in which it is to come to rest; what it shows by then is its text.
SETTLE = 0.5
#: Seconds for a page to be closed, before the browser is.
CLOSE = 5.0
FLAGS = (
    # No connection of its own, loopback included, and no look-up of a name.
    "--proxy-server=socks5://nowhere.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--disable-gpu",
    # Bytes of a page's scripts, in MiB.
    "--js-flags=--max-old-space-size=512",
)
#: Taken from every document before its scripts run: what speaks without a request.
WITHOUT = "delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection; \
delete globalThis.WebTransport"
#: Headers of the answer that are not true of the page after its scripts: the shell may be as it
#: was while what it loads is not.
OF_THE_SHELL = ("ETag", "Last-Modified", "Cache-Control", "Expires", "Content-Encoding")


def executable() -> str | None:
    """The browser that would be started, or None where there is none."""
    return next(filter(None, map(shutil.which, EXECUTABLES)), None)


def check() -> None:
    """Raises `BrowserError` where pages cannot be rendered on this machine, naming what lacks."""
    if find_spec("playwright") is None:
        raise BrowserError("pages cannot be rendered: pip install 'wrac[render]'")
    if executable() is None:
        raise BrowserError("pages cannot be rendered: no chromium here (apt-get install chromium)")


class Browser:
    """The browser of one crawl, started at its first page. Nothing stays from page to page."""

    def __init__(self, ask: Ask, may_ask: MayAsk, politeness: Politeness) -> None:
        """`ask` makes a request of a page through the crawl; `may_ask` decides on its URL."""
        self._ask = ask
        self._may_ask = may_ask
        self._politeness = politeness
        self._scripts = Scripts()
        self._turns = asyncio.Semaphore(PAGES_AT_ONCE)
        self._starting = asyncio.Lock()
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None

    async def rendered(self, response: Response) -> Response:
        """The answer with the page as its scripts leave it; any but a page is given back as it is.

        Raises `UnavailableError` for a page that does not end in time or breaks the browser,
        `RefusedError` for one that grows over the limit, `BrowserError` where none starts.
        """
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if not 200 <= response.status < 300 or sniff(response.body, kind, response.url) != HTML:
            return response
        from playwright.async_api import Error

        async with self._turns:
            chromium = await self._started()
            try:
                async with asyncio.timeout(self._politeness.timeout):
                    html = await self._run(chromium, response)
            except TimeoutError as error:
                raise UnavailableError(reasons.TIMEOUT, "the page's scripts do not end") from error
            except Error as error:
                raise UnavailableError(reasons.ERROR, f"in the browser: {error}"[:500]) from error
        # A mark at the front, as a `<meta>` in the page may still name the encoding that it had.
        body = html.encode("utf-8-sig", "replace")
        if len(body) > self._politeness.max_body_bytes:
            raise RefusedError(reasons.TOO_LARGE, f"{len(body)} bytes after its scripts")
        headers = response.headers.copy()
        for name in OF_THE_SHELL:
            headers.pop(name, None)
        headers["Content-Type"] = "text/html; charset=utf-8"
        return response.replace(cls=HtmlResponse, headers=headers, body=body, encoding="utf-8")

    async def close(self) -> None:
        """End the browser, if one was started."""
        await self._drop()
        if self._driver is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._driver.stop(), CLOSE)

    async def _run(self, chromium: Chromium, response: Response) -> str:
        from playwright.async_api import TimeoutError as Unsettled

        context = await chromium.new_context(
            user_agent=self._politeness.user_agent, service_workers="block", accept_downloads=False
        )
        try:
            requests = PageRequests(
                response, self._ask, self._may_ask, self._scripts, self._politeness.max_body_bytes
            )
            await context.add_init_script(WITHOUT)
            await context.route("**/*", requests.answer)
            page = await context.new_page()
            await page.goto(response.url, wait_until="commit", timeout=0)
            settle = SETTLE * self._politeness.timeout
            with suppress(Unsettled):
                await page.wait_for_load_state("networkidle", timeout=settle * 1000)
            return await page.content()
        finally:
            await self._end(context)

    async def _started(self) -> Chromium:
        from playwright.async_api import Error, async_playwright

        async with self._starting:
            if self._driver is None:
                self._driver = await async_playwright().start()
            if self._chromium is None or not self._chromium.is_connected():
                root = os.geteuid() == 0
                try:
                    self._chromium = await self._driver.chromium.launch(
                        executable_path=executable(), args=FLAGS, chromium_sandbox=not root
                    )
                except Error as error:
                    raise BrowserError(f"chromium does not start: {error}"[:500]) from error
            return self._chromium

    async def _end(self, context: BrowserContext) -> None:
        """Close a page, or all of the browser where it does not let itself be closed."""
        try:
            await asyncio.wait_for(context.close(), CLOSE)
        except Exception:
            await self._drop()

    async def _drop(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            with suppress(Exception):
                await asyncio.wait_for(chromium.close(), CLOSE)

"""Logs in by a form, and notices when a site does not let the crawler in any more.

A log-in that has expired looks like a site that lost its pages: the crawl ends with an error then,
so that nothing of what it saw is taken for true.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from time import monotonic
from urllib.parse import urlencode, urljoin, urlsplit

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from crawler.access import Access, Form
from crawler.errors import AccessError
from crawler.walls import PASSWORD, read_words

REFUSED = frozenset({401, 403, 407})
LOGIN_PATH = re.compile(
    r"(?:^|[/_-])(?:log-?in|log-?on|sign-?in|sso|auth)(?:[/._-]|$)", re.IGNORECASE
)
#: Words of a page that asks for a password and says little else.
FEW_WORDS = 150
#: Seconds between two looks whether a site lets the crawler in still.
EVERY = 30.0
#: Redirects after a form that are followed.
MAX_HOPS = 5

Ask = Callable[[Request], Awaitable[Response]]


class Session:
    """The state of a source's log-in during one crawl."""

    def __init__(self, access: Access, seed: str, ask: Ask) -> None:
        """`seed` is a page that shows whether the log-in holds."""
        self._access = access
        self._seed = seed
        self._ask = ask
        self._looked = -EVERY
        self._doubtful = False

    async def open(self) -> None:
        """Log in. Raises `AccessError` where that fails."""
        if self._access.form is not None:
            await self._send(self._access.form)
        await self._look("does not let the crawler in")

    async def saw(self, response: Response) -> None:
        """Take note of an answer. Raises `AccessError` where it shows that the log-in is over."""
        if is_locked(response):
            self._doubtful = True
            await self._look_if_due(EVERY)

    async def close(self) -> None:
        """The crawl has ended. Raises `AccessError` where the log-in was over by then."""
        await self._look_if_due(0.0)

    async def _look_if_due(self, every: float) -> None:
        if self._doubtful and monotonic() - self._looked >= every:
            await self._look("does not let the crawler in any more: the log-in has expired")

    async def _look(self, said: str) -> None:
        self._looked, self._doubtful = monotonic(), False
        response = await self._ask(Request(self._seed, meta={"dont_redirect": True}))
        if is_locked(response):
            raise AccessError(f"{self._seed} {said} (status {response.status})")

    async def _send(self, form: Form) -> None:
        page = await self._ask(Request(form.url, meta={"dont_obey_robotstxt": True}))
        answer = await self._ask(_filled(page, form))
        for _ in range(MAX_HOPS):
            location = answer.headers.get("Location")
            if answer.status not in (301, 302, 303, 307, 308) or location is None:
                break
            target = urljoin(answer.url, location.decode("latin-1"))
            answer = await self._ask(Request(target, meta=_ALONE))
        if answer.status >= 400 or PASSWORD.search(answer.body):
            raise AccessError(f"the form at {form.url} does not log in (status {answer.status})")


_ALONE = {"dont_obey_robotstxt": True, "dont_redirect": True}


def is_locked(response: Response) -> bool:
    """Whether an answer is one to somebody who is not let in."""
    if response.status in REFUSED:
        return True
    location = response.headers.get("Location")
    if 300 <= response.status < 400 and location is not None:
        return bool(LOGIN_PATH.search(urlsplit(location.decode("latin-1")).path))
    asks = response.status == 200 and PASSWORD.search(response.body)
    return bool(asks) and len(read_words(response)) < FEW_WORDS


def _filled(page: Response, form: Form) -> Request:
    """The request that a browser would make of a filled form. Raises `AccessError`."""
    if not isinstance(page, HtmlResponse):
        page = page.replace(cls=HtmlResponse)
    forms = [one for one in page.xpath("//form") if one.xpath(".//input[@type='password']")]
    if not forms:
        raise AccessError(f"there is no form with a password at {form.url} (status {page.status})")
    element = forms[0].root
    unknown = set(form.fields) - set(element.fields.keys())
    if unknown:
        raise AccessError(f"the form at {form.url} has no field {', '.join(sorted(unknown))}")
    values = {**dict(element.form_values()), **form.fields}
    target = urljoin(page.url, element.action or "")
    if page.url.startswith("https:") and not target.startswith("https:"):
        raise AccessError(f"the form at {form.url} would send its fields unencrypted")
    return Request(
        target,
        method=element.method,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=urlencode(values),
        meta=dict(_ALONE),
    )

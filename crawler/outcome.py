"""A response becomes the outcome of a visit."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from scrapy.http import HtmlResponse, Response
from scrapy.utils.response import get_meta_refresh

from crawler import reasons
from crawler.content import HTML, sniff
from crawler.discovery import Discovery
from crawler.errors import InvalidUrlError
from crawler.freshness import fresh_for
from crawler.links import Link, PageHead, header_canonical, read_html, robots_directives
from crawler.model import Fetched, Missed, NotModified, Outcome, Task
from crawler.urls import canonical, join

STATUSES = {
    401: (reasons.DENIED, False),
    403: (reasons.DENIED, False),
    404: (reasons.NOT_FOUND, False),
    407: (reasons.DENIED, False),
    408: (reasons.TIMEOUT, True),
    410: (reasons.GONE, False),
    425: (reasons.RATE_LIMITED, True),
    429: (reasons.RATE_LIMITED, True),
    451: (reasons.DENIED, False),
}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: A meta refresh within this many seconds is a redirect; a slower one reloads a page that is read.
MAX_REFRESH = 10.0
#: Response headers that may carry somebody's session, and those that describe the transfer alone.
NOT_STORED = re.compile(
    r"set-cookie2?|authorization|proxy-.*|.*(?:token|csrf|xsrf|session|secret|api-?key|auth).*"
    r"|content-length|transfer-encoding|connection|keep-alive",
    re.IGNORECASE,
)


def visit(task: Task, response: Response, discovery: Discovery, agent: str) -> Outcome:
    """The outcome of asking for `task`; `agent` is the crawler's token in robots directives."""
    now = datetime.now(UTC)
    status = response.status
    if status == 304 and (task.etag or task.last_modified):
        return NotModified(task.url, now, fresh_for(_stored_headers(response), now))
    if status in REDIRECTS and response.headers.get("Location"):
        return _redirect(task, response, _header(response, "Location"), discovery, now)
    if not 200 <= status < 300:
        reason, transient = STATUSES.get(status, _by_class(status))
        return Missed(task.url, reason, status, now, transient)
    if not response.body.strip():
        return Missed(task.url, reasons.EMPTY, status, now)
    kind = sniff(response.body, _header(response, "Content-Type"), response.url)
    if kind is None:
        return Missed(
            task.url, reasons.FILE_TYPE, status, now, detail=_header(response, "Content-Type")
        )
    if kind == HTML and not isinstance(response, HtmlResponse):
        response = response.replace(cls=HtmlResponse)
    if isinstance(response, HtmlResponse) and (target := _refresh(response)):
        return _redirect(task, response, target, discovery, now)
    return _page(task, response, kind, discovery, agent, now)


def _redirect(
    task: Task, response: Response, location: str, discovery: Discovery, now: datetime
) -> Missed:
    """A hop to the next task, or why there is none. A hop adds nothing to the depth."""
    status = response.status
    try:
        target = discovery.rules.spelt(canonical(join(response.url, location)))
    except InvalidUrlError as error:
        return Missed(task.url, reasons.BAD_URL, status, now, detail=str(error))
    if target == task.url:
        return Missed(task.url, reasons.REDIRECT_LOOP, status, now, detail=location[:500])
    reason = discovery.rules.why_not(target, task.depth) or reasons.REDIRECT
    return Missed(task.url, reason, status, now, detail=location[:500], target=target)


def _page(
    task: Task, response: Response, kind: str, discovery: Discovery, agent: str, now: datetime
) -> Fetched:
    head = read_html(response, agent) if isinstance(response, HtmlResponse) else PageHead()
    directives = robots_directives(_headers(response, "X-Robots-Tag"), agent)
    named = head.canonical or header_canonical(_headers(response, "Link"), response.url)
    if named is not None:
        named = discovery.rules.spelt(named)
        named = named if discovery.rules.why_not(named) is None else None
    nofollow = head.nofollow or bool(directives & {"nofollow", "none"})
    links = () if nofollow else discovery.found(head.links, task.depth + 1, task.url)
    if named is not None and named != task.url:
        links += discovery.found([Link(named)], task.depth, task.url)
    headers = _stored_headers(response)
    return Fetched(
        url=task.url,
        final_url=task.url,
        status=response.status,
        headers=headers,
        content_type=kind,
        body=response.body,
        fetched_at=now,
        etag=_header(response, "ETag") or None,
        last_modified=_header(response, "Last-Modified") or None,
        canonical=named,
        noindex=head.noindex or bool(directives & {"noindex", "none"}),
        links=links,
        fresh_for=fresh_for(headers, now),
        feeds=() if nofollow else tuple(filter(discovery.rules.on_site, head.feeds)),
    )


def _by_class(status: int) -> tuple[str, bool]:
    if status >= 500:
        return reasons.SERVER_ERROR, True
    return reasons.CLIENT_ERROR, False


def _refresh(response: HtmlResponse) -> str | None:
    if b"refresh" not in response.body[:4096].lower():
        return None
    seconds, url = get_meta_refresh(response, ignore_tags=("script", "noscript"))
    if url is None or seconds is None or seconds > MAX_REFRESH:
        return None
    try:
        # A page that reloads itself is a page.
        return url if canonical(url) != canonical(response.url) else None
    except InvalidUrlError:
        return None


def _headers(response: Response, name: str) -> list[str]:
    return [value.decode("latin-1") for value in response.headers.getlist(name)]


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else ""


def _stored_headers(response: Response) -> dict[str, str]:
    stored = {}
    for raw, values in response.headers.items():
        name = raw.decode("latin-1").lower()
        if not NOT_STORED.fullmatch(name):
            stored[name] = ", ".join(value.decode("latin-1") for value in values)
    return stored

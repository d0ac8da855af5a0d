"""The values that go between the crawl and whoever keeps its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

#: Feeds of a source that are read.
MAX_FEEDS = 50


@dataclass(frozen=True, slots=True)
class Scope:
    """Which URLs of a site belong to a source."""

    seeds: tuple[str, ...]
    include: tuple[str, ...] = ()
    """URL patterns (`*` matches anything); when there are any, a URL must match one."""
    exclude: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Hosts besides those of the seeds, with any port where none is named; a leading `www.` makes
    no difference. `*.example.com` is that domain and all below it."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts that may resolve to loopback or private addresses."""
    max_pages: int | None = None
    max_depth: int | None = None
    max_per_template: int | None = 20_000
    """URLs that differ in numbers and parameter values only (`crawler/traps.py`)."""
    parameters: tuple[str, ...] | None = None
    """Query parameters that are kept, all others are cut off; None: all are kept."""


@dataclass(frozen=True, slots=True)
class Politeness:
    """How a site is asked."""

    user_agent: str
    obey_robots: bool = True
    delay: float = 0.0
    """Least seconds between two requests to one host; robots' Crawl-delay raises it."""
    concurrency_per_host: int = 4
    timeout: float = 30.0
    """Seconds for a whole response, slow drips included."""
    max_body_bytes: int = 32 * 1024 * 1024
    """After decompression."""
    verify_tls: bool = True
    """Whether a site must prove its name; without it a page may come from anybody on the way."""
    language: str | None = None
    """Value of Accept-Language; None: the header is Scrapy's own."""
    render: bool = False
    """Whether the scripts of pages are run (`crawler/rendering.py`)."""


@dataclass(frozen=True, slots=True)
class HostPace:
    """How a host is to be asked. Both in seconds."""

    gap: float = 0.0
    """Between two requests, as far as the host or the source set one."""
    wait: float = 0.0
    """Until the next request."""


@dataclass(frozen=True, slots=True)
class Task:
    """A URL to visit, with what an earlier visit left to ask conditionally."""

    url: str
    depth: int
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A link: where it points and where it stood. `reason` says why it is not in scope."""

    url: str
    depth: int
    found_on: str | None
    reason: str | None = None
    listed_at: datetime | None = None
    """When the page changed last, by a sitemap or a feed that lists it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A visit that ended in a page."""

    url: str
    """The canonical form of the URL that was asked for."""
    final_url: str
    """Where redirects led."""
    status: int
    headers: Mapping[str, str]
    """Response headers by lower-case name; cookies left out."""
    content_type: str
    body: bytes
    fetched_at: datetime
    etag: str | None = None
    last_modified: str | None = None
    canonical: str | None = None
    """The page's own canonical URL, resolved, where it names one in scope."""
    noindex: bool = False
    links: tuple[Found, ...] = ()
    fresh_for: float | None = None
    """Seconds for which the response says that it stays as it is (`crawler/freshness.py`)."""
    feeds: tuple[str, ...] = ()
    """Canonical URLs of the feeds of its site that it names."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """A visit that ended in 304."""

    url: str
    fetched_at: datetime
    fresh_for: float | None = None


@dataclass(frozen=True, slots=True)
class Missed:
    """A visit without a page. `reason` is one of the words in `crawler/reasons.py`."""

    url: str
    reason: str
    status: int | None
    at: datetime
    transient: bool = False
    """Trying again later can help (time-out, 5xx, 429)."""
    detail: str = ""
    target: str | None = None
    """Where a redirect led, canonical. With reason `redirect`, `url` is an alias of it, and it is a
    task of its own: scope, robots and what the frontier knows hold at every hop. With any other
    reason it is not visited, for that reason."""


Outcome = Fetched | NotModified | Missed


@dataclass(slots=True)
class Tally:
    """What a crawl did, counted while it runs."""

    requests: int = 0
    """Sent or tried, with repetitions, robots.txt and sitemaps."""
    bytes: int = 0
    """Of bodies, as they came over the wire."""
    fetched: int = 0
    not_modified: int = 0
    missed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

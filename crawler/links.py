"""What the head and the links of a page say, to a crawler.

Sources: HTML Living Standard 4.2.3 (`base`), 4.6.7 (link types); robots meta tags and X-Robots-Tag
as the large search engines document them; RFC 8288 (Link header); RFC 6596 (canonical).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lxml import etree  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse

from crawler.errors import InvalidUrlError
from crawler.urls import canonical, join

#: Schemes that lead to no page; such links are left out without a word.
NO_PAGE = re.compile(
    r"\s*(?:mailto|tel|sms|javascript|data|about|blob|file|callto|whatsapp):", re.I
)
LINK_HEADER = re.compile(r"<([^>]*)>((?:[^,\"]|\"[^\"]*\")*)")
REL = re.compile(r";\s*rel\s*=\s*\"?([^\";]+)", re.I)
#: A directive of X-Robots-Tag that is for one crawler stands behind its name and a colon.
FOR_AGENT = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
#: Directives that have a value behind a colon themselves.
WITH_VALUE = re.compile(r"unavailable_after|max-(?:snippet|image-preview|video-preview)")
#: Links read of one page, and characters of a Link header: no page of a reader has more.
MAX_LINKS = 10_000
MAX_HEADER = 4096
FOLLOWED_RELS = frozenset({"next", "prev", "alternate", "help", "contents", "index", "start", "up"})
#: Alternates of these types are feeds and other forms of the page, not pages.
HTML_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "application/pdf"})
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})


@dataclass(frozen=True, slots=True)
class Link:
    """A canonical URL, and whether the page asks not to follow it."""

    url: str
    nofollow: bool = False
    listed_at: datetime | None = None
    """When what it leads to changed last, by a sitemap or a feed."""


@dataclass(frozen=True, slots=True)
class PageHead:
    """What a page and its response headers say about itself and where it leads."""

    links: tuple[Link, ...] = ()
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    """Canonical URLs of the feeds that it names."""


def robots_directives(values: Iterable[str], agent: str) -> frozenset[str]:
    """The directives in X-Robots-Tag header values that are for all crawlers or for `agent`."""
    found: set[str] = set()
    for value in values:
        named = FOR_AGENT.match(value)
        if named and not WITH_VALUE.fullmatch(named[1].lower()):
            if named[1].lower() != agent:
                continue
            value = named[2]
        found.update(part.strip().lower() for part in value.split(","))
    return frozenset(found)


def header_canonical(values: Iterable[str], base: str) -> str | None:
    """The canonical URL that a Link header names."""
    for value in values:
        for target, parameters in LINK_HEADER.findall(value[:MAX_HEADER]):
            rel = REL.search(parameters)
            if rel and "canonical" in rel[1].lower().split():
                return _resolve(base, target, "utf-8")
    return None


def read_html(response: HtmlResponse, agent: str) -> PageHead:
    """Links, canonical link and robots directives of a page; `agent` is the crawler's token."""
    root = response.selector.root
    if root is None:
        return PageHead()
    base = _base(root, response.url)
    directives: set[str] = set()
    canonicals: set[str] = set()
    links: dict[str, Link] = {}
    feeds: dict[str, None] = {}
    for element in root.iter("a", "area", "link", "meta", "iframe", "frame"):
        if element.tag == "meta":
            directives |= _meta_directives(element, agent)
        elif element.tag == "link" and "canonical" in _rels(element):
            named = _resolve(base, element.get("href") or "", response.encoding)
            canonicals |= {named} if named else set()
        elif element.tag == "link" and _is_feed(element):
            named = _resolve(base, element.get("href") or "", response.encoding)
            feeds |= {named: None} if named else {}
        else:
            for href, nofollow in _targets(element):
                url = _resolve(base, href, response.encoding)
                if url and (url not in links or links[url].nofollow):
                    links[url] = Link(url, nofollow)
        if len(links) >= MAX_LINKS:
            break
    return PageHead(
        links=tuple(links.values()),
        # Several that differ are a mistake, and no statement.
        canonical=canonicals.pop() if len(canonicals) == 1 else None,
        noindex=bool(directives & {"noindex", "none"}),
        nofollow=bool(directives & {"nofollow", "none"}),
        feeds=tuple(feeds),
    )


def _base(root: etree._Element, url: str) -> str:
    """The document's base URL: the first `base` with an href, itself resolved against the URL."""
    for element in root.iter("base"):
        href = element.get("href")
        if href is not None:
            try:
                resolved = join(url, href)
            except InvalidUrlError:
                return url
            return resolved if resolved.startswith(("http://", "https://")) else url
    return url


def _meta_directives(element: etree._Element, agent: str) -> set[str]:
    if (element.get("name") or "").strip().lower() not in ("robots", agent):
        return set()
    return {part.strip().lower() for part in (element.get("content") or "").split(",")}


def _targets(element: etree._Element) -> Iterator[tuple[str, bool]]:
    href = element.get("src" if element.tag in ("iframe", "frame") else "href")
    if not href or not href.strip() or href.lstrip().startswith("#") or NO_PAGE.match(href):
        return
    rels = _rels(element)
    if element.tag == "link":
        kind = (element.get("type") or "").strip().lower()
        if not FOLLOWED_RELS.intersection(rels) or kind not in HTML_TYPES or "stylesheet" in rels:
            return
    yield href, "nofollow" in rels


def _is_feed(element: etree._Element) -> bool:
    kind = (element.get("type") or "").partition(";")[0].strip().lower()
    return kind in FEED_TYPES and "alternate" in _rels(element)


def _rels(element: etree._Element) -> Sequence[str]:
    return (element.get("rel") or "").lower().split()


def _resolve(base: str, href: str, encoding: str) -> str | None:
    try:
        return canonical(join(base, href, encoding)) if href.strip() else None
    except InvalidUrlError:
        return None

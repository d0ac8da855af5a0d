"""What a sitemap or a feed lists: addresses, and when what is there changed last.

Formats: sitemaps.org protocol 0.9, read by Scrapy's reader, also its plain text form; RSS 2.0 and
1.0, Atom (RFC 4287). A list is known by its bytes, never by its name.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from lxml import etree  # type: ignore[import-untyped]
from scrapy.utils.sitemap import Sitemap

from crawler.errors import InvalidUrlError
from crawler.links import Link
from crawler.urls import canonical, join

GZIP = b"\x1f\x8b"
#: zlib's largest window, and its sign for a gzip header.
GZIP_WINDOW = zlib.MAX_WBITS | 16
BOM = b"\xef\xbb\xbf"
INDEX = "sitemapindex"
#: Root elements of feeds, without their namespaces, and what their entries are called.
FEEDS = {"rss": "item", "RDF": "item", "feed": "entry"}
#: What says when an entry changed last, the best first.
DATES = ("updated", "modified", "pubDate", "date", "published")


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry: an absolute URL, not yet canonical."""

    url: str
    changed_at: datetime | None = None


def read(body: bytes, base: str, max_bytes: int) -> tuple[str, Iterator[Listed]]:
    """Kind of list (`urlset`, `sitemapindex`, `feed`, or nothing) and what is in it.

    What a packed list holds beyond `max_bytes` is not read.
    """
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
    if sitemap.type in ("urlset", INDEX):
        return sitemap.type, _locations(sitemap, base)
    if sitemap.type in FEEDS:
        return "feed", _entries(text, base)
    return "", iter(())


def links(listed: Iterable[Listed]) -> list[Link]:
    """Links to what is listed; what is no URL is left out."""
    found = []
    for one in listed:
        try:
            found.append(Link(canonical(one.url), listed_at=one.changed_at))
        except InvalidUrlError:
            continue
    return found


def moment(text: str | None) -> datetime | None:
    """A time in W3C's or the mail's form; a day is its first moment. None where it is neither."""
    if not text or not (text := text.strip()):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except ValueError:
            return None
    try:
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except OverflowError:  # the first or the last days that there are
        return None


def _lines(text: bytes) -> Iterator[Listed]:
    for line in text.decode("utf-8", "replace").splitlines():
        if line.startswith(("http://", "https://")):
            yield Listed(line.strip())


def _locations(sitemap: Sitemap, base: str) -> Iterator[Listed]:
    try:
        for entry in sitemap:
            if entry.get("loc"):
                yield Listed(join(base, entry["loc"]), moment(entry.get("lastmod")))
    except (etree.LxmlError, InvalidUrlError):
        # What was readable has been handed on.
        return


def _entries(text: bytes, base: str) -> Iterator[Listed]:
    """Entries of a feed, as far as it can be read. Entities are not resolved."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(text, parser)
    if root is None:
        return
    name = FEEDS.get(etree.QName(root).localname, "")
    for entry in root.iter(f"{{*}}{name}"):
        parts: dict[str, etree._Element] = {}
        for part in entry.iterchildren("*"):
            key = etree.QName(part).localname
            if key == "link" and part.get("rel", "alternate") != "alternate":
                continue
            parts.setdefault(key, part)
        target = _target(parts)
        if target:
            try:
                changed = next((parts[key].text for key in DATES if key in parts), None)
                yield Listed(join(base, target), moment(changed))
            except InvalidUrlError:
                continue


def _target(parts: dict[str, etree._Element]) -> str:
    link = parts.get("link")
    if link is not None:
        return str(link.get("href") or link.text or "").strip()
    guid = parts.get("guid")
    named = guid is not None and guid.get("isPermaLink", "true") == "true"
    return str(guid.text or "").strip() if named and guid is not None else ""

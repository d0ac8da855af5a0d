"""Sitemaps and feeds: what they list and when it changed, whatever form they have."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from crawler import listings
from crawler.listings import moment
from tests.crawler.crawling import crawl
from tests.crawler.site import Answer, Site

BASE = "https://a.example/lists/it.xml"
DAY = datetime(2026, 5, 1, tzinfo=UTC)
SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://a.example/one</loc><lastmod>2026-05-01</lastmod></url>
<url><loc>../two</loc><lastmod>yesterday</lastmod></url></urlset>"""
RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><link>https://a.example/</link>
<item><title>One</title><link>https://a.example/one</link>
<pubDate>Fri, 01 May 2026 00:00:00 +0000</pubDate></item>
<item><guid isPermaLink="true">https://a.example/two</guid></item>
<item><guid isPermaLink="false">tag:1</guid></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="https://a.example/feed"/>
<entry><link rel="edit" href="/edit"/><link href="/one"/><published>2020-01-01T00:00:00Z</published>
<updated>2026-05-01T02:00:00+02:00</updated></entry>
<entry><link rel="alternate" href="/two"/></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><item><link>https://a.example/one</link>
<dc:date>2026-05-01</dc:date></item><item><link>https://a.example/two</link></item></rdf:RDF>"""


@pytest.mark.parametrize(
    ("body", "kind"), [(SITEMAP, "urlset"), (RSS, "feed"), (ATOM, "feed"), (RDF, "feed")]
)
def test_what_is_listed_and_when_it_changed(body: bytes, kind: str) -> None:
    for sent in (body, gzip.compress(body), b"\xef\xbb\xbf\n" + body):
        found, listed = listings.read(sent, BASE, 10**6)
        assert found == kind
        links = {link.url: link.listed_at for link in listings.links(listed)}
        assert links == {"https://a.example/one": DAY, "https://a.example/two": None}


@pytest.mark.parametrize(
    "body",
    [b"<html><body>no list</body></html>", b"<rss", b"<", b"\x1f\x8bbroken", b"", b"<feed/>"],
)
def test_what_is_no_list_lists_nothing(body: bytes) -> None:
    _, listed = listings.read(body, BASE, 10**6)
    assert list(listed) == []


def test_a_feed_reads_no_files_and_grows_no_entities() -> None:
    body = (
        b'<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/hostname"><!ENTITY a "aaaaaaaaaa">'
        b'<!ENTITY b "&a;&a;&a;&a;&a;&a;">]><rss><item><link>https://a.example/&f;&b;</link>'
        b"</item></rss>"
    )
    _, listed = listings.read(body, BASE, 10**6)
    assert all("aaaa" not in one.url and len(one.url) < 40 for one in listed)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-05-01T00:00:00Z", DAY),
        (" 2026-05-01 ", DAY),
        ("2026-05-01T03:00:00+03:00", DAY),
        ("Fri, 01 May 2026 00:00:00 GMT", DAY),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-13-01", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_times_in_both_forms(text: str | None, found: datetime | None) -> None:
    assert moment(text) == found


def test_pages_that_only_a_feed_names_are_found() -> None:
    with Site().serving() as site:
        feed = f"<rss><channel><item><link>{site.url}/news</link></item></channel></rss>"
        head = '<link rel="alternate" type="application/rss+xml" href="/feed">'
        site.page("/", head=head)
        site.page("/news")
        site.routes["/feed"] = Answer(feed, headers={"Content-Type": "application/rss+xml"})
        crawl(None, f"{site.url}/")
        assert (site.asked("/feed"), site.asked("/news")) == (1, 1)

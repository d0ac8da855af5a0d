"""The hostile site: one route, or a few, for each kind of fault that users of crawlers report."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from urllib.parse import parse_qs, urlsplit

import brotli
import zstandard

from tests.crawler.site import Answer, Asked, Site

#: The crawl's limit on bodies in these tests; every bomb unpacks to fifty times as much.
LIMIT = 100_000
BOMB = b"<p>a</p>" * (LIMIT * 50 // 8)
HTML = "text/html; charset=utf-8"
PDF = b"%PDF-1.6\n1 0 obj << >> endobj\n%%EOF"


def build(site: Site, closed_port: int) -> None:
    """Fills a site with pages; its front page leads to all of them."""
    _links(site)
    _redirects(site)
    _rules(site)
    _kinds(site)
    _bodies(site)
    _failures(site)
    _sitemaps(site)
    port = site.port
    elsewhere = [
        f"http://localhost:{port}/secret",
        f"http://2130706433:{port}/secret",
        f"http://[::ffff:127.0.0.1]:{port}/secret",
        f"http://127.0.0.1:{closed_port}/closed",
        "http://nosuch.invalid/page",
        "http://other.example/page",
        "ftp://127.0.0.1/file",
        "mailto:someone@example.com",
        "javascript:void(0)",
        "#top",
        "http://[broken/",
    ]
    site.page("/secret")
    local = [
        path for path in site.routes if path not in NOT_LINKED and "/growing/growing" not in path
    ]
    site.page("/", *local, *elsewhere, "/?utm_source=itself", "/" + "x" * 3000)


#: Reached by another way than the front page, or not at all.
NOT_LINKED = frozenset(
    (
        "/robots.txt",
        "/sitemap.xml",
        "/maps/index.xml",
        "/maps/packed.xml.gz",
        "/maps/list.txt",
        "/maps/encoded.xml",
        "/target",
        "/based/a",
        "/pdf/a.pdf",
        "/list?a=1&b=2",
        "/only-nofollow",
        "/only-rel-nofollow",
        "/secret",
        "/calendar",
        "/only-in-sitemap",
        "/only-in-packed",
        "/only-in-list",
        "/only-in-encoded",
        "/refreshed",
    )
)


def _links(site: Site) -> None:
    site.page("/base/", "a", head='<base href="../based/"><base href="/second/">')
    site.page("/based/a")
    site.page("/x.php", "pdf/a.pdf")
    site.routes["/pdf/a.pdf"] = Answer(PDF, headers={"Content-Type": "application/pdf"})
    site.page(
        "/parameters",
        "/list?utm_source=x&amp;b=2&amp;a=1",
        "/list?a=1&amp;b=2",
        "/list?a=1&amp;a=1&amp;b=2&amp;PHPSESSID=0123456789abcdef",
        "/list;jsessionid=99?b=2&amp;a=1#part",
    )
    site.page("/list?a=1&b=2")
    site.routes["/latin"] = Answer(
        '<meta charset="iso-8859-1"><a href="/latin?q=\xe9">q</a>'.encode("latin-1"),
        headers={"Content-Type": "text/html"},
    )
    site.routes["/calendar"] = _calendar
    site.page("/endless", "/calendar?year=2020&amp;month=1")
    site.page("/growing/", "growing/")
    for depth in range(2, 12):
        site.page("/growing" * depth + "/", "growing/")
    site.routes["/broken-markup"] = Answer(
        b"<html\x00><a href='/from-broken'><table><p><a href=/from-broken-2>" + b"<div>" * 3000,
        headers={"Content-Type": HTML},
    )


def _calendar(asked: Asked, times: int) -> Answer:
    query = parse_qs(urlsplit(asked.path).query)
    year, month = int(query["year"][0]), int(query["month"][0])
    later = f"/calendar?year={year + month // 12}&amp;month={month % 12 + 1}"
    return Answer(
        f'<p>{year}-{month}</p><a href="{later}">next</a>', headers={"Content-Type": HTML}
    )


def _redirects(site: Site) -> None:
    site.page("/target")
    site.redirect("/hop-1", "/hop-2", 301)
    site.redirect("/hop-2", "target?utm_campaign=x", 308)
    site.redirect("/hop-3", "/target#part")
    site.redirect("/loop-1", "/loop-2")
    site.redirect("/loop-2", "/loop-1")
    site.redirect("/self", "/self?utm_source=again")
    site.redirect("/away", "http://other.example/landing")
    site.redirect("/inside", "http://169.254.169.254/latest/meta-data/")
    site.redirect("/into-secret", f"http://localhost:{site.port}/secret")
    site.redirect("/into-private", "/private/landing")
    site.redirect("/no-place", "http://[bad")
    site.page("/refresh", head='<meta http-equiv="refresh" content="0; url=/refreshed">')
    site.page("/refreshed")
    site.page("/reloads", head='<meta http-equiv="refresh" content="5; url=/reloads">')


def _rules(site: Site) -> None:
    site.routes["/robots.txt"] = Answer(
        "User-agent: *\nDisallow: /private/\nDisallow: /*.secret$\n\n"
        f"Sitemap: {site.url}/maps/index.xml?version=2\nSitemap: /maps/encoded.xml\n",
        headers={"Content-Type": "text/plain"},
    )
    site.page("/private/page")
    site.page("/noindex", head='<meta name="ROBOTS" content="NoIndex, follow">')
    site.page("/noindex-for-us", head='<meta name="wrac" content="none">')
    site.page("/noindex-header", X_Robots_Tag="noindex")
    site.page("/noindex-for-others", X_Robots_Tag="otherbot: noindex, nofollow")
    site.page("/nofollow", "/only-nofollow", head='<meta name="robots" content="nofollow">')
    site.page("/only-nofollow")
    site.routes["/rel-nofollow"] = Answer(
        '<a rel="nofollow ugc" href="/only-rel-nofollow">x</a>', headers={"Content-Type": HTML}
    )
    site.page("/only-rel-nofollow")
    site.page(
        "/canonical-relative", head='<link rel="canonical" href="./canonical-relative?utm_id=1">'
    )
    site.page("/canonical-other", head='<link rel="canonical" href="/target">')
    site.page("/canonical-away", head='<link rel="canonical" href="https://other.example/">')
    site.page("/canonical-header", Link="</target>; rel=canonical")
    site.page(
        "/canonical-twice",
        head='<link rel="canonical" href="/target"><link rel="canonical" href="/list?a=1&amp;b=2">',
    )
    site.page("/cookie", Set_Cookie="sid=very-secret", X_Auth_Token="very-secret", ETag='"c"')


def _kinds(site: Site) -> None:
    site.routes["/called-html.html"] = Answer(PDF, headers={"Content-Type": HTML})
    site.routes["/called-pdf.pdf"] = Answer(
        "<!doctype html><p>really a page</p>", headers={"Content-Type": "application/pdf"}
    )
    site.routes["/picture"] = Answer(
        b"\x89PNG" * 500, headers={"Content-Type": "image/png"}, drip=0.01
    )
    site.routes["/binary"] = Answer(
        bytes(range(256)), headers={"Content-Type": "application/octet-stream"}
    )
    site.routes["/photo.JPG"] = Answer(b"\xff\xd8", headers={"Content-Type": "image/jpeg"})
    site.routes["/notes.md"] = Answer("# Notes\n\ntext", headers={"Content-Type": "text/plain"})
    site.routes["/data.csv"] = Answer("a,b\n1,2\n", headers={"Content-Type": "text/csv"})
    site.routes["/plain.txt"] = Answer("only text", headers={"Content-Type": "text/plain"})
    site.routes["/code.txt"] = Answer("<html> is a tag", headers={"Content-Type": "text/plain"})
    site.routes["/untyped"] = Answer("<!-- c --><!DOCTYPE html><p>page</p>")
    site.routes["/letter.docx"] = Answer(_zip("[Content_Types].xml", "word/document.xml"))
    site.routes["/archive"] = Answer(_zip("readme.txt"))
    site.routes["/data.json"] = Answer("{}", headers={"Content-Type": "application/json"})
    site.routes["/empty"] = Answer(" \n", headers={"Content-Type": HTML})


def _zip(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return packed.getvalue()


def _bodies(site: Site) -> None:
    packings = {
        "gzip": gzip.compress(BOMB),
        "deflate": zlib.compress(BOMB),
        "br": brotli.compress(BOMB, quality=1),
        "zstd": zstandard.compress(BOMB),
        "gzip, gzip": gzip.compress(gzip.compress(BOMB)),
    }
    for number, (coding, packed) in enumerate(packings.items()):
        headers = {"Content-Type": HTML, "Content-Encoding": coding}
        site.routes[f"/bomb-{number}"] = Answer(packed, headers=headers)
    for coding, packed in (
        ("gzip", gzip.compress(b"<p>small</p>")),
        ("deflate", zlib.compress(b"<p>small</p>")),
        ("br", brotli.compress(b"<p>small</p>")),
        ("zstd", zstandard.compress(b"<p>small</p>")),
    ):
        headers = {"Content-Type": HTML, "Content-Encoding": coding}
        site.routes[f"/small-{coding}"] = Answer(packed, headers=headers)
    site.routes["/large"] = Answer(BOMB, headers={"Content-Type": HTML})
    site.routes["/not-gzip"] = Answer(
        b"<p>plain</p>" * 9, headers={"Content-Type": HTML, "Content-Encoding": "gzip"}
    )


def _failures(site: Site) -> None:
    for status in (401, 403, 410, 418, 500):
        site.routes[f"/status-{status}"] = Answer("an error", status)
    site.routes["/flaky"] = lambda asked, times: Answer(
        "<p>at last</p>" if times > 2 else "", 200 if times > 2 else 502, {"Content-Type": HTML}
    )
    site.routes["/busy"] = lambda asked, times: (
        Answer("<p>now</p>", headers={"Content-Type": HTML})
        if times > 1
        else Answer("", 429, {"Retry-After": "1"})
    )
    site.routes["/drip"] = Answer(b"x" * 2000, headers={"Content-Type": HTML}, drip=0.1)
    site.routes["/endless-headers"] = Answer("x", padding=1000)
    site.routes["/many-headers"] = Answer("<p>x</p>", headers={"Content-Type": HTML}, padding=50)
    site.routes["/cut-short"] = Answer(b"<p>x</p>", headers={"Content-Type": HTML}, length=5000)


def _sitemaps(site: Site) -> None:
    def urlset(*urls: str) -> str:
        entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

    def index(*urls: str) -> str:
        entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
        return f'<?xml version="1.0"?><sitemapindex>{entries}</sitemapindex>'

    site.routes["/maps/index.xml"] = Answer(
        index(
            f"{site.url}/maps/index.xml?version=2",
            "/maps/index.xml",
            f"{site.url}/maps/packed.xml.gz",
            f"{site.url}/maps/list.txt",
            f"{site.url}/maps/missing.xml",
        )
    )
    site.routes["/maps/packed.xml.gz"] = Answer(
        gzip.compress(urlset(f"{site.url}/only-in-packed").encode()),
        headers={"Content-Type": "application/x-gzip"},
    )
    site.routes["/maps/encoded.xml"] = Answer(
        gzip.compress(b"\n" + urlset("/only-in-encoded").encode()),
        headers={"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )
    site.routes["/maps/list.txt"] = Answer(f"{site.url}/only-in-list\nnot a url\n")
    site.routes["/sitemap.xml"] = Answer(
        urlset(f"{site.url}/only-in-sitemap", "http://other.example/mapped") + "<broken",
        headers={"Content-Type": "application/xml"},
    )
    for name in ("sitemap", "packed", "list", "encoded"):
        site.page(f"/only-in-{name}")

"""An example site as it lies on disk: page fragments and one frame, made into whole responses.

A site is a folder with `site.toml` (name, navigation, redirects), `frame.html` and `robots.txt`
(both `string.Template`), `pages/` (bodies, each with TOML front matter) and `files/` (served as
they are).
"""

from __future__ import annotations

import hashlib
import html
import mimetypes
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

SITES = Path(__file__).parent / "sites"
FILES_DATE = date(2026, 3, 2)
FENCE = "+++\n"

Link = tuple[str, str]
"""Label and target."""


@dataclass(frozen=True)
class Response:
    """What the server answers for a path."""

    body: bytes
    content_type: str
    modified: date = FILES_DATE
    status: int = 200
    location: str | None = None
    """Target of a redirect."""

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'

    @property
    def modified_at(self) -> datetime:
        return datetime.combine(self.modified, time(), tzinfo=UTC)


@dataclass(frozen=True)
class Page:
    """A body fragment and what its front matter says of it."""

    path: str
    title: str
    body: str
    updated: date
    lang: str = "en"
    head: str = ""
    """More elements for `<head>`."""
    crumbs: tuple[Link, ...] = ()
    """The pages above this one, the home page left out."""
    aliases: tuple[str, ...] = ()
    """Other paths under which the same page is served."""
    listed: bool = True
    """Whether the page is in the sitemap."""


@dataclass(frozen=True)
class Frame:
    """What stands around every page of a site, and how the site writes a link in it."""

    template: Template
    link: Template
    crumb: Template
    nav: tuple[Link, ...]
    footer: tuple[Link, ...]

    def around(self, page: Page) -> bytes:
        """The whole page, UTF-8."""
        text = self.template.substitute(
            lang=page.lang,
            title=html.escape(page.title),
            head=page.head,
            nav=_links(self.link, self.nav),
            crumbs=_links(self.crumb, (("Home", "/"), *page.crumbs)) if page.path != "/" else "",
            footer=_links(self.link, self.footer),
            body=page.body,
        )
        return text.encode()


@dataclass(frozen=True)
class Site:
    """A site that can be served: a response for each path, and one for all other paths."""

    name: str
    responses: Mapping[str, Response]
    missing: Response
    pages: tuple[Page, ...] = field(default=(), repr=False)
    _changes: dict[str, Response] = field(default_factory=dict, repr=False)

    def respond(self, target: str) -> Response:
        """The answer to a request target; a query string makes no difference."""
        path = target.partition("?")[0]
        return self._changes.get(path) or self.responses.get(path, self.missing)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a page while it is served; its date moves on by a day.

        Raises `ValueError` where the page does not hold `old` exactly once.
        """
        before = self.respond(path)
        if (found := before.body.count(old.encode())) != 1:
            raise ValueError(f"{old!r} stands {found} times in {path}, not once")
        body = before.body.replace(old.encode(), new.encode())
        after = replace(before, body=body, modified=before.modified + timedelta(days=1))
        self._change(path, after)

    def remove(self, path: str) -> None:
        """From now on the page is not found."""
        self._change(path, self.missing)

    def _change(self, path: str, response: Response) -> None:
        aliases = (alias for page in self.pages if page.path == path for alias in page.aliases)
        self._changes.update(dict.fromkeys((path, *aliases), response))


def site_names() -> list[str]:
    """Names of the sites in `sites/`, sorted."""
    return sorted(folder.name for folder in SITES.iterdir() if (folder / "site.toml").exists())


def read_site(name: str, base: str) -> Site:
    """The site of that name. `base` is the URL where it is served, for sitemap and robots.txt.

    Raises `KeyError` where there is no such site.
    """
    folder = SITES / name
    if name not in site_names():
        raise KeyError(f"no example site {name!r}; there are {', '.join(site_names())}")
    frame, pages = read_frame(folder), read_pages(folder)
    robots = Template((folder / "robots.txt").read_text("utf-8")).substitute(base=base)
    responses = {
        "/robots.txt": Response(robots.encode(), "text/plain; charset=utf-8"),
        "/sitemap.xml": Response(_sitemap(base, pages), "application/xml"),
        **read_files(folder),
        **_redirects(folder),
    }
    for page in pages:
        whole = Response(frame.around(page), "text/html; charset=utf-8", page.updated)
        responses |= dict.fromkeys((page.path, *page.aliases), whole)
    return Site(name, responses, not_found(frame), tuple(pages))


def read_frame(folder: Path) -> Frame:
    """The frame of the site in that folder."""
    settings = _settings(folder)
    return Frame(
        Template((folder / "frame.html").read_text("utf-8")),
        Template(settings["link"]),
        Template(settings["crumb"]),
        _pairs(settings["nav"]),
        _pairs(settings["footer"]),
    )


def read_pages(folder: Path) -> list[Page]:
    """All page fragments of the site in that folder, by path."""
    pages = [_read_page(file) for file in sorted((folder / "pages").rglob("*.html"))]
    return sorted(pages, key=lambda page: page.path)


def read_files(folder: Path) -> dict[str, Response]:
    """The files that are served as they are (images, PDF), by path."""
    root = folder / "files"
    return {
        f"/{file.relative_to(root).as_posix()}": Response(file.read_bytes(), _media_type(file))
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


def not_found(frame: Frame) -> Response:
    """The site's own page for paths that it does not have."""
    body = "<h1>Page not found</h1>\n<p>There is nothing at this address.</p>"
    page = Page("/404", "Page not found", body, FILES_DATE)
    return Response(frame.around(page), "text/html; charset=utf-8", status=404)


def _read_page(file: Path) -> Page:
    _, front, body = file.read_text("utf-8").split(FENCE, 2)
    matter: dict[str, Any] = tomllib.loads(front)
    crumbs = _pairs(matter.pop("crumbs", ()))
    aliases = tuple(matter.pop("aliases", ()))
    return Page(body=body.strip(), crumbs=crumbs, aliases=aliases, **matter)


def _settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "site.toml").read_text("utf-8"))


def _redirects(folder: Path) -> dict[str, Response]:
    return {
        source: Response(b"", "text/plain; charset=utf-8", status=301, location=target)
        for source, target in _settings(folder).get("redirects", {}).items()
    }


def _sitemap(base: str, pages: Iterable[Page]) -> bytes:
    """A sitemap by the sitemaps.org protocol 0.9."""
    entries = "\n".join(
        f"  <url><loc>{html.escape(base + page.path)}</loc><lastmod>{page.updated}</lastmod></url>"
        for page in pages
        if page.listed
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}\n</urlset>\n"
    ).encode()


def _links(template: Template, links: Iterable[Link]) -> str:
    return "\n".join(
        template.substitute(label=html.escape(label), href=html.escape(href))
        for label, href in links
    )


def _pairs(rows: Iterable[Iterable[str]]) -> tuple[Link, ...]:
    return tuple((label, href) for label, href in rows)


def _media_type(file: Path) -> str:
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"

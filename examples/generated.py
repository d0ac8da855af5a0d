"""A site of any size for benchmarks, made from the example sites' own blocks.

Page `i` is always the same page, whatever the size of the site. Pages are made when they are asked
for, so a large site takes no memory. Paragraphs differ from page to page, in their numbers, their
names or a sentence of their own: no page is a copy and no paragraph looks like a site's template.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from examples.blocks import article_body, article_name, blocks_of
from examples.site import (
    FILES_DATE,
    SITES,
    Frame,
    Page,
    Response,
    Site,
    not_found,
    read_files,
    read_frame,
    read_pages,
    site_names,
)

GENERATED = "generated"
LINKS_PER_INDEX = 50
ROBOTS = b"User-agent: *\nDisallow:\n"


def generate_site(pages: int) -> Site:
    """A site of exactly `pages` pages: a home page, index pages, and articles linked from those.

    Raises `ValueError` for fewer than three pages.
    """
    if pages < 3:
        raise ValueError(f"a generated site has at least 3 pages, not {pages}")
    generated = GeneratedPages(pages)
    return Site(GENERATED, generated, not_found(generated.frame))


class GeneratedPages(Mapping[str, Response]):
    """Path -> response of a generated site, made on demand. Iterates over the pages' paths."""

    def __init__(self, pages: int) -> None:
        self.indexes = math.ceil((pages - 1) / (LINKS_PER_INDEX + 1))
        self.articles = pages - 1 - self.indexes
        source = read_frame(SITES / "harrier")
        nav = (("Home", "/"), ("First part", "/part/1"), ("Last part", f"/part/{self.indexes}"))
        self.frame = Frame(source.template, source.link, source.crumb, nav, nav[:1])
        self._files: dict[str, Response] = {}
        for name in site_names():
            self._files |= read_files(SITES / name)
        self._files["/robots.txt"] = Response(ROBOTS, "text/plain; charset=utf-8")
        self._blocks = tuple(
            block
            for name in site_names()
            for page in read_pages(SITES / name)
            if page.lang == "en" and page.listed
            for block in blocks_of(page.body)
        )

    def __iter__(self) -> Iterator[str]:
        yield "/"
        yield from (f"/part/{index}" for index in range(1, self.indexes + 1))
        yield from (f"/page/{index}" for index in range(1, self.articles + 1))

    def __len__(self) -> int:
        return 1 + self.indexes + self.articles

    def __getitem__(self, path: str) -> Response:
        if path in self._files:
            return self._files[path]
        if path == "/":
            return self._render(self._home())
        kind, _, digits = path[1:].partition("/")
        if digits.isdecimal() and digits == str(int(digits)):
            index = int(digits)
            if kind == "part" and 1 <= index <= self.indexes:
                return self._render(self._index(index))
            if kind == "page" and 1 <= index <= self.articles:
                return self._render(self._article(index))
        raise KeyError(path)

    def _render(self, page: Page) -> Response:
        return Response(self.frame.around(page), "text/html; charset=utf-8", page.updated)

    def _home(self) -> Page:
        parts = range(1, self.indexes + 1)
        body = (
            f"<h1>All parts</h1>\n<p>{self.articles} articles in {self.indexes} parts.</p>\n"
            + _list((f"/part/{part}", f"Part {part}") for part in parts)
        )
        return Page("/", "All parts", body, FILES_DATE)

    def _index(self, part: int) -> Page:
        first = (part - 1) * LINKS_PER_INDEX + 1
        last = min(part * LINKS_PER_INDEX, self.articles)
        articles = range(first, last + 1)
        body = f"<h1>Part {part}</h1>\n" + _list((f"/page/{i}", article_name(i)) for i in articles)
        return Page(f"/part/{part}", f"Part {part}", body, FILES_DATE)

    def _article(self, index: int) -> Page:
        part = math.ceil(index / LINKS_PER_INDEX)
        return Page(
            f"/page/{index}",
            article_name(index),
            article_body(index, self._blocks),
            FILES_DATE,
            crumbs=((f"Part {part}", f"/part/{part}"),),
        )


def _list(links: Iterable[tuple[str, str]]) -> str:
    items = "\n".join(f'<li><a href="{href}">{label}</a></li>' for href, label in links)
    return f"<ul>\n{items}\n</ul>"

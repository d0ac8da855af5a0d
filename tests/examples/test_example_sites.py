"""The example sites hold what they promise: every page is reachable and every question answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

import pytest

from examples.blocks import blocks_of
from examples.questions import Question, read_questions
from examples.site import Site, read_site, site_names

BASE = "http://site.example"
BROKEN = {
    "harrier": {"/press/photos-2024"},
    "larder": {"/download/archive/"},
    "port-auben": {"/forms/blue-badge.html"},
}
VOID = {"base", "br", "hr", "img", "input", "link", "meta"}


class Scan(HTMLParser):
    """Links, text, and tags that are not closed, of one page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.mismatched: list[str] = []
        self.base = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(values["href"] or "")
        elif tag == "img":
            self.images.append(values)
        elif tag == "base":
            self.base = values["href"] or ""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.mismatched.append(tag)

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module", params=site_names())
def site(request: pytest.FixtureRequest) -> Site:
    return read_site(request.param, BASE)


def links_of(site: Site, path: str) -> Iterator[str]:
    """Paths (query included) that a page links to, resolved as RFC 3986 says."""
    scan = Scan(site.respond(path).body.decode())
    base = urljoin(BASE + path, scan.base)
    for link in scan.links:
        url = urldefrag(urljoin(base, link)).url
        if url.startswith(BASE):
            yield url.removeprefix(BASE)


def crawl(site: Site) -> dict[str, int]:
    """Status of every path that links and redirects lead to from the home page."""
    status: dict[str, int] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in status:
            continue
        response = site.respond(path)
        status[path] = response.status
        if response.location is not None:
            waiting.append(response.location)
        elif response.status == 200 and response.content_type.startswith("text/html"):
            waiting.extend(links_of(site, path))
    return status


def test_there_are_three_sites_of_about_twelve_pages() -> None:
    assert site_names() == ["harrier", "larder", "port-auben"]
    for name in site_names():
        assert 12 <= len(read_site(name, BASE).pages) <= 18


def test_every_page_is_reachable_and_only_one_link_is_broken(site: Site) -> None:
    status = crawl(site)
    assert {path for path, code in status.items() if code == 404} == BROKEN[site.name]
    assert {page.path for page in site.pages} <= set(status)


def test_every_tag_is_closed(site: Site) -> None:
    for page in site.pages:
        scan = Scan(site.respond(page.path).body.decode())
        assert (scan.open, scan.mismatched) == ([], []), page.path


def test_a_block_can_stand_on_another_page(site: Site) -> None:
    for page in site.pages:
        for block in blocks_of(page.body):
            scan = Scan(block)
            assert (scan.open, scan.mismatched) == ([], []), (page.path, block[:60])


def test_every_image_exists_and_is_described(site: Site) -> None:
    for page in site.pages:
        for image in Scan(site.respond(page.path).body.decode()).images:
            assert image["alt"]
            assert site.respond(image["src"] or "").content_type == "image/svg+xml"


def test_sitemap_lists_exactly_the_pages_meant_for_an_index(site: Site) -> None:
    listed = set(
        re.findall(f"<loc>{BASE}([^<]*)</loc>", site.respond("/sitemap.xml").body.decode())
    )
    assert listed == {page.path for page in site.pages if page.listed}
    assert f"Sitemap: {BASE}/sitemap.xml" in site.respond("/robots.txt").body.decode()


def test_pages_kept_from_the_index_say_so_or_are_disallowed(site: Site) -> None:
    robots = site.respond("/robots.txt").body.decode()
    disallowed = tuple(re.findall(r"^Disallow: (/[a-z/]+)$", robots, flags=re.MULTILINE))
    for page in site.pages:
        kept_out = "noindex" in page.head or page.path.startswith(disallowed)
        assert kept_out is not page.listed, page.path


def test_an_alias_is_the_same_page_and_names_its_canonical_path(site: Site) -> None:
    for page in site.pages:
        for alias in page.aliases:
            assert site.respond(alias) is site.respond(page.path)
            assert f'<link rel="canonical" href="{page.path}">' in page.head


def test_a_breadcrumb_leads_up_and_not_to_the_page_itself(site: Site) -> None:
    for page in site.pages:
        assert page.path not in {target for _, target in page.crumbs}
        assert all(site.respond(target).status == 200 for _, target in page.crumbs)


def test_the_manual_is_a_small_real_pdf() -> None:
    manual = read_site("harrier", BASE).respond("/manuals/moorland-3.pdf")
    assert manual.content_type == "application/pdf"
    assert manual.body.startswith(b"%PDF-") and manual.body.rstrip().endswith(b"%%EOF")
    assert len(manual.body) < 30_000


def test_one_page_is_a_long_read_with_a_long_stretch_between_headings() -> None:
    site = read_site("harrier", BASE)
    [page] = [page for page in site.pages if page.path == "/stories/building-the-moorland"]
    stretches = [len(Scan(part).text.split()) for part in page.body.split("<h2>")]
    assert sum(stretches) > 2000
    assert max(stretches) > 600


def test_three_languages_besides_english() -> None:
    pages = [page for name in site_names() for page in read_site(name, BASE).pages]
    assert {page.lang for page in pages} == {"en", "de", "fr", "ja"}


def test_each_site_has_three_questions() -> None:
    assert sorted(question.site for question in read_questions()) == sorted(site_names() * 3)


@pytest.mark.parametrize("question", read_questions(), ids=lambda question: question.text)
def test_a_question_is_answered_by_its_page_alone(question: Question) -> None:
    site = read_site(question.site, BASE)
    answering = [page.path for page in site.pages if question.phrase in Scan(page.body).text]
    assert answering == [question.path]

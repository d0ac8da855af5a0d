"""One site in the states of its life: the expected index each time, and what it cost.

Pages are added, edited, moved, removed, brought back and hidden; half of the site fails for an
hour, and then all of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawler.site import Answer, Asked, Site
from tests.pipeline.command import contents, wrac

pytestmark = pytest.mark.timeout(600)
PAGES = 24
WORDS = (
    "wheel spoke saddle fork chain pedal brake lever cable tyre valve rim hub cog pump".split()  # noqa: SIM905
)


class Life:
    """A site whose pages have validators, and come and go."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.texts = {f"/p{number}": _text(number) for number in range(PAGES)}
        self.moved: dict[str, str] = {}
        self.hidden: set[str] = set()
        self.failing: dict[str, int] = {}
        site.fallback = self.answer

    def answer(self, asked: Asked, times: int) -> Answer:
        path = asked.path
        if path in self.failing:
            return Answer("it fails", self.failing[path])
        if path in self.moved:
            return Answer(status=301, headers={"Location": self.moved[path]})
        if path == "/":
            links = "".join(f'<li><a href="{one}">{one}</a></li>' for one in sorted(self.texts))
            return _page(asked, f"<h1>All pages</h1><ul>{links}</ul>", "")
        if path not in self.texts:
            return Answer("no such page", 404)
        head = '<meta name="robots" content="noindex">' if path in self.hidden else ""
        return _page(asked, self.texts[path], head)

    @property
    def expected(self) -> set[str]:
        """What is to be indexed, when all is well."""
        return {"/", *self.texts} - self.hidden

    def ingest(self, home: Path) -> dict[str, Any]:
        self.site.log.clear()
        code, answer = wrac(
            home,
            "ingest",
            f"{self.site.url}/",
            "--source",
            "life",
            "--allow-host",
            "127.0.0.1",
            "--fail-over",
            "1",
            timeout=300,
        )
        assert code == 0, answer
        return answer

    def indexed(self, home: Path) -> set[str]:
        return {str(row[0]).removeprefix(self.site.url) for row in contents(home, "life")}

    def text(self, home: Path, path: str) -> str:
        rows = contents(home, "life")
        return " ".join(str(row[3]) for row in rows if row[0] == f"{self.site.url}{path}")


@pytest.fixture
def life() -> Iterator[Life]:
    with Site().serving() as site:
        yield Life(site)


def test_the_index_follows_a_site_through_its_life(life: Life, tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = life.ingest(home)
    assert life.indexed(home) == life.expected
    assert first["embeddings"]["made"] >= PAGES

    # Unchanged: a conditional request each, and nothing else.
    again = life.ingest(home)
    pages = [one for one in life.site.log if one.path not in ("/robots.txt", "/sitemap.xml")]
    assert len(pages) == PAGES + 1
    assert all("if-none-match" in one.headers for one in pages)
    assert (again["pages"]["not_modified"], again["pages"]["fetched"]) == (PAGES + 1, 0)
    assert (again["plans"]["made"], again["embeddings"]["made"]) == (0, 0)
    # No body came but those that say that there is neither robots.txt nor a sitemap.
    assert again["usage"]["bytes"] == 2 * len("no such page")

    # Added, edited, moved, hidden, removed.
    life.texts |= {"/new": _text(100), "/p3-moved": life.texts.pop("/p3")}
    life.moved["/p3"] = "/p3-moved"
    life.texts["/p5"] = life.texts["/p5"].replace("saddle", "cushion")
    life.hidden.add("/p7")
    removed = life.texts.pop("/p9")
    changed = life.ingest(home)
    # One that is not found is asked for a second time before it goes.
    assert life.indexed(home) == life.expected | {"/p9"}
    assert "cushion" in life.text(home, "/p5")
    assert changed["held"] == 0
    # New ones, the moved one, the edited one, and the front page that lists them.
    assert changed["pages"]["fetched"] <= 6

    # Half of it fails while another is gone for good, and the hidden one is shown again.
    life.hidden.clear()
    life.failing = dict.fromkeys([f"/p{number}" for number in range(10, PAGES)], 500)
    life.failing |= {"/p20": 404, "/p21": 410}
    life.ingest(home)
    assert life.indexed(home) == life.expected

    # It is well again, and what was removed is back.
    life.failing.clear()
    life.texts["/p9"] = removed
    life.ingest(home)
    assert life.indexed(home) == life.expected
    _, verified = wrac(home, "verify")
    assert verified["ok"], verified


def test_a_site_that_loses_all_for_an_hour_loses_nothing(life: Life, tmp_path: Path) -> None:
    home = tmp_path / "home"
    life.ingest(home)
    before = contents(home, "life")
    life.failing = dict.fromkeys(["/", *life.texts], 404)
    life.ingest(home)
    second = life.ingest(home)
    assert second["held"] == PAGES + 1
    assert contents(home, "life") == before
    _, status = wrac(home, "status")
    assert status["sources"][0]["held"] == PAGES + 1
    _, listed = wrac(home, "pages", "--source", "life", "--state", "indexed")
    assert {page["reason"] for page in listed["pages"]} == {"held"}

    life.failing.clear()
    well = life.ingest(home)
    assert (well["held"], well["embeddings"]["made"]) == (0, 0)
    assert contents(home, "life") == before

    life.failing = dict.fromkeys(life.texts, 410)
    for _ in range(2):
        life.ingest(home)
    code, confirmed = wrac(home, "sources", "confirm", "life")
    assert (code, confirmed["confirmed"]) == (0, PAGES)
    life.ingest(home)
    assert life.indexed(home) == {"/"}


def _text(number: int) -> str:
    turned = WORDS[number % len(WORDS) :] + WORDS[: number % len(WORDS)]
    lines = "".join(
        f"<p>The {word} of part {number} is looked after in week {number + week}.</p>"
        for week, word in enumerate(turned)
    )
    return f"<h1>Part {number}</h1>{lines}"


def _page(asked: Asked, body: str, head: str) -> Answer:
    html = f"<!doctype html><html><title>{asked.path}</title>{head}<main>{body}</main></html>"
    tag = f'"{hashlib.sha256(html.encode()).hexdigest()[:16]}"'
    if asked.headers.get("if-none-match") == tag:
        return Answer(status=304, headers={"ETag": tag})
    return Answer(html, headers={"Content-Type": "text/html", "ETag": tag})

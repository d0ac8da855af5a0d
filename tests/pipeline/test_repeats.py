"""Pages that say the same are indexed once, in whatever order they came."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.model import Scope
from crawler.warc import Archived, write
from tests.pipeline.command import contents, wrac

pytestmark = pytest.mark.timeout(300)
SITE = "https://site.example"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def text(subject: str) -> str:
    return f"<h1>The {subject}</h1>" + "".join(
        f"<p>The {subject} {does}, and whoever has one in the shed knows what that is good for.</p>"
        for does in ("turns", "rolls", "digs", "lifts", "cuts", "holds", "bends", "sinks", "rests")
    )


def page(path: str, body: str, head: str = "", status: int = 200) -> Archived:
    html = f"<!doctype html><html><title>{path}</title>{head}<main>{body}</main></html>"
    return Archived(f"{SITE}{path}", status, {"content-type": "text/html"}, html.encode(), AT)


PAGES = [
    page("/barrow", text("barrow")),
    page("/barrow?view=print", text("barrow") + "<p>Printed on 2026-01-05</p>"),
    page("/de/barrow", text("barrow")),
    page("/spade", text("spade")),
    page("/spade-xl", text("spade").replace("digs", "digs deep")),
    page("/rake", text("rake")),
]


def put(path: Path, pages: list[Archived]) -> Path:
    with path.open("wb") as file:
        write(file, Scope(seeds=(f"{SITE}/",)), iter(pages), packed=False)
    return path


def take(home: Path, pages: list[Archived]) -> dict[str, object]:
    file = put(home.parent / "pages.warc", pages)
    code, answer = wrac(home, "import", "--warc", str(file), "--source", "site")
    assert code == 0, answer
    return answer


def rows(home: Path) -> dict[str, tuple[str, str | None, str]]:
    _, listed = wrac(home, "pages", "--source", "site")
    return {
        one["url"].removeprefix(SITE): (
            one["state"],
            one["reason"],
            one["canonical"].removeprefix(SITE),
        )
        for one in listed["pages"]
    }


def test_a_print_view_and_a_shell_are_indexed_with_their_page(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    take(home, PAGES)
    found = rows(home)
    for path in ("/barrow?view=print", "/de/barrow"):
        assert found[path] == ("skipped", "duplicate", "/barrow")
    for path in ("/barrow", "/spade", "/spade-xl", "/rake"):
        assert found[path][0] == "indexed"
    _, verified = wrac(home, "verify")
    assert verified["ok"], verified
    # In another order, and in two passes: the same.
    take(other, PAGES[:0:-1])
    assert rows(other)["/barrow?view=print"][2] == "/de/barrow"
    take(other, PAGES[::-1])
    assert rows(other) == found
    assert [one[0:2] + one[3:] for one in contents(home, "site")] == [
        one[0:2] + one[3:] for one in contents(other, "site")
    ]
    # Again: nothing is planned, embedded or moved.
    again = take(home, PAGES)
    assert again["chunks"] == {"added": 0, "kept": 0, "deleted": 0}
    assert rows(home) == found
    # The page goes: one of the others stands.
    gone = [page("/barrow", "gone", status=404), *PAGES[1:]]
    for _ in range(2):
        take(home, gone)
    found = rows(home)
    assert found["/barrow"][0] == "deleted"
    assert found["/de/barrow"][0] == "indexed"
    assert found["/barrow?view=print"] == ("skipped", "duplicate", "/de/barrow")
    _, verified = wrac(home, "verify")
    assert verified["ok"], verified

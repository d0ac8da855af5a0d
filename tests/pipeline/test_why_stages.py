"""A paragraph lost at each stage on purpose: `wrac why` names the stage, and shows it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.model import Fetched, Missed, Outcome, Scope
from pipeline.index_stage import slot_of
from pipeline.ingest import declare
from pipeline.parts import Parts
from pipeline.settings import Settings
from tests.pipeline.command import wrac
from tests.pipeline.homes import fill

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DOCS, BLOG = "https://docs.example/", "https://blog.example/"
OIL = "Oil the chain after every ride in the rain."
NOTICE = "Winter hours hold from November until March in all of our shops."


def page(url: str, body: str, kind: str = "text/markdown; charset=utf-8") -> Outcome:
    return Fetched(url, url, 200, {}, kind, body.encode(), NOW)


DOCS_VISITS: tuple[Outcome, ...] = (
    page(DOCS + "chain", f"# The chain\n\n{OIL}\n\nBack to top\n"),
    page(DOCS + "brakes", "# The brakes\n\nChange the pads when they are one millimetre thick.\n"),
    page(DOCS + "planless", "# Spokes\n\nA spoke key turns a quarter at a time.\n"),
    page(DOCS + "unindexed", "# Saddles\n\nThe saddle is level when a coin does not roll.\n"),
    page(DOCS + "first", f"# Hours\n\n{NOTICE}\n"),
    page(DOCS + "second", f"# Hours\n\n{NOTICE}\n\n# Holidays\n\n{'We close in June. ' * 30}\n"),
    page(
        DOCS + "framed",
        f"<html lang=en><nav><a href=/>All about bicycles</a></nav><main><h1>Pumps</h1><p>{OIL}</p>"
        "<p>A floor pump reaches eight bar.</p></main></html>",
        "text/html; charset=utf-8",
    ),
    Missed(DOCS + "private", "robots", None, NOW),
    Missed(DOCS + "hidden", "excluded", None, NOW),
    Missed(DOCS + "down", "server_error", 503, NOW, transient=True),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two sources of one customer, one of another; a plan and a page's points are spoilt."""
    path = tmp_path_factory.mktemp("stages") / "home"
    opened = Parts.of(Settings(home=path), make=True)
    docs = declare(opened, "docs", "acme", Scope(seeds=(DOCS,)), None)
    fill(opened, docs, DOCS_VISITS, NOW)
    for name, customer in (("blog", "acme"), ("other", "umbra")):
        source = declare(opened, name, customer, Scope(seeds=(BLOG,)), None)
        fill(opened, source, [page(f"{BLOG}{name}", "# News\n\nA new shop opens in May.\n")], NOW)
    where = (docs.customer, docs.name, docs.build, DOCS + "planless")
    record = opened.store.record(*where)
    assert record is not None
    opened.store.put_record(*where, {**record, "origins": []})
    opened.index.delete_page(slot_of(docs), DOCS + "unindexed")
    yield path
    opened.index.stop()  # type: ignore[attr-defined]


def ask(home: Path, name: str, paragraph: str, *options: str) -> dict[str, Any]:
    url = name if "://" in name else DOCS + name
    code, found = wrac(home, "why", paragraph, "--url", url, *options)
    assert code == 0, found
    return found


@pytest.mark.parametrize(
    ("stage", "name", "paragraph", "shown"),
    [
        ("scope", "nowhere", OIL, "none of the searched sources"),
        ("scope", "hidden", OIL, "excluded"),
        ("robots", "private", OIL, "robots.txt"),
        ("fetch", "down", OIL, "server_error"),
        ("fetch", "chain", "Nobody wrote this anywhere.", "does not hold it"),
        ("region", "framed", "All about bicycles", "outside of what was taken as content"),
        ("dropped unit", "chain", "Back to top", "navigation"),
        ("plan", "planless", "A spoke key turns a quarter at a time.", "no chunk holds"),
        ("index", "unindexed", "The saddle is level", "not in the index"),
        ("found", "chain", OIL, "it is indexed"),
    ],
)
def test_the_stage_is_named(home: Path, stage: str, name: str, paragraph: str, shown: str) -> None:
    found = ask(home, name, paragraph, "--customer", "acme")
    assert found["stage"] == stage
    assert shown in found["message"]


def test_a_source_that_was_not_searched_is_a_filter(home: Path) -> None:
    found = ask(home, "chain", OIL, "--source", "blog", "--query", "rain")
    assert (found["stage"], found["evidence"]["in"]) == ("filter", ["docs"])


def test_another_customers_pages_are_not_told_of(home: Path) -> None:
    found = ask(home, BLOG + "other", "A new shop opens in May.", "--customer", "acme")
    assert found["stage"] == "scope"
    assert "other" not in found["evidence"]["sources"]


def test_an_equal_text_that_stands_in_its_place_is_a_filter(home: Path) -> None:
    names = [DOCS + "first", DOCS + "second"]
    options = ("--source", "docs", "--query", "When do winter hours hold?")
    found = [ask(home, name, NOTICE, *options) for name in names]
    stages = [one["stage"] for one in found]
    assert sorted(stages) == ["filter", "found"]
    other = names[stages.index("found")]
    assert other in found[stages.index("filter")]["message"]


def test_a_low_rank_comes_with_both_sides_and_with_what_stood_above(home: Path) -> None:
    question = "When must brake pads be changed?"
    found = ask(home, "chain", OIL, "--source", "docs", "--query", question, "-k", "1")
    assert found["stage"] == "rank"
    evidence = found["evidence"]
    assert evidence["rank"] > 1
    assert evidence["dense_rank"] > 1
    assert "sparse_rank" in evidence
    [above] = evidence["above"]
    assert above["url"] == DOCS + "brakes"
    assert (above["dense_rank"], above["sparse_rank"]) == (1, 1)


def test_a_hit_has_its_rank(home: Path) -> None:
    question = "When must brake pads be changed?"
    paragraph = "Change the pads when they are one millimetre thick."
    found = ask(home, "brakes", paragraph, "--source", "docs", "--query", question)
    assert (found["stage"], found["evidence"]["rank"]) == ("found", 1)
    assert found["evidence"]["above"] == []

"""`why` names the stage that lost a paragraph, whatever the page's script, format or redirects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.model import Fetched, Missed, Outcome, Scope, Tally
from pipeline.ingest import declare
from pipeline.pages import Report
from pipeline.parts import Parts
from pipeline.settings import Settings
from pipeline.turn import outcome
from pipeline.why import Why, why
from tests.pipeline.homes import fill

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SITE = "https://a.example/"
JAPANESE = "まず車輪を外します。次にタイヤを外し、チューブを取り出します。"
MANUAL = Path("examples/sites/harrier/files/manuals/moorland-3.pdf")


def fetched(name: str, body: bytes, kind: str = "text/html; charset=utf-8") -> Fetched:
    return Fetched(SITE + name, SITE + name, 200, {}, kind, body, NOW)


def redirect(name: str, reason: str, target: str) -> Missed:
    return Missed(SITE + name, reason, 302, NOW, target=target)


VISITS: tuple[Outcome, ...] = (
    fetched("ja", f"<html lang=ja><main><h1>修理</h1><p>{JAPANESE}</p></main>".encode()),
    fetched(
        "en",
        b"<html lang=en><nav><a href=/>All our bicycles</a></nav><main><h1>Flat tyres</h1>"
        b"<p>Take the wheel off before you lift the tyre.</p></main>",
    ),
    fetched("manual.pdf", MANUAL.read_bytes(), "application/pdf"),
    redirect("away", "out_of_scope", "https://b.example/"),
    redirect("one", "redirect", SITE + "two"),
    redirect("two", "redirect", SITE + "one"),
    redirect("old", "redirect", SITE + "en"),
    Missed(SITE + "down", "server_error", 500, NOW, transient=True, detail="bad gateway"),
)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    """A home with one source, crawled and indexed."""
    opened = Parts.of(Settings(home=tmp_path_factory.mktemp("why")), make=True)
    source = declare(opened, "docs", "acme", Scope(seeds=(SITE,)), None)
    assert len(fill(opened, source, VISITS, NOW)) == 3
    yield opened
    opened.index.stop()  # type: ignore[attr-defined]


def ask(parts: Parts, name: str, paragraph: str) -> Why:
    return why(parts, parts.ledger.sources.all(), paragraph, SITE + name, None, 6)


@pytest.mark.parametrize(
    ("name", "paragraph", "stage"),
    [
        ("en", "Take the wheel off", "found"),
        ("en", "Flat tyres Take the wheel off before you lift the tyre.", "found"),
        ("en", "All our bicycles", "region"),
        ("en", "Nothing says so", "fetch"),
        ("old", "Take the wheel off", "found"),
        ("ja", JAPANESE, "found"),
        ("ja", "車輪を外します", "found"),
        ("ja", "毎週月曜日に油を差す", "fetch"),
        ("manual.pdf", "both quick releases are closed", "found"),
        ("manual.pdf", "a zebra in the drawing", "parse"),
        ("away", "x", "scope"),
        ("one", "x", "fetch"),
        ("two", "x", "fetch"),
        ("down", "x", "fetch"),
    ],
)
def test_the_first_stage_that_lost_it_is_named(
    parts: Parts, name: str, paragraph: str, stage: str
) -> None:
    assert ask(parts, name, paragraph).stage == stage


def test_where_a_redirect_leads_is_said(parts: Parts) -> None:
    assert "https://b.example/" in ask(parts, "away", "x").message
    assert SITE + "two" in ask(parts, "one", "x").message


def test_a_page_that_could_not_be_fetched_is_among_the_errors_of_a_run(parts: Parts) -> None:
    source = parts.ledger.sources.get("docs")
    [failure] = outcome(parts.ledger, source, Tally(), Report(), 0.0).failures
    assert failure.url == SITE + "down"
    assert failure.error == "server_error: bad gateway"

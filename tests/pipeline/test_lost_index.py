"""A source whose index is gone is indexed again; one that has its index costs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.model import Fetched, Scope
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.frontier import LedgerFrontier
from pipeline.index_stage import IndexStage, slot_of
from pipeline.ingest import declare
from pipeline.ledger import Source
from pipeline.ledger.work import Done
from pipeline.pages import Indexed
from pipeline.parse_stage import ParseStage
from pipeline.parts import Parts
from pipeline.settings import Settings
from pipeline.turn import check_index

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SEED = "https://a.example/"
BODY = b"<html lang=en><main><h1>Tyres</h1><p>Take the wheel off before you lift the tyre.</p>"


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    opened = Parts.of(Settings(home=tmp_path), make=True)
    yield opened
    opened.index.stop()  # type: ignore[attr-defined]


def index(parts: Parts, source: Source) -> int:
    """Do the work there is; returns the number of pages indexed."""
    parse = ParseStage(source, parts.store, parts.embedder.count)
    cache = EmbeddingCache(parts.caches["embeddings"])
    stage = IndexStage(source, parts.store, parts.embedder, cache, parts.index)
    results = stage.run(parse.run(parts.ledger.work.claim(source.name, "test", 16)))
    made = [result for result in results if isinstance(result, Indexed)]
    parts.ledger.work.done(
        [Done(one.job, one.chunks, one.document_hash, one.title) for one in made], NOW
    )
    return len(made)


def test_an_index_that_is_gone_is_built_again(parts: Parts) -> None:
    source = declare(parts, "docs", "acme", Scope(seeds=(SEED,)), None)
    page = Fetched(SEED, SEED, 200, {}, "text/html", BODY, NOW)
    LedgerFrontier(parts.ledger, parts.store, source).record(page)
    assert index(parts, source) == 1
    held = parts.index.count(slot_of(source))
    assert held > 0

    check_index(parts, source)
    assert parts.ledger.work.waiting("docs") == 0

    parts.index.drop(slot_of(source))
    check_index(parts, source)
    assert parts.ledger.work.waiting("docs") == 1
    assert index(parts, source) == 1
    assert parts.index.count(slot_of(source)) == held


def test_pages_that_the_index_lost_are_built_again_and_no_other(parts: Parts) -> None:
    source = declare(parts, "docs", "acme", Scope(seeds=(SEED,)), None)
    for url in (SEED, SEED + "b"):
        page = Fetched(url, url, 200, {}, "text/html", BODY, NOW)
        LedgerFrontier(parts.ledger, parts.store, source).record(page)
    assert index(parts, source) == 2
    parts.index.delete_page(slot_of(source), SEED)
    check_index(parts, source)
    assert [job.url for job in parts.ledger.work.claim("docs", "other", 16)] == [SEED]


def test_a_slot_whose_files_are_removed_is_noticed_by_the_living_process(parts: Parts) -> None:
    source = declare(parts, "docs", "acme", Scope(seeds=(SEED,)), None)
    page = Fetched(SEED, SEED, 200, {}, "text/html", BODY, NOW)
    LedgerFrontier(parts.ledger, parts.store, source).record(page)
    assert index(parts, source) == 1
    shutil.rmtree(parts.home.root / "index" / "acme")
    check_index(parts, source)
    assert index(parts, source) == 1
    assert parts.index.count(slot_of(source)) > 0

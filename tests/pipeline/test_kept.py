"""Another policy for what is indexed: pages that come out the same cost neither vector nor swap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunker.policy import Policy
from crawler.model import Fetched, Scope
from indexer.model import Swap
from pipeline import records
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.frontier import LedgerFrontier
from pipeline.index_stage import IndexStage, slot_of
from pipeline.ingest import declare
from pipeline.ledger import Job, Source
from pipeline.ledger.work import Done
from pipeline.pages import Indexed, Parsed, Prepared, Result
from pipeline.parse_stage import ParseStage
from pipeline.parts import Parts
from pipeline.settings import Settings

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SEED = "https://a.example/"
SHORT = b"<main><h1>Tyres</h1><p>Take the wheel off before you lift the tyre.</p>"
LONG = b"<main><h1>Brakes</h1>" + b"".join(
    b"<p>Step %d: turn the barrel by half a turn, pull the lever, and look at the pads.</p>" % n
    for n in range(40)
)
WIDE = Policy()
NARROW = Policy(target_tokens=60, max_tokens=100)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    opened = Parts.of(Settings(home=tmp_path), make=True)
    yield opened
    opened.index.stop()  # type: ignore[attr-defined]


@pytest.fixture
def source(parts: Parts) -> Source:
    """Two pages, indexed: one that both policies cut alike, and one that they do not."""
    declared = declare(parts, "docs", "acme", Scope(seeds=(SEED,)), WIDE)
    for url, body in ((SEED, SHORT), (SEED + "long", LONG)):
        page = Fetched(url, url, 200, {}, "text/html", body, NOW)
        LedgerFrontier(parts.ledger, parts.store, declared).record(page)
    assert {type(one) for one in finish(parts, declared, parse(parts, declared))} == {Indexed}
    return declared


def pinned(parts: Parts, policy: Policy) -> Source:
    """The source with that policy from now on."""
    return declare(parts, "docs", "acme", Scope(seeds=(SEED,)), policy)


def claim(parts: Parts, runner: str = "test") -> list[Job]:
    return parts.ledger.work.claim("docs", runner, 16)


def parse(parts: Parts, source: Source) -> list[Parsed]:
    return ParseStage(source, parts.store, parts.embedder.count).run(claim(parts))


def finish(parts: Parts, source: Source, pages: list[Parsed]) -> list[Result]:
    cache = EmbeddingCache(parts.caches["embeddings"])
    results = IndexStage(source, parts.store, parts.embedder, cache, parts.index).run(pages)
    made = [one for one in results if isinstance(one, Indexed)]
    parts.ledger.work.done(
        [Done(one.job, one.chunks, one.document_hash, one.title, one.sketch) for one in made], NOW
    )
    return results


def explained(parts: Parts, source: Source) -> bool:
    """Whether records and index hold the same points, as `wrac verify` wants them."""
    held = {one.id: one for one in parts.index.points(slot_of(source))}
    told = {}
    for url in (SEED, SEED + "long"):
        stored = parts.store.record("acme", "docs", source.build, url)
        assert stored is not None
        record = records.from_json(stored)
        told |= {one.point_id: (record.text(one), one.unit_ids) for one in record.origins}
    return told == {id_: (one.text, one.unit_ids) for id_, one in held.items()}


def test_a_page_that_comes_out_the_same_is_neither_embedded_nor_swapped_nor_written(
    parts: Parts, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = pinned(parts, NARROW)
    with monkeypatch.context() as patched:
        patched.setattr(type(parts.store), "put_record", None)
        short, long = parse(parts, narrow)
    assert isinstance(short, Indexed)
    assert (short.chunks, short.added, short.kept, short.deleted) == (1, 0, 1, 0)
    assert (short.embedded, short.embedded_cached) == (0, 1)
    assert isinstance(long, Prepared)
    swapped: list[str] = []
    before = type(parts.index).replace_page

    def replace_page(index: object, slot: object, url: str, points: object) -> Swap:
        swapped.append(url)
        return before(index, slot, url, points)  # type: ignore[arg-type]

    monkeypatch.setattr(type(parts.index), "replace_page", replace_page)
    done = finish(parts, narrow, [short, long])
    assert swapped == [long.job.url]
    assert done[0] == short
    assert isinstance(done[1], Indexed) and done[1].added > 0
    assert explained(parts, narrow)
    assert parts.ledger.work.waiting("docs") == 0


def test_there_and_back_leaves_the_index_as_it_was(parts: Parts, source: Source) -> None:
    before = sorted(parts.index.points(slot_of(source)), key=lambda one: one.id)
    for policy in (NARROW, WIDE):
        now = pinned(parts, policy)
        finish(parts, now, parse(parts, now))
        assert explained(parts, now)
    assert sorted(parts.index.points(slot_of(source)), key=lambda one: one.id) == before


def test_a_page_whose_last_run_died_in_the_middle_is_written_whole(
    parts: Parts, source: Source
) -> None:
    narrow = pinned(parts, NARROW)
    assert all(job.is_settled for job in claim(parts, "dead"))
    # The dead run swapped the page, and its policy is taken back.
    parts.index.delete_page(slot_of(source), SEED)
    parts.ledger.work.release_all("docs")
    wide = pinned(parts, WIDE)
    pages = parse(parts, wide)
    assert {type(page) for page in pages} == {Prepared}
    finish(parts, wide, pages)
    assert explained(parts, wide)
    assert narrow.build == wide.build


def test_a_page_that_the_index_lost_is_written_whole(parts: Parts, source: Source) -> None:
    parts.index.delete_page(slot_of(source), SEED)
    parts.ledger.work.lost("docs", [SEED])
    narrow = pinned(parts, NARROW)
    pages = parse(parts, narrow)
    assert {type(page) for page in pages} == {Prepared}
    finish(parts, narrow, pages)
    assert explained(parts, narrow)


def test_what_stands_in_a_point_besides_its_text_is_no_less_a_difference(
    parts: Parts, source: Source
) -> None:
    narrow = pinned(parts, NARROW)
    [job] = [one for one in claim(parts) if one.url == SEED]
    stage = ParseStage(narrow, parts.store, parts.embedder.count)
    [later] = stage.run([replace(job, fetched_at=datetime(2026, 6, 1, tzinfo=UTC))])
    assert isinstance(later, Prepared)
    [unknown] = stage.run([replace(job, fetched_at=None)])
    assert isinstance(unknown, Prepared)
    [same] = stage.run([job])
    assert isinstance(same, Indexed)


def test_a_record_of_an_older_release_is_written_whole(parts: Parts, source: Source) -> None:
    stored = parts.store.record("acme", "docs", 1, SEED)
    assert stored is not None
    del stored["mark"]
    parts.store.put_record("acme", "docs", 1, SEED, stored)
    narrow = pinned(parts, NARROW)
    pages = parse(parts, narrow)
    assert {type(page) for page in pages} == {Prepared}
    finish(parts, narrow, pages)
    assert explained(parts, narrow)


def test_another_plan_of_the_same_chunks_is_put_on_record(parts: Parts, source: Source) -> None:
    stored = parts.store.record("acme", "docs", 1, SEED)
    assert stored is not None
    other = {**stored, "plan": {**stored["plan"], "planner": "another"}}
    parts.store.put_record("acme", "docs", 1, SEED, other)
    narrow = pinned(parts, NARROW)
    assert isinstance(parse(parts, narrow)[0], Indexed)
    assert parts.store.record("acme", "docs", 1, SEED) == stored

"""A build beside the live one: whole before it is gone over to, and a way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from chunker import PARSER_VERSION
from chunker.policy import Policy
from pipeline.index_stage import slot_of
from pipeline.ledger import Ledger, Pins, Source
from pipeline.ledger.build_work import BuildWork
from pipeline.ledger.schema import pages
from pipeline.ledger.work import Done
from pipeline.parts import Parts
from pipeline.settings import Settings
from pipeline.upgrade import moves
from tests.pipeline.command import contents, wrac
from tests.pipeline.released import unpacked
from tests.pipeline.test_ledger import (
    NOW,
    PINNED,
    PINS,
    SEED,
    declare,
    fetched,
    index,
    states,
    visit,
)

OTHER = replace(PINS, policy=Policy(target_tokens=99))


def staged(ledger: Ledger) -> tuple[Source, BuildWork]:
    live = ledger.sources.get("docs")
    number = ledger.builds.begin(live, OTHER, NOW)
    new = replace(live, build=number, pins=OTHER)
    return new, BuildWork(ledger.engine, new)


def build(work: BuildWork, chunks: int = 5) -> list[str]:
    urls = []
    while jobs := work.claim("docs", "run", 10):
        work.done([Done(job, chunks, "new", "T") for job in jobs], NOW)
        urls += [job.url for job in jobs]
    return urls


def filled(ledger: Ledger) -> None:
    declare(ledger)
    for name in ("a", "b", "c"):
        visit(ledger, fetched(SEED + name), f"h-{name}")
    index(ledger)


def test_a_build_beside_leaves_the_live_one_alone_until_it_is_gone_over_to(ledger: Ledger) -> None:
    filled(ledger)
    new, work = staged(ledger)
    assert build(work) == [SEED + name for name in "abc"]
    assert work.waiting("docs") == 0
    assert ledger.work.waiting("docs") == 0
    assert ledger.sources.get("docs").pins == PINS
    assert ledger.pages.counts("docs").chunks == 6
    ledger.builds.switch("docs", new.build, NOW)
    live = ledger.sources.get("docs")
    assert (live.pins, live.build) == (OTHER, new.build)
    assert ledger.pages.counts("docs").chunks == 15
    assert ledger.work.waiting("docs") == 0


def test_the_way_back_is_one_switch_and_so_is_the_way_forward(ledger: Ledger) -> None:
    filled(ledger)
    new, work = staged(ledger)
    build(work)
    ledger.builds.switch("docs", new.build, NOW)
    for number, pins, chunks in ((1, PINS, 6), (new.build, OTHER, 15), (1, PINS, 6)):
        ledger.builds.switch("docs", number, NOW)
        live = ledger.sources.get("docs")
        assert (live.build, live.pins) == (number, pins)
        assert ledger.pages.counts("docs").chunks == chunks
        assert ledger.work.waiting("docs") == 0
        (other,) = ledger.builds.all("docs")
        assert other.state == "previous"


def test_what_changed_meanwhile_differs_after_the_switch(ledger: Ledger) -> None:
    filled(ledger)
    new, work = staged(ledger)
    build(work)
    visit(ledger, fetched(SEED + "a", body=b"new"), "h-new")
    visit(ledger, fetched(SEED + "d"), "h-d")
    visit(ledger, fetched(SEED + "b", noindex=True), "h-b")
    ledger.settlements.settle("docs", PINNED, 1)
    ledger.builds.switch("docs", new.build, NOW)
    assert sorted(index(ledger)) == [SEED + "a", SEED + "b", SEED + "d"]
    assert states(ledger)[SEED + "c"] == ("indexed", None)


def test_an_interrupted_build_goes_on_with_what_it_lacks(ledger: Ledger) -> None:
    filled(ledger)
    new, work = staged(ledger)
    work.done([Done(job, 5, "new", "T") for job in work.claim("docs", "run", 1)], NOW)
    work.claim("docs", "run", 10)  # and the run is killed
    assert build(BuildWork(ledger.engine, new)) == [SEED + "b", SEED + "c"]


def test_what_is_given_back_is_claimed_again_after_the_others(ledger: Ledger) -> None:
    filled(ledger)
    _, work = staged(ledger)
    (first,) = work.claim("docs", "run", 1)
    work.give_back(first)  # its worker died
    rest = work.claim("docs", "run", 10)
    assert [job.url for job in rest] == [SEED + "b", SEED + "c"]
    work.done([Done(job, 5, "new", "T") for job in rest], NOW)
    (again,) = work.claim("docs", "run", 10)
    assert (again.url, again.attempts) == (SEED + "a", 1)
    assert work.claim("docs", "run", 10) == []


def test_a_page_that_fails_is_named_and_left_to_the_live_builds_loop(ledger: Ledger) -> None:
    filled(ledger)
    new, work = staged(ledger)
    (job, *rest) = work.claim("docs", "run", 10)
    work.failed(job, "fault", "why")
    work.done([Done(one, 5, "new", "T") for one in rest], NOW)
    assert work.claim("docs", "run", 10) == []
    assert work.failures == {SEED + "a": "fault: why"}
    ledger.builds.switch("docs", new.build, NOW)
    assert index(ledger) == [SEED + "a"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with unpacked(tmp_path_factory.mktemp("builds") / "home") as made:
        yield made


def parts(home: Path) -> Parts:
    return Parts.of(Settings(home=home))


@pytest.mark.timeout(300)
def test_upgrade_moves_one_source_by_a_build_beside_and_back(home: Path) -> None:
    before, other = contents(home, "auben"), contents(home, "auben-too")
    for source in ("auben", "auben-too"):
        _as_if_made_by_this_software(home, source)
    assert wrac(home, "upgrade", "--all", "--dry-run") == (0, {"dry_run": True, "sources": []})
    _pin_to_parser(home, "auben", "0")

    code, answer = wrac(home, "upgrade", "--source", "auben", "--dry-run")
    (row,) = answer["sources"]
    assert (code, row["moves"]) == (0, {"parser": ["0", PARSER_VERSION]})
    assert (row["pages"], row["pages_unreadable"]) == (4, 0)
    needed = row["embeddings_needed"]
    assert contents(home, "auben") == before

    code, answer = wrac(home, "upgrade", "--source", "auben")
    (row,) = answer["sources"]
    assert (code, row["pages"]["indexed"], row["embeddings"]["made"]) == (0, 4, needed)
    assert wrac(home, "verify")[1]["problems"] == []
    opened = parts(home)
    live = opened.ledger.sources.get("auben")
    assert (live.build, live.pins.parser) == (2, PARSER_VERSION)
    assert opened.index.count(slot_of(replace(live, build=1))) == len(before)
    after = contents(home, "auben")
    assert {row[0] for row in after} == {row[0] for row in before}
    assert contents(home, "auben-too") == other

    code, answer = wrac(home, "upgrade", "--source", "auben", "--back")
    assert (code, answer["build"], answer["pages"]["indexed"]) == (0, 1, 0)
    assert contents(home, "auben") == before
    assert wrac(home, "verify")[1]["problems"] == []

    code, answer = wrac(home, "upgrade", "--source", "auben", "--drop")
    assert (code, answer["points"]) == (0, len(after))
    code, answer = wrac(home, "upgrade", "--source", "auben", "--back")
    assert (code, answer["error"]["code"]) == (2, "usage")


@pytest.mark.timeout(300)
def test_a_policy_is_applied_as_a_whole_after_a_dry_run_that_shows_it(home: Path) -> None:
    _as_if_made_by_this_software(home, "auben-too")
    policy = home.parent / "small.toml"
    policy.write_text("target_tokens = 60\nmax_tokens = 80\n")
    arguments = ("rechunk", "--source", "auben-too", "--policy", str(policy))
    before = contents(home, "auben-too")
    code, shown = wrac(home, *arguments, "--dry-run")
    assert (code, contents(home, "auben-too")) == (0, before)
    assert shown["pages_changed"] > 0
    assert shown["embeddings_needed"] > 0
    assert shown["embedding_tokens"] > 0
    assert any(line.startswith("+[chunk]") for line in shown["diffs"][0]["diff"].splitlines())

    code, made = wrac(home, *arguments, "--whole")
    assert code == 0
    assert made["embeddings"]["made"] == shown["embeddings_needed"]
    assert made["usage"]["requests"] == 0
    assert wrac(home, "verify")[1]["problems"] == []
    assert contents(home, "auben-too") != before
    assert wrac(home, "forget", "--source", "auben-too")[0] == 0
    left = list(parts(home).index.slots())
    assert {slot.source for slot in left} == {"auben"}


def _as_if_made_by_this_software(home: Path, name: str) -> None:
    opened = parts(home)
    for move in moves(opened, name, None):
        _pin(opened, move.source, move.pins)


def _pin_to_parser(home: Path, name: str, parser: str) -> None:
    opened = parts(home)
    source = opened.ledger.sources.get(name)
    _pin(opened, source, replace(source.pins, parser=parser))


def _pin(opened: Parts, source: Source, pins: Pins) -> None:
    """Pin a source, and have its pages count as indexed so."""
    opened.ledger.sources.declare(source.name, source.customer, source.scope, pins, NOW)
    with opened.ledger.engine.begin() as connection:
        connection.execute(
            update(pages).where(pages.c.source == source.name).values(indexed=pages.c.wanted)
        )

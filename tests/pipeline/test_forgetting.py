"""What is forgotten is gone, and nothing else is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard
from sqlalchemy import Engine, select

from crawler.model import Fetched, Scope
from pipeline import backups, runs
from pipeline.errors import SourceBusyError
from pipeline.forgetting import forget
from pipeline.frontier import LedgerFrontier
from pipeline.ingest import declare
from pipeline.ledger import Source
from pipeline.ledger.schema import hosts
from pipeline.ledger.sources import Sources
from pipeline.parts import Parts
from pipeline.settings import Settings
from tests.pipeline.command import contents, wrac
from tests.pipeline.released import unpacked

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    opened = Parts.of(Settings(home=tmp_path), make=True)
    yield opened
    opened.index.stop()  # type: ignore[attr-defined]


def source(parts: Parts, name: str, *bodies: bytes) -> Source:
    """A source of the customer acme whose one page had these bodies, one after the other."""
    seed = f"https://{name}.example/"
    made = declare(parts, name, "acme", Scope(seeds=(seed,)), None)
    frontier = LedgerFrontier(parts.ledger, parts.store, made)
    for body in bodies:
        frontier.record(Fetched(seed, seed, 200, {}, "text/html", body, NOW))
    return made


def stored(parts: Parts) -> int:
    return sum(path.is_file() for path in (parts.home.store / "acme" / "bodies").rglob("*"))


def test_what_a_page_was_before_is_forgotten_with_it(parts: Parts) -> None:
    docs = source(parts, "docs", b"old words", b"new words", b"shared")
    source(parts, "blog", b"shared")
    assert stored(parts) == 3
    receipt = forget(parts, docs)
    assert (receipt.before.bodies, receipt.bodies, receipt.after.bodies) == (3, 2, 1)
    assert stored(parts) == 1
    forget(parts, parts.ledger.sources.get("blog"))
    assert not (parts.home.store / "acme").exists()


def test_nothing_is_forgotten_while_a_run_may_share_its_bodies(parts: Parts) -> None:
    docs = source(parts, "docs", b"x")
    source(parts, "blog", b"y")
    parts.ledger.sources.take("blog", "elsewhere/1/1", datetime.now(UTC))
    with pytest.raises(SourceBusyError, match="elsewhere"):
        forget(parts, docs, patience=0)
    assert stored(parts) == 2
    assert parts.ledger.sources.find("docs") is not None


HOLD = """
import sys, time
from pathlib import Path
from pipeline import runs
from pipeline.errors import SourceBusyError
from pipeline.ledger import open_ledger

ledger = open_ledger("sqlite:///" + sys.argv[1])
try:
    with runs.held(ledger, "blog") as run:
        print("held", flush=True)
        while True:
            run.check()
            time.sleep(0.05)
except SourceBusyError as error:
    print(error)
"""


def test_a_run_of_the_customer_is_asked_to_stop_and_does(parts: Parts) -> None:
    docs = source(parts, "docs", b"x")
    source(parts, "blog", b"y")
    command = [sys.executable, "-c", HOLD, str(parts.home.ledger)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert forget(parts, docs).source == "docs"
        assert "asked to stop" in other.stdout.read()
    with runs.held(parts.ledger, "blog"):
        pass  # and the customer's other source is free again


def test_what_is_being_forgotten_is_taken_by_nobody_else(parts: Parts) -> None:
    source(parts, "docs", b"x")
    with (
        runs.stopped(parts.ledger, "docs") as run,
        pytest.raises(SourceBusyError, match=re.escape(run.runner)),
    ):
        parts.ledger.sources.take("docs", "elsewhere/1/1", datetime.now(UTC))
    parts.ledger.sources.ask_to_stop("docs", datetime.now(UTC) + timedelta(seconds=60))
    with pytest.raises(SourceBusyError, match="wrac forget"):
        parts.ledger.sources.take("docs", "elsewhere/1/1", datetime.now(UTC))


def restored(parts: Parts, backup: Path) -> list[str]:
    """What a restore from that backup would have to forget again."""
    home = Parts.of(Settings(home=backup.with_name(f"{backup.name}-home")), make=True)
    return [one.name for one in backups.load(home, backup)]


def test_a_removal_that_is_cut_short_is_noted_beside_the_backups(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, kept = source(parts, "docs", b"x"), tmp_path / "backup"
    backups.backup(parts, kept)
    with monkeypatch.context() as cut:
        cut.setattr(Sources, "forget", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            forget(parts, docs)
    assert restored(parts, kept) == ["docs"]
    assert forget(parts, docs).backups_told == (str(kept),)


def test_what_is_forgotten_while_a_backup_is_made_does_not_come_back(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, kept, copy = source(parts, "docs", b"x"), tmp_path / "backup", backups.copying.copy

    def copied(old: Engine, new: Engine) -> int:
        rows = copy(old, new)
        forget(parts, docs)
        return rows

    with monkeypatch.context() as during:
        during.setattr(backups.copying, "copy", copied)
        backups.backup(parts, kept)
    assert restored(parts, kept) == ["docs"]


def test_a_backup_that_cannot_be_written_to_is_away_and_keeps_nothing_from_going(
    parts: Parts, tmp_path: Path
) -> None:
    docs, kept = source(parts, "docs", b"x"), tmp_path / "backup"
    backups.backup(parts, kept)
    (kept / backups.FORGOTTEN).mkdir()
    assert forget(parts, docs).backups_away == (str(kept),)
    assert parts.ledger.removals.all()[0].source == "docs"


def test_hosts_that_nobody_asks_now_are_forgotten_too(parts: Parts) -> None:
    docs = source(parts, "docs", b"x")
    parts.ledger.hosts.take("docs", "run", ["docs.example"], NOW)
    parts.ledger.hosts.release("docs", NOW)
    forget(parts, docs)
    with parts.ledger.engine.connect() as connection:
        assert connection.scalars(select(hosts.c.host)).all() == []


def test_of_two_customers_with_the_same_pages_one_is_forgotten_wholly(tmp_path: Path) -> None:
    """Harbour has the pages that other has, and one more: the canary is a sentence of that one."""
    with unpacked(tmp_path / "home") as home:
        others = contents(home, "auben-too")
        known = {row[0] for row in others}
        more = [str(row[3]) for row in contents(home, "auben") if row[0] not in known]
        sentence = max((line for text in more for line in text.splitlines()), key=len).encode()
        assert {path.parts[0] for path in holding(home, sentence)} == {"index", "store"}
        code, answer = wrac(home, "forget", "--customer", "harbour")
        [receipt] = answer["removed"]
        assert code == 0
        assert receipt["after"] == dict.fromkeys(receipt["after"], 0)
        assert receipt["before"]["points"] == receipt["points"] > 0
        assert receipt["before"]["pages"] == receipt["pages"] > 0
        assert receipt["before"]["bodies"] == receipt["bodies"] > 0
        assert holding(home, sentence) == []
        assert holding(home, b"sources/auben/") == []
        assert not any("harbour" in str(path.relative_to(home)) for path in home.rglob("*"))
        assert contents(home, "auben-too") == others
        assert wrac(home, "verify")[1]["problems"] == []


def holding(home: Path, words: bytes) -> list[Path]:
    """Every file of a home that holds these bytes, compressed ones unpacked."""
    found = []
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".zst":
                content = zstandard.ZstdDecompressor().decompress(content)
            if words in content:
                found.append(path.relative_to(home))
    return found

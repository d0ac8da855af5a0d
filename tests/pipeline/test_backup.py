"""A backup of a home, an empty home from it, and what comes back where a part is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from indexer.backends import open_index
from pipeline import backups
from pipeline.ledger import Ledger, copying, open_ledger
from pipeline.parts import Parts
from pipeline.settings import Settings
from tests.pipeline.command import contents, wrac
from tests.pipeline.released import unpacked
from tests.pipeline.test_ledger import SEED, declare, fetched, index, states, visit

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with unpacked(tmp_path / "home") as made:
        yield made


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Path]:
    with ExitStack() as ended:
        made = tmp_path / "restored"
        ended.callback(lambda: made.exists() and open_index(made).stop())  # type: ignore[attr-defined]
        yield made


def test_an_empty_home_becomes_what_was_backed_up(home: Path, restored: Path) -> None:
    code, made = wrac(home, "backup", str(home.parent / "backup"))
    assert (code, made["sources"]) == (0, ["auben", "auben-too"])
    code, answer = wrac(restored, "restore", str(home.parent / "backup"))
    assert (code, answer["sources"], answer["forgotten"]) == (0, ["auben", "auben-too"], [])
    assert sum(one["embeddings_made"] for one in answer["index"]) == 0
    for source in ("auben", "auben-too"):
        assert contents(restored, source) == contents(home, source)
    assert wrac(restored, "verify")[1]["problems"] == []
    code, answer = wrac(restored, "restore", str(home.parent / "backup"))
    assert (code, answer["error"]["code"]) == (2, "home")
    # What is forgotten in a home that was restored is not brought back by the same backup either.
    _, receipt = wrac(restored, "forget", "--customer", "harbour")
    assert receipt["removed"][0]["backups_told"] == [str(home.parent / "backup")]


def test_a_folder_that_is_no_backup_or_not_empty_is_named(home: Path, restored: Path) -> None:
    code, answer = wrac(restored, "restore", str(home))
    assert (code, answer["error"]["code"]) == (2, "usage")
    code, answer = wrac(home, "backup", str(home))
    assert (code, answer["error"]["code"]) == (2, "usage")
    assert "holds something" in answer["error"]["message"]


def test_what_was_forgotten_since_does_not_come_back(home: Path, restored: Path) -> None:
    backup = home.parent / "backup"
    wrac(home, "backup", str(backup))
    copy = shutil.copytree(backup, home.parent / "copy")
    code, receipt = wrac(home, "forget", "--customer", "harbour")
    assert receipt["removed"][0]["backups_told"] == [str(backup)]
    code, answer = wrac(restored, "restore", str(backup))
    assert (code, answer["forgotten"], answer["sources"]) == (0, ["auben"], ["auben-too"])
    assert not any("harbour" in str(path.relative_to(restored)) for path in restored.rglob("*"))
    assert wrac(restored, "verify")[1]["problems"] == []

    # A copy that forget could not reach is told by the receipt.
    shutil.rmtree(restored)
    (home.parent / "receipt.json").write_text(json.dumps(receipt))
    code, answer = wrac(
        restored, "restore", str(copy), "--receipt", str(home.parent / "receipt.json")
    )
    assert (code, answer["forgotten"]) == (0, ["auben"])


def test_a_backup_that_is_away_is_on_the_receipt(home: Path) -> None:
    wrac(home, "backup", str(home.parent / "backup"))
    shutil.rmtree(home.parent / "backup")
    _, receipt = wrac(home, "forget", "--customer", "harbour")
    assert receipt["removed"][0]["backups_away"] == [str(home.parent / "backup")]


def test_a_lost_index_is_made_again_from_ledger_and_store_alone(home: Path) -> None:
    before = contents(home, "auben")
    shutil.rmtree(home / "index")
    assert not wrac(home, "verify")[1]["ok"]
    code, answer = wrac(home, "reindex")
    assert code == 0
    assert [(one["pages"], one["left"]) for one in answer["sources"]] == [(4, 0), (3, 0)]
    assert contents(home, "auben") == before
    assert wrac(home, "verify")[1]["problems"] == []


def test_lost_caches_cost_embeddings_and_nothing_else(home: Path) -> None:
    before = contents(home, "auben")
    for part in ("index", "caches.sqlite"):
        path = home / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    code, answer = wrac(home, "reindex", "--source", "auben")
    (made,) = answer["sources"]
    assert (code, made["embeddings_cached"], made["pages"]) == (0, 0, 4)
    assert contents(home, "auben") == before


def test_a_lost_ledger_comes_back_from_the_backup(home: Path, restored: Path) -> None:
    before = contents(home, "auben")
    backup = home.parent / "backup"
    wrac(home, "backup", str(backup))
    (home / "ledger.sqlite").unlink()
    code, answer = wrac(home, "status")
    assert (code, answer["error"]["code"]) == (2, "home")
    code, _ = wrac(restored, "restore", str(backup))
    assert code == 0
    assert contents(restored, "auben") == before


def test_a_page_whose_document_is_lost_is_left_to_the_next_run(home: Path) -> None:
    records = next((home / "store" / "harbour" / "sources" / "auben" / "records").rglob("*.zst"))
    records.unlink()
    code, answer = wrac(home, "reindex", "--source", "auben")
    assert (code, answer["sources"][0]["left"], answer["sources"][0]["pages"]) == (0, 1, 3)


def test_a_backup_of_a_newer_release_is_refused_by_name(home: Path, restored: Path) -> None:
    backup = home.parent / "backup"
    wrac(home, "backup", str(backup))
    manifest = json.loads((backup / backups.MANIFEST).read_text())
    (backup / backups.MANIFEST).write_text(json.dumps(manifest | {"schema": 99}))
    code, answer = wrac(restored, "restore", str(backup))
    assert code == 2
    assert "99" in answer["error"]["message"]


def test_a_restore_leaves_the_backup_of_an_older_release_as_it_is(tmp_path: Path) -> None:
    parts, backup = Parts.of(Settings(home=tmp_path / "home"), make=True), tmp_path / "backup"
    declare(parts.ledger)
    backups.backup(parts, backup)
    with closing(sqlite3.connect(backup / backups.LEDGER)) as kept:
        kept.execute("UPDATE schema SET version = 1")
        kept.commit()
    before = {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()}
    new = Parts.of(Settings(home=tmp_path / "new"), make=True)
    assert backups.load(new, backup) == []
    assert [one.name for one in new.ledger.sources.all()] == ["docs"]
    assert {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()} == before


def test_a_ledger_is_copied_row_by_row_to_either_database(ledger: Ledger, tmp_path: Path) -> None:
    declare(ledger)
    visit(ledger, fetched())
    index(ledger)
    visit(ledger, fetched(SEED + "b"), "h2")
    ledger.work.claim("docs", "run", 1)
    other = open_ledger(f"sqlite:///{tmp_path / 'other.sqlite'}")
    copying.copy(ledger.engine, other.engine)
    assert other.sources.all() == ledger.sources.all()
    assert states(other) == states(ledger)
    assert other.sources.runner("docs") is None
    assert index(other) == [SEED + "b"]
    other.close()

"""The crawl's contract for a frontier, kept by the one over ledger and page store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunker.policy import Policy
from crawler.model import Scope
from pipeline.frontier import LedgerFrontier
from pipeline.ledger import Ledger, Pins, open_ledger
from pipeline.pagestore import DamagedFileError, PageStore
from tests.crawler.frontier_contract import (
    BatchFrontierContract,
    DurableFrontierContract,
    Open,
    RememberingFrontierContract,
    found,
    page,
    url,
)

PINS = Pins(policy=Policy(), parser="1", embedder="m@1", dimensions=4, sparse="bm25@1")


def opened(ledger: Ledger, folder: Path, max_pages: int | None, runner: str | None = None):
    scope = Scope(seeds=(url("seed"),), max_pages=max_pages)
    ledger.sources.declare("docs", "acme", scope, PINS, datetime.now(UTC))
    ledger.sources.begin_pass("docs")
    source = ledger.sources.get("docs")
    return LedgerFrontier(ledger, PageStore(str(folder / "store")), source, runner)


class TestLedgerFrontier(
    DurableFrontierContract, BatchFrontierContract, RememberingFrontierContract
):
    @pytest.fixture
    def frontiers(self, ledger_url: str, tmp_path: Path) -> Open:
        return lambda max_pages: opened(open_ledger(ledger_url), tmp_path, max_pages)


def test_a_body_is_stored_before_its_visit_is_recorded(ledger: Ledger, tmp_path: Path) -> None:
    frontier = opened(ledger, tmp_path, None)
    frontier.discovered([found("a")])
    frontier.claim(1)
    frontier.record(page("a"))
    [job] = ledger.work.claim("docs", "run", 10)
    assert job.body_hash is not None
    assert PageStore(str(tmp_path / "store")).body("acme", job.body_hash) == b"<p>a</p>"


def test_an_orphan_gets_no_more_work(ledger: Ledger, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    frontier = opened(ledger, tmp_path, None, runner="first")
    frontier.discovered([found("a"), found("b")])
    ledger.sources.take("docs", "first", now)
    assert len(frontier.claim(1)) == 1
    ledger.sources.take("docs", "second", now, dead="first")
    assert frontier.claim(1) == ()


def test_links_to_other_sites_are_not_kept(ledger: Ledger, tmp_path: Path) -> None:
    frontier = opened(ledger, tmp_path, None)
    frontier.discovered([found("a"), found("b", 1, "out_of_scope"), found("c", 1, "excluded")])
    frontier.claim(1)
    frontier.record(page("a", found("d", 1, "out_of_scope")))
    assert {row.url for row in ledger.pages.rows("docs")} == {url("a"), url("c")}


def test_a_page_whose_body_is_lost_or_damaged_is_asked_for_whole(
    ledger: Ledger, tmp_path: Path
) -> None:
    frontier = opened(ledger, tmp_path, None)
    frontier.discovered([found("a"), found("b"), found("c")])
    frontier.claim(3)
    frontier.record_all([page(name, etag=f'"{name}"') for name in "abc"])
    store = PageStore(str(tmp_path / "store"))
    hashes = ledger.pages.body_hashes("docs", [url(name) for name in "abc"])
    files = {path.name.partition(".")[0]: path for path in tmp_path.rglob("*.zst")}
    files[hashes[url("a")]].unlink()
    files[hashes[url("b")]].write_bytes(b"not what was written")
    with pytest.raises(DamagedFileError):
        store.body("acme", hashes[url("b")])
    ledger.sources.end_pass("docs", datetime.now(UTC))
    again = opened(ledger, tmp_path, None)
    tasks = {task.url: task.etag for task in again.claim(3)}
    assert tasks == {url("a"): None, url("b"): None, url("c"): '"c"'}
    again.record_all([page(name) for name in "ab"])
    assert store.body("acme", hashes[url("b")]) == b"<p>b</p>"

"""The frontier's contract, on the frontiers that this package and its tests have."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from crawler.memory import MemoryFrontier
from crawler.model import Found
from tests.crawler.frontier_contract import (
    BatchFrontierContract,
    DurableFrontierContract,
    FrontierContract,
    Open,
    RememberingFrontierContract,
    missed,
    page,
    url,
)
from tests.crawler.sqlite_frontier import SqliteFrontier


class TestMemoryFrontier(FrontierContract):
    @pytest.fixture
    def frontiers(self) -> Open:
        return MemoryFrontier

    def test_its_listings_say_what_became_of_each_url(self) -> None:
        frontier = MemoryFrontier()
        frontier.discovered([Found(url("a"), 0, None), Found(url("out"), 1, url("a"), "excluded")])
        frontier.claim(1)
        frontier.record(page("a", Found(url("b"), 1, url("a"))))
        frontier.claim(1)
        frontier.record(missed("b"))
        listed = {one.url: (one.reason, one.depth, one.visited) for one in frontier.listings()}
        assert listed == {
            url("a"): (None, 0, True),
            url("out"): ("excluded", 1, False),
            url("b"): ("not_found", 1, True),
        }


class TestSqliteFrontier(
    DurableFrontierContract, BatchFrontierContract, RememberingFrontierContract
):
    @pytest.fixture
    def frontiers(self, tmp_path: Path) -> Open:
        workers = count()
        return lambda max_pages: SqliteFrontier(tmp_path / "f.db", f"{next(workers)}", max_pages)

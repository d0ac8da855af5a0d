"""A site that does not let the crawler in any more: the source is paused and nothing is settled."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chunker.policy import Policy
from crawler.errors import AccessError
from crawler.model import Scope, Tally
from pipeline.ledger import Ledger, Pins
from pipeline.turn import result_of

PINS = Pins(policy=Policy(), parser="1", embedder="m@1", dimensions=4, sparse="bm25@1")


class Expired:
    """A crawl whose site asks it to log in again."""

    running = False

    def result(self) -> Tally:
        raise AccessError("https://a.example/ does not let the crawler in any more")

    def close(self) -> None: ...


def test_an_expired_log_in_pauses_the_source_and_says_why(ledger: Ledger) -> None:
    now = datetime.now(UTC)
    ledger.sources.declare("docs", "acme", Scope(seeds=("https://a.example/",)), PINS, now)
    ledger.schedules.begin_turn("docs", now, None)
    with pytest.raises(AccessError):
        result_of(Expired(), ledger, "docs")
    standing = ledger.schedules.get("docs")
    assert standing is not None and standing.paused is not None
    assert "does not let the crawler in" in standing.paused
    assert not standing.is_due(now)

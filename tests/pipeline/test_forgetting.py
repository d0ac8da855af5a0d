"""What is forgotten is gone, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.model import Fetched, Scope
from pipeline.errors import SourceBusyError
from pipeline.forgetting import forget
from pipeline.frontier import LedgerFrontier
from pipeline.ingest import declare
from pipeline.ledger import Source
from pipeline.parts import Parts
from pipeline.settings import Settings

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
    assert forget(parts, docs).bodies == 2
    assert stored(parts) == 1
    forget(parts, parts.ledger.sources.get("blog"))
    assert not (parts.home.store / "acme").exists()


def test_nothing_is_forgotten_while_a_run_may_share_its_bodies(parts: Parts) -> None:
    docs = source(parts, "docs", b"x")
    source(parts, "blog", b"y")
    parts.ledger.sources.take("blog", "elsewhere/1/1", datetime.now(UTC))
    with pytest.raises(SourceBusyError, match="elsewhere"):
        forget(parts, docs)
    assert stored(parts) == 2
    assert parts.ledger.sources.find("docs") is not None

"""A source as a call wants it, whatever cut the call before short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chunker.policy import Policy
from crawler.model import Found, Scope
from pipeline.errors import UsageError
from pipeline.ingest import declare
from pipeline.ledger.settlements import Settlements
from pipeline.parts import Parts
from pipeline.rechunk import rechunk, with_policy
from pipeline.settings import Settings

SEED = "https://a.example/"
WIDE = Scope(seeds=(SEED,))
NARROW = Scope(seeds=(SEED,), exclude=("/old/",))


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    opened = Parts.of(Settings(home=tmp_path), make=True)
    declare(opened, "docs", None, WIDE, None)
    opened.ledger.visits.discovered("docs", [Found(SEED + "old/a", 1, SEED)])
    return opened


def state(parts: Parts) -> tuple[str, str | None]:
    (row,) = parts.ledger.pages.rows("docs")
    return row.state, row.reason


def test_a_narrower_scope_that_was_cut_short_is_applied_by_the_next_call(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(_: Settlements, source: str, why_not: Callable[[str, int], str | None]) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Settlements, "rescope", cut)
        with pytest.raises(KeyboardInterrupt):
            declare(parts, "docs", None, NARROW, None)
    assert declare(parts, "docs", None, NARROW, None).scope == NARROW
    assert state(parts) == ("skipped", "excluded")


def test_another_customers_call_changes_no_page(parts: Parts) -> None:
    with pytest.raises(UsageError, match="belongs to customer docs"):
        declare(parts, "docs", "other", NARROW, None)
    assert state(parts) == ("pending", None)


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (Policy(planner="endpoint"), "planner endpoint"),
        (Policy(escalation_threshold=0.5), "escalation_threshold"),
        (Policy(enrichment=True), "enrichment"),
    ],
)
def test_a_policy_that_would_not_be_followed_is_refused_by_name(
    parts: Parts, policy: Policy, named: str
) -> None:
    for call in (
        lambda: declare(parts, "docs", None, WIDE, policy),
        lambda: rechunk(parts, "docs", policy),
        lambda: with_policy(parts, parts.ledger.sources.get("docs"), policy),
    ):
        with pytest.raises(UsageError, match=named):
            call()
    assert parts.ledger.sources.get("docs").pins.policy == Policy()

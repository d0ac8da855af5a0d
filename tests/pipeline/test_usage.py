"""What customers cost adds up to what the engines counted; budgets warn, stop and begin anew."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from crawler.model import Fetched, Scope
from examples.server import serve
from pipeline import retention
from pipeline.budgets import BudgetError, Budgets
from pipeline.frontier import LedgerFrontier
from pipeline.ingest import declare
from pipeline.ledger import Ledger
from pipeline.parts import Parts
from pipeline.settings import Budget, Settings
from tests.pipeline.command import WRAC, environment, wrac

SITE = "port-auben"
LIMITS = Settings(
    budgets={
        "acme": Budget(embeddings_per_day=10, plan_tokens_per_month=1000),
        "*": Budget(requests_per_day=5),
    }
)


@pytest.mark.timeout(300)
def test_the_sums_are_the_engines_own_counters_and_a_budget_stops_at_its_limit(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "home", tmp_path / "wrac.toml"
    with serve([SITE]) as site:
        url = f"{site.urls[SITE]}/"
        arguments = ["ingest", url, "--source", SITE, "--allow-host", "127.0.0.1"]
        file.write_text("[budgets.port-auben]\nrequests_per_day = 6\n")
        code, stopped = wrac(home, *arguments)
        assert (code, stopped["error"]["code"]) == (3, "budget")
        assert "requests a day" in stopped["error"]["message"]
        _, status = wrac(home, "status")
        [level] = status["budgets"]
        assert (level["customer"], level["what"], level["limit"]) == (SITE, "requests", 6)
        assert level["used"] >= 6
        file.write_text("[budgets.port-auben]\nrequests_per_day = 1000\n")
        code, done = wrac(home, *arguments)
        assert code == 0, done
        [total] = wrac(home, "usage")[1]["totals"]
        assert total["requests"] == len(site.requests)
    assert total["embedded_texts"] >= done["embeddings"]["made"] > 0
    assert total["embedded_tokens"] > total["embedded_texts"]
    assert total["pages_indexed"] >= done["pages"]["indexed"]
    assert total["seconds"] >= done["seconds"]
    files = (path for path in (home / "store").rglob("*") if path.is_file())
    assert total["stored_bytes"] == sum(path.stat().st_size for path in files)

    month = f"{datetime.now(UTC):%Y-%m}"
    told = subprocess.run(
        [WRAC, "usage", "--csv", "--month", month],
        env=environment(home),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = list(csv.DictReader(io.StringIO(told)))
    assert sum(int(row["requests"]) for row in rows) == total["requests"]
    assert {row["customer"] for row in rows} == {SITE}


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [("--month", "2026-13", "is no month"), ("--customer", "nobody", "there is no customer")],
)
def test_what_there_is_no_usage_of_is_named(
    tmp_path: Path, flag: str, value: str, said: str
) -> None:
    Parts.of(Settings(home=tmp_path / "home"), make=True).ledger.close()
    code, answer = wrac(tmp_path / "home", "usage", flag, value)
    assert (code, said in answer["error"]["message"]) == (2, True)


def test_a_budget_warns_once_before_and_stops_at_the_limit(ledger: Ledger) -> None:
    budgets, today = Budgets(LIMITS, ledger, "acme"), datetime.now(UTC).date()
    with capture_logs() as logs:
        ledger.usage.add("acme", today, {"embedded_texts": 7})
        budgets.check("embeddings")
        assert logs == []
        ledger.usage.add("acme", today, {"embedded_texts": 2})
        budgets.check("embeddings")
        budgets.check("embeddings")
        assert [one["budget"] for one in logs] == ["customer acme: 9 of 10 embeddings a day"]
    ledger.usage.add("acme", today, {"embedded_texts": 3})
    with pytest.raises(BudgetError, match="customer acme: 12 of 10 embeddings a day"):
        budgets.check("embeddings", "plan_tokens")
    budgets.check("requests")  # which it has no limit of


def test_budgets_begin_anew_by_day_and_by_month(ledger: Ledger) -> None:
    last = date(2026, 11, 30)
    ledger.usage.add("acme", last, {"embedded_texts": 10, "plan_input_tokens": 900})
    ledger.usage.add("acme", last - timedelta(days=1), {"plan_output_tokens": 200})
    budgets = Budgets(LIMITS, ledger, "acme")

    def left(day: date) -> dict[str, tuple[int, date]]:
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        return {level.what: (level.left, level.resets) for level in budgets.levels(noon)}

    first = date(2026, 12, 1)
    assert left(last) == {"embeddings": (0, first), "plan_tokens": (0, first)}
    assert left(first) == {
        "embeddings": (10, date(2026, 12, 2)),
        "plan_tokens": (1000, date(2027, 1, 1)),
    }


def test_another_customers_usage_counts_against_nobody_else(ledger: Ledger) -> None:
    ledger.usage.add("acme", datetime.now(UTC).date(), {"requests": 5})
    assert Budgets(LIMITS, ledger, "other").requests_left() == 5
    assert Budgets(LIMITS, ledger, "acme").requests_left() is None
    assert Budgets(Settings(), ledger, "acme").requests_left() is None


def test_bodies_that_no_page_has_any_more_go_after_a_while(tmp_path: Path) -> None:
    parts = Parts.of(Settings(home=tmp_path, body_days=30), make=True)
    seed = "https://a.example/"
    source = declare(parts, "docs", "acme", Scope(seeds=(seed,)), None)
    frontier = LedgerFrontier(parts.ledger, parts.store, source)
    for body in (b"old", b"older", b"new"):
        frontier.record(Fetched(seed, seed, 200, {}, "text/html", body, datetime.now(UTC)))
    assert retention.sweep(parts, "acme") == 0
    long_ago = (datetime.now(UTC) - timedelta(days=31)).timestamp()
    for path in (tmp_path / "store" / "acme" / "bodies").rglob("*.zst"):
        os.utime(path, (long_ago, long_ago))
    assert retention.sweep(parts, "acme") == 2
    assert parts.store.body("acme", next(iter(parts.ledger.pages.bodies("docs")))) == b"new"

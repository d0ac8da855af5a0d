"""A run's hold on its source: shown by a thread, lost to another run, whatever the run is at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest
from sqlalchemy import select

from pipeline import runs
from pipeline.errors import SourceBusyError
from pipeline.ledger import Ledger, sql
from pipeline.ledger.schema import sources
from pipeline.ledger.sources import RUN_LEASE
from pipeline.runs import Run
from tests.pipeline.test_ledger import declare


def test_a_hold_is_prolonged_by_its_own_thread_until_another_run_has_it(ledger: Ledger) -> None:
    declare(ledger)
    begun = datetime.now(UTC)
    ledger.sources.take("docs", "slow", begun - 2 * RUN_LEASE)  # its lease has run out
    run = Run(ledger, "docs", "slow")
    heart = Thread(target=run.beat, args=(0.001,))
    heart.start()
    while _lease_ends(ledger) < begun:
        assert heart.is_alive()
    run.check()
    with pytest.raises(SourceBusyError, match="slow"):
        ledger.sources.take("docs", "other", begun)
    ledger.sources.take("docs", "other", begun + 10 * RUN_LEASE)
    heart.join()
    with pytest.raises(SourceBusyError, match="other"):
        run.check()


def _lease_ends(ledger: Ledger) -> datetime:
    with ledger.engine.connect() as connection:
        return sql.utc(connection.scalars(select(sources.c.runner_until)).one())


def test_a_hold_ends_with_its_run(ledger: Ledger) -> None:
    declare(ledger)
    with runs.held(ledger, "docs") as run:
        assert ledger.sources.runner("docs") == run.runner
        with pytest.raises(SourceBusyError):
            ledger.sources.take("docs", "other", datetime.now(UTC) + timedelta(seconds=1))
    assert ledger.sources.runner("docs") is None

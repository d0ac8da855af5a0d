"""When pages of an adaptive source are due again, by what their visits showed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from crawler.model import Found, Missed, NotModified, Outcome
from pipeline.ledger import Ledger, sql
from pipeline.ledger.schedules import Schedule
from pipeline.ledger.schema import pages, schedules
from pipeline.ledger.work import Done
from tests.pipeline.test_ledger import PINNED, SEED, declare, fetched

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ADAPTIVE = Schedule(every=4, least=0.5, most=30)


@pytest.fixture
def adaptive(ledger: Ledger) -> Ledger:
    declare(ledger)
    ledger.schedules.declare("docs", ADAPTIVE)
    return ledger


def see(ledger: Ledger, day: float, body: str | None, document: str = "", **more: object) -> None:
    """Visit the seed on that day. `body` None: it is not modified."""
    at = NOW + day * DAY
    visit: Outcome = (
        NotModified(SEED, at, **more)
        if body is None
        else fetched(  # type: ignore[arg-type]
            fetched_at=at, **more
        )
    )
    record(ledger, [(visit, body or "")])
    for job in ledger.work.claim("docs", "run", 10):
        ledger.work.done([Done(job, 1, document or body, "T")], at)


def record(ledger: Ledger, visits: Sequence[tuple[Outcome, str]]) -> None:
    ledger.visits.record("docs", 1, visits, PINNED)


def row(ledger: Ledger, url: str = SEED):  # type: ignore[no-untyped-def]
    with ledger.engine.connect() as connection:
        return connection.execute(select(pages).where(pages.c.url == url)).one()


def rate(ledger: Ledger) -> float:
    seen = row(ledger)
    return float(seen.change_shape / seen.change_days)


def due(ledger: Ledger, url: str) -> datetime:
    return sql.utc(row(ledger, url).next_visit)


def wait(ledger: Ledger) -> float:
    """Days from the last visit to the next."""
    seen = row(ledger)
    return float((seen.next_visit - seen.seen_at) / DAY)


def test_a_page_that_changes_is_due_sooner_than_one_that_does_not(adaptive: Ledger) -> None:
    for day in range(0, 40, 4):
        see(adaptive, day, "always the same" if day == 0 else None)
    adaptive.revisits.fit("docs", NOW + 40 * DAY)
    see(adaptive, 44, None)
    calm = rate(adaptive)
    see(adaptive, 48, "another")
    assert rate(adaptive) > calm
    assert 0.5 <= wait(adaptive) <= 30


def test_another_body_with_the_same_content_is_no_change(adaptive: Ledger) -> None:
    see(adaptive, 0, "one", "document")
    see(adaptive, 4, "two, with a nonce", "document")
    nonce = rate(adaptive)
    see(adaptive, 8, "three", "another document")
    assert nonce < rate(adaptive)


def test_what_the_site_says_of_its_responses_holds_within_the_bounds(adaptive: Ledger) -> None:
    see(adaptive, 0, "one", fresh_for=20 * 86_400.0)
    assert wait(adaptive) == pytest.approx(20)
    see(adaptive, 20, None, fresh_for=365 * 86_400.0)
    assert wait(adaptive) == pytest.approx(30)
    see(adaptive, 50, None, fresh_for=1.0)
    assert wait(adaptive) == pytest.approx(4)


def test_a_pass_visits_what_is_due_and_what_is_new(adaptive: Ledger) -> None:
    see(adaptive, 0, "one")
    adaptive.visits.discovered("docs", [Found(SEED + "new", 1, SEED)])
    adaptive.sources.end_pass("docs", NOW)
    adaptive.sources.begin_pass("docs", NOW + DAY)
    assert [task.url for task in adaptive.visits.pending("docs", 10, ())] == [SEED + "new"]
    adaptive.sources.end_pass("docs", NOW)
    adaptive.sources.begin_pass("docs", NOW + 5 * DAY)
    due = [task.url for task in adaptive.visits.pending("docs", 10, ())]
    assert due == [SEED, SEED + "new"]
    assert adaptive.schedules.earliest("docs") == NOW + 4 * DAY


def test_a_page_that_fails_is_tried_again_soon_and_one_that_is_none_seldom(
    adaptive: Ledger,
) -> None:
    see(adaptive, 0, "one")
    at = NOW + 4 * DAY
    for missed in (
        Missed(SEED, "server_error", 500, at, transient=True),
        Missed(SEED, "not_found", 404, at),
    ):
        record(adaptive, [(missed, "")])
        assert due(adaptive, SEED) == at + DAY / 2
    adaptive.visits.discovered("docs", [Found(SEED + "none", 1, SEED)])
    record(adaptive, [(Missed(SEED + "none", "not_found", 404, at), "")])
    assert due(adaptive, SEED + "none") == at + 30 * DAY


def test_a_source_with_one_rhythm_learns_and_sets_no_times(ledger: Ledger) -> None:
    declare(ledger)
    see(ledger, 0, "one")
    see(ledger, 3, "two")
    assert row(ledger).next_visit is None
    assert rate(ledger) > 0.1
    ledger.revisits.fit("docs", NOW)


def test_a_fit_spends_the_requests_that_the_rhythm_allows(adaptive: Ledger) -> None:
    urls = [f"{SEED}{number}" for number in range(200)]
    adaptive.visits.discovered("docs", [Found(url, 1, SEED) for url in urls])
    for day in range(0, 20, 2):
        # A fifth of the pages changes all the time.
        bodies = [f"{url} {day if url[-1] in '05' else ''}" for url in urls]
        visits = [fetched(url, fetched_at=NOW + day * DAY, noindex=True) for url in urls]
        record(adaptive, list(zip(visits, bodies, strict=True)))
    adaptive.revisits.fit("docs", NOW + 20 * DAY)
    with adaptive.engine.connect() as connection:
        fitted = connection.execute(select(schedules)).one()
    assert fitted.worth > 0
    assert fitted.shape / fitted.days > 0
    adaptive.revisits.fit("docs", NOW + 20.5 * DAY)  # not so soon again
    with adaptive.engine.connect() as connection:
        assert connection.execute(select(schedules)).one().fitted_at == fitted.fitted_at


def listed(ledger: Ledger, day: float) -> bool:
    """A sitemap says that the seed changed on that day; whether it is visited because of it."""
    ledger.visits.discovered("docs", [Found(SEED, 1, None, listed_at=NOW + day * DAY)])
    return bool(ledger.visits.pending("docs", 10, ()))


def test_a_sitemap_is_trusted_as_far_as_it_proved_true(adaptive: Ledger) -> None:
    see(adaptive, 0, "one")
    assert not listed(adaptive, -1)  # it was seen since
    assert listed(adaptive, 1)
    see(adaptive, 1.5, None)  # and had not changed
    assert not listed(adaptive, 2)
    see(adaptive, 2.5, "two")
    assert listed(adaptive, 3)  # right as often as wrong


def test_feeds_that_pages_named_are_remembered(adaptive: Ledger) -> None:
    adaptive.schedules.add_feeds("docs", [SEED + "feed", SEED + "news"])
    adaptive.schedules.add_feeds("docs", [SEED + "feed", *(f"{SEED}{n}" for n in range(100))])
    known = adaptive.schedules.feeds("docs")
    assert known[:3] == [SEED + "feed", SEED + "news", SEED + "0"]
    assert len(known) == 50

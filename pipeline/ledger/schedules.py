"""When each source's turn comes, what its turns came to, and what they may cost in a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, case, func, select, update

from crawler.model import MAX_FEEDS
from pipeline.ledger import sql
from pipeline.ledger.schema import pages, schedules, sources

#: Wait before a source that failed is tried again; it doubles with each failure in a row.
FIRST_WAIT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a source's file asks for. Spans in days.

    With `least` and `most` a page is visited by how often it changes, between these two and on the
    average of all pages once in `every`; without them each page once in `every`.
    """

    every: float
    least: float | None = None
    most: float | None = None
    requests_per_day: int | None = None
    bytes_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a source stands in its schedule."""

    source: str
    schedule: Schedule
    due_at: datetime | None
    """None: now."""
    served_at: datetime | None
    paused: str | None
    """Why its turns are skipped; None: they are not."""
    failures: int
    """Turns that failed, one after the other."""
    error: str | None
    """What the last of them failed with."""

    def is_due(self, now: datetime) -> bool:
        return self.paused is None and (self.due_at is None or self.due_at <= now)


class Schedules:
    """The `schedules` table: a row a source that was ever declared, paused or run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def declare(self, source: str, schedule: Schedule) -> None:
        """Give the source this schedule. A changed rhythm makes it due now."""
        values = asdict(schedule)
        with self._engine.begin() as connection:
            _put(connection, source)
            row = connection.execute(_of(source)).one()
            rhythm = ("every", "least", "most")
            if any(getattr(row, key) != values[key] for key in rhythm):
                values |= {"due_at": None, "worth": None}
            connection.execute(_change(source, values))

    def get(self, source: str) -> Standing | None:
        """Where the source stands; None where no file or command spoke of it yet."""
        with sql.read(self._engine) as connection:
            row = connection.execute(_of(source)).one_or_none()
        return None if row is None else _standing(row)

    def pause(self, source: str, why: str) -> None:
        """Skip the source's turns from now on; a crawl that runs begins no page more."""
        with self._engine.begin() as connection:
            _put(connection, source)
            connection.execute(_change(source, {"paused": why}))

    def resume(self, source: str) -> None:
        """The source has turns again, the next one now."""
        with self._engine.begin() as connection:
            values = {"paused": None, "failures": 0, "error": None, "due_at": None}
            connection.execute(_change(source, values))

    def begin_turn(self, source: str, now: datetime, until: datetime | None) -> None:
        """A turn begins, whose crawl begins no page after `until` (None: no such moment)."""
        with self._engine.begin() as connection:
            _put(connection, source)
            connection.execute(_change(source, {"served_at": now, "until": until}))

    def stop(self, source: str, now: datetime) -> None:
        """The crawl of the turn that runs begins nothing more."""
        with self._engine.begin() as connection:
            connection.execute(_change(source, {"until": now}))

    def ended(self, source: str, due_at: datetime) -> None:
        """A turn ended well; the next is due at that time."""
        with self._engine.begin() as connection:
            values = {"due_at": due_at, "until": None, "failures": 0, "error": None}
            connection.execute(_change(source, values))

    def postpone(self, source: str, due_at: datetime) -> None:
        """The source's next turn is not before that time."""
        with self._engine.begin() as connection:
            connection.execute(_change(source, {"due_at": due_at}))

    def failed(self, source: str, error: str, now: datetime) -> datetime:
        """A turn failed. Returns when the next is due: the wait doubles up to the usual span."""
        with self._engine.begin() as connection:
            _put(connection, source)
            row = connection.execute(_of(source)).one()
            longest = max(timedelta(days=row.every or 1.0), FIRST_WAIT)
            due_at: datetime = now + min(FIRST_WAIT * 2 ** min(row.failures, 16), longest)
            values = {"due_at": due_at, "until": None, "error": error[:500]}
            connection.execute(_change(source, {**values, "failures": row.failures + 1}))
        return due_at

    def spend(self, source: str, requests: int, body_bytes: int, now: datetime) -> None:
        """Count what was asked against the day (UTC)."""
        day = now.astimezone(UTC).date().isoformat()
        with self._engine.begin() as connection:
            _put(connection, source)
            today = schedules.c.day == day
            values = {
                "day": day,
                "requests": requests + case((today, schedules.c.requests), else_=0),
                "bytes": body_bytes + case((today, schedules.c.bytes), else_=0),
            }
            connection.execute(_change(source, values))

    def allows(self, source: str, runner: str | None, now: datetime) -> int | None:
        """How many requests a crawl may begin now: 0 none, None as many as it likes.

        None to a runner that does not hold the source, that is paused, whose turn is over or whose
        day's requests or bytes are spent.
        """
        query = (
            select(schedules, sources.c.runner)
            .select_from(sources.outerjoin(schedules, schedules.c.source == sources.c.name))
            .where(sources.c.name == source)
        )
        with sql.read(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        if row is None or (runner is not None and row.runner != runner):
            return 0  # another run took the source over, or it was forgotten
        if row.source is None:
            return None
        if row.paused is not None or (row.until is not None and sql.utc(row.until) <= now):
            return 0
        spent = row.day == now.astimezone(UTC).date().isoformat()
        if spent and row.bytes_per_day is not None and row.bytes >= row.bytes_per_day:
            return 0
        if row.requests_per_day is None:
            return None
        left: int = row.requests_per_day - (row.requests if spent else 0)
        return max(0, left)

    def spent(self, source: str, now: datetime) -> bool:
        """Whether the day's requests or bytes are used up."""
        with sql.read(self._engine) as connection:
            row = connection.execute(_of(source)).one_or_none()
        if row is None or row.day != now.astimezone(UTC).date().isoformat():
            return False
        limits = (row.requests, row.requests_per_day), (row.bytes, row.bytes_per_day)
        return any(limit is not None and amount >= limit for amount, limit in limits)

    def earliest(self, source: str) -> datetime | None:
        """When the first of the source's pages is due."""
        query = select(func.min(pages.c.next_visit)).where(
            pages.c.source == source, pages.c.fetch != "skipped"
        )
        with sql.read(self._engine) as connection:
            found = connection.scalar(query)
        return sql.utc(found) if found else None

    def feeds(self, source: str) -> list[str]:
        """Feeds that the source's pages named."""
        with sql.read(self._engine) as connection:
            found = connection.scalar(select(schedules.c.feeds).where(schedules.c.source == source))
        return list(found or ())

    def add_feeds(self, source: str, urls: Sequence[str]) -> None:
        """Remember feeds that pages named, the first `MAX_FEEDS` of them."""
        known = self.feeds(source)
        new = [url for url in dict.fromkeys(urls) if url not in known]
        if new and len(known) < MAX_FEEDS:
            with self._engine.begin() as connection:
                _put(connection, source)
                connection.execute(_change(source, {"feeds": (known + new)[:MAX_FEEDS]}))


def next_day(now: datetime) -> datetime:
    """When the budgets of a day begin anew."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


def _put(connection: Connection, source: str) -> None:
    connection.execute(
        sql.insert(connection, schedules).values(source=source).on_conflict_do_nothing()
    )


def _of(source: str) -> Any:
    return select(schedules).where(schedules.c.source == source)


def _change(source: str, values: Mapping[str, Any]) -> Any:
    return update(schedules).where(schedules.c.source == source).values(**values)


def _standing(row: Row[Any]) -> Standing:
    return Standing(
        source=row.source,
        schedule=Schedule(
            every=row.every or 1.0,
            least=row.least,
            most=row.most,
            requests_per_day=row.requests_per_day,
            bytes_per_day=row.bytes_per_day,
        ),
        due_at=sql.utc(row.due_at) if row.due_at else None,
        served_at=sql.utc(row.served_at) if row.served_at else None,
        paused=row.paused,
        failures=row.failures,
        error=row.error,
    )

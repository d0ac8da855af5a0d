"""Sources: who they belong to, what they are made with, their passes, who works on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    and_,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    update,
)

from crawler.model import Scope
from pipeline.errors import SourceBusyError, UnknownSourceError, UsageError
from pipeline.ledger import sql
from pipeline.ledger.model import Pins, Source
from pipeline.ledger.schema import (
    build_pages,
    builds,
    lock_pages,
    pages,
    schedules,
    sources,
    usage,
)

#: How long a run that shows no sign of life keeps its source.
RUN_LEASE = timedelta(seconds=60)


class Sources:
    """The `sources` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def declare(self, name: str, customer: str, scope: Scope, pins: Pins, now: datetime) -> Source:
        """Make the source, or give an existing one this scope and these pins.

        A change of pins makes every page of the source differ from what is wanted. Raises
        `UsageError` if the source belongs to another customer.
        """
        with self._engine.begin() as connection:
            made = connection.execute(
                sql.insert(connection, sources)
                .values(
                    name=name,
                    customer=customer,
                    scope=asdict(scope),
                    pins=pins.to_json(),
                    created_at=now,
                )
                .on_conflict_do_nothing()
                .returning(sources.c.name)
            ).first()
            if made is None:
                _change(connection, name, customer, scope, pins)
        return self.get(name)

    def get(self, name: str) -> Source:
        """The source of that name. Raises `UnknownSourceError`, naming those that there are."""
        with sql.read(self._engine) as connection:
            row = connection.execute(select(sources).where(sources.c.name == name)).one_or_none()
            if row is not None:
                return _source(row)
            names = connection.scalars(select(sources.c.name).order_by(sources.c.name)).all()
        raise UnknownSourceError(
            f"there is no source {name}",
            f"sources here: {', '.join(names)}" if names else "no source has been ingested yet",
        )

    def find(self, name: str) -> Source | None:
        try:
            return self.get(name)
        except UnknownSourceError:
            return None

    def all(self, customer: str | None = None) -> list[Source]:
        query = select(sources).order_by(sources.c.name)
        if customer is not None:
            query = query.where(sources.c.customer == customer)
        with sql.read(self._engine) as connection:
            return [_source(row) for row in connection.execute(query)]

    def begin_pass(self, name: str, due_by: datetime | None = None) -> int:
        """Open the next pass, or go on with the one that was interrupted; returns its number.

        A new pass visits every page, or those that are due by that moment and those that have no
        time set. It tries again what was set aside: what failed a page may have been mended.
        """
        with self._engine.begin() as connection:
            row = connection.execute(
                select(sources.c.pass_number, sources.c.pass_open).where(sources.c.name == name)
            ).one()
            number: int = row.pass_number if row.pass_open else row.pass_number + 1
            connection.execute(
                update(sources)
                .where(sources.c.name == name)
                .values(pass_number=number, pass_open=True)
            )
            if not row.pass_open:
                connection.execute(
                    update(pages)
                    .where(pages.c.source == name, pages.c.failed.is_not(None))
                    .values(failed=None, attempts=0, interrupted=0)
                )
                queue = update(pages).where(pages.c.source == name, pages.c.fetch != "skipped")
                if due_by is not None:
                    due = pages.c.next_visit <= due_by
                    queue = queue.where(or_(pages.c.next_visit.is_(None), due))
                connection.execute(queue.values(queued=True))
        return number

    def end_pass(self, name: str, now: datetime) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                update(sources)
                .where(sources.c.name == name)
                .values(pass_open=False, pass_ended_at=now)
            )

    def publish(self, name: str, verdicts: str, urls: Sequence[str], settled: bool) -> None:
        """Publish verdicts of the site's profile; the pages that they concern differ from now on.

        `settled`: they come of a whole pass and not of its first pages.
        """
        values = {"verdicts": verdicts} | ({"settled_verdicts": verdicts} if settled else {})
        with self._engine.begin() as connection:
            connection.execute(update(sources).where(sources.c.name == name).values(**values))
            lock_pages(connection, name, urls)
            for start in range(0, len(urls), 500):
                connection.execute(
                    update(pages)
                    .where(pages.c.source == name, pages.c.url.in_(urls[start : start + 500]))
                    .values(
                        verdicts=verdicts,
                        wanted=case(
                            (pages.c.wanted.is_(None), None),
                            else_=pages.c.body_hash + f":{verdicts}:" + _last(pages.c.wanted),
                        ),
                    )
                )

    def take(
        self,
        name: str,
        runner: str,
        now: datetime,
        dead: str | None = None,
        asked: bool = False,
    ) -> None:
        """Hold the source for a run. Raises `SourceBusyError` naming the run that holds it.

        Calling it again prolongs the lease. `dead` names a runner known to be gone; `asked` says
        that this caller asked the others to stop.
        """
        free = or_(
            sources.c.runner == runner,
            and_(
                or_(
                    sources.c.runner.is_(None),
                    sources.c.runner == dead,
                    sources.c.runner_until < now,
                ),
                or_(literal(asked), sources.c.stop_until.is_(None), sources.c.stop_until < now),
            ),
        )
        with self._engine.begin() as connection:
            taken = connection.execute(
                update(sources)
                .where(sources.c.name == name, free)
                .values(runner=runner, runner_until=now + RUN_LEASE)
            )
        if taken.rowcount == 0:
            raise SourceBusyError(
                f"source {name} is being worked on by {self.runner(name) or 'wrac forget'}",
                "wait for it to end, or stop it",
            )

    def ask_to_stop(self, name: str, until: datetime | None) -> None:
        """Ask the run that holds the source to let it go, and all others to keep off until then.

        None takes the request back.
        """
        with self._engine.begin() as connection:
            connection.execute(
                update(sources).where(sources.c.name == name).values(stop_until=until)
            )

    def asked_to_stop(self, name: str, now: datetime) -> bool:
        with sql.read(self._engine) as connection:
            until = connection.scalar(select(sources.c.stop_until).where(sources.c.name == name))
        return until is not None and sql.utc(until) > now

    def runner(self, name: str) -> str | None:
        with sql.read(self._engine) as connection:
            return connection.scalar(select(sources.c.runner).where(sources.c.name == name))

    def release(self, name: str, runner: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                update(sources)
                .where(sources.c.name == name, sources.c.runner == runner)
                .values(runner=None, runner_until=None)
            )

    def forget(self, name: str) -> int:
        """Delete the source and its pages, and its customer's usage with the last source.

        Returns the number of pages that were known.
        """
        with self._engine.begin() as connection:
            customer = connection.scalar(select(sources.c.customer).where(sources.c.name == name))
            known = connection.execute(delete(pages).where(pages.c.source == name)).rowcount
            for table in (build_pages, builds, schedules):
                connection.execute(delete(table).where(table.c.source == name))
            connection.execute(delete(sources).where(sources.c.name == name))
            others = select(sources.c.name).where(sources.c.customer == customer)
            if connection.execute(others).first() is None:
                connection.execute(delete(usage).where(usage.c.customer == customer))
        return known

    def compact(self) -> None:
        """Give deleted rows' space back, so that nothing of them stays in the file."""
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")
            if self._engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _change(connection: Connection, name: str, customer: str, scope: Scope, pins: Pins) -> None:
    row = connection.execute(
        select(sources.c.customer, sources.c.pins).where(sources.c.name == name).with_for_update()
    ).one()
    if row.customer != customer:
        raise UsageError(
            f"source {name} belongs to customer {row.customer}, not {customer}",
            "choose another source name, or leave --customer out",
        )
    connection.execute(
        update(sources)
        .where(sources.c.name == name)
        .values(scope=asdict(scope), pins=pins.to_json())
    )
    old, new = Pins.from_json(row.pins).fingerprint, pins.fingerprint
    if old != new:
        # `wanted` ends in the pins' fingerprint, 16 characters.
        connection.execute(
            update(pages)
            .where(pages.c.source == name, pages.c.wanted.is_not(None))
            .values(wanted=_cut_last(pages.c.wanted) + new, failed=None, attempts=0)
        )


def _last(column: Any) -> Any:
    """The pins' part of `wanted`: its last 16 characters."""
    return func.substr(column, func.length(column) - 15, 16)


def _cut_last(column: Any) -> Any:
    return func.substr(column, 1, func.length(column) - 16)


def _source(row: Row[Any]) -> Source:
    scope: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in row.scope.items()
    }
    return Source(
        name=row.name,
        customer=row.customer,
        scope=Scope(**scope),
        pins=Pins.from_json(row.pins),
        build=row.build,
        created_at=sql.utc(row.created_at),
        pass_number=row.pass_number,
        pass_open=row.pass_open,
        pass_ended_at=sql.utc(row.pass_ended_at) if row.pass_ended_at else None,
        verdicts=row.verdicts,
        settled_verdicts=row.settled_verdicts,
        held=row.held,
    )

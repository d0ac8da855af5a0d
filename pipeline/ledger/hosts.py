"""Who may ask a host, and from when on: one source's crawl at a time, at the host's own pace.

A hold is as good as its run's hold on the source: it needs no sign of life of its own. What a
host asked for (a gap between two requests, a time to be left alone) outlives the crawl that heard
it, and a crawl that was killed is taken to have asked just now.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Engine, delete, exists, select, update

from crawler.model import HostPace
from pipeline.ledger import sql
from pipeline.ledger.schema import hosts, sources


class Hosts:
    """The `hosts` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(
        self, source: str, runner: str, names: Collection[str], now: datetime
    ) -> dict[str, HostPace]:
        """Hold hosts for a source's crawl; returns those that it holds now, and their paces.

        Each process of the crawl takes a host once: it cannot know when the one before it asked.
        """
        held: dict[str, HostPace] = {}
        with self._engine.begin() as connection:
            for name in sorted(names):
                connection.execute(
                    sql.insert(connection, hosts).values(host=name).on_conflict_do_nothing()
                )
                row = connection.execute(
                    select(hosts, _is_live(now).label("live"))
                    .where(hosts.c.host == name)
                    .with_for_update(of=hosts)
                ).one()
                if row.live and row.source != source:
                    continue
                free_at = sql.utc(row.free_at) if row.free_at else now
                if row.source is not None:
                    free_at = max(free_at, now + timedelta(seconds=row.gap))
                connection.execute(
                    update(hosts)
                    .where(hosts.c.host == name)
                    .values(source=source, runner=runner, free_at=free_at)
                )
                held[name] = HostPace(row.gap, max(0.0, (free_at - now).total_seconds()))
        return held

    def of_others(self, source: str, names: Collection[str], now: datetime) -> set[str]:
        """Those of these hosts that the crawl of another source holds."""
        query = select(hosts.c.host).where(
            hosts.c.host.in_(names), hosts.c.source != source, _is_live(now)
        )
        with sql.read(self._engine) as connection:
            return set(connection.scalars(query))

    def keep(self, name: str, pace: HostPace, now: datetime) -> None:
        """Remember what a host asked for."""
        with self._engine.begin() as connection:
            connection.execute(
                update(hosts)
                .where(hosts.c.host == name)
                .values(gap=pace.gap, free_at=now + timedelta(seconds=pace.wait))
            )

    def release(self, source: str, now: datetime) -> None:
        """The source's crawl has ended: others may ask its hosts, a gap from now on."""
        with self._engine.begin() as connection:
            query = select(hosts).where(hosts.c.source == source).with_for_update()
            for row in connection.execute(query.order_by(hosts.c.host)).all():
                free_at = now + timedelta(seconds=row.gap)
                if row.free_at is not None:
                    free_at = max(free_at, sql.utc(row.free_at))
                connection.execute(
                    update(hosts)
                    .where(hosts.c.host == row.host)
                    .values(source=None, runner=None, free_at=free_at)
                )

    def forget_idle(self, before: datetime) -> None:
        """Let go of hosts that nobody holds and that were free before that moment."""
        with self._engine.begin() as connection:
            connection.execute(
                delete(hosts).where(hosts.c.source.is_(None), hosts.c.free_at < before)
            )


def _is_live(now: datetime) -> ColumnElement[bool]:
    """Whether the run that took a host still holds its source."""
    return exists().where(
        sources.c.name == hosts.c.source,
        sources.c.runner == hosts.c.runner,
        sources.c.runner_until > now,
    )

"""Builds beside the live one: what a source is being made with, and what it was made with before.

`pages` holds what is indexed in the live build. What is indexed in another stands in `build_pages`,
row by row the same; going from one build to the other exchanges the two, as one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, case, delete, func, insert, literal, null, select, update

from pipeline.ledger import sql
from pipeline.ledger.model import Pins, Source
from pipeline.ledger.schema import build_pages, builds, pages, sources

State = Literal["building", "previous"]

#: What a build's row of a page and the page's own have in common.
_SHARED = ("indexed", "document_hash", "title", "chunks")


@dataclass(frozen=True, slots=True)
class Build:
    """A build of a source that is not live."""

    source: str
    number: int
    pins: Pins
    state: State
    made_at: datetime


class Builds:
    """The `builds` table, and the change from one build to another."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, source: str) -> list[Build]:
        """The source's builds beside the live one, oldest first."""
        query = select(builds).where(builds.c.source == source).order_by(builds.c.build)
        with sql.read(self._engine) as connection:
            return [
                Build(
                    row.source,
                    row.build,
                    Pins.from_json(row.pins),
                    row.state,
                    sql.utc(row.made_at),
                )
                for row in connection.execute(query)
            ]

    def begin(self, source: Source, pins: Pins, now: datetime) -> int:
        """Note a new build of the source, to be made with these pins; returns its number."""
        with self._engine.begin() as connection:
            last = connection.scalar(
                select(func.max(builds.c.build)).where(builds.c.source == source.name)
            )
            number = max(last or 0, source.build) + 1
            connection.execute(
                insert(builds).values(
                    source=source.name,
                    build=number,
                    pins=pins.to_json(),
                    state="building",
                    made_at=now,
                )
            )
        return number

    def switch(self, source: str, number: int, now: datetime) -> None:
        """Make a build the live one, and the live one the previous. One transaction.

        What changed since the build was made differs from what is wanted from then on.
        """
        with self._engine.begin() as connection:
            live = connection.execute(
                select(sources.c.build, sources.c.pins)
                .where(sources.c.name == source)
                .with_for_update()
            ).one()
            pins = connection.execute(
                select(builds.c.pins).where(builds.c.source == source, builds.c.build == number)
            ).scalar_one()
            _save(connection, source, live.build)
            _load(connection, source, number, Pins.from_json(pins))
            connection.execute(
                update(sources).where(sources.c.name == source).values(build=number, pins=pins)
            )
            _remove(connection, source, number)
            connection.execute(
                insert(builds).values(
                    source=source, build=live.build, pins=live.pins, state="previous", made_at=now
                )
            )

    def drop(self, source: str, number: int) -> None:
        """Forget a build; its points and records are the caller's to remove, before."""
        with self._engine.begin() as connection:
            _remove(connection, source, number)

    def urls(self, source: str, number: int) -> Iterator[str]:
        """The pages that a build holds."""
        query = select(build_pages.c.url).where(
            build_pages.c.source == source, build_pages.c.build == number
        )
        with sql.read(self._engine) as connection:
            yield from connection.scalars(query)


def _save(connection: Connection, source: str, number: int) -> None:
    """Keep of the live build what `pages` says of it. A page that is unsure equals nothing."""
    connection.execute(
        insert(build_pages).from_select(
            ["source", "build", "url", *_SHARED],
            select(
                pages.c.source,
                literal(number),
                pages.c.url,
                *(pages.c[name] for name in _SHARED),
            ).where(pages.c.source == source, pages.c.indexed.is_not(None)),
        )
    )


def _load(connection: Connection, source: str, number: int, pins: Pins) -> None:
    """Put what a build holds in place of what `pages` says, and want all pages with its pins."""
    built = (build_pages.c.source == source, build_pages.c.build == number)

    def of_build(name: str) -> Any:
        found = select(build_pages.c[name]).where(*built, build_pages.c.url == pages.c.url)
        return found.scalar_subquery()

    wanted = func.substr(pages.c.wanted, 1, func.length(pages.c.wanted) - 16) + pins.fingerprint
    connection.execute(
        update(pages)
        .where(pages.c.source == source)
        .values(
            wanted=case((pages.c.wanted.is_(None), null()), else_=wanted),
            indexed=of_build("indexed"),
            document_hash=of_build("document_hash"),
            title=of_build("title"),
            chunks=func.coalesce(of_build("chunks"), 0),
            failed=None,
            lease=None,
            attempts=0,
        )
    )


def _remove(connection: Connection, source: str, number: int) -> None:
    for table in (build_pages, builds):
        connection.execute(delete(table).where(table.c.source == source, table.c.build == number))

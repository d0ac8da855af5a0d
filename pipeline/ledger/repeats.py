"""Pages that repeat another page of their source: which are known, and what is decided of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine, select, update

from pipeline.ledger import sql
from pipeline.ledger.schema import UNSURE, pages, sources, update_page


@dataclass(frozen=True, slots=True)
class Sketched:
    """A page that is indexed, or would be if it did not repeat `near_of`."""

    url: str
    bands: tuple[str, ...]
    near_of: str | None
    is_new: bool
    """Whether it came with the pass."""


class Repeats:
    """The part of the `pages` table that says who repeats whom."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sketched(self, source: str) -> list[Sketched]:
        """The source's pages as they are indexed, by URL."""
        query = (
            select(
                pages.c.url,
                pages.c.sketch,
                pages.c.near_of,
                (pages.c.wanted_since >= sources.c.pass_number).label("is_new"),
            )
            .join(sources, sources.c.name == pages.c.source)
            .where(
                pages.c.source == source,
                pages.c.wanted == pages.c.indexed,
                pages.c.leaving.is_(None),
            )
        )
        with sql.read(self._engine) as connection:
            return [
                Sketched(
                    row.url,
                    tuple(row.sketch.split(":")) if row.sketch else (),
                    row.near_of,
                    bool(row.is_new),
                )
                for row in connection.execute(query.order_by(pages.c.url))
            ]

    def decide(self, source: str, changes: Mapping[str, str | None]) -> None:
        """Let pages repeat another from now on, or stand for themselves again (None).

        What is in the index of them is to be made again.
        """
        again = pages.c.indexed + UNSURE
        with self._engine.begin() as connection:
            for url, other in changes.items():
                connection.execute(
                    update_page(source, url)
                    .where(pages.c.wanted == pages.c.indexed)
                    .values(near_of=other, indexed=again)
                )

    def hold(self, source: str, marks: Mapping[str, str]) -> None:
        """Mark pages as leaving for others, until somebody confirms it."""
        with self._engine.begin() as connection:
            for url, other in marks.items():
                connection.execute(
                    update_page(source, url).values(leaving=REPEAT, leaving_to=other)
                )
            connection.execute(
                update(sources)
                .where(sources.c.name == source)
                .values(held=sources.c.held + len(marks))
            )


#: What `leaving` says of a page that is to repeat another.
REPEAT = "repeat"

"""Pages that name another as the canonical one: which of them stand, and which give way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, true

from pipeline.ledger.schema import pages, since

DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Change:
    """What a page's row is to become. `since`: the pass since which it is wanted; None: it is not.

    `end` is the page that it gives way to, if it does.
    """

    url: str
    values: dict[str, Any]
    since: int | None
    end: str | None = None

    def loses_before(self, pass_number: int) -> bool:
        """Whether this takes a page away that was there before that pass."""
        return self.end is not None and self.since is not None and self.since < pass_number


def changes(
    connection: Connection, source: str, pins: str, pass_number: int, leaving_stand: bool
) -> list[Change]:
    """Pages that name a canonical page give way to it if it is there; else they stand themselves.

    In a cycle of canonicals the least URL stands. `leaving_stand`: whether pages that are marked as
    leaving are still there.
    """
    here: ColumnElement[bool] = true() if leaving_stand else pages.c.leaving.is_(None)
    rows = connection.execute(
        select(
            pages.c.url,
            pages.c.alias_of,
            pages.c.body_hash,
            pages.c.verdicts,
            pages.c.wanted,
            pages.c.wanted_since,
        ).where(
            pages.c.source == source,
            pages.c.fetch == "fetched",
            pages.c.alias_of.is_not(None),
            pages.c.reason.is_distinct_from("noindex"),
            here,
        )
    ).all()
    chains = {row.url: row.alias_of for row in rows}
    found = []
    for row in rows:
        end = _end_of_chain(row.url, chains)
        if end == row.url or not (end in chains or _is_there(connection, source, end, here)):
            wanted = f"{row.body_hash}:{row.verdicts}:{pins}"
            if wanted != row.wanted:
                values = {"wanted": wanted, "reason": None, "wanted_since": since(pass_number)}
                found.append(Change(row.url, values, None))
        else:
            values = {"wanted": None, "failed": None, "reason": DUPLICATE}
            held = row.wanted_since if row.wanted is not None else None
            found.append(Change(row.url, values, held, end))
    return found


def _end_of_chain(url: str, chains: dict[str, str]) -> str:
    """Where following canonicals from `url` ends; for a cycle, its least URL."""
    path = [url]
    while (following := chains.get(path[-1])) is not None:
        if following in path:
            return min(path[path.index(following) :])
        path.append(following)
    return path[-1]


def _is_there(connection: Connection, source: str, url: str, here: ColumnElement[bool]) -> bool:
    """Whether a page that names no other is there to be indexed."""
    row = connection.execute(
        select(pages.c.reason).where(
            pages.c.source == source, pages.c.url == url, pages.c.fetch == "fetched", here
        )
    ).one_or_none()
    return row is not None and row.reason != "noindex"

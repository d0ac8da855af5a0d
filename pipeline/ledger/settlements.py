"""What a pass settles to: pages that enter or leave the scope, give way to others, or are removed.

Pages leave the index at the end of a pass and all at once, so that a site which answers nonsense
for an hour can be told from one that has shrunk: where too many would go, none goes before somebody
confirms it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, or_, select, update

from crawler import reasons
from pipeline.ledger import canonicals, repeats
from pipeline.ledger.schema import UNSURE, lock_pages, pages, sources, update_page

#: What a URL becomes that leaves the scope, or enters it.
_OUT: dict[str, Any] = {
    "fetch": "skipped",
    "queued": False,
    "wanted": None,
    "failed": None,
    "alias_of": None,
    "leaving": None,
    "leaving_to": None,
}
_IN: dict[str, Any] = {"fetch": "pending", "queued": True, "reason": None, "visited_pass": 0}


#: Pages that may go without a word however small the source is, but never all of it.
FEW = 1
NOINDEX = "noindex"
#: What pages that leave become in `fetch`; those that leave for another reason stay as fetched.
_ENDS = frozenset({"gone", "redirect", "missed"})


@dataclass(frozen=True, slots=True)
class Settled:
    """What a pass would remove of the pages that it found in the index. `held`: it does not."""

    leaving: int
    of: int
    held: bool


class Settlements:
    """Decisions over all of a source's pages at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rescope(self, source: str, why_not: Callable[[str, int], str | None]) -> int:
        """Apply a changed scope to every known URL; returns how many went in or out.

        `why_not` gives for URL and depth the reason why it is not in scope, or None. What is
        indexed and is not in scope any more is to be removed. What was left out for another reason
        than the scope (a trap, `nofollow`) stays out.
        """
        query = select(pages.c.url, pages.c.depth, pages.c.fetch, pages.c.reason).where(
            pages.c.source == source
        )
        with self._engine.begin() as connection:
            changed: list[tuple[str, dict[str, Any]]] = []
            for row in connection.execute(query).all():
                reason = why_not(row.url, row.depth)
                if reason is not None and row.fetch != "skipped":
                    changed.append((row.url, _OUT | {"reason": reason}))
                elif reason is None and row.fetch == "skipped" and row.reason in reasons.BY_SCOPE:
                    changed.append((row.url, _IN))
            for url, values in changed:
                connection.execute(update_page(source, url).values(**values))
        return len(changed)

    def settle(self, source: str, pins: str, share: float) -> Settled:
        """The end of a pass: pages that are to leave, and those that give way to others, do.

        Where they are more than `share` of the pages that the pass visited, nothing leaves: the
        source holds them until `confirm`, or until a later pass finds them again. A page that has
        moved to one that is new is no loss. The result does not depend on the order of the visits.
        """
        with self._engine.begin() as connection:
            number: int = connection.execute(
                select(sources.c.pass_number).where(sources.c.name == source).with_for_update()
            ).scalar_one()
            old = (
                pages.c.source == source,
                pages.c.wanted.is_not(None),
                pages.c.wanted_since < number,
            )
            count = select(func.count()).select_from(pages).where(*old)
            there = connection.scalar(count) or 0
            seen = or_(pages.c.visited_pass == number, pages.c.leaving.is_not(None))
            of = connection.scalar(count.where(seen)) or 0
            changes = canonicals.changes(connection, source, pins, number, leaving_stand=False)
            ends: list[str | None] = [
                *connection.scalars(
                    select(pages.c.leaving_to).where(*old, pages.c.leaving.is_not(None))
                ),
                *(change.end for change in changes if change.loses_before(number)),
            ]
            leaving = len(ends) - _new(connection, source, number, set(ends))
            held = leaving > allowed(of, there, share)
            if held:
                for change in changes:
                    if change.loses_before(number):
                        _mark(connection, source, change)
                changes = canonicals.changes(connection, source, pins, number, leaving_stand=True)
                changes = [change for change in changes if not change.loses_before(number)]
            else:
                _apply(connection, source)
            for change in changes:
                connection.execute(update_page(source, change.url).values(**change.values))
            connection.execute(
                update(sources).where(sources.c.name == source).values(held=leaving if held else 0)
            )
        return Settled(leaving, of, held)

    def confirm(self, source: str) -> int:
        """Remove what is held: the next run takes it out of the index. Returns how many pages."""
        with self._engine.begin() as connection:
            held = connection.scalar(
                select(sources.c.held).where(sources.c.name == source).with_for_update()
            )
            if not held:
                return 0
            connection.execute(update(sources).where(sources.c.name == source).values(held=0))
            return _apply(connection, source)


def allowed(of: int, there: int, share: float) -> float:
    """How many of the pages that a pass visited may leave unasked; `there` are in all."""
    return of if share >= 1 else max(0, min(max(FEW, share * of), there - 1))


def _new(connection: Connection, source: str, pass_number: int, urls: set[str | None]) -> int:
    """How many of these pages are there since this pass."""
    wanted = [url for url in urls if url is not None]
    query = (
        select(func.count())
        .select_from(pages)
        .where(
            pages.c.source == source,
            pages.c.wanted.is_not(None),
            pages.c.leaving.is_(None),
            pages.c.wanted_since >= pass_number,
        )
    )
    return sum(
        connection.scalar(query.where(pages.c.url.in_(wanted[start : start + 500]))) or 0
        for start in range(0, len(wanted), 500)
    )


def _mark(connection: Connection, source: str, change: canonicals.Change) -> None:
    values = {"leaving": canonicals.DUPLICATE, "leaving_to": change.end}
    connection.execute(update_page(source, change.url).values(**values))


def _apply(connection: Connection, source: str) -> int:
    """Every page that is marked as leaving leaves."""
    rows = connection.execute(
        select(pages.c.url, pages.c.leaving, pages.c.leaving_to).where(
            pages.c.source == source, pages.c.leaving.is_not(None)
        )
    ).all()
    lock_pages(connection, source, (row.url for row in rows))
    for row in rows:
        values: dict[str, Any] = {
            "wanted": None,
            "failed": None,
            "leaving": None,
            "leaving_to": None,
        }
        if row.leaving in _ENDS:
            values |= {"fetch": row.leaving, "alias_of": row.leaving_to}
        elif row.leaving == repeats.REPEAT:
            values = {
                "near_of": row.leaving_to,
                "indexed": pages.c.indexed + UNSURE,
                "leaving": None,
                "leaving_to": None,
            }
        elif row.leaving == canonicals.DUPLICATE:
            values["reason"] = row.leaving
        elif row.leaving == NOINDEX:
            # What is stored is the page as it was before: it may come back as just that.
            values |= {"etag": None, "last_modified": None}
        connection.execute(update_page(source, row.url).values(**values))
    return len(rows)

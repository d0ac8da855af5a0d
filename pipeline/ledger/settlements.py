"""What a pass settles to: pages that enter or leave the scope, pages that give way to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, select

from crawler import reasons
from pipeline.ledger.schema import pages, update_page

#: What a URL becomes that leaves the scope, or enters it.
_OUT: dict[str, Any] = {
    "fetch": "skipped",
    "queued": False,
    "wanted": None,
    "failed": None,
    "alias_of": None,
}
_IN: dict[str, Any] = {"fetch": "pending", "queued": True, "reason": None, "visited_pass": 0}


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

    def canonicals(self, source: str, pins: str) -> None:
        """At the end of a pass: pages that name a canonical page give way to it if it is there.

        The result does not depend on the order of the visits. A page whose canonical page was
        not fetched stands for itself; in a cycle of canonicals the least URL stands.
        """
        with self._engine.begin() as connection:
            rows = connection.execute(
                select(
                    pages.c.url,
                    pages.c.alias_of,
                    pages.c.body_hash,
                    pages.c.verdicts,
                    pages.c.wanted,
                ).where(
                    pages.c.source == source,
                    pages.c.fetch == "fetched",
                    pages.c.alias_of.is_not(None),
                    pages.c.reason.is_distinct_from("noindex"),
                )
            ).all()
            chains = {row.url: row.alias_of for row in rows}
            for row in rows:
                end = _end_of_chain(row.url, chains)
                if end == row.url or not _stands(connection, source, end, set(chains)):
                    wanted = f"{row.body_hash}:{row.verdicts}:{pins}"
                    values = {"wanted": wanted, "reason": None}
                else:
                    values = {"wanted": None, "failed": None, "reason": "duplicate"}
                if values["wanted"] != row.wanted or row.wanted is None:
                    connection.execute(update_page(source, row.url).values(**values))


def _end_of_chain(url: str, chains: dict[str, str]) -> str:
    """Where following canonicals from `url` ends; for a cycle, its least URL."""
    path = [url]
    while (following := chains.get(path[-1])) is not None:
        if following in path:
            return min(path[path.index(following) :])
        path.append(following)
    return path[-1]


def _stands(connection: Connection, source: str, url: str, aliases: set[str]) -> bool:
    """Whether a page is there to be indexed: fetched, and standing for itself."""
    row = connection.execute(
        select(pages.c.fetch, pages.c.reason, pages.c.alias_of).where(
            pages.c.source == source, pages.c.url == url
        )
    ).one_or_none()
    if row is None:
        return False
    if url in aliases:  # the least URL of a cycle
        return True
    return bool(row.fetch == "fetched" and row.reason != "noindex")

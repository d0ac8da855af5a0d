"""Links on record: what is found, where it stood, and what a sitemap or a feed says of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, case, or_, update

from crawler.model import Found
from pipeline.ledger import revisits, sql
from pipeline.ledger.schema import pages


def add(connection: Connection, source: str, links: Sequence[Found]) -> None:
    """Add URLs. A known URL keeps what is known, but may come nearer or into scope."""
    inside = {link.url: link for link in links if link.reason is None}
    outside = {link.url: link for link in links if link.reason is not None}
    if inside:
        rows = [{**_row(source, link), "queued": True} for link in inside.values()]
        connection.execute(_inside(connection.dialect.name), rows)
    if outside := {url: link for url, link in outside.items() if url not in inside}:
        rows = [
            {**_row(source, link), "fetch": "skipped", "reason": link.reason}
            for link in outside.values()
        ]
        connection.execute(sql.insert(connection, pages).on_conflict_do_nothing(), rows)
    if listed := [link for link in inside.values() if link.listed_at is not None]:
        _list(connection, source, listed)


def _row(source: str, link: Found) -> dict[str, Any]:
    return {
        "source": source,
        "url": link.url,
        "depth": link.depth,
        "found_on": link.found_on,
    }


@lru_cache
def _inside(dialect: str) -> Any:
    """Made once: to name the row that was to be inserted costs more than to insert it."""
    statement = sql.insert_on(dialect, pages)
    return statement.on_conflict_do_update(
        index_elements=["source", "url"],
        set_={
            "depth": statement.excluded.depth,
            "fetch": "pending",
            "reason": None,
            "queued": True,
        },
        # It may have been out of scope, or too deep by the way it was first found.
        where=pages.c.fetch == "skipped",
    )


def _list(connection: Connection, source: str, links: Sequence[Found]) -> None:
    """Take note of when pages changed last, by a sitemap or a feed.

    One that changed since it was seen is visited in this pass, where such words proved true for
    this source before.
    """
    news = or_(pages.c.listed_at.is_(None), pages.c.listed_at != bindparam("new_listed_at"))
    values: dict[str, Any] = {"listed_at": bindparam("new_listed_at")}
    if revisits.rhythm(connection, source).trusts_lists:
        changed = and_(pages.c.fetch == "fetched", pages.c.seen_at < bindparam("new_listed_at"))
        values["queued"] = case((changed, True), else_=pages.c.queued)
    connection.execute(
        update(pages)
        .where(pages.c.source == source, pages.c.url == bindparam("of_url"), news)
        .values(values),
        [{"of_url": link.url, "new_listed_at": link.listed_at} for link in links],
    )

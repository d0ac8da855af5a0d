"""Copies a whole ledger into an empty one, whatever the databases are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update

from pipeline.ledger import sql
from pipeline.ledger.schema import metadata, pages, schema, sources

#: Rows of one statement.
AT_ONCE = 500


def copy(old: Engine, new: Engine) -> int:
    """Copy every row as of one moment; returns how many. Nobody works on anything in the copy.

    Both have this release's schema, and `new` no source.
    """
    copied = 0
    with sql.snapshot(old) as source, new.begin() as target:
        for table in metadata.sorted_tables:
            if table is schema:
                continue
            for rows in _portions(source, select(table)):
                target.execute(insert(table), rows)
                copied += len(rows)
        target.execute(update(sources).values(runner=None, runner_until=None, stop_until=None))
        target.execute(update(pages).where(pages.c.lease.is_not(None)).values(lease=None))
    return copied


def _portions(connection: Connection, query: Any) -> Iterator[list[dict[str, Any]]]:
    found = connection.execution_options(yield_per=AT_ONCE).execute(query)
    for rows in found.mappings().partitions():
        yield [dict(row) for row in rows]

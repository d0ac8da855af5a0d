"""Brings the ledger of an older release to this one's schema, and back.

A step only ever adds: tables, indexes, and columns that may be null or have a default (an index
that nothing searches by any more it drops). So an older release goes on working on a ledger that a
newer one has added to, once its number is set back.

A ledger in a home folder is migrated when it is opened. One that machines share waits for `wrac
migrate`: the others may still run the older release.
"""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, select, update
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from pipeline.errors import HomeError, UsageError
from pipeline.ledger import schema, sql
from pipeline.ledger.migrations import to_2
from pipeline.ledger.migrations.step import Step

STEPS = (to_2.STEP,)


def version(connection: Connection) -> int | None:
    """The schema version of a ledger; None where there is no ledger yet."""
    if not inspect(connection).has_table("schema"):
        return None
    return connection.scalar(select(schema.schema.c.version))


def missing(connection: Connection) -> dict[int, list[str]]:
    """What migrating would add, by version: `table`, `table.column` or `index`."""
    found = version(connection) or 0
    return {step.to: list(_additions(connection, step)) for step in STEPS if step.to > found}


def migrate(engine: Engine, to: int = schema.VERSION) -> int:
    """Bring an existing ledger to version `to`, as one transaction; returns the version before.

    Going back takes nothing away. Raises `UsageError` for a version that there is not, `HomeError`
    for a ledger of a newer release.
    """
    with engine.begin() as connection:
        sql.lock_schema(connection)
        before = checked(connection, to)
        for step in STEPS:
            if before < step.to <= to:
                for statement in _additions(connection, step).values():
                    connection.exec_driver_sql(statement)
                for name in step.unused:
                    connection.exec_driver_sql(f"DROP INDEX IF EXISTS {name}")
                for statement in step.filled:
                    connection.exec_driver_sql(statement)
        connection.execute(update(schema.schema).values(version=to))
    return before


def checked(connection: Connection, to: int) -> int:
    """The version that a ledger has, which can be brought to `to`. Raises as `migrate` does."""
    if not 1 <= to <= schema.VERSION:
        raise UsageError(f"there is no schema {to}", f"there are 1 to {schema.VERSION}")
    before = version(connection)
    if before is None:
        raise HomeError("there is no ledger to migrate", "wrac ingest makes one")
    if before > schema.VERSION:
        raise newer(before)
    return before


def newer(found: int) -> HomeError:
    """The error of a ledger that this software is too old for."""
    return HomeError(
        f"the ledger has schema {found}; this software knows {schema.VERSION}",
        "install the newer wrac that wrote it, which can set it back: "
        f"wrac migrate --to {schema.VERSION}",
    )


def _additions(connection: Connection, step: Step) -> dict[str, str]:
    """Statements that add what a step has and the ledger lacks, by name of what is added."""
    there, dialect = inspect(connection), connection.dialect
    found: dict[str, str] = {}
    for table in step.added.sorted_tables:
        new = not there.has_table(table.name)
        columns = set() if new else {one["name"] for one in there.get_columns(table.name)}
        indexes = set() if new else {one["name"] for one in there.get_indexes(table.name)}
        if new:
            found[table.name] = str(CreateTable(table).compile(dialect=dialect))
        for column in table.columns:
            if not new and column.name not in columns:
                sort = CreateColumn(column).compile(dialect=dialect)
                name = dialect.identifier_preparer.format_table(table)
                found[f"{table.name}.{column.name}"] = f"ALTER TABLE {name} ADD COLUMN {sort}"
        for index in table.indexes:
            if index.name not in indexes:
                found[str(index.name)] = str(CreateIndex(index).compile(dialect=dialect))
    return found

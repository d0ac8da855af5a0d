"""What SQLite and PostgreSQL do alike but SQLAlchemy keeps in two places."""

from __future__ import annotations

import sqlite3
import time
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite

#: PostgreSQL's locks of this kind are numbers that programs agree on: "wrac" in ASCII.
_SCHEMA_LOCK = 0x77726163


def engine(url: str, **options: Any) -> Engine:
    """An engine whose transactions behave alike on both databases."""
    made = create_engine(url, **options)
    if made.dialect.name == "sqlite":
        event.listen(made, "connect", _set_up_sqlite)
        event.listen(made, "begin", _begin_sqlite)
    return made


def read(of: Engine) -> Connection:
    """A connection to read with: on SQLite it takes no write lock."""
    return of.execution_options(reads_only=True).connect()


def snapshot(of: Engine) -> Connection:
    """A connection that sees the database as of its first read, whatever is written meanwhile."""
    options: dict[str, Any] = {"reads_only": True}
    if of.dialect.name == "postgresql":
        options["isolation_level"] = "REPEATABLE READ"
    return of.execution_options(**options).connect()


def insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can be given `on_conflict_do_nothing` or `on_conflict_do_update`."""
    return insert_on(connection.dialect.name, table)


def insert_on(dialect: str, table: Table) -> Any:
    """As `insert`, for the database of that name."""
    return (sqlite if dialect == "sqlite" else postgresql).insert(table)


def lock_schema(connection: Connection) -> None:
    """Until the transaction ends, no other makes tables. On SQLite every writer has that alone."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_SCHEMA_LOCK)))


def utc(moment: datetime) -> datetime:
    """SQLite keeps no time zone; every moment in the ledger is UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins transactions, not the driver
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=30000")
    # Readers beside one writer. NORMAL loses at most the last commits when the *machine* dies;
    # what is lost then is made again by the next run.
    _keep_a_log(cursor)
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _keep_a_log(cursor: Any) -> None:
    """Turn write-ahead logging on. Of two that do so at once SQLite refuses one without waiting."""
    deadline = time.monotonic() + 30
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later is refused at once, without waiting, when
    # another wrote in between. Taking the write lock at the beginning waits instead.
    options = connection.get_execution_options()
    if options.get("isolation_level") == "AUTOCOMMIT":
        return
    reads_only = options.get("reads_only")
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")

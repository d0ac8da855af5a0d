"""The caches of one machine: a SQLite file that several processes share, a table a kind."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.caches.seal import seal
from pipeline.caches.stores import Bounds, Kind, Size, portions, prefix
from pipeline.errors import CacheUnavailableError

BUSY_TIMEOUT = 30.0  # seconds to wait for another process's write
KEYS_AT_ONCE = 500
#: Seconds by which an entry's last use may be out of date: reading is no write each time.
TOUCH = 3600.0
#: Entries that are put between two looks at the bounds.
TRIM_EVERY = 500
#: What is left, of the most bytes, where there were too many.
TRIM_TO = 0.9

_SCHEMA = """
CREATE TABLE IF NOT EXISTS {kind} (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, bytes INTEGER NOT NULL, used REAL NOT NULL);
CREATE INDEX IF NOT EXISTS {kind}_by_use ON {kind} (used, bytes);
CREATE TABLE IF NOT EXISTS claims (
    kind TEXT, key TEXT, holder TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (kind, key));
CREATE TABLE IF NOT EXISTS damaged (kind TEXT PRIMARY KEY, entries INTEGER NOT NULL);
"""


class SqliteStore:
    """A `Store` in a file. Safe to use from several threads and processes."""

    def __init__(
        self,
        path: str | Path,
        kind: Kind,
        bounds: Bounds,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._path = Path(path)
        self._kind = kind
        self._bounds = bounds
        self._now = now
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._put = TRIM_EVERY

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        stale: list[str] = []
        now = self._now()
        with self._opened() as connection:
            for some in portions(keys, KEYS_AT_ONCE):
                rows = connection.execute(
                    f"SELECT key, value, used FROM {self._kind} "
                    f"WHERE used >= ? AND key IN ({_marks(some)})",
                    (now - self._bounds.seconds, *some),
                )
                for key, value, used in rows:
                    found[key] = value
                    if used < now - TOUCH:
                        stale.append(key)
        if stale:
            with self._transaction() as connection:
                for some in portions(stale, KEYS_AT_ONCE):
                    connection.execute(
                        f"UPDATE {self._kind} SET used = ? WHERE key IN ({_marks(some)})",
                        (now, *some),
                    )
        return found

    def put_many(self, values: Mapping[str, bytes]) -> None:
        now = self._now()
        rows = [(key, value, len(value), now) for key, value in values.items()]
        with self._transaction() as connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self._kind} VALUES (?, ?, ?, ?)", rows)
            self._put += len(rows)
            if self._put >= TRIM_EVERY:
                self._put = 0
                self._trim(connection, now)

    def discard(self, keys: Sequence[str]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                f"DELETE FROM {self._kind} WHERE key = ?", [(key,) for key in keys]
            )
            connection.execute(
                "INSERT INTO damaged VALUES (?, ?) "
                "ON CONFLICT (kind) DO UPDATE SET entries = entries + excluded.entries",
                (self._kind, len(keys)),
            )

    def claim(self, keys: Sequence[str], holder: str, seconds: float) -> list[str]:
        now = self._now()
        with self._transaction() as connection:
            return [
                key
                for key in keys
                if connection.execute(
                    "INSERT INTO claims VALUES (?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE "
                    "SET holder = excluded.holder, until = excluded.until "
                    "WHERE holder = excluded.holder OR until < ?",
                    (self._kind, key, holder, now + seconds, now),
                ).rowcount
            ]

    def release(self, keys: Sequence[str], holder: str) -> None:
        rows = [(self._kind, key, holder) for key in keys]
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM claims WHERE kind = ? AND key = ? AND holder = ?", rows
            )

    def forget(self, customer: str) -> int:
        first = prefix(customer)
        after = first[:-1] + chr(ord(first[-1]) + 1)
        with self._transaction() as connection:
            removed = connection.execute(
                f"DELETE FROM {self._kind} WHERE key >= ? AND key < ?", (first, after)
            ).rowcount
        with self._opened() as connection:  # what was removed is not left in the log either
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def size(self) -> Size:
        with self._opened() as connection:
            entries, held = connection.execute(
                f"SELECT count(*), total(bytes) FROM {self._kind}"
            ).fetchone()
            damaged = connection.execute(
                "SELECT entries FROM damaged WHERE kind = ?", (self._kind,)
            ).fetchone()
        return Size(entries, int(held), damaged[0] if damaged else 0)

    def close(self) -> None:
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _trim(self, connection: sqlite3.Connection, now: float) -> None:
        """Remove what was not used for too long, then what was used least lately."""
        connection.execute(
            f"DELETE FROM {self._kind} WHERE used < ?", (now - self._bounds.seconds,)
        )
        connection.execute("DELETE FROM claims WHERE until < ?", (now,))
        held = connection.execute(f"SELECT total(bytes) FROM {self._kind}").fetchone()[0]
        if held <= self._bounds.bytes:
            return
        too_many = held - TRIM_TO * self._bounds.bytes
        connection.execute(
            f"DELETE FROM {self._kind} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
            f"sum(bytes) OVER (ORDER BY used, rowid) - bytes AS older FROM {self._kind}) "
            "WHERE older < ?)",
            (too_many,),
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise CacheUnavailableError(
                    f"the cache {self._path} cannot be used ({error}); it may be removed"
                ) from error

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT, check_same_thread=False, isolation_level=None
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("BEGIN IMMEDIATE")
        self._make_tables(connection)
        connection.execute("COMMIT")
        return connection

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        """The tables, where they are not there. Vectors of the file's first form are kept."""
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({self._kind})")}
        first_form = "vector" in columns  # neither sealed nor with the time of their last use
        if first_form:
            connection.execute(f"ALTER TABLE {self._kind} RENAME TO first_form")
        for statement in _SCHEMA.format(kind=self._kind).split(";"):
            connection.execute(statement)
        if first_form:
            connection.create_function("seal", 2, seal, deterministic=True)
            connection.execute(
                f"INSERT INTO {self._kind} SELECT key, value, length(value), ? "
                "FROM (SELECT key, seal(key, vector) AS value FROM first_form)",
                (self._now(),),
            )
            connection.execute("DROP TABLE first_form")


def _marks(keys: Sequence[str]) -> str:
    return ",".join("?" * len(keys))

"""The cache of one machine: a table in a SQLite file that several processes share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from indexer.caches import portions, prefix
from indexer.errors import CacheUnavailableError
from indexer.model import Vector

BUSY_TIMEOUT = 30.0  # seconds to wait for another process's write
KEYS_AT_ONCE = 500

_SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (key TEXT PRIMARY KEY, vector BLOB NOT NULL)"


class SqliteCache:
    """An `EmbeddingCache` in a file. Safe to use from several threads and processes."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        with self._transaction() as connection:
            for some in portions(keys, KEYS_AT_ONCE):
                marks = ",".join("?" * len(some))
                found.update(
                    (key, np.frombuffer(blob, np.float32))
                    for key, blob in connection.execute(
                        f"SELECT key, vector FROM embeddings WHERE key IN ({marks})", some
                    )
                )
        return found

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        rows = [(key, vector.astype(np.float32).tobytes()) for key, vector in vectors.items()]
        if rows:
            with self._transaction() as connection:
                connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)

    def forget(self, customer: str) -> int:
        first = prefix(customer)
        after = first[:-1] + chr(ord(first[-1]) + 1)
        with self._transaction() as connection:
            removed = connection.execute(
                "DELETE FROM embeddings WHERE key >= ? AND key < ?", (first, after)
            ).rowcount
        with self._transaction() as connection:  # what was removed is not left in the log either
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def close(self) -> None:
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                if self._connection is None:
                    self._connection = self._open()
                with self._connection:
                    yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise CacheUnavailableError(
                    f"the cache {self._path} cannot be used ({error}); it may be removed"
                ) from error

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute(_SCHEMA)
        return connection

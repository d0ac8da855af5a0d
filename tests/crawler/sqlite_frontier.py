"""A small durable frontier, so that a crawl can be killed and started again in the tests.

The product's own stands over the ledger and is not imported by this package's tests.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler import budget
from crawler.model import Fetched, Found, Missed, Outcome, Task

SCHEMA = """
CREATE TABLE IF NOT EXISTS urls (
    number INTEGER PRIMARY KEY, url TEXT UNIQUE, depth INTEGER, found_on TEXT, reason TEXT,
    state TEXT NOT NULL, claimed_by TEXT, etag TEXT, last_modified TEXT, outcome TEXT, body BLOB
);
CREATE INDEX IF NOT EXISTS waiting ON urls (state, depth, number);
"""


class SqliteFrontier:
    """The frontier's contract over one SQLite file; `worker` names the process that claims."""

    def __init__(self, path: Path, worker: str, max_pages: int | None = None) -> None:
        self._worker = worker
        self._max_pages = max_pages
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)
        # A source is leased to one worker at a time: what another one had claimed, it has lost.
        self._db.execute(
            "UPDATE urls SET state = 'waiting' WHERE state = 'claimed' AND claimed_by <> ?",
            [worker],
        )

    def claim(self, limit: int) -> Sequence[Task]:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            left = budget.left(
                self._max_pages,
                self._count("page"),
                self._count("missed"),
                self._count("claimed"),
            )
            limit = limit if left is None else min(limit, left)
            rows = self._db.execute(
                "SELECT url, depth, etag, last_modified FROM urls WHERE state = 'waiting'"
                " ORDER BY depth, number LIMIT ?",
                [max(0, limit)],
            ).fetchall()
            self._db.executemany(
                "UPDATE urls SET state = 'claimed', claimed_by = ? WHERE url = ?",
                [(self._worker, row[0]) for row in rows],
            )
        return [Task(*row) for row in rows]

    def discovered(self, links: Sequence[Found]) -> None:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._insert(links)

    def record(self, outcome: Outcome) -> None:
        self.record_all([outcome])

    def record_all(self, outcomes: Sequence[Outcome]) -> None:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for outcome in outcomes:
                self._record(outcome)

    def stored(self, url: str) -> bytes | None:
        row = self._db.execute("SELECT body FROM urls WHERE url = ?", [url]).fetchone()
        return row[0] if row else None

    def feeds(self) -> list[str]:
        return []

    def accepted(self) -> Iterator[str]:
        for (url,) in self._db.execute("SELECT url FROM urls WHERE state <> 'out'"):
            yield url

    def new_pass(self) -> None:
        """Everything that has a page is to be visited again, with what it left to ask by."""
        self._db.execute("UPDATE urls SET state = 'waiting' WHERE state IN ('page', 'missed')")

    def break_after(self, records: int) -> None:
        """Lets the database refuse what comes after so many outcomes, as a full disk would."""
        self._db.execute(
            "CREATE TRIGGER full BEFORE UPDATE OF outcome ON urls"
            f" WHEN (SELECT count(outcome) FROM urls) >= {records}"
            " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )

    def outcomes(self) -> dict[str, dict[str, object]]:
        """What is recorded of each visited URL."""
        rows = self._db.execute(
            "SELECT url, outcome, body, depth, found_on FROM urls WHERE outcome IS NOT NULL"
        )
        return {
            url: {**json.loads(outcome), "body": body, "depth": depth, "found_on": found_on}
            for url, outcome, body, depth, found_on in rows
        }

    def links(self) -> dict[str, str | None]:
        """Every URL on record with the reason why it is not to be visited."""
        return dict(self._db.execute("SELECT url, reason FROM urls"))

    def unfinished(self) -> int:
        return self._count("waiting") + self._count("claimed")

    def _insert(self, links: Sequence[Found]) -> None:
        self._db.executemany(
            "INSERT INTO urls (url, depth, found_on, reason, state) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET depth = excluded.depth, found_on = excluded.found_on,"
            " reason = NULL, state = 'waiting' WHERE state = 'out' AND excluded.reason IS NULL",
            [
                (
                    link.url,
                    link.depth,
                    link.found_on,
                    link.reason,
                    "out" if link.reason else "waiting",
                )
                for link in links
            ],
        )

    def _record(self, outcome: Outcome) -> None:
        kept = {"kind": type(outcome).__name__}
        for name in ("reason", "status", "detail", "transient", "target", "canonical"):
            kept[name] = getattr(outcome, name, None)
        for name in ("final_url", "content_type", "noindex"):
            kept[name] = getattr(outcome, name, None)
        if isinstance(outcome, Fetched):
            kept["headers"] = dict(outcome.headers)
            self._insert(outcome.links)
        self._db.execute(
            "INSERT OR IGNORE INTO urls (url, depth, state) VALUES (?, 0, 'waiting')",
            [outcome.url],
        )
        self._db.execute(
            "UPDATE urls SET state = ?, outcome = ?, body = coalesce(?, body),"
            " etag = coalesce(?, etag), last_modified = coalesce(?, last_modified)"
            " WHERE url = ?",
            [
                "missed" if isinstance(outcome, Missed) else "page",
                json.dumps(kept),
                getattr(outcome, "body", None),
                getattr(outcome, "etag", None),
                getattr(outcome, "last_modified", None),
                outcome.url,
            ],
        )

    def _count(self, state: str) -> int:
        return int(
            self._db.execute("SELECT count(*) FROM urls WHERE state = ?", [state]).fetchone()[0]
        )

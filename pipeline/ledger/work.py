"""The reconciler's side of the ledger: which pages differ, who works on them, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Integer,
    Row,
    String,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)

from crawler import reasons
from pipeline.ledger import revisits, sql
from pipeline.ledger.model import Job
from pipeline.ledger.revisits import Look
from pipeline.ledger.schema import DIFFERS, UNSURE, lock_pages, pages, sources, update_page

#: A page that killed its worker this often is set aside.
MAX_ATTEMPTS = 3
#: A page that was being worked on in this many runs that were killed is set aside: it may be what
#: takes the machine down. From `SUSPECT` on it is worked on alone.
MAX_INTERRUPTIONS = 10
SUSPECT = 3
#: What is set aside where a page that is to be removed could not be: it wants nothing.
_REMOVAL = "removal"


@dataclass(frozen=True, slots=True)
class Done:
    """A job that ended well: the page is indexed as was wanted."""

    job: Job
    chunks: int
    document_hash: str | None
    title: str | None
    sketch: str | None = None
    """What it resembles others by; None: as it was."""


class Work:
    """Claims and results. A claim counts an attempt before the work starts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, source: str, runner: str, limit: int) -> list[Job]:
        """Up to `limit` pages of the source that differ and that this run does not hold yet.

        A page that was tried before comes alone, so that it can take no other down with it.
        """
        free = or_(pages.c.lease.is_(None), pages.c.lease != runner)
        query = (
            select(pages, sources.c.verdicts.label("published"))
            .join(sources, sources.c.name == pages.c.source)
            .where(pages.c.source == source, DIFFERS, free)
            .order_by(pages.c.url)
            .limit(limit)
            .with_for_update(skip_locked=True, of=pages)
        )
        with self._engine.begin() as connection:
            rows = connection.execute(query).all()
            tried = [row for row in rows if row.attempts > 0 or row.interrupted >= SUSPECT]
            rows = [row for row in rows if row not in tried] or tried[:1]
            if rows:
                connection.execute(
                    update(pages)
                    .where(pages.c.source == source, pages.c.url.in_([r.url for r in rows]))
                    .values(lease=runner, attempts=pages.c.attempts + 1, indexed=_unsure())
                )
        return [_job(row) for row in rows]

    def done(self, results: Sequence[Done], now: datetime) -> None:
        """Record pages as indexed the way their job wanted them, whatever is wanted by now."""
        if not results:
            return
        with self._engine.begin() as connection:
            for source in {result.job.source for result in results}:
                mine = [result for result in results if result.job.source == source]
                lock_pages(connection, source, (result.job.url for result in mine))
                _learn(connection, source, mine)
            connection.execute(
                update(pages)
                .where(pages.c.source == bindparam("of_source"), pages.c.url == bindparam("of_url"))
                .values(
                    indexed=bindparam("wanted_by_job"),
                    failed=None,
                    lease=None,
                    attempts=0,
                    interrupted=0,
                    indexed_at=now,
                    document_hash=bindparam("made_document"),
                    title=bindparam("made_title"),
                    chunks=bindparam("made_chunks"),
                    # With text of its own in the index it repeats nobody.
                    near_of=case((bindparam("made_chunks", Integer) == 0, pages.c.near_of)),
                    sketch=func.coalesce(bindparam("made_sketch", String), pages.c.sketch),
                ),
                [
                    {
                        "of_source": result.job.source,
                        "of_url": result.job.url,
                        "wanted_by_job": result.job.wanted,
                        "made_document": result.document_hash,
                        "made_title": result.title,
                        "made_chunks": result.chunks,
                        "made_sketch": result.sketch,
                    }
                    for result in results
                ],
            )

    def failed(self, job: Job, reason: str, detail: str) -> None:
        """Set a page aside until something about it changes, a removal until the next run.

        What is indexed stays.
        """
        self._end(job, failed=job.wanted or _REMOVAL, reason=reason, detail=detail[:500])

    def emptied(self, job: Job) -> None:
        """The page has no text any more: it leaves with the others at the end of the pass."""
        self._end(job, failed=job.wanted, reason=reasons.EMPTY, leaving=reasons.EMPTY)

    def give_back(self, job: Job) -> None:
        """Make a page free again, its attempt counted: its worker died."""
        self._end(job)

    def release(self, job: Job) -> None:
        """Make a page free again as if it had not been tried: a service was away."""
        self._end(job, attempts=job.attempts)

    def let_go(self, source: str, runner: str) -> None:
        """Free what this run holds as if it had not been tried: the run ends early."""
        held = (pages.c.source == source, pages.c.lease == runner)
        with self._engine.begin() as connection:
            connection.execute(
                update(pages).where(*held).values(lease=None, attempts=pages.c.attempts - 1)
            )

    def release_all(self, source: str) -> None:
        """Free what earlier runs left claimed, and removals that they set aside.

        Only the run that holds the source may call it.

        What a killed run was at is no try of the page, but is counted: a page that was being
        worked on in `MAX_INTERRUPTIONS` killed runs is set aside.
        """
        left = (pages.c.source == source, pages.c.lease.is_not(None))
        with self._engine.begin() as connection:
            connection.execute(
                update(pages)
                .where(pages.c.source == source, pages.c.failed == _REMOVAL)
                .values(failed=None)
            )
            connection.execute(
                update(pages)
                .where(*left, pages.c.interrupted + 1 >= MAX_INTERRUPTIONS)
                .values(
                    failed=func.coalesce(pages.c.wanted, _REMOVAL),
                    reason="killed_run",
                    detail=f"it was being worked on when {MAX_INTERRUPTIONS} runs were killed",
                )
            )
            connection.execute(
                update(pages)
                .where(*left)
                .values(
                    lease=None,
                    attempts=case((pages.c.attempts > 0, pages.c.attempts - 1), else_=0),
                    interrupted=pages.c.interrupted + 1,
                )
            )

    def lost(self, source: str, urls: Sequence[str]) -> None:
        """The index has lost these pages: what is indexed for them is not known any more.

        Only the run that holds the source may call it.
        """
        with self._engine.begin() as connection:
            for start in range(0, len(urls), 500):
                some = pages.c.url.in_(urls[start : start + 500])
                connection.execute(
                    update(pages)
                    .where(pages.c.source == source, pages.c.indexed.is_not(None), some)
                    .values(indexed=UNSURE)
                )

    def waiting(self, source: str) -> int:
        """Pages of the source that differ from what is wanted."""
        query = select(func.count()).select_from(pages).where(pages.c.source == source, DIFFERS)
        with sql.read(self._engine) as connection:
            return connection.scalar(query) or 0

    def _end(self, job: Job, **values: Any) -> None:
        with self._engine.begin() as connection:
            connection.execute(update_page(job.source, job.url).values(lease=None, **values))


def _learn(connection: Connection, source: str, results: Sequence[Done]) -> None:
    """Visits brought other bodies: now it is known whether the documents are others, too."""
    before = revisits.known(connection, source, (result.job.url for result in results))
    looks = []
    for result in results:
        row = before.get(result.job.url)
        if row is None or row.seen_at is None or row.fetched_at is None:
            continue
        if row.fetched_at > row.seen_at and result.job.body_hash == row.body_hash:
            changed = result.document_hash != row.document_hash
            looks.append(Look(row.url, sql.utc(row.fetched_at), changed))
    revisits.learn(connection, source, looks, before)


def _unsure() -> Any:
    """What is indexed, marked as not known."""
    return case(
        (pages.c.indexed.is_(None), UNSURE),
        (pages.c.indexed.endswith(UNSURE), pages.c.indexed),
        else_=pages.c.indexed + UNSURE,
    )


def _job(row: Row[Any]) -> Job:
    wanted, indexed = row.wanted, row.indexed
    same_pins = wanted and indexed and wanted.split(":")[-1] == indexed.split(":")[-1]
    return Job(
        source=row.source,
        url=row.url,
        wanted=wanted,
        body_hash=wanted.split(":")[0] if wanted else None,
        content_type=row.content_type or "",
        title=row.title,
        fetched_at=sql.utc(row.fetched_at) if row.fetched_at else None,
        document_hash=row.document_hash if same_pins else None,
        chunks=row.chunks,
        attempts=row.attempts,
        indexed_at=sql.utc(row.indexed_at) if row.indexed_at else None,
        verdicts=row.published,
        repeats=row.document_hash if row.near_of else None,
        has_changed=bool(wanted and indexed and wanted.split(":")[0] != indexed.split(":")[0]),
        is_settled=bool(indexed and not indexed.endswith(UNSURE)),
    )

"""The reconciler's side of a build that is made beside the live one.

Claims are kept in memory: the run that holds the source is alone with the build, and what was not
recorded when it died is claimed again by the next. The live build is not touched by any of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, Row, and_, delete, func, or_, select

from pipeline.ledger import sql
from pipeline.ledger.model import Job, Source
from pipeline.ledger.schema import build_pages, pages
from pipeline.ledger.work import Done, Work


class BuildWork(Work):
    """`Work` on one build of a source: pages that the build lacks, or has otherwise than wanted.

    A page that fails is left out of the build, which does not take it from the live one.
    """

    def __init__(self, engine: Engine, source: Source) -> None:
        """`source`: as it will be, with the build's number and pins."""
        super().__init__(engine)
        self._source = source
        self._held: set[str] = set()
        self._tries: Counter[str] = Counter()
        self._passed = ""
        self.failures: dict[str, str] = {}

    def claim(self, source: str, runner: str, limit: int) -> list[Job]:
        """Up to `limit` pages that the build lacks; one that was tried before comes alone."""
        free = self._claimable(limit)
        if not free and self._passed:
            self._passed = ""  # what was given back, or found meanwhile
            free = self._claimable(limit)
        chosen = [row for row in free if not self._tries[row.url]] or free[:1]
        self._held.update(row.url for row in chosen)
        self._tries.update(row.url for row in chosen)
        self._passed = chosen[-1].url if chosen else ""
        return [self._job(row) for row in chosen]

    def done(self, results: Sequence[Done], now: datetime) -> None:
        key = {"source": self._source.name, "build": self._source.build}
        of_build = [build_pages.c[name] == value for name, value in key.items()]
        with self._engine.begin() as connection:
            for result in results:
                url, wanted = result.job.url, result.job.wanted
                if wanted is None:
                    left = delete(build_pages).where(*of_build, build_pages.c.url == url)
                    connection.execute(left)
                    continue
                values = {
                    "indexed": wanted,
                    "document_hash": result.document_hash,
                    "title": result.title,
                    "chunks": result.chunks,
                }
                connection.execute(
                    sql.insert(connection, build_pages)
                    .values(**key, url=url, **values)
                    .on_conflict_do_update(index_elements=["source", "build", "url"], set_=values)
                )
        for result in results:
            self._free(result.job)
            del self._tries[result.job.url]

    def failed(self, job: Job, reason: str, detail: str) -> None:
        self._free(job)
        self.failures[job.url] = f"{reason}: {detail}"[:500]

    def give_back(self, job: Job) -> None:
        self._free(job)

    def release(self, job: Job) -> None:
        self._free(job)
        self._tries[job.url] -= 1

    def let_go(self, source: str, runner: str) -> None:
        self._held.clear()

    def waiting(self, source: str) -> int:
        query = select(func.count()).select_from(_differing(self._source).subquery())
        with sql.read(self._engine) as connection:
            return connection.scalar(query) or 0

    def _claimable(self, limit: int) -> list[Row[Any]]:
        """The next such pages by URL: claiming one after the other looks at each page once."""
        without = self._held | self.failures.keys()
        query = _differing(self._source).where(pages.c.url > self._passed)
        with sql.read(self._engine) as connection:
            rows = connection.execute(query.limit(limit + len(without))).all()
        return [row for row in rows if row.url not in without][:limit]

    def _free(self, job: Job) -> None:
        self._held.discard(job.url)

    def _job(self, row: Row[Any]) -> Job:
        return Job(
            source=self._source.name,
            url=row.url,
            wanted=row.target,
            body_hash=row.target.split(":")[0] if row.target else None,
            content_type=row.content_type or "",
            title=row.title,
            fetched_at=sql.utc(row.fetched_at) if row.fetched_at else None,
            document_hash=None,
            chunks=0,
            attempts=self._tries[row.url] - 1,
            indexed_at=None,
            verdicts=self._source.verdicts,
        )


def _differing(source: Source) -> Any:
    """Pages whose row in the build is not what they will want once the build is live."""
    target: ColumnElement[str] = (
        func.substr(pages.c.wanted, 1, func.length(pages.c.wanted) - 16) + source.pins.fingerprint
    )
    same = and_(
        build_pages.c.source == pages.c.source,
        build_pages.c.build == source.build,
        build_pages.c.url == pages.c.url,
    )
    lacks = and_(pages.c.wanted.is_not(None), build_pages.c.indexed.is_distinct_from(target))
    leaves = and_(pages.c.wanted.is_(None), build_pages.c.indexed.is_not(None))
    return (
        select(
            pages.c.url,
            target.label("target"),
            pages.c.content_type,
            pages.c.title,
            pages.c.fetched_at,
        )
        .select_from(pages.outerjoin(build_pages, same))
        .where(pages.c.source == source.name, or_(lacks, leaves))
        .order_by(pages.c.url)
    )

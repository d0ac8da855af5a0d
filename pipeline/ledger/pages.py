"""What is known of pages, for people and for checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Row, case, func, or_, select

from crawler import reasons
from crawler.templates import template
from pipeline.ledger import canonicals, sql
from pipeline.ledger.model import Counts, PageRow, State
from pipeline.ledger.schema import UNSURE, build_pages, pages

_state = case(
    (pages.c.fetch == "gone", "deleted"),
    # Held: what it was indexed from is there still.
    ((pages.c.failed == pages.c.wanted) & (pages.c.leaving == reasons.EMPTY), "indexed"),
    (pages.c.failed == pages.c.wanted, "failed"),
    (pages.c.wanted.is_distinct_from(pages.c.indexed), "pending"),
    ((pages.c.indexed.is_not(None)) & (pages.c.chunks > 0), "indexed"),
    (pages.c.indexed.is_not(None), "skipped"),
    (pages.c.fetch == "pending", "pending"),
    ((pages.c.fetch == "missed") & pages.c.reason.in_(sorted(reasons.FAILED)), "failed"),
    else_="skipped",
)
#: A page that is to leave and has not: the pass goes on, or somebody has to confirm it.
HELD = "held"
_reason = case(
    (pages.c.leaving.is_not(None) & pages.c.wanted.is_not(None), HELD),
    (pages.c.near_of.is_not(None) & pages.c.wanted.is_not(None), canonicals.DUPLICATE),
    ((pages.c.indexed == pages.c.wanted) & (pages.c.chunks == 0), "empty"),
    else_=pages.c.reason,
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A page whose body is kept, or a redirect to `target`, whose body is None."""

    url: str
    status: int
    target: str | None
    body_hash: str | None
    content_type: str
    fetched_at: datetime


class Pages:
    """The reading side of the `pages` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rows(self, source: str, state: State | None = None) -> Iterator[PageRow]:
        """Every page that the source has or had, by URL."""
        query = select(pages, _state.label("state"), _reason.label("why")).where(
            pages.c.source == source
        )
        if state is not None:
            query = query.where(_state == state)
        aliases = self._aliases(source)
        with sql.read(self._engine) as connection:
            for row in connection.execute(query.order_by(pages.c.url)):
                yield _page_row(row, tuple(aliases.get(row.url, ())))

    def get(self, source: str, url: str) -> PageRow | None:
        query = select(pages, _state.label("state"), _reason.label("why")).where(
            pages.c.source == source, pages.c.url == url
        )
        with sql.read(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _page_row(row, ())

    def counts(self, source: str) -> Counts:
        query = (
            select(
                _state.label("state"),
                _reason.label("why"),
                func.count().label("pages"),
                func.sum(pages.c.chunks).label("chunks"),
            )
            .where(pages.c.source == source)
            .group_by("state", "why")
        )
        states: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        chunks = 0
        with sql.read(self._engine) as connection:
            for row in connection.execute(query):
                states[row.state] += row.pages
                chunks += row.chunks or 0
                if row.why is not None:
                    reasons[row.why] += row.pages
        return Counts(**states, chunks=chunks, reasons=dict(reasons))

    def stored(self, source: str) -> Iterator[Stored]:
        """Every page whose body is kept, and every redirect, by URL."""
        query = select(
            pages.c.url,
            pages.c.status,
            pages.c.alias_of,
            pages.c.body_hash,
            pages.c.content_type,
            pages.c.fetched_at,
            pages.c.fetch,
        ).where(pages.c.source == source, pages.c.fetch.in_(("fetched", "redirect")))
        with sql.read(self._engine) as connection:
            for row in connection.execute(query.order_by(pages.c.url)):
                is_page = row.fetch == "fetched"
                yield Stored(
                    row.url,
                    row.status if is_page or row.status >= 300 else 302,
                    None if is_page else row.alias_of,
                    row.body_hash if is_page else None,
                    row.content_type or "",
                    sql.utc(row.fetched_at) if row.fetched_at else datetime.now(UTC),
                )

    def trapped(self, source: str) -> Counter[str]:
        """URLs that were left out as generated without end, by their template."""
        query = select(pages.c.url).where(
            pages.c.source == source, pages.c.fetch == "skipped", pages.c.reason == reasons.TRAP
        )
        with sql.read(self._engine) as connection:
            return Counter(template(url) for url in connection.scalars(query))

    def indexed(self, source: str) -> Iterator[tuple[str, str, int]]:
        """URL, body hash and number of chunks of every page that is in the index."""
        query = select(pages.c.url, pages.c.indexed, pages.c.chunks).where(
            pages.c.source == source, pages.c.indexed != UNSURE
        )
        with sql.read(self._engine) as connection:
            for row in connection.execute(query.order_by(pages.c.url)):
                yield row.url, row.indexed.split(":")[0], row.chunks

    def fetched(self, source: str, limit: int) -> list[tuple[str, str, str]]:
        """URL, body hash and content type of pages that were fetched, nearest first."""
        query = (
            select(pages.c.url, pages.c.body_hash, pages.c.content_type)
            .where(pages.c.source == source, pages.c.wanted.is_not(None))
            .order_by(pages.c.depth, pages.c.url)
            .limit(limit)
        )
        with sql.read(self._engine) as connection:
            return [
                (row.url, row.body_hash, row.content_type or "")
                for row in connection.execute(query)
            ]

    def known(self, source: str) -> int:
        """How many URLs of the source are on record, whatever their state."""
        query = select(func.count()).select_from(pages).where(pages.c.source == source)
        with sql.read(self._engine) as connection:
            return connection.scalar(query) or 0

    def holds(self, source: str) -> bool:
        """Whether anything of the source is indexed, or is to be."""
        query = select(pages.c.url).where(
            pages.c.source == source, or_(pages.c.wanted.is_not(None), pages.c.indexed.is_not(None))
        )
        with sql.read(self._engine) as connection:
            return connection.execute(query.limit(1)).first() is not None

    def last_fetched(self, source: str, urls: Collection[str]) -> dict[str, datetime]:
        """When each of these pages was last fetched, or found to be unchanged."""
        query = select(pages.c.url, pages.c.fetched_at).where(
            pages.c.source == source, pages.c.url.in_(urls), pages.c.fetched_at.is_not(None)
        )
        with sql.read(self._engine) as connection:
            return {row.url: sql.utc(row.fetched_at) for row in connection.execute(query)}

    def documents(self, source: str) -> Iterator[str]:
        """URLs of all pages that are indexed or to be."""
        query = select(pages.c.url).where(pages.c.source == source, pages.c.wanted.is_not(None))
        with sql.read(self._engine) as connection:
            yield from connection.scalars(query.order_by(pages.c.url))

    def body_hashes(self, source: str, urls: Collection[str]) -> dict[str, str]:
        """Hash of the body of each of these pages that was fetched."""
        if not urls:
            return {}
        query = select(pages.c.url, pages.c.body_hash).where(
            pages.c.source == source, pages.c.url.in_(urls), pages.c.body_hash.is_not(None)
        )
        with sql.read(self._engine) as connection:
            return {row.url: row.body_hash for row in connection.execute(query)}

    def wanted_body(self, source: str, url: str) -> str | None:
        """Hash of the body that is wanted in the index of a page; None: nothing is."""
        query = select(pages.c.wanted).where(pages.c.source == source, pages.c.url == url)
        with sql.read(self._engine) as connection:
            wanted: str | None = connection.scalar(query)
        return None if wanted is None else wanted.partition(":")[0]

    def bodies(self, source: str) -> set[str]:
        """Hashes of the bodies that the source's pages refer to, those that are held included."""
        of_source = pages.c.source == source
        last = select(pages.c.body_hash).where(of_source, pages.c.body_hash.is_not(None))
        wanted = select(func.substr(pages.c.wanted, 1, 64)).where(
            of_source, pages.c.leaving.is_not(None), pages.c.wanted.is_not(None)
        )
        indexed = select(func.substr(pages.c.indexed, 1, 64)).where(
            of_source, pages.c.indexed.is_not(None)
        )
        beside = select(func.substr(build_pages.c.indexed, 1, 64)).where(
            build_pages.c.source == source
        )
        with sql.read(self._engine) as connection:
            return set(connection.scalars(last.union(wanted, indexed, beside)))

    def _aliases(self, source: str) -> dict[str, list[str]]:
        query = (
            select(pages.c.url, pages.c.alias_of, pages.c.near_of, pages.c.wanted)
            .where(
                pages.c.source == source,
                or_(
                    pages.c.alias_of.is_not(None) & pages.c.reason.is_not(None),
                    pages.c.near_of.is_not(None),
                ),
            )
            .order_by(pages.c.url)
        )
        found: dict[str, list[str]] = defaultdict(list)
        with sql.read(self._engine) as connection:
            for row in connection.execute(query):
                target = row.near_of if row.wanted is not None else row.alias_of
                if target is not None:
                    found[target].append(row.url)
        return found


def _stands_for(row: Row[Any]) -> str | None:
    """The page that a page gives way to."""
    if row.why == HELD:
        return None
    target: str | None = row.near_of
    if row.wanted is None:
        target = row.alias_of if row.why else None
    return target


def _page_row(row: Row[Any], aliases: tuple[str, ...]) -> PageRow:
    held = f"{row.reason}, see wrac sources confirm" if row.why == HELD else None
    return PageRow(
        url=row.url,
        state=row.state,
        status=row.status,
        canonical=_stands_for(row) or row.url,
        aliases=aliases,
        chunks=row.chunks,
        reason=row.why,
        detail=held or row.detail,
        title=row.title,
    )

"""What a crawl pass writes: links found, visits made, and what they settle to at its end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, literal, select, update

from crawler import reasons
from crawler.model import Fetched, Found, Missed, NotModified, Task
from pipeline.ledger import sql
from pipeline.ledger.schema import pages

#: Reasons after which a page must leave the index at once: its owner asked for it.
WITHDRAWN = frozenset({reasons.ROBOTS})
#: Statuses after which a page is gone once a later visit confirms it.
GONE = frozenset({404, 410})
CONFIRMATIONS = 2
#: What a URL becomes that leaves the scope, or enters it.
_OUT: dict[str, Any] = {"fetch": "skipped", "wanted": None, "failed": None, "alias_of": None}
_IN: dict[str, Any] = {"fetch": "pending", "reason": None, "visited_pass": 0}


class Visits:
    """The crawl's side of the `pages` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pending(
        self, source: str, pass_number: int, limit: int, without: Collection[str]
    ) -> list[Task]:
        """URLs not visited in this pass, nearest to the seeds first, in a fixed order.

        `without`: URLs in flight, left out here rather than in SQL, where a long list is slow.
        """
        query = (
            select(pages.c.url, pages.c.depth, pages.c.etag, pages.c.last_modified, pages.c.fetch)
            .where(
                pages.c.source == source,
                pages.c.visited_pass < pass_number,
                pages.c.fetch != "skipped",
            )
            .order_by(pages.c.depth, pages.c.url)
            .limit(limit + len(without))
        )
        with sql.read(self._engine) as connection:
            rows = connection.execute(query).all()
        return [
            # Only a page whose body is kept may be answered with "not modified".
            Task(r.url, r.depth, r.etag, r.last_modified)
            if r.fetch == "fetched"
            else Task(r.url, r.depth)
            for r in rows
            if r.url not in without
        ][:limit]

    def visited(self, source: str, pass_number: int) -> int:
        """Pages that this pass has fetched or found unchanged."""
        query = (
            select(func.count())
            .select_from(pages)
            .where(
                pages.c.source == source,
                pages.c.visited_pass == pass_number,
                pages.c.fetch == "fetched",
            )
        )
        with sql.read(self._engine) as connection:
            return connection.scalar(query) or 0

    def discovered(self, source: str, links: Sequence[Found]) -> None:
        """Add URLs. A known URL keeps what is known, but may come nearer or into scope."""
        with self._engine.begin() as connection:
            _add_links(connection, source, links)

    def fetched(
        self, source: str, pass_number: int, visit: Fetched, body_hash: str, pins: str
    ) -> None:
        """Record a page and its links. `pins`: fingerprint of what its source is pinned to."""
        alias_of = visit.canonical if visit.canonical not in (None, visit.url) else None
        reason = "noindex" if visit.noindex else "duplicate" if alias_of else None
        values: dict[str, Any] = {
            "visited_pass": pass_number,
            "fetch": "fetched",
            "reason": reason,
            "detail": None,
            "status": visit.status,
            "etag": visit.etag,
            "last_modified": visit.last_modified,
            "content_type": visit.content_type,
            "body_hash": body_hash,
            "body_bytes": len(visit.body),
            "fetched_at": visit.fetched_at,
            "alias_of": alias_of,
            "missing_passes": 0,
        }
        if visit.noindex:
            values |= {"wanted": None, "failed": None}
        elif alias_of is None:
            values["wanted"] = _Wanted(body_hash, pins)
        # Otherwise what is wanted depends on the canonical page: `settle` decides.
        with self._engine.begin() as connection:
            _put(connection, source, visit.url, values)
            if alias_of is not None:
                known = select(pages.c.depth).where(
                    pages.c.source == source, pages.c.url == visit.url
                )
                depth = connection.scalar(known) or 0
                _add_links(connection, source, [Found(alias_of, depth, visit.url)])
            _add_links(connection, source, visit.links)

    def not_modified(self, source: str, pass_number: int, visit: NotModified) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                _page(source, visit.url).values(
                    visited_pass=pass_number, fetched_at=visit.fetched_at, missing_passes=0
                )
            )

    def missed(self, source: str, pass_number: int, visit: Missed) -> None:
        """Record a visit without a page. What is indexed stays unless its owner withdrew it."""
        values: dict[str, Any] = {
            "visited_pass": pass_number,
            "reason": visit.reason,
            "detail": visit.detail or None,
            "status": visit.status,
            "alias_of": None,
        }
        with self._engine.begin() as connection:
            if visit.target is not None:
                values |= {"fetch": "redirect", "alias_of": visit.target}
                values |= {"wanted": None, "failed": None}
            elif visit.reason in WITHDRAWN:
                values |= {"fetch": "missed", "wanted": None, "failed": None}
            elif visit.status in GONE:
                row = connection.execute(
                    select(pages.c.missing_passes, pages.c.body_hash).where(
                        pages.c.source == source, pages.c.url == visit.url
                    )
                ).one_or_none()
                missing = (row.missing_passes if row else 0) + 1
                values["missing_passes"] = missing
                if row is None or row.body_hash is None:
                    values["fetch"] = "missed"
                elif missing >= CONFIRMATIONS:
                    values |= {"fetch": "gone", "wanted": None, "failed": None}
            else:
                known = connection.scalar(
                    select(pages.c.body_hash).where(
                        pages.c.source == source, pages.c.url == visit.url
                    )
                )
                if known is None:
                    values["fetch"] = "missed"
            _put(connection, source, visit.url, values)

    def rescope(self, source: str, why_not: Callable[[str, int], str | None]) -> int:
        """Apply a changed scope to every known URL; returns how many went in or out.

        `why_not` gives for URL and depth the reason why it is not in scope, or None. What is
        indexed and is not in scope any more is to be removed.
        """
        query = select(pages.c.url, pages.c.depth, pages.c.fetch).where(pages.c.source == source)
        with self._engine.begin() as connection:
            changed: list[tuple[str, dict[str, Any]]] = []
            for row in connection.execute(query).all():
                reason = why_not(row.url, row.depth)
                if reason is not None and row.fetch != "skipped":
                    changed.append((row.url, _OUT | {"reason": reason}))
                elif reason is None and row.fetch == "skipped":
                    changed.append((row.url, _IN))
            for url, values in changed:
                connection.execute(_page(source, url).values(**values))
        return len(changed)

    def settle(self, source: str, pins: str) -> None:
        """At the end of a pass: pages that name a canonical page give way to it if it is there.

        The result does not depend on the order of the visits. A page whose canonical page was
        not fetched stands for itself; in a cycle of canonicals the least URL stands.
        """
        with self._engine.begin() as connection:
            rows = connection.execute(
                select(
                    pages.c.url,
                    pages.c.alias_of,
                    pages.c.body_hash,
                    pages.c.verdicts,
                    pages.c.wanted,
                ).where(
                    pages.c.source == source,
                    pages.c.fetch == "fetched",
                    pages.c.alias_of.is_not(None),
                    pages.c.reason.is_distinct_from("noindex"),
                )
            ).all()
            chains = {row.url: row.alias_of for row in rows}
            for row in rows:
                end = _end_of_chain(row.url, chains)
                if end == row.url or not _stands(connection, source, end, set(chains)):
                    wanted = f"{row.body_hash}:{row.verdicts}:{pins}"
                    values = {"wanted": wanted, "reason": None}
                else:
                    values = {"wanted": None, "failed": None, "reason": "duplicate"}
                if values["wanted"] != row.wanted or row.wanted is None:
                    connection.execute(_page(source, row.url).values(**values))


def _end_of_chain(url: str, chains: dict[str, str]) -> str:
    """Where following canonicals from `url` ends; for a cycle, its least URL."""
    path = [url]
    while (following := chains.get(path[-1])) is not None:
        if following in path:
            return min(path[path.index(following) :])
        path.append(following)
    return path[-1]


def _stands(connection: Connection, source: str, url: str, aliases: set[str]) -> bool:
    """Whether a page is there to be indexed: fetched, and standing for itself."""
    row = connection.execute(
        select(pages.c.fetch, pages.c.reason, pages.c.alias_of).where(
            pages.c.source == source, pages.c.url == url
        )
    ).one_or_none()
    if row is None:
        return False
    if url in aliases:  # the least URL of a cycle
        return True
    return bool(row.fetch == "fetched" and row.reason != "noindex")


def _page(source: str, url: str) -> Any:
    return update(pages).where(pages.c.source == source, pages.c.url == url)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is wanted of a page: its body, the verdicts that concern it already, the pins."""

    body_hash: str
    pins: str

    def of(self, verdicts: Any) -> Any:
        return literal(f"{self.body_hash}:") + verdicts + f":{self.pins}"


def _put(connection: Connection, source: str, url: str, values: dict[str, Any]) -> None:
    """Write to a page's row, made at depth 0 if nothing was known of it."""
    new = {"source": source, "url": url, "depth": 0, **values}
    if (wanted := new.get("wanted")) is not None:
        new["wanted"] = wanted.of("")
        values = values | {"wanted": wanted.of(pages.c.verdicts)}
    connection.execute(
        sql.insert(connection, pages)
        .values(**new)
        .on_conflict_do_update(index_elements=["source", "url"], set_=values)
    )


def _add_links(connection: Connection, source: str, links: Sequence[Found]) -> None:
    inside = {link.url: link for link in links if link.reason is None}
    outside = {link.url: link for link in links if link.reason is not None}
    if inside:
        statement = sql.insert(connection, pages)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["source", "url"],
                set_={"depth": statement.excluded.depth, "fetch": "pending", "reason": None},
                # It may have been out of scope, or too deep by the way it was first found.
                where=pages.c.fetch == "skipped",
            ),
            [
                {"source": source, "url": u, "depth": f.depth, "found_on": f.found_on}
                for u, f in inside.items()
            ],
        )
    if outside:
        connection.execute(
            sql.insert(connection, pages).on_conflict_do_nothing(),
            [
                {
                    "source": source,
                    "url": u,
                    "depth": f.depth,
                    "found_on": f.found_on,
                    "fetch": "skipped",
                    "reason": f.reason,
                }
                for u, f in outside.items()
                if u not in inside
            ],
        )

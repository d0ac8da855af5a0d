"""What a crawl pass reads and writes while it runs: links found, visits made.

No visit takes a page out of the index: one that is to leave is marked, and what becomes of all that
are is decided at the end of the pass (`leaving.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    update,
)

from crawler import reasons
from crawler.model import Fetched, Found, Missed, NotModified, Outcome, Task
from pipeline.ledger import links as links_on_record
from pipeline.ledger import revisits, sql
from pipeline.ledger.revisits import Look
from pipeline.ledger.schema import QUEUED, lock_pages, pages, since

#: Reasons after which a page must leave the index without a second visit: its owner asked for it.
WITHDRAWN = frozenset({reasons.ROBOTS})
#: Statuses after which a page is gone once a later visit confirms it.
GONE = frozenset({404, 410})
#: Reasons that say the same where the status does not.
GONE_REASONS = frozenset({reasons.SOFT_404, reasons.LOGIN})
#: Redirects for good. Any other may lead to a log-in or a notice that covers a whole site for an
#: hour: a page that is kept gives way to it once a later visit confirms it.
MOVED = frozenset({301, 308})
CONFIRMATIONS = 2
#: What a kept page says of itself, which no failed visit unsays.
_NOINDEX, _DUPLICATE = "noindex", "duplicate"
_OF_THE_PAGE = (_NOINDEX, _DUPLICATE, reasons.EMPTY)
# (One by one: a statement for many rows takes no IN.)
_SAID_OF_ITSELF = or_(*(pages.c.reason == word for word in _OF_THE_PAGE)) & pages.c.leaving.is_(
    None
)
#: The page could not be processed: its reason says why for as long as it is wanted the same.
_SET_ASIDE = pages.c.failed == pages.c.wanted


class Visits:
    """The crawl's side of the `pages` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pending(self, source: str, limit: int, without: Collection[str]) -> list[Task]:
        """URLs that the pass is still to visit, nearest to the seeds first, in a fixed order.

        `without`: URLs in flight, left out here rather than in SQL, where a long list is slow.
        """
        query = (
            select(pages.c.url, pages.c.depth, pages.c.etag, pages.c.last_modified, pages.c.fetch)
            .where(pages.c.source == source, QUEUED)
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

    def visited(self, source: str, pass_number: int) -> tuple[int, int]:
        """Visits of this pass that came to a page, new or unchanged, and those that did not."""
        query = (
            select(pages.c.fetch, func.count())
            .where(pages.c.source == source, pages.c.visited_pass == pass_number)
            .group_by(pages.c.fetch)
        )
        with sql.read(self._engine) as connection:
            counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(query)}
        came_to_pages = counts.pop("fetched", 0)
        return came_to_pages, sum(counts.values())

    def accepted(self, source: str) -> Iterator[str]:
        """Every URL in scope that is on record, from all passes."""
        query = select(pages.c.url).where(pages.c.source == source, pages.c.fetch != "skipped")
        with sql.read(self._engine) as connection:
            yield from connection.scalars(query)

    def discovered(self, source: str, links: Sequence[Found]) -> None:
        """Add URLs. A known URL keeps what is known, but may come nearer or into scope."""
        with self._engine.begin() as connection:
            lock_pages(connection, source, (link.url for link in links))
            links_on_record.add(connection, source, links)

    def record(
        self, source: str, pass_number: int, visits: Sequence[tuple[Outcome, str]], pins: str
    ) -> None:
        """Record outcomes, each with the hash of its stored body, as one transaction.

        `pins`: fingerprint of what the source is pinned to. A visit without a page leaves what is
        wanted as it is; where its owner withdrew it or it is gone for the second time, it is
        marked as leaving.
        """
        with self._engine.begin() as connection:
            lock_pages(connection, source, _urls(visit for visit, _ in visits))
            before = revisits.known(connection, source, (visit.url for visit, _ in visits))
            for kind, same in groupby(visits, lambda one: type(one[0])):
                if kind is NotModified:
                    _not_modified(connection, source, pass_number, [visit for visit, _ in same])
                    continue
                for visit, body_hash in same:
                    if isinstance(visit, Fetched):
                        _fetched(connection, source, pass_number, visit, body_hash, pins)
                    elif isinstance(visit, Missed):
                        _missed(connection, source, pass_number, visit)
            looks = [look for one in visits if (look := _look(*one, before)) is not None]
            revisits.learn(connection, source, looks, before)


def _urls(visits: Iterable[Outcome]) -> Iterator[str]:
    """Every page that recording these visits writes to."""
    for visit in visits:
        yield visit.url
        if isinstance(visit, Fetched):
            yield from (link.url for link in visit.links)
            if visit.canonical is not None:
                yield visit.canonical


def _look(visit: Outcome, body_hash: str, before: Mapping[str, Any]) -> Look | None:
    """What a visit showed of its page, if that is known already.

    Another body may be the same content: `Work.done` says so when the document is made. Pages that
    come to none (`noindex`, or another page stands for them) are judged by their bodies.
    """
    if isinstance(visit, Missed):
        return None
    same, made = True, True
    if isinstance(visit, Fetched):
        row = before.get(visit.url)
        same = row is None or row.seen_at is None or row.body_hash == body_hash
        made = not visit.noindex and visit.canonical in (None, visit.url)
    if not same and made:
        return None
    return Look(visit.url, visit.fetched_at, not same, visit.fresh_for)


def _not_modified(
    connection: Connection, source: str, pass_number: int, visits: Sequence[Outcome]
) -> None:
    """Most visits of a source that is kept fresh: as one statement for all of them."""
    statement = (
        update(pages)
        .where(pages.c.source == source, pages.c.url == bindparam("of_url"))
        .values(
            visited_pass=pass_number,
            queued=False,
            fetched_at=bindparam("at"),
            missing_passes=0,
            leaving=_still_empty(_SET_ASIDE),
            leaving_to=None,
            # What a visit between its fetch and now said of it is over.
            **_kept(_SAID_OF_ITSELF | _SET_ASIDE),
        )
    )
    connection.execute(
        statement,
        [{"of_url": v.url, "at": v.fetched_at} for v in visits if isinstance(v, NotModified)],
    )


def _fetched(
    connection: Connection, source: str, pass_number: int, visit: Fetched, body_hash: str, pins: str
) -> None:
    alias_of = visit.canonical if visit.canonical not in (None, visit.url) else None
    reason = _NOINDEX if visit.noindex else _DUPLICATE if alias_of else None
    values: dict[str, Any] = {
        "visited_pass": pass_number,
        "queued": False,
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
        "leaving": None,
        "leaving_to": None,
    }
    if visit.noindex and _is_wanted(connection, source, visit.url):
        # The body and validators of what is indexed stay: it may be held, or come back.
        values = {
            "visited_pass": pass_number,
            "queued": False,
            "reason": reason,
            "detail": None,
            "status": visit.status,
            "leaving": _NOINDEX,
            "leaving_to": None,
        }
    elif not visit.noindex and alias_of is None:
        values["wanted"] = _Wanted(body_hash, pins, pass_number)
    # Otherwise what is wanted depends on the canonical page: `canonicals` decides.
    _put(connection, source, visit.url, values)
    if alias_of is not None:
        known = select(pages.c.depth).where(pages.c.source == source, pages.c.url == visit.url)
        depth = connection.scalar(known) or 0
        links_on_record.add(connection, source, [Found(alias_of, depth, visit.url)])
    links_on_record.add(connection, source, visit.links)


def _missed(connection: Connection, source: str, pass_number: int, visit: Missed) -> None:
    values: dict[str, Any] = {
        "visited_pass": pass_number,
        "queued": False,
        "reason": visit.reason,
        "detail": visit.detail or None,
        "status": visit.status,
    }
    row = connection.execute(
        select(
            pages.c.missing_passes,
            pages.c.body_hash,
            pages.c.reason,
            pages.c.wanted,
            pages.c.leaving,
        ).where(pages.c.source == source, pages.c.url == visit.url)
    ).one_or_none()
    kept = row is not None and row.body_hash is not None
    missing = 1 + (row.missing_passes if row is not None else 0)
    end: str | None = None
    if visit.reason in WITHDRAWN or (not kept and visit.target is None):
        end = "missed"
    elif not kept or (visit.reason == reasons.REDIRECT and visit.status in MOVED):
        end = "redirect"
    elif visit.target is not None or visit.status in GONE or visit.reason in GONE_REASONS:
        values["missing_passes"] = missing
        if missing >= CONFIRMATIONS:
            end = "redirect" if visit.target else "gone"
    if end is not None and row is not None and row.wanted is not None:
        values |= {"leaving": end, "leaving_to": visit.target}
    elif end is not None:
        values |= {"fetch": end, "alias_of": visit.target}
    elif row is not None and (row.reason in _OF_THE_PAGE or row.leaving is not None):
        values["reason"] = row.reason
    _put(connection, source, visit.url, values)
    if end is None or visit.transient or "leaving" in values:
        seems_gone = end is not None or "missing_passes" in values
        revisits.postpone(connection, source, visit.url, visit.at, seems_gone)
    else:
        revisits.rest(connection, source, visit.url, visit.at)


def _is_wanted(connection: Connection, source: str, url: str) -> bool:
    query = select(pages.c.wanted).where(pages.c.source == source, pages.c.url == url)
    return connection.scalar(query) is not None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is wanted of a page: its body, the verdicts that concern it already, the pins."""

    body_hash: str
    pins: str
    pass_number: int

    def of(self, verdicts: Any) -> Any:
        return literal(f"{self.body_hash}:") + verdicts + f":{self.pins}"


def _put(connection: Connection, source: str, url: str, values: dict[str, Any]) -> None:
    """Write to a page's row, made at depth 0 if nothing was known of it."""
    new = {"source": source, "url": url, "depth": 0, **values}
    if (wanted := new.get("wanted")) is not None:
        new |= {"wanted": wanted.of(""), "wanted_since": wanted.pass_number}
        wants = wanted.of(pages.c.verdicts)
        values = values | {"wanted": wants} | _kept(pages.c.failed == wants)
        values["wanted_since"] = since(wanted.pass_number)
        values["leaving"] = _still_empty(pages.c.failed == wants)
    connection.execute(
        sql.insert(connection, pages)
        .values(**new)
        .on_conflict_do_update(index_elements=["source", "url"], set_=values)
    )


def _kept(where: ColumnElement[bool]) -> dict[str, Any]:
    """The reason that is on record, where that is so; else none."""
    return {name: case((where, pages.c[name])) for name in ("reason", "detail")}


def _still_empty(set_aside: ColumnElement[bool]) -> ColumnElement[str]:
    """`leaving` after a visit that found the page: it stays if this body has been found empty."""
    return case((set_aside & (pages.c.leaving == reasons.EMPTY), pages.c.leaving))

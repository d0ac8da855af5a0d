"""What visits have shown of each page's rate of change, and when it is worth another one.

A page has two numbers (what is believed of its rate, `crawler/revisit.py`), a source three (what
holds for its pages in general, and what a visit must be worth): it grows with pages, not visits.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, bindparam, func, select, update

from crawler import revisit
from pipeline.ledger import sql
from pipeline.ledger.schema import pages, schedules, update_page

#: Pages that a fit looks at: a sample, as what it finds are sums over all.
SAMPLE = 4_000
#: Time between two fits of a source's numbers.
FIT_EVERY = timedelta(days=1)
#: A page that failed in passing is tried again after this time, one that seems gone after that.
AFTER_FAILURE, AFTER_LOSS = timedelta(hours=1), timedelta(hours=6)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Look:
    """What a visit showed of a page, once it is known whether its content changed."""

    url: str
    at: datetime
    changed: bool
    fresh_for: float | None = None
    """Seconds for which its response says that it stays as it is."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """What a source's revisits go by; `least` and `most` None: all pages at one rhythm."""

    every: float
    least: float | None
    most: float | None
    prior: revisit.Belief
    worth: float | None
    trusts_lists: bool

    def bounded(self, span: timedelta) -> timedelta:
        """A span within the source's bounds."""
        if self.least is None or self.most is None:
            return span
        return min(max(span, self.least * DAY), self.most * DAY)


class Revisits:
    """A source's numbers, fitted to what is believed of its pages."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def fit(self, source: str, now: datetime) -> None:
        """Fit the source's numbers anew, if it is adaptive and the last fit is a while ago."""
        with self._engine.begin() as connection:
            row = connection.execute(_of(source)).one_or_none()
            recent = row is not None and row.worth is not None and row.fitted_at is not None
            if row is None or row.least is None:
                return
            if recent and now - sql.utc(row.fitted_at) < FIT_EVERY:
                return
            found = connection.execute(
                select(pages.c.change_shape, pages.c.change_days).where(
                    pages.c.source == source,
                    pages.c.fetch == "fetched",
                    pages.c.change_shape.is_not(None),
                )
            ).all()
            if not found:
                return
            others = select(func.count()).where(
                pages.c.source == source, pages.c.fetch.not_in(("skipped", "fetched"))
            )
            budget = len(found) / row.every - (connection.scalar(others) or 0) / row.most
            budget = min(max(budget, len(found) / row.most), row.requests_per_day or np.inf)
            sample = random.Random(source).sample(found, min(SAMPLE, len(found)))
            shape, days = (np.array(values, float) for values in zip(*sample, strict=True))
            visits = budget * len(sample) / len(found)
            prior = revisit.prior_of(shape, days)
            connection.execute(
                update(schedules)
                .where(schedules.c.source == source)
                .values(
                    shape=prior.shape,
                    days=prior.days,
                    worth=revisit.worth(shape, days, visits, row.least, row.most),
                    fitted_at=now,
                )
            )


def rhythm(connection: Connection, source: str) -> Rhythm:
    """What the source's revisits go by now."""
    row = connection.execute(_of(source)).one_or_none()
    if row is None:
        return Rhythm(1.0, None, None, revisit.PRIOR, None, True)
    fitted = row.shape is not None and row.days is not None
    return Rhythm(
        every=row.every or 1.0,
        least=row.least,
        most=row.most,
        prior=revisit.Belief(row.shape, row.days) if fitted else revisit.PRIOR,
        worth=row.worth,
        # At first as good as not; from then on by what its words proved to be worth.
        trusts_lists=row.listed_right >= row.listed_wrong,
    )


def known(connection: Connection, source: str, urls: Iterable[str]) -> dict[str, Any]:
    """What revisits go by, of those of these pages that are on record."""
    query = select(
        pages.c.url,
        pages.c.body_hash,
        pages.c.document_hash,
        pages.c.fetched_at,
        pages.c.seen_at,
        pages.c.change_shape,
        pages.c.change_days,
        pages.c.listed_at,
    ).where(pages.c.source == source, pages.c.url.in_(list(urls)))
    return {row.url: row for row in connection.execute(query)}


def learn(
    connection: Connection, source: str, looks: list[Look], before: Mapping[str, Any]
) -> None:
    """Take in what visits showed, and set when each of their pages is due again.

    `before`: the pages as `known` had them. A page that was never seen has no history yet.
    """
    if not looks:
        return
    going = rhythm(connection, source)
    prior = going.prior
    rows = [before.get(look.url) for look in looks]
    spans = [
        (look.at - sql.utc(row.seen_at)) / DAY if row is not None and row.seen_at else 0.0
        for look, row in zip(looks, rows, strict=True)
    ]
    shape, days = revisit.observe(
        [row.change_shape if row is not None and row.change_shape else prior.shape for row in rows],
        [row.change_days if row is not None and row.change_days else prior.days for row in rows],
        spans,
        [look.changed for look in looks],
        prior,
    )
    spans_to_come = _intervals(going, shape, days)
    columns = ("seen_at", "change_shape", "change_days", "next_visit")
    connection.execute(
        update(pages)
        .where(pages.c.source == source, pages.c.url == bindparam("of_url"))
        .values({name: bindparam(f"new_{name}") for name in columns}),
        [
            {
                "of_url": look.url,
                "new_seen_at": look.at,
                "new_change_shape": float(shape[number]),
                "new_change_days": float(days[number]),
                "new_next_visit": _next(going, look, float(spans_to_come[number])),
            }
            for number, look in enumerate(looks)
        ],
    )
    _judge_lists(connection, source, looks, rows)


def postpone(connection: Connection, source: str, url: str, at: datetime, seems_gone: bool) -> None:
    """A visit failed: the page is due again soon, or later where it seems to be gone."""
    going = rhythm(connection, source)
    if going.least is not None:
        wait = going.bounded(AFTER_LOSS if seems_gone else AFTER_FAILURE)
        connection.execute(update_page(source, url).values(next_visit=at + wait))


def rest(connection: Connection, source: str, url: str, at: datetime) -> None:
    """A URL that is no page is looked at as seldom as the source allows."""
    going = rhythm(connection, source)
    if going.most is not None:
        connection.execute(update_page(source, url).values(next_visit=at + going.most * DAY))


def _intervals(going: Rhythm, shape: revisit.Array, days: revisit.Array) -> revisit.Array:
    if going.least is None or going.most is None or going.worth is None:
        return np.full(shape.shape, going.every)
    return revisit.interval(shape, days, going.worth, going.least, going.most)


def _next(going: Rhythm, look: Look, days: float) -> datetime | None:
    """When to visit again: what the site says of its responses holds within the bounds."""
    if going.least is None:
        return None
    said = timedelta(seconds=min(look.fresh_for or 0.0, 1e8))
    return look.at + going.bounded(max(days * DAY, said))


def _judge_lists(connection: Connection, source: str, looks: list[Look], rows: list[Any]) -> None:
    """Count whether pages that a sitemap or a feed called changed had changed."""
    said = [
        look.changed
        for look, row in zip(looks, rows, strict=True)
        if row is not None and row.seen_at and row.listed_at and row.listed_at > row.seen_at
    ]
    if said:
        connection.execute(
            update(schedules)
            .where(schedules.c.source == source)
            .values(
                listed_right=schedules.c.listed_right + sum(said),
                listed_wrong=schedules.c.listed_wrong + len(said) - sum(said),
            )
        )


def _of(source: str) -> Any:
    return select(schedules).where(schedules.c.source == source)

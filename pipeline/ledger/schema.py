"""Tables of the ledger, one schema for SQLite and PostgreSQL, and its version.

What a page *is* and what is *wanted* of it stand beside each other: a row needs work exactly
when `wanted` differs from `indexed`. A partial index holds just those rows, so finding them
costs what there is to do and not what there is.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Case,
    Column,
    Connection,
    DateTime,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    Update,
    case,
    false,
    select,
    text,
    update,
)

#: Raised with every release that adds to the tables; `pipeline.ledger.migrations` has the steps.
VERSION = 2
#: Rows that one statement locks: a statement has a limited number of parameters.
LOCKED_AT_ONCE = 1000

metadata = MetaData()

schema = Table("schema", metadata, Column("version", Integer, nullable=False))

sources = Table(
    "sources",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("customer", String(64), nullable=False, index=True),
    Column("scope", JSON, nullable=False),
    Column("pins", JSON, nullable=False),
    Column("build", Integer, nullable=False, default=1),
    Column("created_at", DateTime(timezone=True), nullable=False),
    # A pass visits every URL of the source once. It is open from its first claim to its end.
    Column("pass_number", Integer, nullable=False, default=0),
    Column("pass_open", Boolean, nullable=False, default=False),
    Column("pass_ended_at", DateTime(timezone=True)),
    # Which verdicts of the site's profile pages are parsed with, and those of the last whole pass.
    Column("verdicts", String(64), nullable=False, default=""),
    Column("settled_verdicts", String(64), nullable=False, default=""),
    # Pages that the last pass would have removed, and that wait for somebody to confirm it.
    Column("held", Integer, nullable=False, default=0, server_default="0"),
    # Who works on the source now.
    Column("runner", Text),
    Column("runner_until", DateTime(timezone=True)),
    # Until then only who asked the run to stop may take the source.
    Column("stop_until", DateTime(timezone=True)),
)

pages = Table(
    "pages",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("url", Text, primary_key=True),
    Column("depth", Integer, nullable=False),
    Column("found_on", Text),
    # The last pass that visited it; 0: never. Whether the open pass is still to visit it.
    Column("visited_pass", Integer, nullable=False, default=0),
    Column("queued", Boolean, nullable=False, default=False, server_default=false()),
    # What the last visit came to: pending, fetched, redirect, missed, gone or skipped.
    Column("fetch", String(16), nullable=False, default="pending"),
    Column("reason", String(32)),
    Column("detail", Text),
    Column("status", Integer),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("content_type", Text),
    Column("body_hash", String(64)),
    Column("body_bytes", BigInteger),
    Column("fetched_at", DateTime(timezone=True)),
    Column("alias_of", Text),
    Column("missing_passes", Integer, nullable=False, default=0),
    # The verdicts that were published last among those that concern this page.
    Column("verdicts", String(64), nullable=False, default="", server_default=""),
    # What should be indexed and what is: body hash, verdicts and pins; null: nothing.
    Column("wanted", Text),
    # The pass since which something is.
    Column("wanted_since", Integer, nullable=False, default=0, server_default="0"),
    # What it is to become at the end of the pass, and which page it gives way to (`leaving.py`).
    Column("leaving", String(16)),
    Column("leaving_to", Text),
    # What it resembles others by (`chunker/similar.py`), and the page that it repeats, if it does.
    Column("sketch", String(48)),
    Column("near_of", Text),
    Column("indexed", Text),
    Column("failed", Text),
    Column("indexed_at", DateTime(timezone=True)),
    Column("document_hash", String(64)),
    Column("title", Text),
    Column("chunks", Integer, nullable=False, default=0),
    # The work on it.
    Column("lease", Text),
    Column("attempts", Integer, nullable=False, default=0),
    # Runs that were killed while they were at it.
    Column("interrupted", Integer, nullable=False, default=0, server_default="0"),
    # When to visit it again, and what that is decided by: what is believed of its rate of change,
    # from all visits up to `seen_at` (`crawler/revisit.py`), and what a sitemap or feed says of it.
    Column("next_visit", DateTime(timezone=True)),
    Column("seen_at", DateTime(timezone=True)),
    Column("change_shape", Float),
    Column("change_days", Float),
    Column("listed_at", DateTime(timezone=True)),
)

#: Ends what is recorded as indexed from a page's claim to its end: how much of the work reached the
#: index is not known, and equals nothing that may be wanted by then, "nothing" included.
UNSURE = "?"

DIFFERS = text("wanted IS DISTINCT FROM indexed AND (failed IS NULL OR failed <> wanted)")

#: In the same words in the index and in the query, or SQLite does not see that they match.
QUEUED = text("queued")

Index("pages_to_do", pages.c.source, pages.c.url, sqlite_where=DIFFERS, postgresql_where=DIFFERS)
Index(
    "pages_queue",
    pages.c.source,
    pages.c.depth,
    pages.c.url,
    sqlite_where=QUEUED,
    postgresql_where=QUEUED,
)
LEAVES = text("leaving IS NOT NULL")

Index("pages_leaving", pages.c.source, sqlite_where=LEAVES, postgresql_where=LEAVES)
Index("pages_body", pages.c.source, pages.c.body_hash)
Index("pages_alias", pages.c.source, pages.c.alias_of)

#: When each source's turn comes, and what its turns came to.
schedules = Table(
    "schedules",
    metadata,
    Column("source", String(64), primary_key=True),
    # Days between two visits: of all pages, or on the average and between these two bounds.
    Column("every", Float),
    Column("least", Float),
    Column("most", Float),
    Column("due_at", DateTime(timezone=True)),
    # The crawl begins nothing after this moment, nor while the source is paused.
    Column("until", DateTime(timezone=True)),
    Column("served_at", DateTime(timezone=True)),
    Column("paused", Text),
    Column("failures", Integer, nullable=False, default=0),
    Column("error", Text),
    # What was asked on that day, and the most of it (null: no limit).
    Column("day", String(10)),
    Column("requests", BigInteger, nullable=False, default=0),
    Column("bytes", BigInteger, nullable=False, default=0),
    Column("requests_per_day", BigInteger),
    Column("bytes_per_day", BigInteger),
    # What is known of all pages' rates of change, and what a visit must be worth.
    Column("shape", Float),
    Column("days", Float),
    Column("worth", Float),
    Column("fitted_at", DateTime(timezone=True)),
    # How often what a sitemap or feed said of a page's change proved true.
    Column("listed_right", Integer, nullable=False, default=0),
    Column("listed_wrong", Integer, nullable=False, default=0),
    Column("feeds", JSON),
)

#: Who may ask a host, and from when on. A hold is as good as the run that took it.
hosts = Table(
    "hosts",
    metadata,
    Column("host", Text, primary_key=True),
    Column("source", String(64), index=True),
    Column("runner", Text),
    # Seconds between two requests, as far as the host or the source set them.
    Column("gap", Float, nullable=False, default=0.0),
    Column("free_at", DateTime(timezone=True)),
)

usage = Table(
    "usage",
    metadata,
    Column("customer", String(64), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("what", String(32), primary_key=True),
    Column("amount", BigInteger, nullable=False),
)


# What a source was made with before, or is being made with: another build beside the live one.
builds = Table(
    "builds",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("build", Integer, primary_key=True),
    Column("pins", JSON, nullable=False),
    # building, or previous: what was live before.
    Column("state", String(16), nullable=False),
    Column("made_at", DateTime(timezone=True), nullable=False),
)

# Of each page in a build that is not live, what `pages` holds of the live one.
build_pages = Table(
    "build_pages",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("build", Integer, primary_key=True),
    Column("url", Text, primary_key=True),
    Column("indexed", Text, nullable=False),
    Column("document_hash", String(64)),
    Column("title", Text),
    Column("chunks", Integer, nullable=False),
)

# Sources that were forgotten: a backup that was made before does not bring them back.
forgotten = Table(
    "forgotten",
    metadata,
    Column("source", String(64), primary_key=True),
    Column("customer", String(64), nullable=False),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("receipt", JSON, nullable=False),
)

# Backups that were made of this ledger: a removal is noted beside those that it reaches.
backups = Table(
    "backups",
    metadata,
    Column("place", Text, primary_key=True),
    Column("made_at", DateTime(timezone=True), nullable=False),
    Column("bytes", BigInteger, nullable=False),
)


def update_page(source: str, url: str) -> Update:
    """An UPDATE of one page's row."""
    return update(pages).where(pages.c.source == source, pages.c.url == url)


def since(pass_number: int) -> Case[int]:
    """`wanted_since` of a page of which something is wanted in this pass, or was before."""
    return case((pages.c.wanted.is_(None), pass_number), else_=pages.c.wanted_since)


def lock_pages(connection: Connection, source: str, urls: Iterable[str]) -> None:
    """Lock pages' rows before a transaction writes to several, in one order for all of them.

    On PostgreSQL two transactions that write to the same rows in different orders end in a
    deadlock, and one of them with an error. SQLite has one writer at a time.
    """
    if connection.dialect.name == "sqlite":
        return
    ordered = sorted(set(urls))
    for start in range(0, len(ordered), LOCKED_AT_ONCE):
        connection.execute(
            select(pages.c.url)
            .where(pages.c.source == source)
            .where(pages.c.url.in_(ordered[start : start + LOCKED_AT_ONCE]))
            .order_by(pages.c.url.collate("C"))
            .with_for_update()
        )

"""Schema 1 to 2. As it was released: it does not follow `schema.py` when that goes on.

New tables stand here whole; of a table that there was, only what is new. A column of such a table
may be null or has a `server_default`: the rows that are there must get something.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)

from pipeline.ledger.migrations.step import Step

added = MetaData()

#: What a source was made with before, or is being made with: another build beside the live one.
Table(
    "builds",
    added,
    Column("source", String(64), primary_key=True),
    Column("build", Integer, primary_key=True),
    Column("pins", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("made_at", DateTime(timezone=True), nullable=False),
)

Table(
    "build_pages",
    added,
    Column("source", String(64), primary_key=True),
    Column("build", Integer, primary_key=True),
    Column("url", Text, primary_key=True),
    Column("indexed", Text, nullable=False),
    Column("document_hash", String(64)),
    Column("title", Text),
    Column("chunks", Integer, nullable=False),
)

#: Sources that were forgotten: a backup that was made before does not bring them back.
Table(
    "forgotten",
    added,
    Column("source", String(64), primary_key=True),
    Column("customer", String(64), nullable=False),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("receipt", JSON, nullable=False),
)

#: Backups that were made of this ledger: a removal is noted beside those that it reaches.
Table(
    "backups",
    added,
    Column("place", Text, primary_key=True),
    Column("made_at", DateTime(timezone=True), nullable=False),
    Column("bytes", BigInteger, nullable=False),
)

#: The queue of the open pass, and when to visit a page again.
_pages = Table(
    "pages",
    added,
    Column("source", String(64), primary_key=True),
    Column("depth", Integer, nullable=False),
    Column("url", Text, primary_key=True),
    Column("queued", Boolean, nullable=False, server_default=false()),
    Column("interrupted", Integer, nullable=False, server_default="0"),
    Column("next_visit", DateTime(timezone=True)),
    Column("seen_at", DateTime(timezone=True)),
    Column("change_shape", Float),
    Column("change_days", Float),
    Column("listed_at", DateTime(timezone=True)),
    Column("wanted_since", Integer, nullable=False, server_default="0"),
    Column("leaving", String(16)),
    Column("leaving_to", Text),
    Column("sketch", String(48)),
    Column("near_of", Text),
)
_LEAVES = text("leaving IS NOT NULL")
Index("pages_leaving", _pages.c.source, sqlite_where=_LEAVES, postgresql_where=_LEAVES)
_QUEUED = text("queued")
Index(
    "pages_queue",
    _pages.c.source,
    _pages.c.depth,
    _pages.c.url,
    sqlite_where=_QUEUED,
    postgresql_where=_QUEUED,
)

#: What a source would have removed in its last pass, and holds.
Table(
    "sources",
    added,
    Column("name", String(64), primary_key=True),
    Column("stop_until", DateTime(timezone=True)),
    Column("held", Integer, nullable=False, server_default="0"),
)

#: When each source's turn comes, and what its turns came to.
Table(
    "schedules",
    added,
    Column("source", String(64), primary_key=True),
    Column("every", Float),
    Column("least", Float),
    Column("most", Float),
    Column("due_at", DateTime(timezone=True)),
    Column("until", DateTime(timezone=True)),
    Column("served_at", DateTime(timezone=True)),
    Column("paused", Text),
    Column("failures", Integer, nullable=False),
    Column("error", Text),
    Column("day", String(10)),
    Column("requests", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("requests_per_day", BigInteger),
    Column("bytes_per_day", BigInteger),
    Column("shape", Float),
    Column("days", Float),
    Column("worth", Float),
    Column("fitted_at", DateTime(timezone=True)),
    Column("listed_right", Integer, nullable=False),
    Column("listed_wrong", Integer, nullable=False),
    Column("feeds", JSON),
)

#: Who may ask a host, and from when on.
Table(
    "hosts",
    added,
    Column("host", Text, primary_key=True),
    Column("source", String(64), index=True),
    Column("runner", Text),
    Column("gap", Float, nullable=False),
    Column("free_at", DateTime(timezone=True)),
)

STEP = Step(
    to=2,
    added=added,
    unused=("pages_frontier",),
    filled=(
        # A pass that an older release left open has its queue in the passes' numbers.
        "UPDATE pages SET queued = true WHERE \"fetch\" <> 'skipped' AND EXISTS (SELECT 1 FROM "
        "sources WHERE name = pages.source AND pass_open AND pages.visited_pass < pass_number)",
    ),
)

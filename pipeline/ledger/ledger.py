"""Opens the ledger and holds its parts together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, Engine, insert
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, OperationalError

from pipeline.errors import HomeError, ServiceMissingError
from pipeline.ledger import migrations, schema, sql
from pipeline.ledger.builds import Builds
from pipeline.ledger.hosts import Hosts
from pipeline.ledger.pages import Pages
from pipeline.ledger.removals import Removals
from pipeline.ledger.repeats import Repeats
from pipeline.ledger.revisits import Revisits
from pipeline.ledger.schedules import Schedules
from pipeline.ledger.settlements import Settlements
from pipeline.ledger.sources import Sources
from pipeline.ledger.usage import UsageBook
from pipeline.ledger.visits import Visits
from pipeline.ledger.work import Work

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger by concern. Safe to use from several processes at once."""

    engine: Engine
    sources: Sources
    pages: Pages
    visits: Visits
    settlements: Settlements
    repeats: Repeats
    work: Work
    usage: UsageBook
    schedules: Schedules
    builds: Builds
    revisits: Revisits
    removals: Removals
    hosts: Hosts

    def close(self) -> None:
        self.engine.dispose()


def open_ledger(url: str) -> Ledger:
    """The ledger at a database URL, its tables made if there are none, an older one migrated.

    Raises `HomeError` where the schema is newer than this software, or older in a database that
    machines share, `ServiceMissingError` where the database does not answer.
    """
    engine = connect(url)
    with named(url):
        _check_schema(engine)
    return Ledger(
        engine,
        Sources(engine),
        Pages(engine),
        Visits(engine),
        Settlements(engine),
        Repeats(engine),
        Work(engine),
        UsageBook(engine),
        Schedules(engine),
        Builds(engine),
        Revisits(engine),
        Removals(engine),
        Hosts(engine),
    )


def connect(url: str) -> Engine:
    """An engine for the ledger's database, of whatever schema it is."""
    return sql.engine(url, json_serializer=_to_json)


@contextmanager
def named(url: str) -> Iterator[None]:
    """Turns what a database says when it is opened into an error that names the ledger."""
    try:
        yield
    except OperationalError as error:
        raise ServiceMissingError(
            f"the ledger at {make_url(url).render_as_string(hide_password=True)} does not open: "
            f"{error.orig}",
            "check WRAC_LEDGER_URL and the database, or the home folder's disk and mode",
        ) from error
    except DatabaseError as error:
        raise HomeError(
            f"the ledger at {make_url(url).render_as_string(hide_password=True)} is no database: "
            f"{error.orig}",
            "put a backup of it back, or choose another folder with --home DIR",
        ) from error


def _check_schema(engine: Engine) -> None:
    with sql.read(engine) as connection:
        version = migrations.version(connection)
    if version is None:
        with engine.begin() as connection:
            sql.lock_schema(connection)
            version = migrations.version(connection) or _made(connection)
    if version > schema.VERSION:
        raise migrations.newer(version)
    if version < schema.VERSION:
        if engine.dialect.name != "sqlite":
            raise HomeError(
                f"the ledger has schema {version}; this software needs {schema.VERSION}",
                "wrac migrate --dry-run shows what that adds, wrac migrate adds it",
            )
        migrations.migrate(engine)
        log.info("migrated the ledger", before=version, now=schema.VERSION)


def _made(connection: Connection) -> int:
    schema.metadata.create_all(connection)
    connection.execute(insert(schema.schema).values(version=schema.VERSION))
    return schema.VERSION


def _to_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be stored in the ledger")

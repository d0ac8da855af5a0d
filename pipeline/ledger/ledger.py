"""Opens the ledger and holds its parts together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, insert, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from pipeline.errors import HomeError, ServiceMissingError
from pipeline.ledger import schema, sql
from pipeline.ledger.pages import Pages
from pipeline.ledger.settlements import Settlements
from pipeline.ledger.sources import Sources
from pipeline.ledger.usage import UsageBook
from pipeline.ledger.visits import Visits
from pipeline.ledger.work import Work


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger by concern. Safe to use from several processes at once."""

    engine: Engine
    sources: Sources
    pages: Pages
    visits: Visits
    settlements: Settlements
    work: Work
    usage: UsageBook

    def close(self) -> None:
        self.engine.dispose()


def open_ledger(url: str) -> Ledger:
    """The ledger at a database URL, its tables made if there are none.

    Raises `HomeError` where the schema is newer than this software, `ServiceMissingError` where
    the database does not answer.
    """
    engine = sql.engine(url, json_serializer=_to_json)
    try:
        _check_schema(engine)
    except OperationalError as error:
        raise ServiceMissingError(
            f"the ledger at {make_url(url).render_as_string(hide_password=True)} does not open: "
            f"{error.orig}",
            "check --ledger-url and the database, or the home folder's disk and mode",
        ) from error
    return Ledger(
        engine,
        Sources(engine),
        Pages(engine),
        Visits(engine),
        Settlements(engine),
        Work(engine),
        UsageBook(engine),
    )


def _check_schema(engine: Engine) -> None:
    if not inspect(engine).has_table("schema"):
        schema.metadata.create_all(engine)
    with engine.begin() as connection:
        version = connection.scalar(select(schema.schema.c.version))
        if version is None:
            connection.execute(insert(schema.schema).values(version=schema.VERSION))
        elif version > schema.VERSION:
            raise HomeError(
                f"the ledger has schema {version}; this software knows {schema.VERSION}",
                "install the newer wrac that wrote it",
            )


def _to_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be stored in the ledger")

"""What was forgotten, and where backups are that still hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from pipeline.ledger import sql
from pipeline.ledger.schema import backups, forgotten


@dataclass(frozen=True, slots=True)
class Removal:
    """A source that was forgotten at a moment. It holds names and counts, nothing of the pages."""

    source: str
    customer: str
    at: datetime
    receipt: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made of this ledger."""

    place: str
    made_at: datetime
    bytes: int


class Removals:
    """The tables `forgotten` and `backups`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, removal: Removal) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                insert(forgotten).values(
                    source=removal.source,
                    customer=removal.customer,
                    at=removal.at,
                    receipt=dict(removal.receipt),
                )
            )

    def all(self) -> list[Removal]:
        """Every removal, oldest first."""
        query = select(forgotten).order_by(forgotten.c.at, forgotten.c.source)
        with sql.read(self._engine) as connection:
            return [
                Removal(row.source, row.customer, sql.utc(row.at), row.receipt)
                for row in connection.execute(query)
            ]

    def add_backup(self, backup: Backup) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(backups).where(backups.c.place == backup.place))
            connection.execute(
                insert(backups).values(
                    place=backup.place, made_at=backup.made_at, bytes=backup.bytes
                )
            )

    def backups(self) -> list[Backup]:
        """Every backup that was made, oldest first."""
        query = select(backups).order_by(backups.c.made_at)
        with sql.read(self._engine) as connection:
            return [
                Backup(row.place, sql.utc(row.made_at), row.bytes)
                for row in connection.execute(query)
            ]

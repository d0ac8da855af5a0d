"""The value that a step of the migrations is."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import MetaData


@dataclass(frozen=True, slots=True)
class Step:
    """What leads to version `to` from the one before."""

    to: int
    added: MetaData
    """New tables whole; of tables that there were, the new columns, and those that a new index
    is over."""
    unused: tuple[str, ...] = ()
    """Indexes that nothing searches by any more."""
    filled: tuple[str, ...] = ()
    """Statements that give rows that are there what only their other columns tell."""

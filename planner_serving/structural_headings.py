"""Headings that are not marked as such: bold paragraphs and short lines that act as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunker.model import OutlineRow


@dataclass(frozen=True, slots=True)
class Implied:
    """A unit that is taken for a heading."""

    level: int
    confidence: float
    """0 to 1."""


def implied_headings(rows: Sequence[OutlineRow]) -> dict[str, Implied]:
    """The units that act as headings, with their levels, in the page's order."""
    found: dict[str, Implied] = {}
    marked = 0
    for i, row in enumerate(rows):
        if row.level is not None:
            marked = row.level
        elif row.emphasised and row.text and i + 1 < len(rows):
            found[row.id] = Implied(min(marked + 1, 6), 0.8)
    return found

"""The plans behind live pages: what they are, and how another planner's would differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from chunker.model import Plan
from crawler.urls import canonical
from pipeline import records
from pipeline.errors import UnknownSourceError, UsageError
from pipeline.ledger import Source
from pipeline.parts import Parts
from pipeline.records import Record

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Difference:
    """How a plan differs from another for the same document."""

    groups: tuple[int, int]
    """How many the one has, and the other."""
    kept: int
    """Groups that hold the same units in both."""
    begins: tuple[str, ...]
    """Units before which only the other has a boundary."""
    joined: tuple[str, ...]
    """Units before which only the one has a boundary."""
    dropped: tuple[str, ...]
    """Units that only the other drops."""
    taken_in: tuple[str, ...]
    """Units that only the one drops."""
    headings: dict[str, tuple[int | None, int | None]]
    """Units that are headings of another level: level in the one, and in the other; None: as the
    document marks it."""
    under: dict[str, tuple[str | None, str | None]]
    """Units that go on with another section: its heading in the one, and in the other; None: what
    they follow."""

    @property
    def same(self) -> bool:
        """Whether both make the same chunks of the document, under one policy."""
        groups = self.begins or self.joined or self.dropped or self.taken_in
        return not (groups or self.headings or self.under)


def difference(one: Plan, other: Plan) -> Difference:
    """What `other` does otherwise than `one`; ids in the order of the plan they are from."""
    begin_one = dict.fromkeys(group[0] for group in one.groups)
    begin_other = dict.fromkeys(group[0] for group in other.groups)
    return Difference(
        groups=(len(one.groups), len(other.groups)),
        kept=len(set(one.groups) & set(other.groups)),
        begins=tuple(id for id in begin_other if id not in begin_one),
        joined=tuple(id for id in begin_one if id not in begin_other),
        dropped=tuple(id for id in other.dropped if id not in one.dropped),
        taken_in=tuple(id for id in one.dropped if id not in other.dropped),
        headings=_changed(one.headings, other.headings),
        under=_changed(one.under, other.under),
    )


def _changed(one: Mapping[str, T], other: Mapping[str, T]) -> dict[str, tuple[T | None, T | None]]:
    """What two mappings hold differently: the one's value and the other's."""
    pairs = {id: (one.get(id), other.get(id)) for id in dict.fromkeys([*one, *other])}
    return {id: pair for id, pair in pairs.items() if pair[0] != pair[1]}


def stored(parts: Parts, url: str, source: str | None = None) -> tuple[Source, Record]:
    """The record of a live page, by its URL or one that stands for it.

    Raises `UnknownSourceError` where no source has the page indexed, and `UsageError` where
    several do and `source` does not say which.
    """
    sources = parts.ledger.sources
    found: list[tuple[Source, Record]] = []
    for one in [sources.get(source)] if source is not None else sources.all():
        row = parts.ledger.pages.get(one.name, canonical(url))
        kept = row and parts.store.record(one.customer, one.name, one.build, row.canonical)
        if kept:
            found.append((one, records.from_json(kept)))
    if not found:
        raise UnknownSourceError(
            f"no page {url} is indexed" + (f" in {source}" if source else ""),
            "wrac pages --source NAME lists the pages of a source, and why one is not indexed",
        )
    if len(found) > 1:
        names = ", ".join(one.name for one, _ in found)
        raise UsageError(f"several sources have {url}: {names}", "say which with --source NAME")
    return found[0]

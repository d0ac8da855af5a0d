"""Removes a source or a customer wholly, and says what was removed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from pipeline import builds, runs
from pipeline.index_stage import slot_of
from pipeline.ledger import Source
from pipeline.parts import Parts


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was there and is not any more."""

    source: str
    customer: str
    pages: int
    points: int
    files: int
    bodies: int
    cache_entries: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


#: What a removal cannot reach, said on every receipt.
NOT_REACHED = "backups, exports and log files made before are not reached"


def forget(parts: Parts, source: Source) -> Receipt:
    """Remove a source; with a customer's last source, all that is the customer's.

    Raises `SourceBusyError` while a run holds the source, or another of the customer's: its
    sources share bodies. The ledger goes last, so that an interrupted removal can be run again.
    """
    with ExitStack() as held:
        held.enter_context(runs.held(parts.ledger, source.name))
        others = [
            one for one in parts.ledger.sources.all(source.customer) if one.name != source.name
        ]
        for other in others:
            held.enter_context(runs.held(parts.ledger, other.name))
        every = [source, *builds.beside(parts, source)]
        points = sum(parts.index.drop(slot_of(one)) for one in every)
        # Not only the bodies that its pages have now: what they had before goes too.
        needed = {body for one in others for body in parts.ledger.pages.bodies(one.name)}
        bodies = parts.store.keep_bodies(source.customer, needed)
        files = parts.store.forget_source(source.customer, source.name)
        # Caches are not kept by source: another source of the customer makes its own entries
        # again, a removed one leaves nothing.
        cache_entries = sum(cache.forget(source.customer) for cache in parts.caches.values())
        if not others:
            files += parts.store.forget_customer(source.customer)
        pages = parts.ledger.sources.forget(source.name)
        parts.ledger.sources.compact()
    return Receipt(source.name, source.customer, pages, points, files, bodies, cache_entries)

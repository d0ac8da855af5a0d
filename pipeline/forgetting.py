"""Removes a source or a customer wholly, and says what was removed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from pipeline import backups, builds, leftovers, runs
from pipeline.index_stage import slot_of
from pipeline.ledger import Source
from pipeline.ledger.removals import Removal
from pipeline.parts import Parts


@dataclass(frozen=True, slots=True)
class Held:
    """What the stores hold of a source."""

    pages: int
    points: int
    files: int
    """Of the page store, without bodies: those are the customer's."""
    bodies: int
    """The customer's, those of his other sources among them."""
    sources: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was there and is not any more."""

    source: str
    customer: str
    at: datetime
    pages: int
    points: int
    files: int
    bodies: int
    cache_entries: int
    before: Held
    after: Held
    """Counted again in each store, once all was removed."""
    backups_told: tuple[str, ...]
    """Backups that hold it and know now that it is not to be brought back."""
    backups_away: tuple[str, ...]
    """Backups that hold it and could not be told."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"at": self.at.isoformat()}


#: What a removal cannot reach, said on every receipt.
NOT_REACHED = (
    "copies of backups, exports and log files made before are not reached, nor backups that are "
    "away: give this receipt to wrac restore with --receipt"
)


def forget(parts: Parts, source: Source, patience: float = runs.PATIENCE) -> Receipt:
    """Remove a source; with a customer's last source, all that is the customer's.

    A run that works on the source, or on another of the customer (its sources share bodies), is
    asked to stop; raises `SourceBusyError` where it does not within `patience` seconds. The ledger
    goes last, so that an interrupted removal can be run again.
    """
    ledger, store = parts.ledger, parts.store
    with ExitStack() as stopped:
        every = ledger.sources.all(source.customer)
        for one in sorted(every, key=lambda one: one.name):
            stopped.enter_context(runs.stopped(ledger, one.name, patience))
        others = [one for one in every if one.name != source.name]
        slots = [slot_of(one) for one in (source, *builds.beside(parts, source))]

        def held(pages: int) -> Held:
            points = sum(map(parts.index.count, slots))
            files = store.count(source.customer, source.name)
            bodies = store.count_bodies(source.customer)
            there = int(ledger.sources.find(source.name) is not None)
            return Held(pages, points, files, bodies, there)

        known = ledger.pages.known(source.name)
        before = held(known)
        points = sum(map(parts.index.drop, slots))
        # Not only the bodies that its pages have now: what they had before goes too.
        needed = {body for one in others for body in ledger.pages.bodies(one.name)}
        bodies = store.keep_bodies(source.customer, needed)
        files = store.forget_source(source.customer, source.name)
        # Caches are not kept by source: another source of the customer makes its own entries
        # again, a removed one leaves nothing.
        cache_entries = sum(cache.forget(source.customer) for cache in parts.caches.values())
        if not others:
            files += store.forget_customer(source.customer)
        # Before the ledger, which a removal that is cut short goes on by, and after it: a backup
        # that has begun meanwhile may hold the source.
        backups.tell(ledger.removals.backups(), source, datetime.now(UTC))
        pages = ledger.sources.forget(source.name)
        ledger.hosts.release(source.name, datetime.now(UTC))
        ledger.hosts.forget_idle(datetime.now(UTC))  # whose they were is not on record
        ledger.sources.compact()
        leftovers.sweep()
    at = datetime.now(UTC)
    told, away = backups.tell(ledger.removals.backups(), source, at)
    receipt = Receipt(
        source=source.name,
        customer=source.customer,
        at=at,
        pages=pages,
        points=points,
        files=files,
        bodies=bodies,
        cache_entries=cache_entries,
        before=before,
        after=held(ledger.pages.known(source.name)),
        backups_told=told,
        backups_away=away,
    )
    ledger.removals.add(Removal(source.name, source.customer, at, receipt.to_json()))
    return receipt

"""Old bodies go: those that no page has any more, after a number of days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipeline.parts import Parts


def sweep(parts: Parts, customer: str) -> int:
    """Remove a customer's bodies that are older than `body_days` and that no page, in any build,
    refers to; returns their number."""
    ledger = parts.ledger
    needed = {
        body for one in ledger.sources.all(customer) for body in ledger.pages.bodies(one.name)
    }
    before = datetime.now(UTC) - timedelta(days=parts.settings.body_days)
    return parts.store.keep_bodies(customer, needed, before)


def measure(parts: Parts, customer: str) -> int:
    """Put on record how many bytes of the page store are a customer's today; returns them."""
    size = parts.store.size(customer)
    parts.ledger.usage.put(customer, datetime.now(UTC).date(), "stored_bytes", size)
    return size

"""Search over the sources of a home."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from indexer.model import Hit
from pipeline.errors import UnknownSourceError, UsageError
from pipeline.index_stage import slot_of
from pipeline.ledger import Ledger, Source
from pipeline.parts import Parts


def choose(
    ledger: Ledger, source: str | None, customer: str | None, everything: bool
) -> list[Source]:
    """The sources that a search is over.

    Raises `UsageError` where a home of several customers is searched without saying whose, and
    `UnknownSourceError` for a name that is not there.
    """
    if sum((source is not None, customer is not None, everything)) > 1:
        raise UsageError("--source, --customer and --all exclude each other", "give one of them")
    if source is not None:
        return [ledger.sources.get(source)]
    sources = ledger.sources.all(customer)
    if customer is not None and not sources:
        known = sorted({one.customer for one in ledger.sources.all()})
        raise UnknownSourceError(
            f"there is no customer {customer}", f"customers here: {', '.join(known)}"
        )
    if not sources:
        raise UnknownSourceError("nothing has been ingested yet", "wrac ingest URL --source NAME")
    # A source whose first ingest found nothing must not make every search name its customer.
    customers = sorted({one.customer for one in sources if ledger.pages.holds(one.name)})
    if len(customers) > 1 and not everything:
        raise UsageError(
            f"this home holds several customers: {', '.join(customers)}",
            "say which with --customer NAME or --source NAME, or --all",
        )
    return sources


def find(
    parts: Parts, text: str, sources: Sequence[Source], limit: int | None, budget: int | None
) -> list[Hit]:
    """The best hits over the sources, all indexed with the configured embedder."""
    from indexer.search import search

    others = [one for one in sources if one.pins.embedder != parts.embedder.identity]
    if others:
        raise UsageError(
            f"source {others[0].name} is indexed with {others[0].pins.embedder}, "
            f"the settings name {parts.embedder.identity}",
            "set embedder to the source's, or search one source",
        )
    slots = [slot_of(one) for one in sources]
    hits = search(parts.index, parts.embedder, slots, text, limit=limit, budget=budget)
    return _dated(parts.ledger, hits)


def _dated(ledger: Ledger, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with the time of their page's last visit. A page that was found to be unchanged
    is fresh, though nothing of it was stored again."""
    urls: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        urls[hit.source].add(hit.url)
    seen = {source: ledger.pages.last_fetched(source, of) for source, of in urls.items()}
    return [replace(hit, fetched_at=seen[hit.source].get(hit.url, hit.fetched_at)) for hit in hits]

"""The site's profile: which blocks its pages repeat, published when a pass has seen them all.

The verdicts of a pass come of a sample that addresses alone decide and of the verdicts of the
pass before, so the order in which pages were visited does not show in them. The first pass of a
source begins with verdicts of its first pages, so that few pages have to be parsed again at its
end; those first verdicts have no say in the last.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence

from chunker import profile
from pipeline.ledger import Ledger, Source
from pipeline.pagestore import MissingVerdictsError, PageStore

#: Pages that the first verdicts of a source's first pass come of.
FIRST_PAGES = 48

Marks = Callable[[Sequence[tuple[str, str, str]]], Sequence[tuple[str, Sequence[str]]]]


def read_verdicts(store: PageStore, source: Source) -> Mapping[str, bool]:
    """The verdicts that the source's pages are parsed with."""
    return _read(store, source, source.verdicts)


def begin(ledger: Ledger, store: PageStore, source: Source, marks: Marks) -> Source:
    """First verdicts, from the pages that a source's first pass has fetched so far.

    `marks` gives for URL, body hash and content type of pages their fingerprints.
    """
    pages = marks(ledger.pages.fetched(source.name, FIRST_PAGES))
    return _publish(ledger, store, source, pages, previous={}, settled=False)


def settle(ledger: Ledger, store: PageStore, source: Source) -> Source:
    """The verdicts of a whole pass. Pages that hold a block whose verdict flipped differ then."""
    sample = heapq.nsmallest(
        profile.PAGES, ledger.pages.documents(source.name), key=profile.address
    )
    pages = [(url, store.blocks(source.customer, source.name, url)) for url in sample]
    previous = _read(store, source, source.settled_verdicts)
    return _publish(ledger, store, source, pages, previous, settled=True)


def _publish(
    ledger: Ledger,
    store: PageStore,
    source: Source,
    pages: Iterable[tuple[str, Iterable[str]]],
    previous: Mapping[str, bool],
    settled: bool,
) -> Source:
    seen = profile.Profile()
    for url, found in pages:
        seen = profile.fold(seen, url, found)
    current = profile.verdicts(seen, previous)
    flipped = profile.flips(read_verdicts(store, source), current)
    name = _name(current)
    store.put_verdicts(source.customer, source.name, name, current)
    concerned = [
        url
        for url in (ledger.pages.documents(source.name) if flipped else ())
        if not flipped.isdisjoint(store.blocks(source.customer, source.name, url))
    ]
    ledger.sources.publish(source.name, name, concerned, settled)
    return ledger.sources.get(source.name)


def _read(store: PageStore, source: Source, name: str) -> Mapping[str, bool]:
    """Verdicts by name. Lost ones are as none: all that are published next have flipped then."""
    if not name:
        return {}
    try:
        return store.verdicts(source.customer, source.name, name)
    except MissingVerdictsError:
        return {}


def _name(verdicts: Mapping[str, bool]) -> str:
    return hashlib.sha256("".join(sorted(verdicts)).encode()).hexdigest()[:16]

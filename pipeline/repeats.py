"""Pages of a source that say the same are indexed once: print views, shells in another language.

Decided at the end of a pass, from all pages at once: the order in which they came does not show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from urllib.parse import urlsplit

import structlog

from chunker import similar
from chunker.model import Document
from pipeline import records
from pipeline.ledger import Ledger, Source
from pipeline.ledger.settlements import allowed
from pipeline.pagestore import DamagedFileError, PageStore

log = structlog.get_logger()

#: Pages that resemble each other and are compared: where there are more, a template makes them.
MOST_ALIKE = 50
#: Documents held while pages are compared.
HELD = 256


def settle(ledger: Ledger, store: PageStore, source: Source, share: float) -> int:
    """Decide which pages repeat which; returns how many changed. The loop does the rest.

    Where more than `share` of the pages that were there before would give way, they are held.
    """
    known = ledger.repeats.sketched(source.name)

    @lru_cache(HELD)
    def document(url: str) -> Document | None:
        try:
            stored = store.record(source.customer, source.name, source.build, url)
        except DamagedFileError:
            return None
        return None if stored is None else records.from_json(stored).document

    pairs = _candidates({page.url: page.bands for page in known})
    alike = [
        (one, other)
        for one, other in pairs
        if (a := document(one)) and (b := document(other)) and similar.same(a, b)
    ]
    first = _first_of(alike)
    changes = {
        page.url: first.get(page.url) for page in known if first.get(page.url) != page.near_of
    }
    losing = {
        page.url: changes[page.url]
        for page in known
        if page.near_of is None and not page.is_new and page.url in changes
    }
    there = sum(not page.is_new for page in known)
    if len(losing) > allowed(there, there, share):
        log.warning("many pages repeat others", source=source.name, pages=len(losing))
        ledger.repeats.hold(source.name, {url: to for url, to in losing.items() if to is not None})
        changes = {url: to for url, to in changes.items() if url not in losing}
    ledger.repeats.decide(source.name, changes)
    return len(changes)


def _candidates(bands: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Pairs of pages that share a band."""
    sharing: dict[tuple[int, str], list[str]] = defaultdict(list)
    for url, values in bands.items():
        for number, value in enumerate(values):
            sharing[number, value].append(url)
    seen: set[tuple[str, str]] = set()
    for urls in sharing.values():
        if 2 <= len(urls) <= MOST_ALIKE:
            for pair in combinations(sorted(urls), 2):
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def _first_of(alike: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each page that repeats others, directly or by others, which of them stands for all."""
    group: dict[str, set[str]] = {}
    for one, other in alike:
        joined = group.get(one, {one}) | group.get(other, {other})
        group.update(dict.fromkeys(joined, joined))
    return {
        url: first for url, urls in group.items() if (first := min(urls, key=_plainness)) != url
    }


def _plainness(url: str) -> tuple[bool, int, str]:
    """The plainest address stands: without a query, and the shortest."""
    return bool(urlsplit(url).query), len(url), url

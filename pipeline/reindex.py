"""The index from store and ledger alone: nothing is fetched, parsed or planned again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from chunker.chunks import chunks
from indexer.errors import IndexDamagedError
from indexer.points import point_ids
from pipeline import records, runs
from pipeline.budgets import Budgets
from pipeline.caches.embeddings import EmbeddingCache
from pipeline.index_stage import IndexStage, slot_of
from pipeline.ingest import check_embedder
from pipeline.ledger import Job, Source
from pipeline.pages import Indexed, Prepared, Result
from pipeline.pagestore import DamagedFileError
from pipeline.parts import Parts

#: Pages that are embedded together.
BATCH = 16


@dataclass(slots=True)
class Reindexed:
    """What making a source's index again came to."""

    source: str
    pages: int = 0
    chunks: int = 0
    embeddings_made: int = 0
    embeddings_cached: int = 0
    removed: int = 0
    """Points of pages that are not indexed."""
    left: int = 0
    """Pages whose documents are not as the ledger has them: the next run makes them."""
    seconds: float = 0.0


def reindex(
    parts: Parts, name: str, on_page: Callable[[Reindexed], None] = lambda _: None
) -> Reindexed:
    """Put every page that the ledger has as indexed into the index, from its stored document.

    The plan is the stored one. A page whose document is lost, or is not the one that the ledger
    names, is left to the next run. Raises `SourceBusyError`, `PinnedError`.
    """
    started = time.monotonic()
    with runs.held(parts.ledger, name):
        source = parts.ledger.sources.get(name)
        check_embedder(parts, source)
        found = Reindexed(name)
        try:
            found.removed = _sweep(parts, source)
        except IndexDamagedError:
            parts.index.drop(slot_of(source))
        cache = EmbeddingCache(parts.caches["embeddings"])
        stage = IndexStage(source, parts.store, parts.embedder, cache, parts.index)
        lost: list[str] = []
        budgets = Budgets(parts.settings, parts.ledger, source.customer)
        for batch in _batches(parts.ledger.pages.indexed(name)):
            budgets.check("embeddings")
            ready = []
            for url, digest, count in batch:
                page = _prepared(parts, source, url, digest, count)
                if page is None:
                    lost.append(url)
                else:
                    ready.append(page)
            results = stage.run(ready)
            for result in results:
                if isinstance(result, Indexed):
                    found.pages += 1
                    found.chunks += result.chunks
                    found.embeddings_made += result.embedded
                    found.embeddings_cached += result.embedded_cached
                else:
                    lost.append(result.job.url)
            _book(parts, source, results)
            on_page(found)
        parts.ledger.work.lost(name, lost)
        found.left = len(lost)
    found.seconds = round(time.monotonic() - started, 3)
    return found


def _book(parts: Parts, source: Source, results: Sequence[Result]) -> None:
    made = [result for result in results if isinstance(result, Indexed)]
    amounts = {
        "embedded_texts": sum(result.embedded for result in made),
        "embedded_tokens": sum(result.embedded_tokens for result in made),
    }
    parts.ledger.usage.add(source.customer, datetime.now(UTC).date(), amounts)


def _sweep(parts: Parts, source: Source) -> int:
    """Remove pages of which the ledger has nothing; returns the number of points."""
    slot = slot_of(source)
    known = {url for url, _, _ in parts.ledger.pages.indexed(source.name)}
    strays = {point.url for point in parts.index.points(slot)} - known
    return sum(parts.index.delete_page(slot, url) for url in sorted(strays))


def _prepared(parts: Parts, source: Source, url: str, digest: str, count: int) -> Prepared | None:
    """The page as it was indexed, if its record still says so."""
    try:
        stored = parts.store.record(source.customer, source.name, source.build, url)
    except DamagedFileError:
        return None
    if stored is None:
        return None
    record = records.from_json(stored)
    made = chunks(record.document, record.plan, source.pins.policy, parts.embedder.count)
    ids = point_ids(slot_of(source), url, made)
    if len(ids) != count or ids != [origin.point_id for origin in record.origins]:
        return None
    job = Job(
        source=source.name,
        url=url,
        wanted=stored.get("of", "") + ":",  # its record says again what it was parsed from
        body_hash=digest,
        content_type="",
        title=record.document.title,
        fetched_at=parts.ledger.pages.last_fetched(source.name, [url]).get(url),
        document_hash=None,
        chunks=count,
        attempts=0,
        indexed_at=None,
        verdicts="",
    )
    return Prepared(job, record.document, record.plan, made)


def _batches(rows: Iterator[Any]) -> Iterator[Sequence[Any]]:
    while batch := list(islice(rows, BATCH)):
        yield batch

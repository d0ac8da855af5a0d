"""Another policy for what is stored: no fetching, only what differs is touched."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from chunker.policy import Policy
from crawler.model import Tally
from indexer.points import point_ids
from pipeline import planning, records, runs
from pipeline.caches.embeddings import EmbeddingCache, embedding_key
from pipeline.index_stage import slot_of
from pipeline.ingest import check_embedder
from pipeline.page import chunk
from pipeline.parts import Parts
from pipeline.reconcile import Reconciler
from pipeline.turn import Ingested, Progress, check_index, outcome, watch


def rechunk(
    parts: Parts,
    name: str,
    policy: Policy,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Ingested:
    """Pin a source to another policy and make its index so. Interrupted, it goes on when repeated.

    Raises `SourceBusyError`, naming the run that works on the source.
    """
    from pipeline import topology

    started = time.monotonic()
    ledger = parts.ledger
    source = ledger.sources.get(name)
    check_embedder(parts, source)
    planning.check_supported(policy, parts.settings)
    with runs.held(ledger, name) as run:
        planner = planning.pinned(parts.settings, policy, source.pins)
        pins = replace(source.pins, policy=policy, planner=planner)
        source = ledger.sources.declare(
            name, source.customer, source.scope, pins, datetime.now(UTC)
        )
        ledger.work.release_all(name)
        check_index(parts, source)
        with topology.cluster(parts.settings.ray_address):
            loop = Reconciler(ledger, source, run.runner, topology.RayPool(parts, source))
            loop.on_change = watch(run, loop.report, on_progress)
            report = loop.run()
    return outcome(ledger, source, Tally(), report, started)


@dataclass(slots=True)
class Forecast:
    """What a policy would change and cost."""

    pages: int = 0
    pages_changed: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_deleted: int = 0
    embeddings_needed: int = 0
    embeddings_cached: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def forecast(parts: Parts, name: str, policy: Policy) -> Forecast:
    """Chunk every stored document of a source by another policy; changes nothing."""
    planning.check_supported(policy, parts.settings)
    source = parts.ledger.sources.get(name)
    slot, seen, found = slot_of(source), set[str](), Forecast()
    cache = EmbeddingCache(parts.caches["embeddings"])
    for url, _, _ in parts.ledger.pages.indexed(name):
        stored = parts.store.record(source.customer, name, url)
        if stored is None:
            continue
        record = records.from_json(stored)
        made = chunk(record.document, policy, parts.embedder.count).chunks
        new = dict(zip(point_ids(slot, url, made), made, strict=True))
        old = {origin.point_id for origin in record.origins}
        found.pages += 1
        found.pages_changed += new.keys() != old
        found.chunks_kept += len(new.keys() & old)
        found.chunks_deleted += len(old - new.keys())
        found.chunks_added += len(new.keys() - old)
        texts = {new[id].embedded for id in new.keys() - old}
        keys = {
            embedding_key(source.customer, text, parts.embedder.identity) for text in texts
        } - seen
        seen |= keys
        cached = len(cache.get_many(list(keys)))
        found.embeddings_cached += cached
        found.embeddings_needed += len(keys) - cached
    return found

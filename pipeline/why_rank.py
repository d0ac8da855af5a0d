"""Where a chunk stands in the answer to a question, and what stands above it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from chunker.model import show
from indexer.model import Hit, Slot
from indexer.ports import Embedder, VectorIndex
from indexer.search import distinct, ranking

#: How far down a ranking a chunk is looked for.
DEPTH = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """`rank` counts different texts, from 1; None where the chunk is not among those looked at."""

    rank: int | None
    instead: str | None
    """URL of the page whose chunk of the same text is shown in its place."""
    looked_at: int
    evidence: dict[str, Any]


def place(
    index: VectorIndex,
    embedder: Embedder,
    slots: Sequence[Slot],
    ids: Set[str],
    query: str,
    k: int,
) -> Place:
    """The place of the best of the chunks `ids`; `k` is how many hits above it are told."""
    hits = ranking(index, embedder, slots, query, DEPTH)
    shown = distinct(hits)
    own = next((hit for hit in hits if hit.chunk_id in ids), None)
    if own is None:
        return Place(None, None, len(shown), {"above": [_told(hit) for hit in shown[:k]]})
    text = show(own.heading_path, own.text)
    rank, stands = next(
        (number, hit)
        for number, hit in enumerate(shown, 1)
        if show(hit.heading_path, hit.text) == text
    )
    evidence = {
        "rank": rank,
        "dense_rank": own.dense_rank,
        "sparse_rank": own.sparse_rank,
        "score": own.score,
        "above": [_told(hit) for hit in shown[: min(rank - 1, k)]],
    }
    instead = None if stands.chunk_id in ids else stands.url
    return Place(rank, instead, len(shown), evidence)


def _told(hit: Hit) -> dict[str, Any]:
    return {
        "url": hit.url,
        "heading_path": hit.heading_path,
        "score": hit.score,
        "dense_rank": hit.dense_rank,
        "sparse_rank": hit.sparse_rank,
    }

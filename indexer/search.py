"""A question to the chunks that answer it."""

from __future__ import annotations

from collections.abc import Sequence

from chunker.model import show
from indexer.model import Hit, Slot
from indexer.ports import Embedder, VectorIndex
from indexer.sparse import encode_query


def search(
    index: VectorIndex,
    embedder: Embedder,
    slots: Sequence[Slot],
    query: str,
    limit: int = 6,
    budget: int | None = None,
) -> list[Hit]:
    """Best chunks over `slots`, best first, dense and sparse fused; equal texts once.

    With a `budget` the ranking is walked from the top and ends before the tokens of what is shown
    exceed it. Raises `SlotError` for slots of different embedders.
    """
    if not slots or not query.strip():
        return []
    dense = embedder.embed([query])[0]
    sparse = encode_query(query, index.languages(slots))
    ask = limit
    while True:
        hits = index.search(slots, dense, sparse, ask)
        kept = _distinct(hits)
        if len(kept) >= limit or len(hits) < ask:
            break
        ask *= 4  # many copies of one text stood before others
    return within(kept[:limit], budget)


def within(hits: Sequence[Hit], budget: int | None) -> list[Hit]:
    """The first hits whose tokens, as shown, come to no more than `budget`."""
    if budget is None:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        budget -= hit.tokens
        if budget < 0:
            break
        kept.append(hit)
    return kept


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(show(hit.heading_path, hit.text), hit)
    return list(first.values())

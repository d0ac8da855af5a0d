"""A question to the chunks that answer it."""

from __future__ import annotations

from collections.abc import Sequence

from chunker.model import show
from indexer.model import Hit, Slot
from indexer.packing import packed
from indexer.ports import Embedder, VectorIndex
from indexer.sparse import encode_query

#: Hits where neither a number nor a budget is given.
LIMIT = 6
#: Most chunks that are looked at to fill a budget, where no limit is given.
WITHIN_BUDGET = 100


def search(
    index: VectorIndex,
    embedder: Embedder,
    slots: Sequence[Slot],
    query: str,
    limit: int | None = None,
    budget: int | None = None,
) -> list[Hit]:
    """Best chunks over `slots`, best first, dense and sparse fused; equal texts once.

    `limit` is 6 where nothing is given. With a `budget`, in tokens of the embedder, the hits are
    what `indexer.packing` makes of the ranking: at most that many tokens, as shown. Raises
    `SlotError` for slots of different embedders.
    """
    if not slots or not query.strip():
        return []
    if limit is None:
        limit = LIMIT if budget is None else WITHIN_BUDGET
    dense = embedder.embed_queries([query])[0]
    sparse = encode_query(query, index.languages(slots))
    ask = limit
    while True:
        hits = index.search(slots, dense, sparse, ask)
        kept = _distinct(hits)
        if len(kept) >= limit or len(hits) < ask:
            break
        ask *= 4  # many copies of one text stood before others
    best = kept[:limit]
    return best if budget is None else packed(best, budget, embedder.count)


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(show(hit.heading_path, hit.text), hit)
    return list(first.values())

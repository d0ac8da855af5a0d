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
    if limit is None:
        limit = LIMIT if budget is None else WITHIN_BUDGET
    ask = limit
    while True:
        hits = ranking(index, embedder, slots, query, ask)
        kept = distinct(hits)
        if len(kept) >= limit or len(hits) < ask:
            break
        ask *= 4  # many copies of one text stood before others
    best = kept[:limit]
    return best if budget is None else packed(best, budget, embedder.count)


def ranking(
    index: VectorIndex, embedder: Embedder, slots: Sequence[Slot], query: str, limit: int
) -> list[Hit]:
    """The best `limit` chunks over `slots`, equal texts and all; nothing for a blank question."""
    if not slots or not query.strip():
        return []
    sparse = encode_query(query, index.languages(slots))
    return index.search(slots, embedder.embed_queries([query])[0], sparse, limit)


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Of hits that show the same text the first."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(show(hit.heading_path, hit.text), hit)
    return list(first.values())

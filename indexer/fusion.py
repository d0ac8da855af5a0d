"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009), with the paper's k.

Qdrant can fuse by itself, but then tells neither side's rank, and orders equal scores by chance.
The same formula is computed here, from the ranks that a hit has to show anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

K = 60

Key = TypeVar("Key", bound=tuple[object, ...] | str)


class Fused(NamedTuple, Generic[Key]):
    """A candidate's fused score and its 1-based rank on each side."""

    key: Key
    score: float
    dense_rank: int | None
    sparse_rank: int | None


def depth(limit: int) -> int:
    """How many candidates each side gives for `limit` hits: enough for the sides to meet."""
    return max(100, 4 * limit)


def fuse(
    dense: Iterable[tuple[Key, float]], sparse: Iterable[tuple[Key, float]], limit: int
) -> list[Fused[Key]]:
    """The best `limit` of two scored lists, best first; equal scores in order of rank and key."""
    dense_ranks = _ranks(dense)
    sparse_ranks = _ranks(sparse)
    fused = [
        Fused(
            key,
            sum(1 / (K + ranks[key]) for ranks in (dense_ranks, sparse_ranks) if key in ranks),
            dense_ranks.get(key),
            sparse_ranks.get(key),
        )
        for key in dense_ranks.keys() | sparse_ranks.keys()
    ]
    last = len(fused) + 1
    fused.sort(key=lambda one: (-one.score, one.dense_rank or last, one.key))
    return fused[:limit]


def _ranks(scored: Iterable[tuple[Key, float]]) -> dict[Key, int]:
    ordered = sorted(scored, key=lambda one: (-one[1], one[0]))
    return {key: rank for rank, (key, _) in enumerate(ordered, 1)}

"""Fusion of the two sides of a search: scores, scaled, with a share for the candidate's page.

A weighted sum of scores (Bruch, Gai and Ingber, ACM TOIS 2023, who found it to beat reciprocal
ranks), plus the best such sum on the same page: what stands beside a good answer is more likely to
be part of it. A term score is taken as a share of the best. A similarity is taken between the
best and the 200th: some models call everything similar, from .7 up, and nothing but the
differences says something. The weights were chosen on one half of the benchmark's questions and
held on the other (`docs/indexing.md`).

Qdrant can fuse by itself, but then tells neither side's rank, and orders equal scores by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

DENSE = 0.5
SPARSE = 0.5
#: Weight of the page's best candidate beside the candidate's own score.
PAGE = 0.5
#: The rank from which on a similarity counts for nothing.
FLOOR = 200

Key = TypeVar("Key", bound=tuple[object, ...] | str)


class Candidate(NamedTuple, Generic[Key]):
    """A chunk that one side found: its key, the page it stands on, the side's score."""

    key: Key
    page: object
    score: float


class Fused(NamedTuple, Generic[Key]):
    """A candidate's fused score (at most 1) and its 1-based rank on each side."""

    key: Key
    score: float
    dense_rank: int | None
    sparse_rank: int | None


def depth(limit: int) -> int:
    """How many candidates each side gives for `limit` hits: enough for the sides to meet."""
    return max(FLOOR, 4 * limit)


def fuse(
    dense: Iterable[Candidate[Key]], sparse: Iterable[Candidate[Key]], limit: int
) -> list[Fused[Key]]:
    """The best `limit` of both sides, best first; equal scores in order of rank and key.

    A candidate that a side does not know has nothing from it, or where the terms were cut at
    `depth(limit)` the lowest score that they gave.
    """
    near, matching = _ranked(dense), _ranked(sparse)
    pages = {one.key: one.page for one in (*near, *matching)}
    by_vector = _scaled(near, near[:FLOOR][-1].score if near else 0.0)
    by_terms = _scaled(matching, 0.0)
    unknown = by_terms[matching[-1].key] if len(matching) >= depth(limit) else 0.0
    own = {
        key: DENSE * by_vector.get(key, 0.0) + SPARSE * by_terms.get(key, unknown) for key in pages
    }
    best: dict[object, float] = {}
    for key, page in pages.items():
        best[page] = max(best.get(page, 0.0), own[key])
    dense_ranks, sparse_ranks = _ranks(near), _ranks(matching)
    fused = [
        Fused(
            key,
            (own[key] + PAGE * best[page]) / (1 + PAGE),
            dense_ranks.get(key),
            sparse_ranks.get(key),
        )
        for key, page in pages.items()
    ]
    last = len(fused) + 1
    fused.sort(key=lambda one: (-one.score, one.dense_rank or last, one.key))
    return fused[:limit]


def _ranked(side: Iterable[Candidate[Key]]) -> list[Candidate[Key]]:
    return sorted(side, key=lambda one: (-one.score, one.key))


def _ranks(ranked: Iterable[Candidate[Key]]) -> dict[Key, int]:
    return {one.key: rank for rank, one in enumerate(ranked, 1)}


def _scaled(ranked: list[Candidate[Key]], floor: float) -> Mapping[Key, float]:
    """Scores by key, as shares of the way from `floor` to the best; the best of all equal is 1."""
    width = ranked[0].score - floor if ranked else 0.0
    if width <= 0.0:
        return {one.key: 1.0 if one.score > 0.0 else 0.0 for one in ranked}
    return {one.key: max(one.score - floor, 0.0) / width for one in ranked}

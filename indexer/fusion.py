"""Fusion of the two sides of a search: scores, scaled, with a share for the candidate's page.

A weighted sum of scores that are scaled by the best of their side (Bruch, Gai and Ingber, ACM
TOIS 2023, who found it to beat reciprocal ranks), plus the best such sum on the same page: what
stands beside a good answer is more likely to be part of it. The weights were chosen on one half
of the benchmark's questions and held on the other (`docs/evaluation.md`).

Qdrant can fuse by itself, but then tells neither side's rank, and orders equal scores by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

DENSE = 0.6
SPARSE = 0.4
#: Weight of the page's best candidate beside the candidate's own score.
PAGE = 0.5

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
    return max(100, 4 * limit)


def fuse(
    dense: Iterable[Candidate[Key]], sparse: Iterable[Candidate[Key]], limit: int
) -> list[Fused[Key]]:
    """The best `limit` of both sides, best first; equal scores in order of rank and key.

    A candidate that a side does not know gets that side's lowest score where the side was cut at
    `depth(limit)`, and nothing where it was not.
    """
    near, matching = _ranked(dense), _ranked(sparse)
    pages = {one.key: one.page for one in (*near, *matching)}
    by_vector, by_terms = _scaled(near, depth(limit)), _scaled(matching, depth(limit))
    own = {
        key: DENSE * by_vector.get(key, by_vector[None])
        + SPARSE * by_terms.get(key, by_terms[None])
        for key in pages
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


def _scaled(ranked: list[Candidate[Key]], cut: int) -> Mapping[Key | None, float]:
    """Scores as shares of the best, by key; under None what is missing gets."""
    best = ranked[0].score if ranked else 0.0
    if best <= 0.0:
        return {None: 0.0}
    scaled: dict[Key | None, float] = {one.key: max(one.score, 0.0) / best for one in ranked}
    scaled[None] = max(ranked[-1].score, 0.0) / best if len(ranked) >= cut else 0.0
    return scaled

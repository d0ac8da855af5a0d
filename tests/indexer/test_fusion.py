"""Reciprocal rank fusion and the token budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fusion import fuse

SCORED = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1, width=16)).map(
    lambda scores: list(scores.items())
)


def test_a_candidate_of_both_sides_beats_the_best_of_one() -> None:
    fused = fuse([("a", 0.9), ("b", 0.8)], [("b", 7.0), ("c", 6.0)], 3)
    assert [(one.key, one.dense_rank, one.sparse_rank) for one in fused] == [
        ("b", 2, 1),
        ("a", 1, None),
        ("c", None, 2),
    ]
    assert [one.score for one in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


@given(dense=SCORED, sparse=SCORED, limit=st.integers(1, 10))
def test_the_order_of_what_comes_in_changes_nothing(
    dense: list[tuple[str, float]], sparse: list[tuple[str, float]], limit: int
) -> None:
    fused = fuse(dense, sparse, limit)
    assert fused == fuse(dense[::-1], sparse[::-1], limit)
    assert len(fused) == min(limit, len({key for key, _ in dense + sparse}))
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    for ranks in ([one.dense_rank for one in fused], [one.sparse_rank for one in fused]):
        given_ranks = [rank for rank in ranks if rank is not None]
        assert len(given_ranks) == len(set(given_ranks))


def test_equal_scores_are_ordered_by_rank_and_key() -> None:
    fused = fuse([("b", 0.5), ("a", 0.5)], [("d", 1.0), ("c", 1.0)], 4)
    assert [one.key for one in fused] == ["a", "c", "b", "d"]

"""Fusion of scores with a share for the page, and its order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fusion import Candidate, depth, fuse

Side = list[Candidate[str]]
SCORED = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1, width=16)).map(
    lambda scores: side(*scores.items())
)


def side(*scored: tuple[str, float], page: str = "") -> Side:
    """Candidates, each on the page of its name unless one is given."""
    return [Candidate(key, page or key, score) for key, score in scored]


def test_a_candidate_of_both_sides_beats_the_best_of_one() -> None:
    fused = fuse(side(("a", 0.9), ("b", 0.81)), side(("b", 8.0), ("c", 6.0)), 3)
    assert [(one.key, one.dense_rank, one.sparse_rank) for one in fused] == [
        ("b", 2, 1),
        ("a", 1, None),
        ("c", None, 2),
    ]
    assert [one.score for one in fused] == pytest.approx([0.6 * 0.9 + 0.4, 0.6, 0.4 * 0.75])


def test_what_stands_beside_the_best_answer_goes_before_its_equal() -> None:
    best, beside = Candidate("best", "p", 1.0), Candidate("beside", "p", 0.5)
    lonely = Candidate("alone", "q", 0.5)
    fused = fuse([best, lonely, beside], [], 3)
    assert [one.key for one in fused] == ["best", "beside", "alone"]


def test_a_side_that_was_cut_gives_its_lowest_score_to_what_it_does_not_know() -> None:
    many = [(f"{number:04}", 1.0 - number / 1000) for number in range(depth(1))]
    [whole] = [one for one in fuse(side(*many[:-1]), side(("x", 5.0)), 200) if one.key == "x"]
    [cut] = [one for one in fuse(side(*many), side(("x", 5.0)), 1) if one.key == "x"] or [None]
    assert whole.score == pytest.approx(0.4)
    assert cut is not None
    assert cut.score == pytest.approx(0.4 + 0.6 * many[-1][1])


@given(dense=SCORED, sparse=SCORED, limit=st.integers(1, 10))
def test_the_order_of_what_comes_in_changes_nothing(dense: Side, sparse: Side, limit: int) -> None:
    fused = fuse(dense, sparse, limit)
    assert fused == fuse(dense[::-1], sparse[::-1], limit)
    assert len(fused) == min(limit, len({one.key for one in dense + sparse}))
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    assert all(0.0 <= one.score <= 1.0 + 1e-9 for one in fused)
    for ranks in ([one.dense_rank for one in fused], [one.sparse_rank for one in fused]):
        given_ranks = [rank for rank in ranks if rank is not None]
        assert len(given_ranks) == len(set(given_ranks))


def test_equal_scores_are_ordered_by_rank_and_key() -> None:
    fused = fuse(side(("b", 0.5), ("a", 0.5)), side(("d", 1.0), ("c", 1.0)), 4)
    assert [one.key for one in fused] == ["a", "b", "c", "d"]

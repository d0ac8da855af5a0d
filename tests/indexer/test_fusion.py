"""Fusion of scores with a share for the page, and its order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fusion import DENSE, SPARSE, Candidate, depth, fuse

Side = list[Candidate[str]]
SCORED = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1, width=16)).map(
    lambda scores: side(*scores.items())
)


def side(*scored: tuple[str, float], page: str = "") -> Side:
    """Candidates, each on the page of its name unless one is given."""
    return [Candidate(key, page or key, score) for key, score in scored]


def test_a_candidate_of_both_sides_beats_the_best_of_one() -> None:
    dense = side(("a", 0.9), ("b", 0.8), ("z", 0.4))
    fused = fuse(dense, side(("b", 8.0), ("c", 6.0)), 4)
    assert [(one.key, one.dense_rank, one.sparse_rank) for one in fused] == [
        ("b", 2, 1),
        ("a", 1, None),
        ("c", None, 2),
        ("z", 3, None),
    ]
    shares = [DENSE * 0.8 + SPARSE, DENSE, SPARSE * 0.75, 0.0]
    assert [one.score for one in fused] == pytest.approx(shares)


def test_a_model_that_calls_everything_similar_is_heard_like_another() -> None:
    terms = side(("c", 8.0), ("b", 7.0))
    wide = fuse(side(("a", 0.9), ("b", 0.6), ("c", 0.1)), terms, 3)
    narrow = fuse(side(("a", 0.89), ("b", 0.86), ("c", 0.81)), terms, 3)
    assert [one.score for one in wide] == pytest.approx([one.score for one in narrow])


def test_what_stands_beside_the_best_answer_goes_before_its_equal() -> None:
    best, beside = Candidate("best", "p", 1.0), Candidate("beside", "p", 0.5)
    lonely = Candidate("alone", "q", 0.5)
    fused = fuse([best, lonely, beside], [], 3)
    assert [one.key for one in fused] == ["best", "beside", "alone"]


def test_terms_that_were_cut_give_their_lowest_score_to_what_they_do_not_know() -> None:
    many = [(f"{number:04}", 2.0 - number / 1000) for number in range(depth(1))]
    whole = fuse(side(("x", 0.5)), side(*many[:-1]), 300)
    assert next(one for one in whole if one.key == "x").score == pytest.approx(DENSE)
    cut = fuse(side(("x", 0.5)), side(*many), 1)
    assert cut[0].score == pytest.approx(DENSE + SPARSE * many[-1][1] / 2.0)


def test_how_many_hits_are_asked_for_changes_no_score() -> None:
    near = side(*((f"{number:04}", 1.0 - number / 1000) for number in range(400)))
    few, many = fuse(near[: depth(1)], side(("0007", 1.0)), 1), fuse(near, side(("0007", 1.0)), 100)
    assert few[0] == many[0]


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

"""The measures of a ranking, on cases small enough to work out by hand."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation import metrics, tokens_count
from pipeline.evaluation.judge import Judge
from pipeline.evaluation.retrieval_corpus import Piece
from pipeline.evaluation.retrieval_index import Bm25, Index, fused, make_index, ranked

FILLER = "lorem ipsum dolor sit amet " * 40


def _piece(text: str, file: str = "a") -> Piece:
    return Piece(text, text, file)


def _measure(ranking: list[int], index: Index, facts: list[str]) -> dict[str, float]:
    judge = Judge({word: 1.0 for fact in facts for word in fact.split()})
    covers = judge.matrix(facts, index.evidence)
    return metrics.measure(ranking, covers, [judge.weights(fact) for fact in facts], index)


def test_measures_at_cutoffs() -> None:
    index = make_index([_piece("none here"), _piece("red"), _piece("blue"), _piece("red too")])
    found = _measure([0, 1, 3, 2], index, ["red", "blue"])
    assert found["mrr"] == 0.5
    assert (found["recall@1"], found["recall@3"], found["recall@6"]) == (0.0, 0.5, 1.0)
    assert found["precision@3"] == pytest.approx(2 / 3)
    gain = 1 / math.log2(3) + 1 / math.log2(4)
    assert found["ndcg@3"] == pytest.approx(gain / (1 + gain))


def test_the_last_chunk_is_cut_where_the_budget_ends() -> None:
    early = _piece("red " + FILLER * 2)
    late = _piece(FILLER * 2 + " red")
    assert tokens_count.count(late.shown) > 256
    assert _measure([0], make_index([early]), ["red"])["fc256"] == 1.0
    assert _measure([0], make_index([late]), ["red"])["fc256"] == 0.0
    assert _measure([0], make_index([late]), ["red"])["fc2048"] == 1.0


def test_a_fact_may_be_found_in_parts_of_one_file_and_not_of_two() -> None:
    fact = ["red green blue white"]
    apart = make_index([_piece("red", "a"), _piece("green", "b")])
    one = make_index([_piece("red", "a"), _piece("green", "a")])
    assert _measure([0, 1], apart, fact)["fc256"] == 0.0
    assert _measure([0, 1], one, fact)["fc256"] == 1.0
    assert _measure([0, 1], one, fact)["recall@3"] == 0.0


def test_tokens_to_complete_count_whole_chunks_and_end_at_the_limit() -> None:
    index = make_index([_piece("none here"), _piece("red"), _piece("blue sky")])
    assert _measure([0, 1, 2], index, ["red", "blue"])["t2c"] == sum(index.tokens)
    assert _measure([1, 0], index, ["red", "blue"])["t2c"] == metrics.LIMIT


def test_a_hidden_path_is_no_evidence_and_still_costs_its_tokens() -> None:
    piece = Piece("red\n\nblue", "red\n\nblue", "a", path_length=5)
    seen, hidden = make_index([piece]), make_index([piece], hide_path=True)
    assert seen.tokens == hidden.tokens
    assert seen.evidence == (frozenset({"red", "blue"}),)
    assert hidden.evidence == (frozenset({"blue"}),)
    assert hidden.beginning(0, 1) == frozenset()


def test_equal_texts_are_one_chunk() -> None:
    index = make_index([_piece("red", "a"), _piece("blue", "a"), _piece("red", "b")])
    assert [(piece.shown, piece.file) for piece in index.pieces] == [("red", "a"), ("blue", "a")]


def test_bm25_prefers_rare_words_and_short_texts() -> None:
    texts = [{"ferry": 1, "oru": 1}, {"ferry": 1}, {"ferry": 1, "oru": 1, "long": 30}]
    scores = Bm25(texts).scores(["oru", "ferry", "absent"])
    assert ranked(scores) == [0, 2, 1]
    assert Bm25(texts).scores(["absent"]).tolist() == [0.0, 0.0, 0.0]
    assert Bm25([]).scores(["oru"]).tolist() == []


def test_fusion_adds_reciprocal_ranks() -> None:
    assert fused([[0, 1, 2], [2, 1]]) == [2, 1, 0]
    assert fused([[0, 1], []]) == [0, 1]


def test_ranking_is_stable_and_may_leave_out_what_scored_nothing() -> None:
    scores = np.array([0.0, 2.0, 2.0, 1.0], dtype=np.float32)
    assert ranked(scores) == [1, 2, 3, 0]
    assert ranked(scores, above=0.0) == [1, 2, 3]


TEXTS = st.lists(
    st.lists(st.sampled_from(["red", "green", "blue", FILLER]), min_size=1, max_size=4).map(
        " ".join
    ),
    min_size=1,
    max_size=8,
)


@given(TEXTS)
def test_more_tokens_and_more_chunks_never_find_less(texts: list[str]) -> None:
    index = make_index([_piece(text) for text in texts])
    found = _measure(list(range(len(index.pieces))), index, ["red green", "blue"])
    for growing in ([f"fc{b}" for b in metrics.BUDGETS], [f"recall@{k}" for k in metrics.CUTOFFS]):
        values = [found[name] for name in growing]
        assert values == sorted(values)
    assert found["fc2048"] >= (found["t2c"] <= 2048)


@given(TEXTS)
def test_standard_measures_agree_with_ir_measures(need, texts: list[str]) -> None:  # type: ignore[no-untyped-def]
    need("ir_measures", find_spec("ir_measures") is not None)
    import ir_measures

    index = make_index([_piece(text) for text in texts])
    order = list(range(len(index.pieces)))
    found = _measure(order, index, ["red green", "blue"])
    judge = Judge(dict.fromkeys(("red", "green", "blue"), 1.0))
    relevant = judge.matrix(["red green", "blue"], index.evidence).any(axis=0)
    wanted = {"mrr": "RR", "precision@3": "P@3", "ndcg@6": "nDCG@6"}
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in wanted.values()],
        [ir_measures.Qrel("q", str(at), int(relevant[at])) for at in order],
        [ir_measures.ScoredDoc("q", str(at), -float(at)) for at in order],
    )
    for ours, name in wanted.items():
        assert found[ours] == pytest.approx(theirs[ir_measures.parse_measure(name)])

"""The judge: which words count, what they weigh, and when a text holds a fact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation import judge

PARAGRAPHS = "# Ferries\n\nThe ferry sails to Oru.\n\nThe ferry sails to Fenn on Mondays.\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,500 seats", ["1500", "seat"]),
        ("2,50,000 rupees, 3 of them", ["250000", "rupee", "3", "them"]),
        ('[Fares](https://a.example/b_(c).html "All") **now**', ["fare", "now"]),
        ("![A ship](ship.png) <https://a.example/x>", ["ship"]),
        ("| Gate | 10 |\n|------|----|\n| a<br>b | `c` |", ["gate", "10", "b", "c"]),
        (
            "Companies, ferries; glass, bus, gas, boss",
            ["company", "ferry", "glass", "bus", "gas", "boss"],
        ),
        ("snake_case and É1", ["snake", "case", "é1"]),
        ("電子書籍 is new", ["電子", "子書", "書籍", "new"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert judge.words(text) == words


def test_a_word_weighs_by_the_paragraphs_that_hold_it() -> None:
    made = judge.make_judge([PARAGRAPHS])
    assert made.idf["oru"] == pytest.approx(math.log(1 + 3 / 2))
    assert made.idf["ferry"] == pytest.approx(math.log(1 + 3 / 4))


def test_a_word_that_the_source_lacks_weighs_nothing() -> None:
    made = judge.make_judge([PARAGRAPHS])
    assert made.weights("Fenn overmorrow") == {"fenn": 1.0, "overmorrow": 0.0}
    assert made.weights("overmorrow") == {}
    assert not made.covers("overmorrow", "overmorrow")


def test_a_text_covers_a_fact_from_the_share_of_its_weight_on() -> None:
    made = judge.Judge({"a1": 0.45, "b1": 0.55})
    assert made.covers("A1", "a1 b1")
    assert not judge.Judge({"a1": 0.449, "b1": 0.551}).covers("a1", "a1 b1")


WORDS = st.lists(st.sampled_from(["oru", "fenn", "ferry", "sail", "monday"]), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_the_matrix_says_what_single_judgements_say(
    facts: list[list[str]], texts: list[list[str]]
) -> None:
    made = judge.make_judge([PARAGRAPHS])
    matrix = made.matrix([" ".join(fact) for fact in facts], texts)
    single = [[made.covers(" ".join(text), " ".join(fact)) for text in texts] for fact in facts]
    assert np.array_equal(matrix, np.array(single))


def test_headings_are_left_out_and_comments_in_code_are_not() -> None:
    text = "# One\n\nbody\n\n```sh\n# not a heading\n```\n\n## Two ##\n#no heading\n"
    assert judge.without_headings(text) == "\nbody\n\n```sh\n# not a heading\n```\n\n#no heading"

from __future__ import annotations

import pytest

from planner_serving.answer import read
from planner_serving.errors import PlannerAnswerError
from planner_serving.windows import LINES, MARGIN, OVERLAP, Window, reconciled, windows


def test_an_answer_in_the_grammar_is_taken_as_it_is() -> None:
    assert read("12.<n", 5).symbols == ("1", "2", ".", "<", "n")
    assert read("12.<n", 5).repairs == ()


@pytest.mark.parametrize(
    ("text", "lines", "symbols", "rule"),
    [
        (" 1 2\n.\n", 3, ("1", "2", "."), "answer white space"),
        ("`12.`", 3, ("1", "2", "."), "answer white space"),
        ("12.22", 3, ("1", "2", "."), "answer too long"),
        ("12", 4, ("1", "2", None, None), "answer too short"),
    ],
)
def test_each_rule_makes_an_answer_and_is_named(
    text: str, lines: int, symbols: tuple[str | None, ...], rule: str
) -> None:
    assert read(text, lines).symbols == symbols
    assert read(text, lines).repairs == (rule,)


@pytest.mark.parametrize(
    "text",
    ["", "1", "The first line is a heading.", "12.?", '{"a": 1}', "\uff11\uff12..", "789."],
)
def test_anything_else_is_no_answer(text: str) -> None:
    with pytest.raises(PlannerAnswerError):
        read(text, 4)


def test_only_what_is_unclear_is_asked_with_a_margin() -> None:
    assert windows([], 100) == []
    assert windows([50], 100) == [Window(50 - MARGIN, 50 + MARGIN + 1)]
    assert windows([0, 99], 100) == [Window(0, MARGIN + 1), Window(99 - MARGIN, 100)]
    assert windows([50, 51 + 2 * MARGIN], 100) == [Window(50 - MARGIN, 52 + 3 * MARGIN)]


def test_a_page_that_is_mostly_unclear_is_asked_as_a_whole() -> None:
    assert windows([3, 12, 20], 30) == [Window(0, 30)]


@pytest.mark.parametrize("lines", [1, LINES, LINES + 1, 500, 20_000])
def test_long_pages_are_asked_in_windows_that_overlap(lines: int) -> None:
    found = windows(range(lines), lines)
    assert found[0].start == 0 and found[-1].end == lines
    assert all(0 < w.end - w.start <= LINES for w in found)
    assert all(a.end - b.start >= min(OVERLAP, lines) for a, b in zip(found, found[1:]))  # noqa: B905, RUF007


def test_the_window_whose_centre_is_nearer_wins() -> None:
    first, second = Window(0, 10), Window(6, 16)
    found = reconciled([(first, "1" + "." * 9), (second, "+" * 10)])
    assert "".join(found[i] for i in range(16)) == "1......." + "+" * 8


def test_levels_of_a_later_window_are_shifted_to_those_before_it() -> None:
    found = reconciled([(Window(0, 4), "1233"), (Window(2, 6), "1112")])
    assert "".join(found[i] for i in range(6)) == "123334"


def test_a_line_that_one_window_does_not_answer_takes_the_other_ones() -> None:
    found = reconciled([(Window(0, 3), "1.."), (Window(1, 4), (None, None, "+"))])
    assert found == {0: "1", 1: ".", 2: ".", 3: "+"}

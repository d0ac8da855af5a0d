from __future__ import annotations

import pytest

from chunker.cut import agglomerate, header_row, parts
from chunker.model import Kind, Unit
from chunker.units import units


def only(markdown: str) -> Unit:
    (unit,) = units(markdown)
    return unit


def pieces(markdown: str, limit: int) -> list[str]:
    unit = only(markdown)
    made = parts(markdown, unit, (unit.start, unit.end), limit, lambda text: len(text.split()))
    return [markdown[slice(*part.span)] for part in made]


@pytest.mark.parametrize(
    ("kind", "markdown", "limit", "expected"),
    [
        ("text", "One two. Three four! Five?", 2, ["One two.", "Three four!", "Five?"]),
        ("text", 'He said "go." Then left.', 3, ['He said "go."', "Then left."]),
        ("text", "one two three", 1, ["one", "two", "three"]),
        ("list", "- one two\n- three four", 3, ["- one two", "- three four"]),
        ("code", "```\na b\n\nc d\n```", 3, ["```\na b", "c d\n```"]),
        ("quote", "> One two.\n>\n> Three four.", 4, ["> One two.\n>", "> Three four."]),
    ],
)
def test_the_coarsest_seam_that_does_is_taken(
    kind: Kind, markdown: str, limit: int, expected: list[str]
) -> None:
    assert only(markdown).kind == kind
    assert pieces(markdown, limit) == expected


def test_a_list_is_cut_at_its_items_before_the_items_inside_them() -> None:
    markdown = "- one two\n- three\n  - four five"
    assert pieces(markdown, 5) == ["- one two", "- three\n  - four five"]
    assert pieces(markdown, 3) == ["- one two", "- three", "  - four five"]


def test_a_word_without_an_end_is_cut_all_the_same() -> None:
    markdown = "x" * 1000
    unit = only(markdown)
    made = parts(markdown, unit, (unit.start, unit.end), 300, len)
    assert all(part.size <= 300 for part in made)
    assert "".join(markdown[slice(*part.span)] for part in made) == markdown


def test_sentences_without_spaces_between_them() -> None:
    markdown = "\u4eca\u65e5\u306f\u3002\u660e\u65e5\u306f\u3002"
    unit = only(markdown)
    made = parts(markdown, unit, (unit.start, unit.end), 5, len)
    assert [markdown[slice(*part.span)] for part in made] == [markdown[:4], markdown[4:]]


def test_only_a_table_has_a_header_row() -> None:
    markdown = "| A | B |\n|---|:-:|\n| 1 | 2 |"
    assert header_row(markdown, only(markdown)) == (0, markdown.index("\n| 1"))
    assert header_row("- a\n- b", only("- a\n- b")) is None


def test_neighbours_are_joined_in_the_order_given_while_they_fit() -> None:
    assert agglomerate([1, 1, 1, 1], [1, 3, 2], 2) == [(0, 2), (2, 4)]
    assert agglomerate([1, 1, 1, 1], [2, 1, 3], 2) == [(0, 1), (1, 3), (3, 4)]
    assert agglomerate([5, 1, 1], [1, 2], 2) == [(0, 1), (1, 3)]
    assert agglomerate([1, 1, 1], [], 9) == [(0, 1), (1, 2), (2, 3)]
    assert agglomerate([], [], 9) == []

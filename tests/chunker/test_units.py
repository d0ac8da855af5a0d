"""Units: verbatim by offsets, in order, nothing between them but white space and rulers."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunker import parse
from chunker.headings import depths
from chunker.model import Unit
from chunker.units import units

LINES = [
    "# One", "## Two", "#### Four", "Setext", "===", "---", "text here", "more text", "", "", "",
    "- item", "  - nested", "1. step", "   continued", "> quote", "```", "```py", "~~~", "    code",
    "| a | b |", "| --- | --- |", "| 1 | 2 |", "<div>", "</div>", "<!-- c -->", "[ref]: http://x.y",
    "![alt](src)", "**bold line**", "\tTab", "* * *", "\\# no", "a\u2028b", "\u00a0", "####", "# ",
]  # fmt: skip


def kinds(markdown: str) -> list[tuple[str, str]]:
    return [(unit.id, markdown[unit.start : unit.end]) for unit in units(markdown)]


def check(markdown: str, found: tuple[Unit, ...]) -> None:
    """What always holds of the units of a text."""
    done = 0
    ids = {}
    for position, unit in enumerate(found, 1):
        assert unit.id == f"{unit.kind}_{position}"
        assert done <= unit.start < unit.end
        between = markdown[done : unit.start]
        assert not re.sub(r"[-*_\s>]", "", between), between
        text = markdown[unit.start : unit.end]
        assert text.strip()
        assert unit.line == markdown.count("\n", 0, unit.start)
        assert (unit.level is None) == (unit.depth is None) == (unit.kind != "heading")
        if unit.parent is not None:
            above = ids[unit.parent]
            assert above.depth is not None
            assert unit.depth is None or unit.depth == above.depth + 1
        ids[unit.id] = unit
        done = unit.end
    assert not re.sub(r"[-*_\s>]", "", markdown[done:])
    assert len({unit.anchor for unit in found}) == len(found)


def test_kinds_and_offsets() -> None:
    markdown = (
        "# Title\n\nIntro **text**\ngoes on.\n\n- a\n  - b\n- c\n\n1. x\n2. y\n\n"
        "| h | i |\n| - | - |\n| 1 | 2 |\n\n```py\n# code\n```\n\n> q\n> r\n\n![alt](src)\n"
    )
    assert kinds(markdown) == [
        ("heading_1", "# Title"),
        ("text_2", "Intro **text**\ngoes on."),
        ("list_3", "- a\n  - b\n- c"),
        ("list_4", "1. x\n2. y"),
        ("table_5", "| h | i |\n| - | - |\n| 1 | 2 |"),
        ("code_6", "```py\n# code\n```"),
        ("quote_7", "> q\n> r"),
        ("image_8", "![alt](src)"),
    ]


def test_hash_in_code_is_no_heading() -> None:
    assert [unit.kind for unit in units("```\n# no\n```\n\n    # no\n")] == ["code", "code"]


def test_repeated_text_has_its_own_offsets() -> None:
    found = units("same\n\nsame\n\n# H\n\nsame\n")
    assert [unit.start for unit in found] == [0, 6, 12, 17]
    assert len({unit.anchor for unit in found}) == 4


def test_link_definitions_are_not_lost() -> None:
    assert kinds("text\n\n[ref]: https://example.com\n") == [
        ("text_1", "text"),
        ("text_2", "[ref]: https://example.com"),
    ]


def test_emphasised_is_bold_from_end_to_end() -> None:
    found = units("**Bold line**\n\n**Lead:** rest\n\n__Also__\n\n**a** and **b**\n\n**Colon**:\n")
    assert [unit.emphasised for unit in found] == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("levels", "titled", "expected"),
    [
        ([1, 2, 3, 2], False, [1, 2, 3, 2]),
        ([2, 3, 2], False, [1, 2, 1]),
        ([1, 3, 6, 3], False, [1, 2, 3, 2]),
        ([1, 2, 1, 2], False, [1, 2, 1, 2]),
        ([1, 1, 2, 1], True, [1, 2, 3, 2]),
        ([1, 1, 2, 1], False, [1, 1, 2, 1]),
        ([3, 2, 1, 2], False, [1, 1, 1, 2]),
        ([], False, []),
    ],
)
def test_depths(levels: list[int], titled: bool, expected: list[int]) -> None:
    assert depths(levels, titled=titled) == expected


@given(st.lists(st.integers(1, 6)), st.booleans())
def test_depths_never_skip(levels: list[int], titled: bool) -> None:
    found = depths(levels, titled=titled)
    assert all(after <= before + 1 for before, after in zip([0, *found], found, strict=False))
    assert all(depth >= 1 for depth in found)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=25).map("\n".join))
def test_invariants_on_generated_markdown(markdown: str) -> None:
    document = parse(f"first\n\n{markdown}".encode(), "https://example.com/a.md")
    check(document.markdown, document.units)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200))
def test_invariants_on_any_text(text: str) -> None:
    document = parse(
        f"{text} x".encode(), "https://example.com/a.md", "text/markdown; charset=utf-8"
    )
    check(document.markdown, document.units)


def test_nested_markdown_deeper_than_the_parser_reads_is_kept() -> None:
    markdown = "".join("  " * depth + "- x\n" for depth in range(150)) + "\n" + ">" * 500 + " end\n"
    document = parse(markdown.encode(), "https://example.com/a.md")
    check(document.markdown, document.units)
    assert "end" in document.markdown[document.units[-1].start : document.units[-1].end]

from __future__ import annotations

import pytest

from chunker.model import OutlineRow
from chunker.outline import CANDIDATE_CHARS, levels_clear, outline, size_bucket
from chunker.parse import parse
from chunker.policy import Policy

PAGE = """# Change a *tyre*

Park the car. Read [the guide](https://example.org/secret) before you lift anything at all.

You will need:

- Jack
- Spare tyre

**Before you start**

Opening hours

1. Loosen the nuts
2. Lift the car

| Model | Jack |
|-------|------|
| One   | A    |
"""


def rows(markdown: str, policy: Policy | None = None) -> list[OutlineRow]:
    document = parse(markdown.encode(), "https://example.org/tyre", "text/markdown")
    return list(outline(document, policy or Policy()).rows)


def test_headings_and_short_lines_are_shown_and_bodies_are_not() -> None:
    assert [row.text for row in rows(PAGE)] == [
        "Change a tyre",
        None,
        "You will need:",
        None,
        "Before you start",
        "Opening hours",
        None,
        None,
    ]


def test_no_word_of_a_body_is_in_the_outline() -> None:
    shown = repr(rows(PAGE))
    for word in ("Park", "secret", "Jack", "Loosen", "Model"):
        assert word not in shown


def test_flags_say_what_a_line_is_for() -> None:
    made = rows(PAGE)
    assert [row.id for row in made if row.lead_in] == ["text_3"]
    assert [row.id for row in made if row.steps] == ["list_7"]
    assert [row.id for row in made if row.emphasised] == ["text_5"]


def test_a_numbered_heading_is_a_step() -> None:
    numbered, plain = rows("## 1. Park safely\n\nText.\n\n## Afterwards\n\nText.")[::2]
    assert numbered.steps and not plain.steps


def test_cues_are_first_words_and_only_on_request() -> None:
    assert all(row.cue is None for row in rows(PAGE))
    assert rows(PAGE, Policy(cue_words=2))[1].cue == "Park the"


def test_a_long_line_is_no_candidate() -> None:
    assert rows("word " * (CANDIDATE_CHARS // 5 + 1))[0].text is None


def test_a_changed_word_changes_no_size() -> None:
    before = rows(PAGE)
    after = rows(PAGE.replace("Park the car", "Stop the car"))
    assert before == after


@pytest.mark.parametrize(
    ("tokens", "bucket"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 5), (100, 86), (110, 130)]
)
def test_sizes_are_powers_of_one_and_a_half(tokens: int, bucket: int) -> None:
    assert size_bucket(tokens) == bucket


def test_sizes_never_go_down() -> None:
    buckets = [size_bucket(n) for n in range(3000)]
    assert buckets == sorted(buckets)


@pytest.mark.parametrize(
    ("levels", "clear"),
    [
        ([], True),
        ([1, 2, 3, 3, 2, 3], True),
        ([2, 4, 4, 2, 4, 2, 4], True),
        ([1, 3, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2], True),
        ([4, 1, 6, 2, 5, 3, 1, 6, 2], False),
    ],
)
def test_levels_that_contradict_each_other_are_told(levels: list[int], clear: bool) -> None:
    assert levels_clear(levels) is clear


def test_where_a_link_leads_says_nothing_of_how_much_is_said() -> None:
    words = "Read [the guide]({}) and [the manual]({}) before you lift anything at all."
    short, long = (words.format(url, url) for url in ("/a", "https://example.org/" + "a-b/" * 40))
    assert [row.size for row in rows(short)] == [row.size for row in rows(long)]

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chunker.model import Outline
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from planner_serving.structural_features import line_features, score
from planner_serving.structural_headings import BARE_SHARE, headings, weights
from planner_serving.structural_training import examples, fit, flattened

PAGE = """# Change a Tyre

A flat tyre is changed in ten minutes if you have what you need at hand.

## What You Need

- A jack, which is under the floor of the boot
- A wrench, which lies beside it

## Prices of the Spare

| Model | Price |
|-------|-------|
| One   | 500   |
"""


def view(markdown: str) -> Outline:
    return outline(parse(markdown.encode(), "https://e.org/", "text/markdown"), Policy())


def test_marks_are_taken_away_and_the_words_stay() -> None:
    body, wanted = flattened(PAGE.encode(), "page.md", "plain")
    assert wanted == ["Change a Tyre", "What You Need", "Prices of the Spare"]
    assert "#" not in body and "- A wrench, which" in body
    body, wanted = flattened(PAGE.encode(), "page.md", "bare")
    assert wanted == ["Change a tyre", "What you need", "Prices of the spare"]
    assert "\n\nA wrench, which lies beside it\n\n" in body and "---" not in body


def test_a_line_that_would_be_a_list_item_stays_a_line() -> None:
    body, wanted = flattened(b"## 1. Park\n\nText.", "page.md", "plain")
    assert [row.text for row in view(body).rows] == ["1. Park", None]
    assert wanted == ["1. Park"]


def test_only_short_unmarked_lines_have_features() -> None:
    rows = view("# A\n\n**Bold**\n\nShort line\n\nA sentence ends here.\n\n- item").rows
    assert [found is not None for found in line_features(rows)] == [0, 0, 1, 0, 0]


def test_every_feature_has_a_weight() -> None:
    body, _ = flattened(PAGE.encode(), "page.md", "bare")
    names = {name for found in line_features(view(body).rows) if found for name in found}
    assert names <= set(weights())


def test_headings_without_typography_are_found() -> None:
    body, wanted = flattened(PAGE.encode(), "page.md", "bare")
    seen = view(body)
    found = headings(seen, seen.rows)
    text = {row.id: row.text for row in seen.rows}
    assert [text[id] for id in found] == wanted
    assert not any(heading.marked for heading in found.values())


def test_plain_lines_of_a_page_with_headings_are_left_alone() -> None:
    sections = int(1 / BARE_SHARE) // 10
    page = "\n\n".join(f"## Part {i}\n\nOpening hours\n\nA sentence." for i in range(sections))
    seen = view(page)
    assert all(heading.marked for heading in headings(seen, seen.rows).values())


@pytest.mark.parametrize("markdown", ["One line", "One line\n\nAnother line", "**Bold**"])
def test_confidences_are_probabilities(markdown: str) -> None:
    seen = view(markdown)
    assert all(0 < h.confidence <= 1 for h in headings(seen, seen.rows).values())


def test_training_learns_what_tells_headings_apart(tmp_path: Path) -> None:
    for i in range(6):
        (tmp_path / f"{i}.md").write_text(PAGE.replace("Tyre", f"Tyre {i}"), encoding="utf-8")
    some = list(examples(tmp_path))
    names = sorted({name for example in some for name in example.features})
    x = np.array([[example.features.get(name, 0.0) for name in names] for example in some])
    w = fit(x, np.array([float(example.heading) for example in some]))
    learned = dict(zip(names, w.tolist(), strict=True))
    assert all((score(e.features, learned) > 0.5) is e.heading for e in some)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chunker.model import Outline
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from planner_serving.escalation import unclear
from planner_serving.prompt import lines
from planner_serving.structural import Findings, findings, plan
from planner_serving.structural_confidence import classified, confidence_weights
from planner_serving.structural_headings import forms, headings

TEXT = "Some words that say a thing, at some length, so that a section is one. " * 2
SECTIONS = "\n\n".join(f"## Part {name}\n\n{TEXT}" for name in "ABCDEF")
CLEAR = f"# A page about parts\n\n{TEXT}\n\n{SECTIONS}"
#: The same words without marks: levels that are random, and none at all.
CONTRADICTING = "\n\n".join(
    f"{'#' * (1, 5, 2, 6, 1, 4)[i % 6]} Part {i}\n\n{TEXT}" for i in range(12)
)
BARE = "\n\n".join(f"Part {name}\n\n{TEXT}\n\nSmall print\n\nMore" for name in "ABCDEF")


def seen(markdown: str) -> tuple[Outline, Findings]:
    view = outline(parse(markdown.encode(), "file:///p.md", "text/markdown"), Policy())
    return view, findings(view, view.rows)


def least(markdown: str) -> float:
    _, found = seen(markdown)
    return min(found.sure[id] for id in found.headings)


def test_a_clear_page_is_surer_than_one_without_structure() -> None:
    assert not seen(CONTRADICTING)[0].clear
    assert least(CLEAR) > 0.9 > least(CONTRADICTING)
    view, found = seen(BARE)
    assert unclear(lines(view, view.rows), found.sure, 0.9)
    view, found = seen(CLEAR)
    assert not unclear(lines(view, view.rows), found.sure, 0.9)


def test_every_feature_of_every_class_has_a_weight() -> None:
    learned = confidence_weights()
    for page in (CLEAR, CONTRADICTING, BARE, f"{BARE}\n\n- a\n- b\n\n**Bold**\n\n{TEXT}"):
        view, found = seen(page)
        form = forms(view.rows)
        for name, features in classified(view, view.rows, found.headings, form):
            assert features.keys() <= learned[name].keys()


def test_a_boundary_says_how_sure_it_is_and_groups_do_not_hang_on_it() -> None:
    view, found = seen(BARE)
    made = plan(view, Policy())
    assert made.boundaries[0].confidence == 1.0
    assert {b.before: b.confidence for b in made.boundaries[1:]} == {
        b.before: round(found.sure[b.before], 2) for b in made.boundaries[1:]
    }


@given(st.lists(st.sampled_from(["# A", "#### B", "Line", "**Bold**", TEXT, "- x", "> y"])))
def test_confidences_are_probabilities_of_every_row(blocks: list[str]) -> None:
    view, found = seen("\n\n".join([TEXT, *blocks]))
    assert found.sure.keys() == {row.id for row in view.rows}
    assert all(0.0 < sure < 1.0 for sure in found.sure.values())
    assert found.headings == headings(view, view.rows)

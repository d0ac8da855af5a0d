from __future__ import annotations

import pytest

from chunker.model import Outline, OutlineRow, Plan
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from planner_serving.ports import Planner
from planner_serving.structural import StructuralPlanner, plan

SHORT = "A short paragraph that says one thing and then ends."
LONG = " ".join(["A sentence of a long paragraph that goes on."] * 14)


def planned(markdown: str, policy: Policy | None = None) -> Plan:
    policy = policy or Policy()
    document = parse(markdown.encode(), "https://example.org/page", "text/markdown")
    return plan(outline(document, policy), policy)


def test_it_is_a_planner() -> None:
    planner: Planner = StructuralPlanner()
    empty = Outline("", "", ())
    assert planner.plan(empty, Policy()) == plan(empty, Policy())


def test_small_siblings_share_a_chunk_up_to_the_target() -> None:
    page = "# A\n\n" + "\n\n".join(f"## Part {i}\n\n{SHORT}" for i in range(4))
    assert len(planned(page).groups) == 1
    assert planned(page, Policy(target_tokens=40)).groups == (
        ("heading_1", "heading_2", "text_3", "heading_4", "text_5"),
        ("heading_6", "text_7", "heading_8", "text_9"),
    )


def test_small_sections_are_not_merged_with_strangers() -> None:
    page = f"# A\n\n{LONG}\n\n## B\n\n### C\n\n{SHORT}\n\n## D\n\n### E\n\n{SHORT}"
    groups = planned(page).groups
    assert ("heading_3", "heading_4", "text_5", "heading_6", "heading_7", "text_8") in groups
    page = f"# A\n\n## B\n\n{LONG}\n\n### C\n\n{SHORT}\n\n## D\n\n{LONG}\n\n### E\n\n{SHORT}"
    for ids in planned(page).groups:
        assert not {"text_5", "text_9"} <= set(ids)


def test_a_heading_is_never_left_behind() -> None:
    page = "\n\n".join(f"## Part {i}\n\n{LONG}" for i in range(6))
    for ids in planned(page).groups:
        assert not ids[-1].startswith("heading")


def test_a_lead_in_stays_with_its_list() -> None:
    page = f"## A\n\n{LONG}\n\nYou will need:\n\n- Jack\n- Wrench\n\n{LONG}"
    together = [ids for ids in planned(page).groups if "list_4" in ids]
    assert "text_3" in together[0]


def test_a_question_stays_with_its_answer() -> None:
    page = "## Questions\n\n" + "\n\n".join(f"May I bring pet {i}?\n\n{LONG}" for i in range(3))
    assert planned(page).groups == (
        ("heading_1", "text_2", "text_3"),
        ("text_4", "text_5"),
        ("text_6", "text_7"),
    )


def test_what_the_policy_drops_is_dropped_with_its_role() -> None:
    rows = (
        OutlineRow("text_1", "text", None, None, 5, "cookie", None),
        OutlineRow("text_2", "text", None, None, 5, "body", None),
    )
    made = plan(Outline("", "", rows), Policy())
    assert made.dropped == {"text_1": "cookie"}
    assert made.groups == (("text_2",),)
    assert plan(Outline("", "", rows), Policy(drop=())).dropped == {}


def test_bold_lines_are_headings_under_the_marked_one() -> None:
    page = f"# A\n\n**First**\n\n{LONG}\n\n**Second**\n\n{LONG}"
    made = planned(page)
    assert made.headings == {"text_2": 2, "text_4": 2}
    assert [b.why for b in made.boundaries] == ["start", "implied heading"]


def test_plain_lines_are_headings_where_nothing_is_marked() -> None:
    page = f"Opening hours\n\n{LONG}\n\nHow to get here\n\n{LONG}\n\nTickets and prices\n\n{LONG}"
    assert planned(page).headings == {"text_1": 1, "text_3": 2, "text_5": 2}


def test_short_lines_of_a_list_are_no_headings() -> None:
    page = "# Centres\n\n" + "\n\n".join(
        f"{city}: {street}" for city, street in [("Mumbai", "Andheri"), ("Delhi", "Okhla")] * 4
    )
    assert planned(page).headings == {}


def test_marked_pages_keep_their_levels() -> None:
    page = f"# A\n\n{SHORT}\n\n## B\n\n{SHORT}\n\n### C\n\n{SHORT}\n\n## D\n\n{SHORT}"
    assert planned(page).headings == {}


def test_one_level_for_all_puts_them_under_the_first() -> None:
    page = f"## Title\n\n{SHORT}\n\n## B\n\n{SHORT}\n\n## C\n\n{SHORT}"
    assert planned(page).headings == {"heading_3": 2, "heading_5": 2}


def test_steps_stand_under_the_line_that_opens_them() -> None:
    parts = ["**Change a tyre**", "**Steps**", "**1. Park**", SHORT, "**2. Lift**", SHORT]
    made = planned("\n\n".join([*parts, "**Need help?**", SHORT, "**Afterwards**", SHORT]))
    assert made.headings == {
        "text_1": 1,
        "text_2": 2,
        "text_3": 3,
        "text_5": 3,
        "text_7": 3,
        "text_9": 2,
    }


@pytest.mark.parametrize("markdown", ["---", "# Only", "# A\n\n## B\n\n### C", "one line"])
def test_pages_of_almost_nothing(markdown: str) -> None:
    document = parse(markdown.encode(), "https://example.org/", "text/markdown")
    made = plan(outline(document, Policy()), Policy())
    assert [id for ids in made.groups for id in ids] == [unit.id for unit in document.units]


def test_every_boundary_is_explained() -> None:
    made = planned("\n\n".join(f"## Part {i}\n\n{LONG}\n\n{LONG}" for i in range(4)))
    assert [b.before for b in made.boundaries] == [ids[0] for ids in made.groups]
    assert all(b.why and b.by == "structural" and 0 < b.confidence <= 1 for b in made.boundaries)


def test_a_page_of_twenty_thousand_units_is_planned() -> None:
    page = "\n\n".join(f"## Part {i}\n\n{SHORT}" for i in range(10_000))
    assert sum(map(len, planned(page).groups)) == 20_000

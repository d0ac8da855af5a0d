from __future__ import annotations

from dataclasses import replace

import pytest

from chunker.errors import PlanError
from chunker.model import Boundary, Plan
from chunker.parse import parse
from chunker.repair import repair

PAGE = parse(
    b"# A\n\nOne two three.\n\n- x\n- y\n\n## B\n\nFour five six.",
    "https://e.org/",
    "text/markdown",
)
GOOD = Plan(
    planner="test",
    groups=(("heading_1", "text_2", "list_3"), ("heading_4", "text_5")),
    dropped={},
    boundaries=(Boundary("heading_1", "test", "start", 1), Boundary("heading_4", "test", "h", 1)),
)


def test_a_plan_that_holds_is_given_back() -> None:
    assert repair(PAGE, GOOD) is GOOD


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (replace(GOOD, groups=(*GOOD.groups, ("text_99",))), "unknown id"),
        (replace(GOOD, groups=(*GOOD.groups, ("list_3",))), "duplicate id"),
        (replace(GOOD, groups=(GOOD.groups[0][:2], GOOD.groups[1])), "missing unit"),
        (replace(GOOD, groups=(GOOD.groups[0][::-1], GOOD.groups[1])), "order"),
        (replace(GOOD, groups=GOOD.groups[::-1]), "order"),
        (replace(GOOD, groups=(*GOOD.groups, ())), "empty group"),
        (replace(GOOD, dropped={"list_3": "advert"}), "dropped and kept"),
        (replace(GOOD, headings={"list_3": 2}), "heading"),
        (replace(GOOD, under={"text_5": "heading_9"}), "under"),
        (replace(GOOD, under={"list_3": "heading_4"}), "under"),
        (replace(GOOD, under={"heading_4": "heading_1"}), "under"),
        (replace(GOOD, boundaries=GOOD.boundaries[:1]), "boundary"),
    ],
)
def test_each_rule_makes_the_plan_hold_and_is_named(broken: Plan, rule: str) -> None:
    repaired = repair(PAGE, broken)
    assert rule in repaired.repairs
    assert repaired.groups == GOOD.groups
    assert repair(PAGE, repaired) is repaired


def test_a_forgotten_unit_joins_the_group_of_the_one_before_it() -> None:
    plan = repair(PAGE, replace(GOOD, groups=(("heading_1",), ("list_3", "heading_4", "text_5"))))
    assert plan.groups == (("heading_1", "text_2"), ("list_3", "heading_4", "text_5"))


def test_a_forgotten_first_unit_joins_the_first_group() -> None:
    plan = repair(PAGE, replace(GOOD, groups=(("list_3", "heading_4", "text_5"),)))
    assert plan.groups == (("heading_1", "text_2", "list_3", "heading_4", "text_5"),)


def test_what_is_dropped_without_a_reason_is_kept() -> None:
    plan = repair(PAGE, replace(GOOD, groups=(GOOD.groups[0],), dropped={"heading_4": " "}))
    assert plan.dropped == {}
    assert {id for ids in plan.groups for id in ids} == {unit.id for unit in PAGE.units}


def test_what_is_dropped_with_a_reason_stays_dropped() -> None:
    plan = replace(GOOD, groups=(GOOD.groups[0],), dropped={"heading_4": "ad", "text_5": "ad"})
    assert repair(PAGE, plan).dropped == {"heading_4": "ad", "text_5": "ad"}


def test_levels_are_kept_within_one_and_six() -> None:
    assert repair(PAGE, replace(GOOD, headings={"text_2": 9})).headings == {"text_2": 6}


def test_a_plan_that_drops_everything_is_refused() -> None:
    with pytest.raises(PlanError):
        repair(PAGE, replace(GOOD, groups=(), dropped={unit.id: "ad" for unit in PAGE.units}))

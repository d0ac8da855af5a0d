from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from chunker.chunks import chunks
from chunker.model import Chunk, Plan
from chunker.outline import outline
from chunker.parse import parse
from chunker.policy import Policy
from chunker.tokens import tokenizer
from chunker.verify import verify
from planner_serving.structural import plan as structural_plan

POLICY = Policy(max_tokens=80, target_tokens=24)
PAGE = parse(
    b"# Tyres\n\nOne two three four five six seven eight nine ten eleven twelve.\n\n"
    b"## Prices\n\n| Model | Price |\n|---|---|\n"
    + b"\n".join(b"| Model number %d | %d rupees and some |" % (i, i * 100) for i in range(12))
    + b"\n\n## Steps\n\n1. Park\n2. Lift\n3. Fix\n",
    "https://e.org/",
    "text/markdown",
)
Change = Callable[[Plan, tuple[Chunk, ...]], tuple[Plan, tuple[Chunk, ...]]]


def count(text: str) -> int:
    return len(tokenizer().encode(text).ids)


def made() -> tuple[Plan, tuple[Chunk, ...]]:
    plan = structural_plan(outline(PAGE, POLICY), POLICY)
    return plan, chunks(PAGE, plan, POLICY, count)


def changed(at: int, **values: object) -> Change:
    def change(plan: Plan, found: tuple[Chunk, ...]) -> tuple[Plan, tuple[Chunk, ...]]:
        chunk = replace(found[at], **values)  # type: ignore[arg-type]
        return plan, (*found[:at], chunk, *found[at + 1 :])

    return change


def test_what_the_planner_makes_holds() -> None:
    plan, found = made()
    assert verify(PAGE, plan, found, POLICY, count) == ()
    assert sum("table_4" in chunk.unit_ids for chunk in found) > 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda plan, found: (plan, found[1:]), "are in no chunk"),
        (lambda plan, found: (plan, (*found, replace(found[0], position=99))), "in two chunks"),
        (lambda plan, found: (replace(plan, groups=plan.groups[1:]), found), "forgets"),
        (
            lambda plan, found: (replace(plan, groups=(*plan.groups, ("text_77",))), found),
            "does not have",
        ),
        (
            lambda plan, found: (replace(plan, groups=(*plan.groups, ("text_2",))), found),
            "2 times",
        ),
        (
            lambda plan, found: (
                replace(plan, groups=plan.groups[:-1], dropped=dict.fromkeys(plan.groups[-1], "")),
                found,
            ),
            "without a reason",
        ),
        (
            lambda plan, found: (
                replace(
                    plan, groups=plan.groups[:-1], dropped=dict.fromkeys(plan.groups[-1], "ad")
                ),
                found,
            ),
            "is dropped and stands in a chunk",
        ),
        (changed(0, text="# Tyres\n\nSomething that a model wrote."), "not a slice"),
        (changed(0, unit_ids=("text_2", "heading_1")), "do not go up"),
        (changed(0, unit_ids=("text_77",)), "does not have"),
        (changed(0, tokens=1), "says 1 tokens"),
        (changed(0, heading_path=("word " * 90,)), "at most 80"),
        (changed(0, position=7), "positions"),
        (lambda plan, found: (plan, (*found[:-1], replace(found[-1], id=found[0].id))), "one id"),
    ],
)
def test_what_does_not_hold_is_said(change: Change, problem: str) -> None:
    plan, found = change(*made())
    assert any(problem in said for said in verify(PAGE, plan, found, POLICY, count))


def test_a_table_piece_without_its_header_row_is_said() -> None:
    plan, found = made()
    at = max(i for i, chunk in enumerate(found) if "table_4" in chunk.unit_ids)
    spans = found[at].spans[-1:]
    text = PAGE.markdown[slice(*spans[0])]
    plan, broken = changed(at, spans=spans, text=text)(plan, found)
    assert any("header row" in said for said in verify(PAGE, plan, broken, POLICY, count))


def test_a_unit_cut_without_need_is_said() -> None:
    plan, _ = made()
    narrow = Policy(max_tokens=24, target_tokens=24)
    found = chunks(PAGE, plan, narrow, count)
    wide = Policy(max_tokens=200, target_tokens=24)
    assert any("would fit" in said for said in verify(PAGE, plan, found, wide, count))

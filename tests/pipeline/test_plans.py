"""How one plan differs from another for the same document."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chunker.model import Plan
from pipeline.plans import difference

IDS = [f"text_{number}" for number in range(1, 9)]
ONE = Plan("one", (("text_1", "text_2"), ("text_3",)), {"text_4": "legal"}, ())


def cut(begins: set[int]) -> Plan:
    """All ids in groups that begin at these places, and at the first."""
    starts = sorted(begins | {0})
    ends = [*starts[1:], len(IDS)]
    groups = tuple(tuple(IDS[a:b]) for a, b in zip(starts, ends, strict=True))
    return Plan("cut", groups, {}, ())


def test_a_plan_is_the_same_as_itself_whoever_made_it() -> None:
    found = difference(ONE, replace(ONE, planner="other"))
    assert found.same
    assert (found.groups, found.kept) == ((2, 2), 2)


def test_each_difference_is_named() -> None:
    other = Plan(
        "two", (("text_1",), ("text_2", "text_3", "text_4")), {}, (), headings={"text_1": 2}
    )
    found = difference(ONE, other)
    assert not found.same
    assert (found.begins, found.joined) == (("text_2",), ("text_3",))
    assert (found.dropped, found.taken_in) == ((), ("text_4",))
    assert found.headings == {"text_1": (None, 2)}
    assert difference(ONE, replace(ONE, under={"text_3": ""})).under == {"text_3": (None, "")}
    back = difference(other, ONE)
    assert (back.begins, back.joined, back.dropped) == (("text_3",), ("text_2",), ("text_4",))


@given(st.sets(st.integers(0, 7)), st.sets(st.integers(0, 7)))
def test_the_one_with_its_differences_is_the_other(first: set[int], second: set[int]) -> None:
    one, other = cut(first), cut(second)
    found = difference(one, other)
    begins = {group[0] for group in one.groups} - set(found.joined) | set(found.begins)
    assert begins == {group[0] for group in other.groups}
    assert found.same == (one.groups == other.groups)
    assert found.kept <= min(found.groups)

"""A structural plan in the words of a model, and the forms that cost more: to count them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chunker.model import Outline, Plan
from planner_serving.grammar import BEGINS, BODY, DROPS, OUTWARD
from planner_serving.prompt import Line


def answer_form(lines: Sequence[Line], levels: Mapping[str, int], plan: Plan) -> str:
    """What a model would have to say for this plan, one symbol a line.

    `levels` are those of all headings, marked and implied.
    """
    codes: dict[str, str] = {role: code for code, role in DROPS.items()}
    begins = {boundary.before for boundary in plan.boundaries if boundary.why == "new subject"}
    symbols: list[str] = []
    for line in lines:
        if line.id in plan.dropped:
            symbols.append(codes.get(plan.dropped[line.id], BODY))
        elif line.id in levels:
            symbols.append(str(levels[line.id]))
        elif line.id in plan.under:
            symbols.append(OUTWARD)
        else:
            symbols.append(BEGINS if line.id in begins else BODY)
    return "".join(symbols)


def unit_lines(outline: Outline) -> str:
    """A compact outline of all units: number, kind, level, size, and the text of headings."""
    return "\n".join(_unit_lines(outline))


def _unit_lines(outline: Outline) -> Iterator[str]:
    for number, row in enumerate(outline.rows, 1):
        kind = f"h{row.level}" if row.level is not None else row.kind[0]
        yield " ".join(filter(None, [str(number), kind, str(row.size), row.text]))


def ranges(outline: Outline, plan: Plan) -> str:
    """A plan as the ranges of unit numbers that its groups hold."""
    number = {row.id: i for i, row in enumerate(outline.rows, 1)}
    return ",".join(f"{number[group[0]]}-{number[group[-1]]}" for group in plan.groups)

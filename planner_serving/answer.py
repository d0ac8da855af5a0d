"""A model's answer read: symbols, one a line, or an error that says what came instead.

The rules by which an answer that is not in the grammar is made to be, in the order in which they
are applied; each that was needed is named in `Plan.repairs`:

`answer white space`   white space and a frame of quotes or back-ticks are left out
`answer too long`      symbols beyond the last line are left out
`answer too short`     lines without a symbol are left to the structural plan

An answer with anything else in it, or with symbols for less than half of its lines, is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from planner_serving.errors import PlannerAnswerError
from planner_serving.grammar import SYMBOLS

#: Least share of the lines that an answer has to have a symbol for.
LEAST_SHARE: Final = 0.5

_FRAME: Final = "\"'`"


@dataclass(frozen=True, slots=True)
class Answer:
    """Symbols for the lines of a prompt, in order."""

    symbols: tuple[str | None, ...]
    """None where the model did not get to say anything."""
    repairs: tuple[str, ...] = ()


def read(text: str, lines: int) -> Answer:
    """The answer to a prompt of so many lines. Raises `PlannerAnswerError` for anything else."""
    repairs: list[str] = []
    found = "".join(text.split()).strip(_FRAME)
    if found != text:
        repairs.append("answer white space")
    wrong = next((c for c in found if c not in SYMBOLS), None)
    if wrong is not None:
        raise PlannerAnswerError(
            f"the model answered outside the grammar that it was given: {text[:80]!r}"
        )
    if len(found) > lines:
        repairs.append("answer too long")
    elif len(found) < lines:
        repairs.append("answer too short")
        if len(found) < LEAST_SHARE * lines:
            raise PlannerAnswerError(f"the model answered for {len(found)} of {lines} lines")
    symbols: Sequence[str | None] = found[:lines]
    return Answer((*symbols, *[None] * (lines - len(symbols))), tuple(repairs))

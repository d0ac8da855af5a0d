"""What a model's symbols mean for the page: its tree, and what is left out.

Written rules, in the order in which they are applied; each that overruled a symbol is named in
`Plan.repairs`:

`marked heading kept`   a heading that the page marks stays one, at the level that the structural
                        planner gives it, whatever else the model says of it but to drop it
`not a heading`         a block of body text is not made a heading; it goes on with what is above
`nothing to leave`      a line that is to go on further out and has no heading around it stays
`too much dropped`      where a model would drop more than a tenth of the page, it drops nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chunker.model import OutlineRow
from chunker.policy import Policy
from planner_serving.grammar import BEGINS, BODY, DROPS, LEVELS, OUTWARD
from planner_serving.prompt import Line
from planner_serving.structural_seams import Tree

#: Largest share of a page's tokens that a model may drop.
MOST_DROPPED: Final = 0.1


@dataclass(frozen=True, slots=True)
class Decisions:
    """A page's tree as the model and the structural planner together have it."""

    tree: Tree
    dropped: Mapping[str, str]
    counted: frozenset[str]
    """Ids of the lines that are what the model says."""
    repairs: tuple[str, ...]


def decide(
    rows: Sequence[OutlineRow],
    lines: Sequence[Line],
    symbols: Mapping[int, str],
    levels: Mapping[str, int],
    policy: Policy,
) -> Decisions:
    """`symbols` by line; `levels`: those of the structural planner, for all other lines."""
    repairs: list[str] = []
    dropped = _dropped(rows, lines, symbols, policy, repairs)
    found = {id: level for id, level in levels.items() if id not in dropped}
    under: dict[str, str] = {}
    begins: set[str] = set()
    counted: set[str] = set()
    above: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        row = rows[line.index]
        if row.id in dropped:
            continue
        symbol = _allowed(row, symbols.get(number), repairs)
        if symbol is not None:
            counted.add(row.id)
        if symbol is not None and symbol in LEVELS:
            found[row.id] = int(symbol)
        elif symbol is not None and row.level is None:
            found.pop(row.id, None)
        if row.id in found:
            _pop(above, found[row.id])
            above.append((found[row.id], row.id))
        elif symbol == BEGINS:
            begins.add(row.id)
        elif symbol == OUTWARD:
            if above:
                above.pop()
                under[row.id] = above[-1][1] if above else ""
            else:
                repairs.append("nothing to leave")
    return Decisions(
        Tree(found, under, frozenset(begins)),
        dropped,
        frozenset(counted),
        tuple(dict.fromkeys(repairs)),
    )


def _allowed(row: OutlineRow, symbol: str | None, repairs: list[str]) -> str | None:
    if symbol is None or symbol in DROPS:  # a drop that counts has been taken already
        return None
    if row.level is not None and symbol not in LEVELS:
        repairs.append("marked heading kept")
        return None
    if row.text is None and symbol in LEVELS:
        repairs.append("not a heading")
        return BODY
    return symbol


def _pop(above: list[tuple[int, str]], level: int) -> None:
    while above and above[-1][0] >= level:
        above.pop()


def _dropped(
    rows: Sequence[OutlineRow],
    lines: Sequence[Line],
    symbols: Mapping[int, str],
    policy: Policy,
    repairs: list[str],
) -> dict[str, str]:
    """Units that the model drops for a reason that the policy drops for."""
    ends = [*(line.index for line in lines), len(rows)][1:]
    dropped: dict[str, str] = {}
    size = 0
    for number, (line, end) in enumerate(zip(lines, ends, strict=True)):
        role = DROPS.get(symbols.get(number, BODY))
        if role is not None and role in policy.drop:
            dropped.update((row.id, role) for row in rows[line.index : end])
            size += sum(row.size for row in rows[line.index : end])
    if size > MOST_DROPPED * sum(row.size for row in rows):
        repairs.append("too much dropped")
        return {}
    return dropped

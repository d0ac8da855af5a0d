"""What lies between two neighbouring units: how firmly they hold together, and up to what size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from chunker.model import OutlineRow
from chunker.policy import Policy
from chunker.tokens import count

#: Limit of a seam that always holds: what is too large then is cut inside its last unit.
UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class Tree:
    """What stands under what on a page, as whoever plans it sees it."""

    levels: Mapping[str, int]
    """All headings, marked and implied, by id."""
    under: Mapping[str, str] = field(default_factory=dict)
    """See `Plan.under`."""
    begins: frozenset[str] = frozenset()
    """Units that are no headings and begin a chunk all the same."""


class Tie(IntEnum):
    """Why two neighbours are joined, the firmest first."""

    HEADING = 0
    """A heading and what stands directly under it."""
    LEAD_IN = 1
    """A line that ends in a colon, and what it announces."""
    SECTION = 2
    """Both in one section."""
    SIBLING = 3
    """Two sections under one heading."""


@dataclass(frozen=True, slots=True)
class Seam:
    """The place before a row."""

    tie: Tie
    order: tuple[int, int, int]
    """Seams are joined from the lowest to the highest: tie, deepest first, pairs before fours."""
    limit: int
    """Most tokens, by size buckets, of what is joined over this seam."""
    under: int | None
    """SIBLING: index of the heading that both sections must stand under; None: the page."""


def seams(rows: Sequence[OutlineRow], tree: Tree, policy: Policy) -> list[Seam]:
    """The seam before each row but the first."""
    levels = tree.levels
    chains = heading_chains(rows, tree)
    spent = [sum(count(rows[j].text or "") + 1 for j in chain) for chain in chains]
    place: dict[tuple[int | None, bool], int] = {}
    found: list[Seam] = []
    for i, row in enumerate(rows):
        under = chains[i][-1] if chains[i] else None
        is_heading = row.id in levels
        nth = place[under, is_heading] = place.get((under, is_heading), -1) + 1
        if i == 0:
            continue
        before = rows[i - 1]
        room = policy.max_tokens - spent[i]
        if before.id in levels:
            tie, limit = Tie.HEADING, UNLIMITED
        elif row.id in tree.begins:
            tie, limit = Tie.SIBLING, 0
        elif before.lead_in and not is_heading:
            tie, limit = Tie.LEAD_IN, UNLIMITED
        elif not is_heading and row.id not in tree.under:
            tie, limit = Tie.SECTION, room
        else:
            tie, limit = Tie.SIBLING, min(policy.target_tokens, room)
        found.append(Seam(tie, (tie, -len(chains[i]), _alignment(nth)), limit, under))
    return found


def heading_chains(rows: Sequence[OutlineRow], tree: Tree) -> list[tuple[int, ...]]:
    """For each row the indices of the headings that it stands under, outermost first."""
    chains: list[tuple[int, ...]] = []
    stack: list[tuple[int, int]] = []
    for i, row in enumerate(rows):
        level = tree.levels.get(row.id)
        if level is not None:
            while stack and stack[-1][0] >= level:
                stack.pop()
        elif row.id in tree.under:
            while stack and rows[stack[-1][1]].id != tree.under[row.id]:
                stack.pop()
        chains.append(tuple(index for _, index in stack))
        if level is not None:
            stack.append((level, i))
    return chains


def _alignment(nth: int) -> int:
    """How late the seam before the nth of its kind is joined: pairs, then fours, then eights.

    Fixed by the place alone, so that a size that changes moves no seam but its own.
    """
    return (nth & -nth).bit_length() if nth else 64

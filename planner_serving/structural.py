"""The structural planner: an outline to a plan by rules, no model, the same plan every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from chunker.model import Boundary, Outline, OutlineRow, Plan
from chunker.policy import Policy
from planner_serving.structural_headings import Heading, headings
from planner_serving.structural_seams import Seam, Tie, heading_chains, seams

PLANNER = "structural"


class StructuralPlanner:
    """The structural planner behind the `Planner` port."""

    identity = "structural-1"

    def plan(self, outline: Outline, policy: Policy) -> Plan:
        """See `plan`."""
        return plan(outline, policy)


def plan(outline: Outline, policy: Policy) -> Plan:
    """Group the units of `outline` into sections of the policy's size.

    Units whose role the policy drops are dropped with the role as reason. Every boundary says
    why it is there and how sure the planner is of it.
    """
    dropped = {row.id: str(row.role) for row in outline.rows if row.role in policy.drop}
    rows = [row for row in outline.rows if row.id not in dropped]
    found = headings(outline, rows)
    levels = {id: heading.level for id, heading in found.items()}
    before = seams(rows, levels, policy)
    starts = _starts(rows, before, heading_chains(rows, levels))
    as_marked = {row.id: row.level for row in rows}
    return Plan(
        planner=PLANNER,
        groups=tuple(
            tuple(row.id for row in rows[start:end])
            for start, end in pairwise([*starts, len(rows)])
        ),
        dropped=dropped,
        boundaries=tuple(_boundary(rows[i], i == 0, found) for i in starts),
        headings={id: level for id, level in levels.items() if as_marked[id] != level},
    )


def _starts(
    rows: Sequence[OutlineRow], before: Sequence[Seam], chains: Sequence[tuple[int, ...]]
) -> list[int]:
    """Index of the first row of each group: neighbours joined seam by seam while they fit."""
    if not rows:
        return []
    first = list(range(len(rows)))
    last = list(range(len(rows)))
    size = [row.size for row in rows]
    for i in sorted(range(1, len(rows)), key=lambda i: before[i - 1].order):
        seam = before[i - 1]
        left, end = first[i - 1], last[i]
        if size[left] + size[i] > seam.limit:
            continue
        if seam.tie is Tie.SIBLING and not _stands_under(left, seam.under, chains):
            continue
        size[left] += size[i]
        last[left], first[end] = end, left
    starts, i = [], 0
    while i < len(rows):
        starts.append(i)
        i = last[i] + 1
    return starts


def _stands_under(i: int, heading: int | None, chains: Sequence[tuple[int, ...]]) -> bool:
    """True where row i is the heading itself or stands directly under it."""
    return i == heading or (chains[i][-1] if chains[i] else None) == heading


def _boundary(row: OutlineRow, first: bool, found: Mapping[str, Heading]) -> Boundary:
    heading = found.get(row.id)
    if first:
        return Boundary(row.id, PLANNER, "start", 1.0)
    if heading is None:
        return Boundary(row.id, PLANNER, "size", 0.6)
    why = "heading" if heading.marked else "implied heading"
    return Boundary(row.id, PLANNER, why, round(heading.confidence, 2))

"""The structural planner: an outline to a plan by rules, no model, the same plan every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chunker.model import Boundary, Outline, OutlineRow, Plan
from chunker.policy import Policy
from planner_serving.structural_confidence import confidences
from planner_serving.structural_headings import Heading, forms, headings
from planner_serving.structural_seams import Seam, Tie, Tree, heading_chains, seams

PLANNER = "structural"


class StructuralPlanner:
    """The structural planner behind the `Planner` port."""

    identity = "structural-2"

    def plan(self, outline: Outline, policy: Policy) -> Plan:
        """See `plan`."""
        return plan(outline, policy)


@dataclass(frozen=True, slots=True)
class Findings:
    """What the structural planner makes of a page's rows."""

    headings: dict[str, Heading]
    sure: dict[str, float]
    """For each line that may be a heading, and each unit, how likely it is that what the planner
    makes of it is right; see `structural_confidence`."""


def plan(outline: Outline, policy: Policy) -> Plan:
    """Group the units of `outline` into sections of the policy's size.

    Units whose role the policy drops are dropped with the role as reason. Every boundary says
    why it is there and how sure the planner is of it.
    """
    rows = kept(outline, policy)
    return planned(outline, rows, findings(outline, rows), policy)


def kept(outline: Outline, policy: Policy) -> list[OutlineRow]:
    """The rows of an outline without those whose role the policy drops."""
    return [row for row in outline.rows if row.role not in policy.drop]


def findings(outline: Outline, rows: Sequence[OutlineRow]) -> Findings:
    """The headings among the rows that are kept, and how sure each decision is."""
    form = forms(rows)
    found = headings(outline, rows, form)
    return Findings(found, confidences(outline, rows, found, form))


def planned(outline: Outline, rows: Sequence[OutlineRow], found: Findings, policy: Policy) -> Plan:
    """The structural plan from what was found."""
    tree = Tree({id: heading.level for id, heading in found.headings.items()})
    groups = grouped(rows, tree, policy)
    return Plan(
        planner=PLANNER,
        groups=groups,
        dropped={row.id: str(row.role) for row in outline.rows if row.role in policy.drop},
        boundaries=tuple(boundary(ids[0], i == 0, found) for i, ids in enumerate(groups)),
        headings=unmarked(rows, tree.levels),
    )


def grouped(rows: Sequence[OutlineRow], tree: Tree, policy: Policy) -> tuple[tuple[str, ...], ...]:
    """The rows as groups of ids of the policy's size, whoever found the tree."""
    starts = _starts(rows, seams(rows, tree, policy), heading_chains(rows, tree))
    return tuple(
        tuple(row.id for row in rows[start:end]) for start, end in pairwise([*starts, len(rows)])
    )


def unmarked(rows: Sequence[OutlineRow], levels: Mapping[str, int]) -> dict[str, int]:
    """The levels that differ from the document's, as `Plan.headings` has them."""
    return {row.id: levels[row.id] for row in rows if levels.get(row.id, row.level) != row.level}


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


def boundary(id: str, first: bool, found: Findings) -> Boundary:
    """Why a group begins with this unit, by the structural planner."""
    heading = found.headings.get(id)
    if first:
        return Boundary(id, PLANNER, "start", 1.0)
    why = "size" if heading is None else "heading" if heading.marked else "implied heading"
    return Boundary(id, PLANNER, why, round(found.sure[id], 2))

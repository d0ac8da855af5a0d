"""A plan made to hold by written rules, or refused.

The rules, in the order in which they are applied; each that was needed is named in
`Plan.repairs`:

`unknown id`        an id that the document does not have is left out
`duplicate id`      of an id that stands twice the first place is kept
`no reason`         a unit dropped without a reason is not dropped
`dropped and kept`  a unit that is both in a group and dropped is kept
`missing unit`      a unit that the plan forgot joins the group of the unit before it
`order`             ids inside a group go up, groups go by their first unit
`empty group`       a group without ids is left out
`heading`           a level for a unit that cannot be a heading is left out, others are 1 to 6
`under`             a unit that is to stand under what is no heading above it stays where it is
`boundary`          each group has one boundary, before its first unit

A plan is refused (`PlanError`) when it keeps nothing of a page that has content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chunker.errors import PlanError
from chunker.model import Boundary, Document, Plan

#: Confidence of a boundary that only a repair stands for.
REPAIRED_CONFIDENCE = 0.5


def repair(document: Document, plan: Plan) -> Plan:
    """`plan` so that it holds for `document`; the same plan where it holds already."""
    place = {unit.id: i for i, unit in enumerate(document.units)}
    repairs: list[str] = []
    groups = _known(plan.groups, place, repairs)
    dropped = _dropped(plan.dropped, groups, place, repairs)
    groups = _completed(groups, dropped, place, repairs)
    groups = _ordered(groups, place, repairs)
    if not groups and any(unit.role == "body" for unit in document.units):
        raise PlanError("the plan keeps nothing of a page that has content")
    headings = _headings(document, plan.headings, repairs)
    under = _under(document, plan.under, headings, repairs)
    boundaries = _boundaries(groups, plan.boundaries, repairs)
    if not repairs:
        return plan
    return replace(
        plan,
        groups=tuple(map(tuple, groups)),
        dropped=dropped,
        headings=headings,
        under=under,
        boundaries=boundaries,
        repairs=(*plan.repairs, *dict.fromkeys(repairs)),
    )


def _known(
    given: Sequence[Sequence[str]], place: Mapping[str, int], repairs: list[str]
) -> list[list[str]]:
    seen: set[str] = set()
    groups: list[list[str]] = []
    for ids in given:
        kept: list[str] = []
        for id in ids:
            if id not in place:
                repairs.append("unknown id")
            elif id in seen:
                repairs.append("duplicate id")
            else:
                seen.add(id)
                kept.append(id)
        groups.append(kept)
    return groups


def _dropped(
    given: Mapping[str, str],
    groups: Sequence[Sequence[str]],
    place: Mapping[str, int],
    repairs: list[str],
) -> dict[str, str]:
    grouped = {id for ids in groups for id in ids}
    dropped: dict[str, str] = {}
    for id, reason in given.items():
        if id not in place:
            repairs.append("unknown id")
        elif id in grouped:
            repairs.append("dropped and kept")
        elif not reason.strip():
            repairs.append("no reason")
        else:
            dropped[id] = reason
    return dropped


def _completed(
    groups: list[list[str]],
    dropped: Mapping[str, str],
    place: Mapping[str, int],
    repairs: list[str],
) -> list[list[str]]:
    group_of = {id: i for i, ids in enumerate(groups) for id in ids}
    before: int | None = None
    waiting: list[str] = []
    for id in place:
        if id in group_of:
            before = group_of[id]
        elif id not in dropped:
            repairs.append("missing unit")
            if before is None:
                waiting.append(id)
            else:
                groups[before].append(id)
    if waiting:
        first = next((group_of[id] for id in place if id in group_of), None)
        if first is None:
            groups.append(waiting)
        else:
            groups[first].extend(waiting)
    return groups


def _ordered(
    groups: Sequence[Sequence[str]], place: Mapping[str, int], repairs: list[str]
) -> list[list[str]]:
    filled = [list(ids) for ids in groups if ids]
    if len(filled) < len(groups):
        repairs.append("empty group")
    ordered = sorted(
        (sorted(ids, key=place.__getitem__) for ids in filled), key=lambda g: place[g[0]]
    )
    if ordered != filled:
        repairs.append("order")
    return ordered


def _headings(document: Document, given: Mapping[str, int], repairs: list[str]) -> dict[str, int]:
    able = {unit.id for unit in document.units if unit.kind in ("text", "heading")}
    headings = {id: min(max(level, 1), 6) for id, level in given.items() if id in able}
    if headings != dict(given):
        repairs.append("heading")
    return headings


def _under(
    document: Document, given: Mapping[str, str], headings: Mapping[str, int], repairs: list[str]
) -> dict[str, str]:
    if not given:
        return {}
    under: dict[str, str] = {}
    above = {""}
    for unit in document.units:
        if unit.depth is not None or unit.id in headings:
            above.add(unit.id)
        elif given.get(unit.id) in above:
            under[unit.id] = given[unit.id]
    if under != dict(given):
        repairs.append("under")
    return under


def _boundaries(
    groups: Sequence[Sequence[str]], given: Sequence[Boundary], repairs: list[str]
) -> tuple[Boundary, ...]:
    proposed = {boundary.before: boundary for boundary in reversed(given)}
    boundaries = tuple(
        proposed.get(ids[0], Boundary(ids[0], "repair", "repaired group", REPAIRED_CONFIDENCE))
        for ids in groups
    )
    if boundaries != tuple(given):
        repairs.append("boundary")
    return boundaries

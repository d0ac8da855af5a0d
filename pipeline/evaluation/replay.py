"""The paper's own plans, replayed: do `Plan`, `verify` and `chunks` give the paper's chunk texts?

Each entry of `reference/wrac_*.json` has units, the plan that a model made over their ids, and the
chunk texts that came of it. Its units become a `Document`, its groups a `Plan`. A heading that
several groups name is context there: it stands where it is named first, and in the path of the
others, as deep as the group names it. A unit that no group names is lost, without a word in the
paper; here it is dropped with that as the reason, as `verify` demands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, takewhile
from pathlib import Path
from typing import Any

from chunker.chunks import chunks
from chunker.model import Boundary, Document, Kind, Plan, Unit
from chunker.policy import Policy
from chunker.repair import repair
from chunker.tokens import count
from chunker.verify import verify
from pipeline.evaluation.methods_reference import planned_entries

#: What a unit that no group of a plan names is dropped for.
LOST = "left out by the plan"
#: No chunk is cut: the paper's were not.
POLICY = Policy(target_tokens=8192, max_tokens=8192)

_RULER = re.compile(r"\s*(?:[-*_]\s*){3,}")
_MARKS = re.compile(r"^\s*#{1,6}\s+|\s>\s", re.MULTILINE)


def replay(directory: Path) -> dict[str, Any]:
    """Counts over all reference plans; empty where the folder has none."""
    total: Counter[str] = Counter()
    repairs: Counter[str] = Counter()
    for entry in planned_entries(directory).values():
        document = document_of(entry)
        given = plan_of(document, entry["gpt_chunks"]["chunks"])
        repairs.update(repair(document, given).repairs)
        plan = repair(document, with_losses(document, given))
        made = chunks(document, plan, POLICY, count)
        total["plans"] += 1
        total["problems"] += len(verify(document, plan, made, POLICY, count))
        total.update(_losses(document, plan))
        total.update(_equal(entry, {chunk.unit_ids[0]: chunk.shown for chunk in made}, plan))
    return {**total, "repairs": dict(repairs)} if total else {}


def document_of(entry: Mapping[str, Any]) -> Document:
    """A reference entry's units as a document: offsets found by line, levels by the marks."""
    markdown = markdown_of(entry)
    lines = markdown.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    units: list[Unit] = []
    above: list[tuple[int, str]] = []
    for given in entry["structure_map_output"]:
        line, id = given["line"], given["id"]
        level = _level(lines[line]) if id.startswith("heading") else None
        while level is not None and above and above[-1][0] >= level:
            above.pop()
        kind: Kind = "text" if level is None else "heading"
        length = len(given["text"] if level is None else lines[line])
        parent = above[-1][1] if above else None
        start, end = starts[line], starts[line] + length
        tokens = count(markdown[start:end])
        units.append(Unit(id, kind, level, level, parent, start, end, line, tokens, anchor=id))
        if level is not None:
            above.append((level, id))
    url = f"file:///{entry['filename']}"
    return Document("reference", url, "", "en", markdown, tuple(units), "", "reference")


def plan_of(document: Document, groups: Sequence[Sequence[str]]) -> Plan:
    """The groups as they were given; of a heading that is named again the first place counts."""
    headings = {unit.id for unit in document.units if unit.kind == "heading"}
    seen: set[str] = set()
    kept: list[tuple[str, ...]] = []
    for group in groups:
        kept.append(tuple(id for id in group if id not in headings or id not in seen))
        seen.update(group)
    boundaries = tuple(Boundary(ids[0], "reference", "reference", 1.0) for ids in kept if ids)
    return Plan("reference", tuple(kept), {}, boundaries, headings=_depths(groups))


def _depths(groups: Sequence[Sequence[str]]) -> dict[str, int]:
    """Level of each heading: its place among those that the first group to name it begins with."""
    depths: dict[str, int] = {}
    for group in groups:
        leading = takewhile(lambda id: id.startswith("heading"), dict.fromkeys(group))
        for depth, id in enumerate(leading, 1):
            depths.setdefault(id, depth)
    return depths


def with_losses(document: Document, plan: Plan) -> Plan:
    """The plan with each unit that it does not name dropped for that."""
    named = set(chain.from_iterable(plan.groups))
    lost = {unit.id: LOST for unit in document.units if unit.id not in named}
    return replace(plan, dropped=lost)


def markdown_of(entry: Mapping[str, Any]) -> str:
    """The Markdown that an entry's units are of; put together from them where it is not there."""
    if "markdown_content" in entry:
        return str(entry["markdown_content"])
    lines: list[str] = []
    for unit in entry["structure_map_output"]:
        mark = "# " if unit["id"].startswith("heading") else ""
        lines += [""] * (unit["line"] - len(lines))
        lines += (mark + unit["text"]).split("\n")
    return "\n".join(lines)


def _level(line: str) -> int:
    return len(line.lstrip()) - len(line.lstrip().lstrip("#")) or 1


def _losses(document: Document, plan: Plan) -> Counter[str]:
    """Units and tokens of body text, rulers and headings left out, and those that are lost."""
    counts: Counter[str] = Counter()
    for unit in document.units:
        text = document.markdown[unit.start : unit.end]
        if unit.kind == "heading" or _RULER.fullmatch(text):
            continue
        lost = unit.id in plan.dropped
        counts.update(units=1, lost_units=lost, tokens=unit.tokens, lost_tokens=lost * unit.tokens)
    return counts


def _equal(entry: Mapping[str, Any], shown: Mapping[str, str], plan: Plan) -> Counter[str]:
    """How many of the paper's chunk texts came out, with their path and below it."""
    first = {id: ids[0] for ids in plan.groups for id in ids}
    counts: Counter[str] = Counter()
    for group, text in zip(entry["gpt_chunks"]["chunks"], entry["chunks"], strict=True):
        own = next((id for id in group if not id.startswith("heading") and id in first), group[-1])
        said = shown.get(first.get(own, ""), "")
        head, _, body = text.partition("\n") if group[0].startswith("heading") else ("", "", text)
        path = " > ".join(dict.fromkeys(head.split(" > ")))
        counts.update(
            texts=1,
            equal_texts=_words(said) == _words(f"{path}\n{body}"),
            equal_bodies=_words(said).endswith(_words(body or path)),
        )
    return counts


def _words(text: str) -> str:
    """A text without marks of headings and paths, emphasis, bars and white space."""
    return " ".join(re.sub(r"[*|]", " ", _MARKS.sub(" ", text)).split())

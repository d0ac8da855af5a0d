"""The invariants of a chunked page, checked before it is called done, whoever planned it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chunker import tokens
from chunker.chunks import assemble
from chunker.cut import Span, header_row
from chunker.model import Chunk, Document, Plan, Unit, show
from chunker.policy import Policy


def verify(
    document: Document, plan: Plan, chunks: Sequence[Chunk], policy: Policy, count: tokens.Counter
) -> tuple[str, ...]:
    """What does not hold, one sentence each; empty where everything does.

    `count` is the embedder's tokenizer, special tokens included.
    """
    return tuple(
        problem
        for check in (
            _ids(document, plan, chunks),
            _verbatim(document, chunks),
            _coverage(document, plan, chunks),
            _sizes(chunks, policy, count),
            _whole(document, chunks, policy, count),
            _identity(chunks),
        )
        for problem in check
    )


def _ids(document: Document, plan: Plan, chunks: Sequence[Chunk]) -> Iterator[str]:
    place = {unit.id: i for i, unit in enumerate(document.units)}
    placed = Counter(id for ids in plan.groups for id in ids)
    placed.update(plan.dropped.keys())
    for id, times in placed.items():
        if id not in place:
            yield f"the plan names {id}, which the document does not have"
        if times > 1:
            yield f"the plan places {id} {times} times"
    for id in place:
        if id not in placed:
            yield f"the plan forgets {id}"
    for id, reason in plan.dropped.items():
        if not reason.strip():
            yield f"{id} is dropped without a reason"
    for chunk in chunks:
        if any(id not in place for id in chunk.unit_ids):
            yield f"chunk {chunk.position} names a unit that the document does not have"
            continue
        places = [place[id] for id in chunk.unit_ids]
        if not places or any(a >= b for a, b in pairwise(places)):
            yield f"ids in chunk {chunk.position} do not go up"


def _verbatim(document: Document, chunks: Sequence[Chunk]) -> Iterator[str]:
    units = {unit.id: unit for unit in document.units}
    for chunk in chunks:
        members = [units[id] for id in chunk.unit_ids if id in units]
        if chunk.text != assemble(document.markdown, chunk.spans, members):
            yield f"the text of chunk {chunk.position} is not a slice of the page"
        if not chunk.text.strip():
            yield f"chunk {chunk.position} has no text"


def _coverage(document: Document, plan: Plan, chunks: Sequence[Chunk]) -> Iterator[str]:
    """Every character of a unit is in one chunk or dropped; headings and header rows repeat."""
    taken = _taken(document.units, sorted(span for chunk in chunks for span in chunk.spans))
    for unit in document.units:
        inside = taken[unit.id]
        header = header_row(document.markdown, unit)
        at = unit.start
        for start, end in inside:
            if unit.id in plan.dropped:
                yield f"{unit.id} is dropped and stands in a chunk"
                break
            if document.markdown[at:start].strip() and start > at:
                yield f"characters {at} to {start} of {unit.id} are in no chunk"
            twice = min(at, end)
            may_repeat = unit.kind == "heading" or (header is not None and twice <= header[1])
            if start < twice and not may_repeat:
                yield f"characters {start} to {twice} of {unit.id} are in two chunks"
            at = max(at, end)
        if unit.id not in plan.dropped and document.markdown[at : unit.end].strip():
            yield f"characters {at} to {unit.end} of {unit.id} are in no chunk"


def _taken(units: Sequence[Unit], spans: Sequence[Span]) -> dict[str, list[Span]]:
    """For each unit the parts of the sorted spans that lie in it, in their order."""
    taken: dict[str, list[Span]] = {unit.id: [] for unit in units}
    ends = [unit.end for unit in units]
    for start, end in spans:
        i = bisect_right(ends, start)
        while i < len(units) and units[i].start < end:
            taken[units[i].id].append((max(start, units[i].start), min(end, units[i].end)))
            i += 1
    return taken


def _sizes(chunks: Sequence[Chunk], policy: Policy, count: tokens.Counter) -> Iterator[str]:
    for chunk in chunks:
        length = count(show(chunk.heading_path, chunk.text))
        if length != chunk.tokens:
            yield f"chunk {chunk.position} says {chunk.tokens} tokens and has {length}"
        if length > policy.max_tokens:
            yield f"chunk {chunk.position} has {length} tokens; at most {policy.max_tokens}"


def _whole(
    document: Document, chunks: Sequence[Chunk], policy: Policy, count: tokens.Counter
) -> Iterator[str]:
    """A unit in several chunks is too large for one; a table's pieces repeat its header row."""
    homes: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        for id in chunk.unit_ids:
            homes.setdefault(id, []).append(chunk)
    for unit in document.units:
        pieces = homes.get(unit.id, [])
        if len(pieces) < 2:
            continue
        text = document.markdown[unit.start : unit.end]
        kept = unit.kind in policy.keep_whole
        most = policy.max_tokens if kept else policy.target_tokens
        if count(show(pieces[-1].heading_path, text)) <= most:
            yield f"{unit.id} would fit in one chunk and is cut"
        header = header_row(document.markdown, unit)
        if header is None or count(document.markdown[slice(*header)]) > most // 4:
            continue
        for chunk in pieces:
            if not any(start <= header[0] and end >= header[1] for start, end in chunk.spans):
                yield f"chunk {chunk.position} has rows of {unit.id} without its header row"


def _identity(chunks: Sequence[Chunk]) -> Iterator[str]:
    if [chunk.position for chunk in chunks] != list(range(len(chunks))):
        yield "positions do not count up from 0"
    if len({chunk.id for chunk in chunks}) < len(chunks):
        yield "two chunks have one id"

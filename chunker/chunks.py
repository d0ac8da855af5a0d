"""Document and plan to chunks: the verbatim text put back by offsets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chunker import cut
from chunker.chunks_path import heading_paths, shortened
from chunker.embedded import embedded
from chunker.model import Chunk, Document, Plan, Unit, show
from chunker.outline import COLONS
from chunker.policy import Policy

Count = Callable[[str], int]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Atom:
    """The smallest thing that a chunk is put together from: a unit, or a part of a large one."""

    unit: Unit
    span: cut.Span
    size: int
    header: cut.Span | None
    """Header row to repeat where the atom is first in a chunk."""
    seam: int
    """How firmly it holds to the atom before it: the lowest is joined first."""


def chunks(document: Document, plan: Plan, policy: Policy, count: Count) -> tuple[Chunk, ...]:
    """The chunks of a page.

    `plan` holds for `document` (see `chunker.repair`); `count` is the embedder's tokenizer,
    special tokens included. No chunk's `shown` is over `policy.max_tokens`: a group that is over
    is taken apart between its units, a unit that is over by itself at its rows, items, sentences.
    """
    units = {unit.id: unit for unit in document.units}
    paths = heading_paths(document, plan.headings) if policy.context == "path" else {}
    found: list[Chunk] = []
    seen: dict[tuple[Path, str], int] = {}
    for group in plan.groups:
        members = [units[id] for id in group]
        above = {
            unit.id: shortened(paths.get(unit.id, ()), policy.max_tokens, count) for unit in members
        }
        for atoms in _fitted(document.markdown, members, above, policy.max_tokens, count):
            path = above[atoms[0].unit.id]
            spans = _spans(document.markdown, atoms)
            text = assemble(document.markdown, spans, members)
            occurrence = seen[path, text] = seen.get((path, text), 0) + 1
            found.append(
                Chunk(
                    id=_chunk_id(document.url, text, path, occurrence),
                    text=text,
                    heading_path=path,
                    unit_ids=tuple(dict.fromkeys(atom.unit.id for atom in atoms)),
                    tokens=count(show(path, text)),
                    position=len(found),
                    spans=spans,
                    embedded=embedded(path, text),
                )
            )
    return tuple(found)


def assemble(markdown: str, spans: Sequence[cut.Span], units: Sequence[Unit]) -> str:
    """Text of `spans`: a blank line between them, or a line end where both lie in one unit."""
    text = ""
    for i, (start, end) in enumerate(spans):
        if i:
            before = spans[i - 1][1] - 1
            inside = any(u.start <= before < u.end and u.start <= start < u.end for u in units)
            text += "\n" if inside else "\n\n"
        text += markdown[start:end]
    return text


def _fitted(
    markdown: str, members: Sequence[Unit], paths: Mapping[str, Path], most: int, count: Count
) -> list[list[_Atom]]:
    """The group's atoms by chunk. The room is made smaller until the exact count fits."""
    room = most - max(count(show(paths[unit.id], "")) for unit in members)
    while True:
        divided = _divided(markdown, members, paths, most, max(room, 1), count)
        over = max(
            count(show(paths[atoms[0].unit.id], _text(markdown, atoms, members))) - most
            for atoms in divided
        )
        if over <= 0 or room <= 1:
            return divided
        room -= over


def _text(markdown: str, atoms: Sequence[_Atom], members: Sequence[Unit]) -> str:
    return assemble(markdown, _spans(markdown, atoms), members)


def _divided(
    markdown: str,
    members: Sequence[Unit],
    paths: Mapping[str, Path],
    most: int,
    room: int,
    count: Count,
) -> list[list[_Atom]]:
    special = count("")

    def size(text: str) -> int:
        return max(count(text) - special, 1)

    atoms: list[_Atom] = []
    for unit in members:
        if count(show(paths[unit.id], markdown[unit.start : unit.end])) <= most:
            atoms.append(
                _Atom(unit, (unit.start, unit.end), size(markdown[unit.start : unit.end]), None, 0)
            )
        else:
            atoms.extend(_atoms(markdown, unit, room, size))
    sizes = [atom.size for atom in atoms]
    headers = {atom.header for atom in atoms if atom.header}
    room -= max((count(markdown[slice(*header)]) for header in headers), default=0)
    if sum(sizes) <= room:
        return [atoms]
    order = sorted(range(1, len(atoms)), key=lambda i: _order(markdown, atoms, i))
    ranges = cut.agglomerate(sizes, order, room)
    return [atoms[start:end] for start, end in ranges]


def _order(markdown: str, atoms: Sequence[_Atom], i: int) -> tuple[int, int, int]:
    """Which boundary is joined first: after a heading, after a lead-in, then the finer seams."""
    before, after = atoms[i - 1], atoms[i]
    if before.unit.kind == "heading" and before.unit is not after.unit:
        return (-9, 0, 0)
    if before.unit is not after.unit and markdown[slice(*before.span)].endswith(COLONS):
        return (-8, 0, 0)
    text = markdown[slice(*after.span)]
    return (-after.seam, *cut.priority(text))


def _atoms(markdown: str, unit: Unit, room: int, size: cut.Size) -> list[_Atom]:
    whole = (unit.start, unit.end)
    header = cut.header_row(markdown, unit)
    header_size = size(markdown[slice(*header)]) if header else 0
    if header is None or header_size > room // 2 or not markdown[header[1] : unit.end].strip():
        return [
            _Atom(unit, part.span, part.size, None, part.seam)
            for part in cut.parts(markdown, unit, whole, room, size)
        ]
    body = (header[1], unit.end)
    rows = cut.parts(markdown, unit, body, room - header_size, size)
    return [_Atom(unit, row.span, row.size, header, row.seam) for row in rows]


def _spans(markdown: str, atoms: Sequence[_Atom]) -> tuple[cut.Span, ...]:
    """Spans of a chunk's text: neighbours with only white space between them are one."""
    spans: list[cut.Span] = []
    for i, atom in enumerate(atoms):
        first = i == 0 or atoms[i - 1].unit is not atom.unit
        for span in (atom.header, atom.span) if atom.header and first else (atom.span,):
            if spans and _adjoin(markdown, spans[-1], span):
                spans[-1] = (spans[-1][0], span[1])
            else:
                spans.append(span)
    return tuple(spans)


def _adjoin(markdown: str, left: cut.Span, right: cut.Span) -> bool:
    return left[1] <= right[0] and not markdown[left[1] : right[0]].strip()


def _chunk_id(url: str, text: str, path: Path, occurrence: int) -> str:
    digest = hashlib.sha256()
    for field in (url, text, *path, str(occurrence)):
        raw = field.encode()
        digest.update(len(raw).to_bytes(8) + raw)
    return digest.hexdigest()[:32]

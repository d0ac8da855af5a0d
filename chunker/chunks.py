"""Document and plan to chunks: the verbatim text put back by offsets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from chunker import cut
from chunker.chunks_path import heading_paths, shortened
from chunker.embedded import embedded
from chunker.model import Chunk, Document, Plan, Unit, show
from chunker.outline import heading_text, leads_in
from chunker.policy import Policy
from chunker.tokens import Counter

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Atom:
    """The smallest thing that a chunk is put together from: a unit, or a part of a large one."""

    unit: Unit
    span: cut.Span
    size: int
    header: cut.Span | None = None
    """Header row to repeat where the atom is first in a chunk."""
    seam: int = 0
    """How firmly it holds to the atom before it: the highest is joined first."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What all groups of a page have in common."""

    markdown: str
    paths: Mapping[str, Path]
    headings: Mapping[str, int]
    """Implied headings, see `Plan.headings`."""
    policy: Policy
    count: Counter

    def raw(self, span: cut.Span) -> str:
        """A slice of the Markdown."""
        return self.markdown[span[0] : span[1]]

    def shown(self, atoms: Sequence[_Atom]) -> str:
        """A chunk of these atoms as a reader sees it."""
        text = assemble(self.markdown, _spans(self.markdown, atoms), [a.unit for a in atoms])
        return show(self.paths[atoms[0].unit.id], text)

    def size(self, text: str) -> int:
        """Tokens that a text adds to a chunk, at least 1."""
        return max(self.count(text) - self.count(""), 1)

    def own_headings(self, atoms: Sequence[_Atom]) -> tuple[str, ...]:
        """Words of the headings among the atoms, marked and implied."""
        return tuple(
            heading_text(self.raw(atom.span))
            for atom in atoms
            if atom.unit.kind == "heading" or atom.unit.id in self.headings
        )

    def most(self, unit: Unit) -> int:
        """Tokens, as shown, from which on a unit is cut."""
        kept = unit.kind in self.policy.keep_whole or unit.kind in ("heading", "image")
        return self.policy.max_tokens if kept else self.policy.target_tokens

    def is_large(self, unit: Unit) -> bool:
        """Whether a unit is cut, though it be alone in its chunk."""
        text = self.markdown[unit.start : unit.end]
        return self.count(show(self.paths[unit.id], text)) > self.most(unit)


def chunks(document: Document, plan: Plan, policy: Policy, count: Counter) -> tuple[Chunk, ...]:
    """The chunks of a page.

    `plan` holds for `document` (see `chunker.repair`); `count` is the embedder's tokenizer,
    special tokens included. No chunk's `shown` is over `policy.max_tokens`: a group that is over
    is taken apart between its units, a unit that is over by itself at its rows, items, sentences.
    """
    units = {unit.id: unit for unit in document.units}
    count = cache(count)
    paths = heading_paths(document, plan) if policy.context == "path" else {}
    above = {id: shortened(paths.get(id, ()), policy.max_tokens, count) for id in units}
    page = _Page(document.markdown, above, plan.headings, policy, count)
    found: list[Chunk] = []
    seen: dict[tuple[Path, str], int] = {}
    for group in plan.groups:
        for atoms in _fitted(page, [units[id] for id in group]):
            path = above[atoms[0].unit.id]
            spans = _spans(document.markdown, atoms)
            text = assemble(document.markdown, spans, [atom.unit for atom in atoms])
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
                    embedded=embedded(path, text, page.own_headings(atoms)),
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


def _fitted(page: _Page, members: Sequence[Unit]) -> list[list[_Atom]]:
    """The group's atoms by chunk. The room is made smaller until the exact count fits."""
    large = [unit for unit in members if page.is_large(unit)]
    together = [_Atom(unit, (unit.start, unit.end), 0) for unit in members]
    if not large and page.count(page.shown(together)) <= page.policy.max_tokens:
        return [together]
    most = min((page.most(unit) for unit in large), default=page.policy.max_tokens)
    path = max(page.count(show(page.paths[unit.id], "")) for unit in members)
    room = max(most - path, most // 2)
    while True:
        divided = _divided(page, members, max(room, 1))
        over = max(page.count(page.shown(atoms)) for atoms in divided) - page.policy.max_tokens
        if over <= 0 or room <= 1:
            return divided
        room -= over


def _divided(page: _Page, members: Sequence[Unit], room: int) -> list[list[_Atom]]:
    atoms = [atom for unit in members for atom in _atoms(page, unit, room)]
    headers = {atom.header for atom in atoms if atom.header}
    room -= max((page.size(page.raw(header)) for header in headers), default=0)
    order = sorted(range(1, len(atoms)), key=lambda i: _order(page, atoms[i - 1], atoms[i]))
    ranges = cut.agglomerate([atom.size for atom in atoms], order, room)
    return [atoms[start:end] for start, end in ranges]


def _order(page: _Page, before: _Atom, after: _Atom) -> tuple[int, int, int]:
    """Which boundary is joined first: after a heading, after a lead-in, then the finer seams."""
    if before.unit is not after.unit:
        if before.unit.kind == "heading" or before.unit.id in page.headings:
            return (-9, 0, 0)
        if leads_in(before.unit, page.raw(before.span)):
            return (-8, 0, 0)
    return (-after.seam, *cut.priority(page.raw(after.span)))


def _atoms(page: _Page, unit: Unit, room: int) -> Iterator[_Atom]:
    """The unit whole where it fits in a chunk of its own, else its parts of at most `room`."""
    whole = (unit.start, unit.end)
    if not page.is_large(unit):
        yield _Atom(unit, whole, page.size(page.raw(whole)))
        return
    header = cut.header_row(page.markdown, unit)
    if header and (
        page.count(page.raw(header)) > page.most(unit) // 4
        or not page.raw((header[1], unit.end)).strip()
    ):
        header = None
    if header:
        whole, room = (header[1], unit.end), max(room - page.size(page.raw(header)), 1)
    for part in cut.parts(page.markdown, unit, whole, room, page.size):
        yield _Atom(unit, part.span, part.size, header, part.seam)


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

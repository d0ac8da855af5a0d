"""Chunkers to hold the product against, each as short as it is usually written.

`sections_*` is the one to beat: sections of the Markdown under their full heading path, small
neighbours under one parent merged, large ones cut. Sizes are o200k_base tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.evaluation import tokens_count
from pipeline.evaluation.methods import Method, Original
from pipeline.evaluation.retrieval_corpus import Piece

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_RULER = re.compile(r"\s*([-*_])(\s*\1){2,}\s*$")
#: A section under this many tokens is taken together with the next under the same parent.
SMALL = 64
#: From the coarsest seam to the finest.
_SEAMS = (r"\n\s*\n", r"\n", r"(?<=[.!?])\s+", r"\s+")


def baseline_methods() -> dict[str, Method]:
    """The baselines by name."""
    return {
        "headers_own": _method(lambda text: _headers(text, full_path=False)),
        "headers_path": _method(lambda text: _headers(text, full_path=True)),
        "sections_256": _method(lambda text: _sections_cut(text, 256)),
        "sections_128": _method(lambda text: _sections_cut(text, 128)),
        "recursive_256": _method(lambda text: (("", part) for part in _cut(text, 256))),
        "fixed_512_64": _method(lambda text: _fixed(text, 512, 64)),
        "fixed_256": _method(lambda text: _fixed(text, 256, 0)),
    }


def _method(split: Callable[[str], Iterator[tuple[str, str]]]) -> Method:
    def method(originals: Sequence[Original]) -> list[Piece]:
        return [
            Piece(path + text, path + text, original.file, len(path))
            for original in originals
            for path, text in split(original.markdown)
        ]

    return method


@dataclass(frozen=True, slots=True)
class Section:
    """A heading's own text, without that of the headings below it."""

    path: tuple[str, ...]
    body: str


def sections(markdown: str) -> list[Section]:
    """The sections of a Markdown text that hold more than their heading."""
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""

    def close() -> None:
        body = "\n".join(lines).strip()
        if any(map(str.isalnum, body)):
            found.append(Section(tuple(text for _, text in path), body))
        lines.clear()

    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading:
            close()
            level = len(heading[1])
            path = [*(above for above in path if above[0] < level), (level, heading[2])]
        elif fence or not _RULER.match(line):
            lines.append(line)
    close()
    return found


def _headers(markdown: str, full_path: bool) -> Iterator[tuple[str, str]]:
    for section in sections(markdown):
        yield _path(section.path if full_path else section.path[-1:]), section.body


def _sections_cut(markdown: str, limit: int) -> Iterator[tuple[str, str]]:
    for group in _merged(sections(markdown)):
        for part in _cut(_joined(group), limit):
            yield _path(_common(group)), part


def _merged(found: list[Section]) -> Iterator[list[Section]]:
    """Neighbours under one parent, taken together until they are no longer small."""
    group: list[Section] = []
    for section in found:
        siblings = bool(group) and group[0].path[:-1] == section.path[:-1]
        if siblings and tokens_count.count(_joined(group)) < SMALL:
            group = [*group, section]
        else:
            if group:
                yield group
            group = [section]
    if group:
        yield group


def _common(group: list[Section]) -> tuple[str, ...]:
    return group[0].path if len(group) == 1 else group[0].path[:-1]


def _joined(group: list[Section]) -> str:
    if len(group) == 1:
        return group[0].body
    return "\n\n".join("\n".join((*section.path[-1:], section.body)) for section in group)


def _path(path: tuple[str, ...]) -> str:
    return " > ".join(path) + "\n\n" if path else ""


def _cut(text: str, limit: int) -> list[str]:
    """Pieces of at most `limit` tokens, cut at the coarsest seam that will do."""
    return [piece.strip() for piece in _cut_at(text, limit, _SEAMS) if piece.strip()]


def _cut_at(text: str, limit: int, seams: tuple[str, ...]) -> list[str]:
    if tokens_count.count(text) <= limit or not seams:
        return [text]
    ends = [match.end() for match in re.finditer(seams[0], text)]
    parts = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    pieces: list[str] = []
    for part in parts:
        if pieces and tokens_count.count(pieces[-1] + part) <= limit:
            pieces[-1] += part
        else:
            pieces.append(part)
    return [small for piece in pieces for small in _cut_at(piece, limit, seams[1:])]


def _fixed(text: str, size: int, overlap: int) -> Iterator[tuple[str, str]]:
    for window in tokens_count.windows(text, size, overlap):
        yield "", window

"""The paper's own chunks, read from the benchmark's `reference/` folder.

`paper_agentic`: chunks that a model wrote. `paper_wrac`: chunks that a model's plans over unit ids
gave. `paper_wrac_restored`: the same, with the text that those plans left out put back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError
from pipeline.evaluation.methods import Method, Original
from pipeline.evaluation.retrieval_corpus import Piece, read_lines

_SEPARATOR = " > "

#: File name to the entry of a reference file.
Entries = Mapping[str, Mapping[str, Any]]


def reference_methods(directory: Path) -> dict[str, Method]:
    """The methods whose files are in the folder's `reference/`."""
    agentic = agentic_entries(directory)
    planned = planned_entries(directory)
    methods: dict[str, Method] = {}
    if agentic:
        methods["paper_agentic"] = _from_entries(agentic, _agentic)
    if planned:
        methods["paper_wrac"] = _from_entries(planned, _planned)
        methods["paper_wrac_restored"] = _from_entries(planned, _restored)
    return methods


def agentic_entries(directory: Path) -> Entries:
    """Entries of `reference/agentic_*.jsonl` by file name without its ending."""
    return {
        Path(row["file_name"]).stem: row
        for path in sorted((directory / "reference").glob("agentic_*.jsonl"))
        for _, row in read_lines(path)
    }


def planned_entries(directory: Path) -> Entries:
    """Entries of `reference/wrac_*.json` by file name without its ending."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted((directory / "reference").glob("wrac_*.json")):
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {error}") from error
        found.update({Path(row["filename"]).stem: row for row in rows})
    return found


def _from_entries(entries: Entries, pieces: Any) -> Method:
    def method(originals: Sequence[Original]) -> list[Piece]:
        return [
            piece
            for original in originals
            if original.file in entries
            for piece in pieces(original.file, entries[original.file])
        ]

    return method


def _agentic(file: str, entry: Mapping[str, Any]) -> Iterator[Piece]:
    """The model wrote `title > section > text` on one line."""
    for text in entry["chunks"]:
        first, _, _ = text.partition("\n")
        yield Piece(text, text, file, _end_of_path(first))


def _end_of_path(line: str) -> int:
    at = line.rfind(_SEPARATOR)
    return at + len(_SEPARATOR) if at >= 0 else 0


def _planned(file: str, entry: Mapping[str, Any]) -> Iterator[Piece]:
    """The first line of a chunk is the path, where its plan named headings."""
    for group, text in zip(entry["gpt_chunks"]["chunks"], entry["chunks"], strict=True):
        first, newline, _ = text.partition("\n")
        has_path = any(unit.startswith("heading") for unit in group)
        yield Piece(text, text, file, len(first + newline) if has_path else 0)


def _restored(file: str, entry: Mapping[str, Any]) -> Iterator[Piece]:
    """Each run of left out text becomes a chunk under the title and the heading above it."""
    yield from _planned(file, entry)
    planned = {unit for group in entry["gpt_chunks"]["chunks"] for unit in group}
    title = heading = ""
    run: list[str] = []
    for unit in [*entry["structure_map_output"], {"id": "heading", "text": ""}]:
        is_heading = unit["id"].startswith("heading")
        if run and (is_heading or unit["id"] in planned):
            path = _SEPARATOR.join(dict.fromkeys(part for part in (title, heading) if part))
            shown = path + "\n" + "\n".join(run) if path else "\n".join(run)
            yield Piece(shown, shown, file, len(path) + 1 if path else 0)
            run = []
        if is_heading:
            heading = unit["text"]
            title = title or heading
        elif unit["id"] not in planned and any(map(str.isalnum, unit["text"])):
            run.append(unit["text"])

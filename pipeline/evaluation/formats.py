"""One document in several formats: do they all come to the same units?

A folder as `rag-multi-corpus` has it: `datasets/<organisation>/{md,html,docx,pptx,pdf}/`. The
Markdown is the original; definitions in docs/parsing.md.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.table import Table

import chunker
from chunker.errors import TerminalError
from chunker.model import Document
from chunker.plain import plain

FORMATS = ("html", "docx", "pptx", "pdf")

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Score:
    """One document in one format, held against its Markdown."""

    file: str
    f1: float
    headings: bool
    levels: bool
    milliseconds: float
    error: str = ""


def evaluate(directory: Path) -> dict[str, Any]:
    """Scores by format: `{formats: {NAME: {files, f1, headings_agree, ...}}}`.

    `f1`: word-level F1 of the text of the units, mean over documents. `headings_agree`: share of
    documents whose headings have the same words in the same order; `levels_agree`: and the same
    depths. `worst` are the lowest five. Raises `FileNotFoundError` where there is nothing to read.
    """
    originals = dict(_originals(directory))
    if not originals:
        raise FileNotFoundError(f"no datasets/*/md/*.md in {directory}")
    return {"formats": {name: _summary(_scores(originals, name)) for name in FORMATS}}


def table(result: Mapping[str, Any]) -> Table:
    """The result for a terminal."""
    shown = Table("format", "files", "F1", "headings agree", "levels agree", "failed", "ms")
    for name, row in result["formats"].items():
        shown.add_row(
            name,
            str(row["files"]),
            f"{row['f1']:.3f}",
            f"{row['headings_agree']:.3f}",
            f"{row['levels_agree']:.3f}",
            str(len(row["failed"])),
            f"{row['ms_median']:.0f}",
        )
    return shown


def word_f1(found: str, wanted: str) -> float:
    """Word-level F1 of two texts, as multisets of lower-case words."""
    have, want = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(wanted.lower()))
    if not have and not want:
        return 1.0
    return 2 * (have & want).total() / (have.total() + want.total())


def _originals(directory: Path) -> Iterator[tuple[Path, Document]]:
    for path in sorted(directory.glob("datasets/*/md/*.md")):
        yield path, chunker.parse(path.read_bytes(), path.name)


def _scores(originals: Mapping[Path, Document], name: str) -> Iterator[Score]:
    for path, original in originals.items():
        other = path.parent.parent / name / f"{path.stem}.{name}"
        if other.exists():
            yield _score(other, original)


def _score(path: Path, original: Document) -> Score:
    body = path.read_bytes()
    begin = time.process_time()
    try:
        document = chunker.parse(body, path.name)
    except TerminalError as error:
        return Score(path.name, 0.0, False, False, 0.0, str(error))
    spent = (time.process_time() - begin) * 1000
    found, wanted = _headings(document), _headings(original)
    same = [text for text, _ in found] == [text for text, _ in wanted]
    return Score(
        path.name,
        word_f1(_text(document), _text(original)),
        same,
        found == wanted,
        spent,
    )


def _summary(scores: Iterator[Score]) -> dict[str, Any]:
    rows = list(scores)
    if not rows:
        return {"files": 0, "f1": 0.0, "headings_agree": 0.0, "levels_agree": 0.0}
    worst = sorted(rows, key=lambda row: (row.f1, row.file))[:5]
    return {
        "files": len(rows),
        "f1": round(fmean(row.f1 for row in rows), 4),
        "headings_agree": round(fmean(row.headings for row in rows), 4),
        "levels_agree": round(fmean(row.levels for row in rows), 4),
        "ms_median": round(median(row.milliseconds for row in rows), 1),
        "failed": {row.file: row.error for row in rows if row.error},
        "worst": {row.file: round(row.f1, 4) for row in worst},
    }


def _text(document: Document) -> str:
    return "\n".join(plain(document.markdown[unit.start : unit.end]) for unit in document.units)


def _headings(document: Document) -> list[tuple[str, int | None]]:
    """Words and depth of each heading."""
    return [
        (
            " ".join(_WORD.findall(plain(document.markdown[unit.start : unit.end]).lower())),
            unit.depth,
        )
        for unit in document.units
        if unit.kind == "heading"
    ]

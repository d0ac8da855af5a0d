"""What a retrieval evaluation reads: organisations, their documents, and questions with facts.

The folder's form is `datasets/<organisation>/{md,html,docx,pdf,pptx}/`, `queries.jsonl` and, for
the paper's rows, `reference/`. Any folder of this form will do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    organisation: str
    type: str
    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Organisation:
    """One source of the benchmark."""

    name: str
    documents: Mapping[str, str]
    """Markdown by file name without its ending; the judge's weights and `unplaced` rest on it."""
    questions: tuple[Question, ...]
    """Empty where the organisation is there for distraction only."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk under test."""

    shown: str
    """What a reader gets, heading path included; what is judged and counted."""
    embedded: str
    """What the embedder reads."""
    file: str
    """File name without its ending."""
    path_length: int = 0
    """Characters of `shown` that its heading path takes, before the text itself."""
    lang: str = ""
    """The document's language, where it says."""

    @property
    def body(self) -> str:
        """`shown` without the heading path."""
        return self.shown[self.path_length :]


def load(directory: Path) -> list[Organisation]:
    """The organisations of a benchmark folder, by name. Raises `UsageError` if it is none."""
    datasets = directory / "datasets"
    if not datasets.is_dir():
        raise UsageError(
            f"{directory} has no folder datasets/",
            "docs/evaluation.md shows the folder that wrac eval reads",
        )
    questions = list(_questions(directory / "queries.jsonl"))
    folders = sorted(path for path in datasets.iterdir() if path.is_dir())
    missing = {q.organisation for q in questions} - {path.name for path in folders}
    if missing:
        raise UsageError(
            f"queries.jsonl asks about {', '.join(sorted(missing))}, and there is no such folder "
            f"in {datasets}"
        )
    return [
        Organisation(
            folder.name,
            {path.stem: path.read_text(encoding="utf-8") for path in files(folder, "md")},
            tuple(q for q in questions if q.organisation == folder.name),
        )
        for folder in folders
    ]


def files(folder: Path, ending: str) -> list[Path]:
    """The organisation's documents in one format, by name."""
    return sorted((folder / ending).glob(f"*.{ending}"))


def _questions(path: Path) -> Iterator[Question]:
    for number, row in read_lines(path):
        try:
            yield Question(
                row["organisation"],
                row.get("type", ""),
                row["query"],
                tuple(fact["text"] for fact in row["facts"]),
            )
        except (KeyError, TypeError) as error:
            raise UsageError(
                f"{path}, line {number}: {error} is missing or of the wrong kind"
            ) from error


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a JSON Lines file with their line numbers. Raises `UsageError`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise UsageError(f"{path}, line {number} is not JSON: {error}") from error

"""Headings that are not marked as such, and levels where those that are marked say nothing.

Bold lines are taken for headings by rule; short plain lines by a small model over features of the
outline (`structural_features`, trained by `structural_training`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chunker.chunks_path import says
from chunker.model import Outline, OutlineRow
from planner_serving.structural_features import is_marked, line_features, score

WEIGHTS = Path(__file__).parent / "data" / "headings.json"
#: Probability from which on a plain line is taken for a heading.
THRESHOLD = 0.35
#: The same on a page that has a heading or two: most of its other short lines are none.
THRESHOLD_MARKED = 0.8
#: Plain lines are looked at only where no larger share of a page's units is set apart as heading.
BARE_SHARE = 0.02
#: How sure it is that a line which is bold from end to end is a heading.
EMPHASISED = 0.9
#: Longest text, in words, that a bold line may have to be one.
EMPHASISED_WORDS = 14


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page, as the planner sees it."""

    level: int
    marked: bool
    """The document has it as a heading, too."""
    confidence: float
    """0 to 1."""


@cache
def weights() -> Mapping[str, float]:
    """Weight of each feature, as trained."""
    loaded: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return loaded


def forms(rows: Sequence[OutlineRow]) -> list[float | None]:
    """How much each short unmarked line has the form of a heading, 0 to 1; None for other rows."""
    learned = weights()
    return [score(line, learned) if line is not None else None for line in line_features(rows)]


def headings(
    outline: Outline, rows: Sequence[OutlineRow], form: Sequence[float | None] | None = None
) -> dict[str, Heading]:
    """All headings among `rows` (those of the outline that are kept), marked and implied.

    `form`: what `forms` says of the rows, where the caller has it already.
    """
    sure = _confidences(rows, form)
    levels = _levels(outline, rows, sure)
    marked = {row.id for row in rows if row.level is not None}
    return {
        id: Heading(level, id in marked, sure[id] if id not in marked or outline.clear else 0.5)
        for id, level in levels.items()
    }


def _confidences(
    rows: Sequence[OutlineRow], form: Sequence[float | None] | None
) -> dict[str, float]:
    """The rows that are headings, with how sure that is."""
    sure: dict[str, float] = {}
    marked = sum(map(is_marked, rows))
    threshold = THRESHOLD if not marked else THRESHOLD_MARKED
    bare = marked <= max(1, len(rows) * BARE_SHARE)
    lines = (form or forms(rows)) if bare else [None] * len(rows)
    for i, (row, probability) in enumerate(zip(rows, lines, strict=True)):
        if row.level is not None:
            sure[row.id] = 1.0
        elif row.emphasised and row.text is not None:
            if i + 1 < len(rows) and len(row.text.split()) <= EMPHASISED_WORDS:
                sure[row.id] = EMPHASISED
        elif (
            probability is not None
            and probability >= threshold
            and not (row.text or "").endswith(":")
        ):
            sure[row.id] = probability
    return sure


def _levels(
    outline: Outline, rows: Sequence[OutlineRow], sure: Mapping[str, float]
) -> dict[str, int]:
    """Levels of the headings: as marked, and by place and form where marks say nothing.

    A page whose headings are all of one level, or of levels that contradict each other, has them
    all under its first line, if that is one of them. An implied heading stands one level below
    the marked one above it, steps and questions one below the line that opens their series.
    """
    marked = [row.level for row in rows if row.level is not None]
    believed = bool(marked) and outline.clear and (len(set(marked)) > 1 or len(marked) < 3)
    base = 0
    levels: dict[str, int] = {}
    series = _Series()
    for i, row in enumerate(rows):
        if row.id not in sure:
            series.body(row)
            continue
        if row.level is not None and believed:
            levels[row.id] = base = row.level
            series = _Series()
        elif i == 0 and not believed and _is_title(outline, row):
            levels[row.id] = base = 1
        else:
            levels[row.id] = min(base + 1 + series.heading(row), 6)
    return levels


def _is_title(outline: Outline, row: OutlineRow) -> bool:
    return not outline.title or not outline.clear or says(row.text or "", outline.title)


class _Series:
    """Whether a heading is one of a series (steps, questions) below the heading that opens it."""

    def __init__(self) -> None:
        self._between: int | None = None
        """Rows since a heading that may open a series; None where there is none."""
        self._running = False

    def body(self, row: OutlineRow) -> None:
        """A row that is no heading."""
        if self._between is not None:
            self._between += 1 if row.size < 30 else 2

    def heading(self, row: OutlineRow) -> int:
        """1 for a heading in a series, else 0."""
        serial = row.steps or (row.text or "").endswith("?")
        if not serial:
            self._between, self._running = 0, False
            return 0
        self._running = self._running or (self._between is not None and self._between <= 1)
        self._between = None
        return int(self._running)

"""How likely it is that the structural planner is right about a row, from named features.

Rows fall into classes by what the planner makes of them; each class has a small logistic
regression of its own over the features that matter there. `data/confidence.json` has a weight for
each class and name; `benchmarks/calibrate.py` makes them, from documents whose structure is known
and from plans that a large model made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from chunker.model import Outline, OutlineRow
from planner_serving.structural_features import Features, is_marked, score
from planner_serving.structural_headings import Heading

WEIGHTS: Final = Path(__file__).parent / "data" / "confidence.json"

#: `marked`, `bold` and `plain`: a heading by its mark, its typography, its form. `left`: a short
#: line that was taken for none. `body`: any other unit; right where a chunk may begin with it.
Class = Literal["marked", "bold", "plain", "left", "body"]

#: Tokens between two headings from which on a run has none that it should have.
LONG_RUN: Final = 400
#: Neighbouring lines that are looked at for whether they are treated alike.
NEAR: Final = 4
_LARGE: Final = 512


@cache
def confidence_weights() -> Mapping[str, Mapping[str, float]]:
    """Weight of each feature in each class, as calibrated."""
    loaded: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return loaded


def confidences(
    outline: Outline,
    rows: Sequence[OutlineRow],
    found: Mapping[str, Heading],
    form: Sequence[float | None],
) -> dict[str, float]:
    """For each row, by id, the probability that the planner is right about it.

    `rows` are those of `outline` that are kept, `found` the headings among them, `form` what
    `structural_headings.forms` says of them.
    """
    learned = confidence_weights()
    return {
        row.id: score(features, learned[name])
        for row, (name, features) in zip(rows, classified(outline, rows, found, form), strict=True)
    }


def classified(
    outline: Outline,
    rows: Sequence[OutlineRow],
    found: Mapping[str, Heading],
    form: Sequence[float | None],
) -> Iterator[tuple[Class, Features]]:
    """Class and features of each row."""
    page = _page(outline, rows, found)
    below = _below(rows)
    lines = [i for i, row in enumerate(rows) if row.text is not None]
    place = {i: n for n, i in enumerate(lines)}
    run = 0
    previous: Heading | None = None
    for i, row in enumerate(rows):
        heading = found.get(row.id)
        features: dict[str, float] = {
            "bias": 1.0,
            **page,
            "first": i == 0,
            "lead_in": row.lead_in,
            "steps": row.steps,
            "run": math.log1p(run) / 6,
            "long_run": run > LONG_RUN,
        }
        if row.text is not None:
            near = lines[max(place[i] - NEAR, 0) : place[i] + NEAR + 1]
            features |= {
                "words": min(len(row.text.split()), 16) / 16,
                "empty": below[i] == 0,
                "oversize": below[i] > _LARGE,
                "mixed": _mixed(heading is not None, near, rows, found),
                "form": _logit(form[i]),
            }
            if heading is not None and previous is not None:
                features["skips"] = heading.level > previous.level + 1
                features["deeper"] = heading.level > previous.level
        else:
            features |= {
                "size": math.log1p(row.size) / 6,
                "list": row.kind == "list",
                "block": row.kind in ("table", "code"),
                "after_lead_in": i > 0 and rows[i - 1].lead_in,
                "after_heading": i > 0 and rows[i - 1].id in found,
                "as_before": i > 0 and rows[i - 1].kind == row.kind,
            }
        yield _class(row, heading), features
        previous = heading or previous
        run = 0 if heading is not None else run + row.size


def _class(row: OutlineRow, heading: Heading | None) -> Class:
    if row.text is None:
        return "body"
    if heading is None:
        return "left"
    if heading.marked:
        return "marked"
    return "bold" if row.emphasised else "plain"


def _page(
    outline: Outline, rows: Sequence[OutlineRow], found: Mapping[str, Heading]
) -> dict[str, float]:
    """What all rows of a page have in common."""
    marked = [row.level for row in rows if row.level is not None]
    lines = sum(row.text is not None for row in rows)
    total = sum(row.size for row in rows)
    return {
        "unclear": not outline.clear,
        "one_level": len(marked) > 2 and len(set(marked)) == 1,
        "unmarked": not marked,
        "bare": not any(map(is_marked, rows)),
        "skipping": sum(b > a + 1 for a, b in pairwise(marked)) / max(len(marked), 1),
        "taken": len(found) / max(lines, 1),
        "sparse": math.log1p(total / (len(found) + 1)) / 6,
    }


def _below(rows: Sequence[OutlineRow]) -> list[int]:
    """Tokens that follow each row up to the next line."""
    below = [0] * len(rows)
    size = 0
    for i in range(len(rows) - 1, -1, -1):
        below[i] = size
        size = 0 if rows[i].text is not None else size + rows[i].size
    return below


def _mixed(
    taken: bool, near: Sequence[int], rows: Sequence[OutlineRow], found: Mapping[str, Heading]
) -> float:
    """Share of the neighbouring lines that are treated otherwise than this one."""
    unlike = sum((rows[j].id in found) is not taken for j in near)
    return unlike / max(len(near) - 1, 1)


def _logit(p: float | None) -> float:
    """Between -1 and 1, 0 where nothing is known."""
    if p is None:
        return 0.0
    return max(-6.0, min(6.0, math.log(max(p, 1e-9) / max(1 - p, 1e-9)))) / 6

"""Trains the weights of `structural_headings` on documents whose headings are known.

    python -m planner_serving.structural_training FOLDER FOLDER...

Each folder holds the Markdown documents of one organisation. Their headings are made into plain
lines (and their lists and tables into bare paragraphs), which the model has to find again. Prints
F1 on each folder for a model trained on the others, then trains on all and writes the weights.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunker.model import Unit
from chunker.outline import heading_text, outline
from chunker.parse import parse
from chunker.plain import plain
from chunker.policy import Policy
from planner_serving.structural_features import Features, line_features
from planner_serving.structural_headings import THRESHOLD, WEIGHTS

#: How the documents' structure is taken away.
VARIANTS = ("plain", "bare")
RIDGE = 3.0

_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d+[.)])[ \t])")
_RULER = re.compile(r"[\s|:\-]+")
_MARK = re.compile(r"^(?:(?=[-*+#>])|(\d+)(?=[.)]))")

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One short line, and whether it is a heading."""

    folder: str
    variant: str
    features: Features
    heading: bool


def examples(folder: Path) -> Iterator[Example]:
    """All short lines of a folder's documents, in every variant."""
    for path in sorted(folder.glob("*.md")):
        for variant in VARIANTS:
            body, wanted = flattened(path.read_bytes(), path.name, variant)
            document = parse(body.encode(), path.name, "text/markdown")
            waiting = list(wanted)
            found = line_features(outline(document, Policy()).rows)
            for unit, features in zip(document.units, found, strict=True):
                text = heading_text(document.markdown[unit.start : unit.end])
                heading = bool(waiting) and text == waiting[0]
                if heading:
                    waiting.pop(0)
                if features is not None:
                    yield Example(str(folder), variant, features, heading)


def flattened(body: bytes, name: str, variant: str) -> tuple[str, list[str]]:
    """A document without marked headings, and the texts of those that are now plain lines."""
    document = parse(body, name, "text/markdown")
    separator = random.Random(f"{name} {variant}").choice([" ", " | ", ", "])
    blocks: list[str] = []
    wanted: list[str] = []
    for unit in document.units:
        raw = document.markdown[unit.start : unit.end]
        text = heading_text(raw)
        if unit.kind != "heading":
            blocks.extend(_bare(unit, raw, separator) if variant == "bare" else [raw])
        else:
            line = _sentence_case(text) if variant == "bare" else text
            blocks.append(_escaped(line))
            wanted.append(line)
    return "\n\n".join(blocks), wanted


def _bare(unit: Unit, raw: str, separator: str) -> Iterator[str]:
    if unit.kind == "list":
        pieces = [" ".join(plain(item).split()) for item in _ITEM.split(raw)]
    elif unit.kind == "table":
        rows = (row.strip().strip("|") for row in raw.split("\n") if not _RULER.fullmatch(row))
        pieces = [separator.join(" ".join(plain(c).split()) for c in r.split("|")) for r in rows]
    elif unit.kind == "code":
        yield raw
        return
    else:
        pieces = [" ".join(plain(raw).split())]
    yield from (_escaped(piece) for piece in pieces if piece)


def _sentence_case(text: str) -> str:
    first, *rest = text.split() or [""]
    kept = (w if (w.isupper() and len(w) > 1) or re.search(r"\d", w) else w.lower() for w in rest)
    return " ".join([first[:1].upper() + first[1:], *kept])


def _escaped(text: str) -> str:
    return _MARK.sub(r"\1\\", text)


def matrix(some: Sequence[Example], names: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Features and answers of examples."""
    x = np.array([[example.features.get(name, 0.0) for name in names] for example in some])
    return x, np.array([float(example.heading) for example in some])


def fit(x: Matrix, y: Matrix) -> Matrix:
    """Weights of a ridge-penalised logistic regression, by Newton's method."""
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (p - y) + RIDGE * w
        curve = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curve, slope)
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    return w


def report(train: Sequence[Example], test: Sequence[Example], names: Sequence[str]) -> None:
    """Print how well weights from `train` find the headings of `test`, by variant."""
    w = fit(*matrix(train, names))
    for variant in VARIANTS:
        x, y = matrix([e for e in test if e.variant == variant], names)
        taken = 1.0 / (1.0 + np.exp(-x @ w)) >= THRESHOLD
        right = float((taken & (y == 1)).sum())
        line = f"{test[0].folder}: {variant:13s} {len(y):5d} lines, {int(y.sum()):4d} headings"
        f1 = 2 * right / max(float(taken.sum() + y.sum()), 1.0)
        print(f"{line}, {int(taken.sum()):4d} taken, F1 {f1:.3f}")


def main(folders: Sequence[str]) -> None:
    """See the module."""
    found = {folder: list(examples(Path(folder))) for folder in folders}
    every = [example for some in found.values() for example in some]
    names = sorted({name for example in every for name in example.features})
    for folder, test in found.items():
        report([e for other, some in found.items() if other != folder for e in some], test, names)
    w = fit(*matrix(every, names))
    trained = {name: round(float(weight), 3) for name, weight in zip(names, w, strict=True)}
    WEIGHTS.write_text(json.dumps(trained, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

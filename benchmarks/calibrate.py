"""Calibrates the structural planner's confidences, and says how true they are.

    python -m benchmarks.calibrate DIR [--write]

DIR is a folder of the benchmark's form with `reference/wrac_*.json`. The planner runs on its
documents as they are, `flattened` and `flattened-h`, with heading weights trained on the other
organisations. It is right about a heading that the original has (a marked one: under the same
heading as there) or where the reference's plan begins a group; about a short line taken for none
that is none; about body text at which it cuts for size where the reference's plan begins a group
with it. Prints for each organisation how calibrated weights from the others are; `--write` trains
on all and writes them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from chunker import parse
from chunker.model import Document, Outline
from chunker.outline import outline
from chunker.policy import Policy
from pipeline.evaluation.flatten import flattened, flattened_h
from pipeline.evaluation.methods_reference import Entries, planned_entries
from pipeline.evaluation.retrieval_corpus import load
from planner_serving import structural_headings, structural_training
from planner_serving.structural import grouped, kept
from planner_serving.structural_confidence import WEIGHTS, classified
from planner_serving.structural_features import Features, score
from planner_serving.structural_headings import forms, headings
from planner_serving.structural_seams import Tree

FORMS = {"md": lambda name, text: text, "flattened": flattened, "flattened-h": flattened_h}
#: Characters, letters and digits alone, by which a unit of the reference is known again.
KNOWN = 40
BINS = 10


@dataclass(frozen=True, slots=True)
class Example:
    """One row of a document, and whether the planner was right about it."""

    organisation: str
    form: str
    name: str
    features: Features
    right: bool


def key(text: str) -> str:
    """What is left of a text whatever marks were taken away."""
    return "".join(re.findall(r"\w+", text.casefold()))[:KNOWN]


def parents(view: Outline, found: Mapping[str, int], document: Document) -> dict[str, str]:
    """For each heading, by its key, that of the heading it stands under."""
    text = {unit.id: document.markdown[unit.start : unit.end] for unit in document.units}
    above: list[tuple[int, str]] = []
    under: dict[str, str] = {}
    for row in view.rows:
        if row.id not in found:
            continue
        while above and above[-1][0] >= found[row.id]:
            above.pop()
        own = key(text[row.id])
        under.setdefault(own, above[-1][1] if above else "")
        above.append((found[row.id], own))
    return under


def group_starts(entry: Mapping[str, object]) -> set[str]:
    """Keys of the units with which the reference's groups begin, context left out."""
    texts = {unit["id"]: unit["text"] for unit in entry["structure_map_output"]}  # type: ignore[attr-defined]
    seen: set[str] = set()
    starts: set[str] = set()
    for group in entry["gpt_chunks"]["chunks"]:  # type: ignore[index]
        new = [id for id in group if id not in seen and id in texts]
        if new:
            starts.add(key(texts[new[0]]))
        seen.update(group)
    return starts - {""}


def examples(directory: Path, organisation: str, entries: Entries) -> Iterator[Example]:
    """All rows of an organisation's documents, in every form."""
    documents = next(o for o in load(directory) if o.name == organisation).documents
    for file, markdown in documents.items():
        url = f"file:///{file}.md"
        original = parse(markdown.encode(), url, "text/markdown")
        wanted = outline(original, Policy())
        levels = {row.id: row.level for row in wanted.rows if row.level is not None}
        true = parents(wanted, levels, original)
        starts = group_starts(entries[file]) if file in entries else set()
        for form, make in FORMS.items():
            text = make(f"{organisation}/{file}", markdown)
            document = parse(text.encode(), url, "text/markdown")
            yield from _rows(organisation, form, document, true, starts)


def _rows(
    organisation: str, form: str, document: Document, true: Mapping[str, str], starts: set[str]
) -> Iterator[Example]:
    view = outline(document, Policy())
    rows = kept(view, Policy())
    form = forms(rows)
    found = headings(view, rows, form)
    here = parents(view, {id: h.level for id, h in found.items()}, document)
    keys = {u.id: key(document.markdown[u.start : u.end]) for u in document.units}
    present = set(keys.values())
    tree = Tree({id: heading.level for id, heading in found.items()})
    begins = {group[0] for group in grouped(rows, tree, Policy())}
    for row, (name, features) in zip(rows, classified(view, rows, found, form), strict=True):
        own = keys[row.id]
        if name == "left":
            right = own not in true
        elif name == "body":
            if not starts or row.id not in begins:
                continue
            right = own in starts
        else:
            right = own in true or own in starts
            if name == "marked" and own in true:
                right = _is_placed(own, here, true, present)
        yield Example(organisation, form, name, features, right)


def _is_placed(
    own: str, here: Mapping[str, str], true: Mapping[str, str], present: set[str]
) -> bool:
    """Whether a heading stands where it does in the original, as far as that is still there."""
    wanted = true[own]
    while wanted and wanted not in present:
        wanted = true[wanted]
    return here[own] == wanted


@contextmanager
def heading_weights(trained: Mapping[str, float]) -> Iterator[None]:
    """The structural planner with other weights than its own."""
    with patch.object(structural_headings, "weights", lambda: trained):
        yield


def folds(directory: Path) -> dict[str, dict[str, float]]:
    """Heading weights for each organisation, trained on the others."""
    folders = {o.name: directory / "datasets" / o.name / "md" for o in load(directory)}
    lines = {name: list(structural_training.examples(path)) for name, path in folders.items()}
    found: dict[str, dict[str, float]] = {}
    for name in folders:
        others = [line for other, some in lines.items() if other != name for line in some]
        names = sorted({feature for line in others for feature in line.features})
        fitted = structural_training.fit(*structural_training.matrix(others, names))
        found[name] = dict(zip(names, map(float, fitted), strict=True))
    return found


def out_of_fold(directory: Path) -> list[Example]:
    """Examples of every organisation, with heading weights from the others."""
    entries = planned_entries(directory)
    found: list[Example] = []
    for name, weights in folds(directory).items():
        with heading_weights(weights):
            found.extend(examples(directory, name, entries))
    return found


def trained(some: Sequence[Example]) -> dict[str, dict[str, float]]:
    """Weights of each class."""
    weights: dict[str, dict[str, float]] = {}
    for name in sorted({example.name for example in some}):
        rows = [example for example in some if example.name == name]
        names = sorted({feature for row in rows for feature in row.features})
        x = np.array([[row.features.get(feature, 0.0) for feature in names] for row in rows])
        w = structural_training.fit(x, np.array([float(row.right) for row in rows]))
        weights[name] = {n: round(float(v), 3) for n, v in zip(names, w, strict=True)}
    return weights


def report(title: str, some: Sequence[Example], weights: Mapping[str, Mapping[str, float]]) -> None:
    """Brier score against that of the class's mean, and the expected calibration error."""
    for name in sorted({example.name for example in some}):
        rows = [example for example in some if example.name == name]
        p = np.array([score(row.features, weights[name]) for row in rows])
        y = np.array([float(row.right) for row in rows])
        error = 0.0
        for low in np.arange(BINS) / BINS:
            inside = (p >= low) & (p < low + 1 / BINS + (low > 0.85))
            if inside.any():
                error += inside.sum() * abs(p[inside].mean() - y[inside].mean())
        print(
            f"| {title} | {name} | {len(y)} | {y.mean():.3f} | {p.mean():.3f} "
            f"| {((p - y) ** 2).mean():.3f} | {y.var():.3f} | {error / len(y):.3f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = out_of_fold(given.directory)
    print("| held out | class | rows | right | said | Brier | of the mean | calibration error |")
    print("|---|---|---|---|---|---|---|---|")
    for name in sorted({example.organisation for example in found}):
        others = [example for example in found if example.organisation != name]
        report(name, [e for e in found if e.organisation == name], trained(others))
    if given.write:
        text = json.dumps(trained(found), indent=1, sort_keys=True)
        WEIGHTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

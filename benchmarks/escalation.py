"""What escalation is worth: share of pages and lines that go to a model, against what comes of it.

    python -m benchmarks.escalation DIR [--forms flattened flattened-h] [--retrieval]

No model runs here. An oracle stands for one: it answers from the original's headings, once without
fault and once with one symbol in sixteen wrong, which is how a model of 1.5 billion parameters did
in the trial (docs/planning.md). Heading weights and confidences are those of the other
organisations. `--retrieval` asks the benchmark's questions as well.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from benchmarks.calibrate import FORMS, Example, heading_weights, key, out_of_fold, trained
from benchmarks.calibrate import folds as heading_folds
from chunker import parse
from chunker.chunks import chunks
from chunker.model import Document
from chunker.outline import heading_text, outline
from chunker.policy import Policy
from chunker.tokens import count
from pipeline.evaluation import retrieval
from pipeline.evaluation.retrieval_corpus import load
from planner_serving import structural_confidence
from planner_serving.model_planner import ModelPlanner
from planner_serving.ports import Completion, Prompt
from planner_serving.prompt import harmless

THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
WRONG = 1 / 16


@dataclass
class Oracle:
    """A stand-in for a model, that knows the headings of the original. Not a model."""

    headings: Mapping[str, int]
    wrong: float
    identity: str = "oracle"
    lines: int = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion | Exception]:
        answers: list[Completion | Exception] = []
        for prompt in prompts:
            asked = [line.split(" ", 3) for line in prompt.body.split("\n") if line[:1].isdigit()]
            self.lines += len(asked)
            said = "".join(self._symbol(line[3] if len(line) > 3 else "") for line in asked)
            answers.append(Completion(said, 0, 0, len(said), True))
        return answers

    def _symbol(self, words: str) -> str:
        level = self.headings.get(key(words))
        right = str(level) if level else "."
        if random.Random(words).random() >= self.wrong:
            return right
        return "." if level else "2"


@dataclass
class Counts:
    """What one threshold gave over all documents of a form."""

    pages: int = 0
    asked_pages: int = 0
    lines: int = 0
    asked_lines: int = 0
    taken: int = 0
    right: int = 0
    true: int = 0
    chunks: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def f1(self) -> float:
        """Of the headings found, against those of the originals."""
        return 2 * self.right / max(self.taken + self.true, 1)


@dataclass(frozen=True)
class Fold:
    """Weights that an organisation had no part in."""

    headings: Mapping[str, float]
    confidences: Mapping[str, Mapping[str, float]]

    @contextmanager
    def used(self) -> Iterator[None]:
        with (
            heading_weights(self.headings),
            patch.object(structural_confidence, "confidence_weights", lambda: self.confidences),
        ):
            yield


def folds(directory: Path) -> dict[str, Fold]:
    """Weights for each organisation, from the others."""
    some: list[Example] = out_of_fold(directory)
    return {
        name: Fold(weights, trained([e for e in some if e.organisation != name]))
        for name, weights in heading_folds(directory).items()
    }


def headings_of(document: Document) -> dict[str, int]:
    """Level of each heading, by the key of what a model is shown of it."""
    return {
        key(harmless(heading_text(document.markdown[u.start : u.end]))): u.depth
        for u in document.units
        if u.depth is not None
    }


def measured(
    directory: Path, form: str, threshold: float | None, wrong: float, weights: Mapping[str, Fold]
) -> Counts:
    """One threshold over all documents of a form."""
    found = Counts()
    for organisation in load(directory):
        with weights[organisation.name].used():
            for file, markdown in organisation.documents.items():
                url = f"file:///{file}.md"
                original = parse(markdown.encode(), url, "text/markdown")
                text = FORMS[form](f"{organisation.name}/{file}", markdown)
                document = parse(text.encode(), url, "text/markdown")
                _one(found, (organisation.name, file), document, original, threshold, wrong)
    return found


def _one(
    found: Counts,
    name: tuple[str, str],
    document: Document,
    original: Document,
    threshold: float | None,
    wrong: float,
) -> None:
    true = headings_of(original)
    policy = Policy(escalation_threshold=1e-9 if threshold is None else threshold)
    view = outline(document, policy)
    oracle = Oracle(true, wrong)
    plan = ModelPlanner(oracle).plan(view, policy)
    found.pages += 1
    found.asked_pages += plan.usage.calls > 0
    found.asked_lines += oracle.lines
    found.lines += sum(row.text is not None for row in view.rows)
    shown = {row.id: key(harmless(row.text or "")) for row in view.rows}
    taken = {shown[row.id] for row in view.rows if row.level or row.id in plan.headings}
    there = {words for words in true if words in set(shown.values())}
    found.taken += len(taken)
    found.right += len(taken & there)
    found.true += len(there)
    made = chunks(document, plan, Policy(), count)
    found.chunks[name] = [(chunk.shown, chunk.embedded) for chunk in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--forms", nargs="*", default=["md", "flattened", "flattened-h"])
    parser.add_argument("--thresholds", nargs="*", type=float, default=THRESHOLDS)
    parser.add_argument("--wrong", nargs="*", type=float, default=(0.0, WRONG), help="of symbols")
    parser.add_argument("--retrieval", action="store_true")
    given = parser.parse_args()
    weights = folds(given.directory)
    for form in given.forms:
        for wrong in given.wrong:
            rows: dict[float | None, Counts] = {
                t: measured(given.directory, form, t, wrong, weights)
                for t in (None, *given.thresholds)  # None: the structural planner alone
            }
            found = _asked(given.directory, form, rows) if given.retrieval else {}
            print(f"\n{form}, oracle with {wrong:.0%} wrong\n")
            print("| threshold | pages asked | lines asked | F1 of headings | fc512 | fc1024 |")
            print("|---|---|---|---|---|---|")
            for threshold, row in rows.items():
                side = found.get(_name(threshold), {})
                print(
                    f"| {_name(threshold)} | {row.asked_pages / row.pages:.2f} "
                    f"| {row.asked_lines / row.lines:.2f} | {row.f1:.3f} "
                    f"| {side.get('fc512', '')} | {side.get('fc1024', '')} |",
                    flush=True,
                )


def _name(threshold: float | None) -> str:
    return "none" if threshold is None else f"{threshold:g}"


def _asked(
    directory: Path, form: str, rows: Mapping[float | None, Counts]
) -> Mapping[str, Mapping[str, float]]:
    """Facts found through the product's own search, by threshold."""
    organisations = {file: o.name for o in load(directory) for file in o.documents}

    def split(counts: Counts):  # type: ignore[no-untyped-def]
        return lambda file, markdown: counts.chunks[organisations[file], file]

    result = retrieval.quick(directory, {_name(t): split(c) for t, c in rows.items()}, form=form)
    return {name: row["search"] for name, row in result["methods"].items()}


if __name__ == "__main__":
    main()

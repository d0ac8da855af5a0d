"""What a model is worth as a planner: documents with their structure taken away, given to it.

    python -m benchmarks.planner_trial DIR --endpoint http://host:8000/v1 --model NAME
    python -m benchmarks.planner_trial DIR --folder MODEL            # vLLM in this process
    python -m benchmarks.planner_trial DIR                           # the rules alone

DIR is a folder of the benchmark's form; its rules are trained on the other organisations. Every
line of every document is asked about. Prints F1 of the headings found, the share of those whose
level is right, tokens a document, and answers that had to be repaired or done without; the
structural planner alone stands beside the model, on the same documents.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.calibrate import FORMS, key
from benchmarks.escalation import Fold, folds, headings_of
from chunker import parse
from chunker.model import Document, Outline, Plan, Usage
from chunker.outline import outline
from chunker.policy import Policy
from pipeline.evaluation.retrieval_corpus import load
from planner_serving.endpoint import open_endpoint
from planner_serving.model_planner import ModelPlanner
from planner_serving.ports import Completer, Planner
from planner_serving.prompt import harmless
from planner_serving.structural import StructuralPlanner

POLICY = Policy(escalation_threshold=0.0)


@dataclass(frozen=True, slots=True)
class Page:
    """A document without structure, and the headings that it had: level by key."""

    organisation: str
    view: Outline
    true: Mapping[str, int]


def pages(directory: Path, form: str, most: int) -> list[Page]:
    """The first documents of each organisation, in a form."""
    found: list[Page] = []
    for organisation in load(directory):
        for file, markdown in list(organisation.documents.items())[:most]:
            url = f"file:///{file}.md"
            original: Document = parse(markdown.encode(), url, "text/markdown")
            text = FORMS[form](f"{organisation.name}/{file}", markdown)
            view = outline(parse(text.encode(), url, "text/markdown"), POLICY)
            there = {key(harmless(row.text)) for row in view.rows if row.text}
            true = {k: level for k, level in headings_of(original).items() if k in there}
            found.append(Page(organisation.name, view, true))
    return found


def tried(planner: Planner, some: Sequence[Page], weights: Mapping[str, Fold]) -> str:
    """A row of the table."""
    taken = right = true = level = 0
    usage = Usage()
    repairs: Counter[str] = Counter()
    began = time.perf_counter()
    for page in some:
        with weights[page.organisation].used():
            plan: Plan = planner.plan(page.view, POLICY)
        usage += plan.usage
        repairs.update(plan.repairs)
        said = {
            key(harmless(row.text or "")): plan.headings.get(row.id, row.level)
            for row in page.view.rows
            if row.level is not None or row.id in plan.headings
        }
        taken += len(said)
        true += len(page.true)
        right += len(said.keys() & page.true.keys())
        level += sum(said.get(k) == depth for k, depth in page.true.items())
    seconds = time.perf_counter() - began
    n = len(some)
    return (
        f"| {planner.identity.split('/')[0][:40]} | {n} | {2 * right / max(taken + true, 1):.3f} "
        f"| {level / max(right, 1):.3f} | {usage.input_tokens / n:.0f} "
        f"| {usage.cached_input_tokens / n:.0f} | {usage.output_tokens / n:.1f} "
        f"| {seconds / n:.2f} | {dict(repairs) or ''} |"
    )


def completer(given: argparse.Namespace) -> Completer | None:
    """The model that is asked; None where there is none to ask."""
    if given.endpoint:
        return open_endpoint(given.endpoint, given.model or "", timeout=600)
    if given.folder:
        from planner_serving.engine import EngineOptions, VllmEngine

        return VllmEngine(EngineOptions(given.folder, gpus=given.gpus, seconds=600))
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--endpoint", help="an OpenAI-compatible address; WRAC_PLANNER_KEY its key")
    parser.add_argument("--model", help="the model's name there")
    parser.add_argument("--folder", type=Path, help="a model's folder, for vLLM in this process")
    parser.add_argument("--gpus", type=float, default=0)
    parser.add_argument("--forms", nargs="*", default=["flattened", "flattened-h"], choices=FORMS)
    parser.add_argument("--documents", type=int, default=8, help="of each organisation")
    given = parser.parse_args()
    asked = completer(given)
    planners: list[Planner] = [StructuralPlanner(), *([ModelPlanner(asked)] if asked else [])]
    weights = folds(given.directory)
    for form in given.forms:
        print(f"\n{form}\n")
        print("| planner | documents | F1 | level | in | cached | out | seconds | repairs |")
        print("|---|---|---|---|---|---|---|---|---|")
        for planner in planners:
            print(tried(planner, pages(given.directory, form, given.documents), weights))


if __name__ == "__main__":
    main()

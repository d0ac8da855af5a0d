"""What each choice of the product is worth: one taken back at a time, by halves of the questions.

    python -m benchmarks.eval_ablation DIR [--form flattened] [--only NAME ...]

Prints a Markdown table. Halves are by a hash of the question's text (`retrieval.half`): what was
chosen on the first has to hold on the second. New texts are embedded once (`WRAC_EVAL_CACHE`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from chunker.model import Chunk
from chunker.plain import plain
from chunker.policy import Policy
from indexer import fusion
from indexer.embedders import DEFAULT, open_embedder
from pipeline.evaluation import retrieval_search
from pipeline.evaluation.methods_product import Read, product_method
from pipeline.evaluation.retrieval import half
from pipeline.evaluation.retrieval_corpus import Organisation, load
from pipeline.evaluation.retrieval_forms import FORMS, originals
from pipeline.evaluation.retrieval_index import fused
from pipeline.evaluation.retrieval_run import Outcome, run
from pipeline.evaluation.retrieval_tables import Cells
from pipeline.evaluation.retrieval_vectors import CachedEmbedder, open_vectors
from planner_serving import structural_headings


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to build and search: the product's, with one thing taken back or set otherwise."""

    policy: Policy = field(default_factory=Policy)
    read: Read = lambda made: made.embedded
    patches: Sequence[tuple[Any, str, Any]] = ()


def _body(made: Chunk) -> str:
    return "\n".join(line for line in plain(made.text).splitlines() if line.strip())


def _by_ranks(self: retrieval_search.ProductSearch, question: str, cosine: Any) -> list[int]:
    """Reciprocal ranks of the same two sides."""
    best, terms = retrieval_search.best, self.terms(question)
    return fused([best(cosine), [at for at in best(terms) if terms[at] > 0.0]])


CHOICES: Mapping[str, Choice] = {
    "as it is": Choice(),
    "nothing shown above a chunk": Choice(Policy(context="none")),
    "sections merged up to 70 tokens": Choice(Policy(target_tokens=70)),
    "sections merged up to 160": Choice(Policy(target_tokens=160)),
    "at most 128 tokens": Choice(Policy(max_tokens=128)),
    "at most 512 tokens": Choice(Policy(max_tokens=512)),
    "only code stays whole": Choice(Policy(keep_whole=("code",))),
    "plain lines are no headings": Choice(
        patches=[
            (structural_headings, "THRESHOLD", 2.0),
            (structural_headings, "THRESHOLD_MARKED", 2.0),
        ]
    ),
    "embedded: as shown": Choice(read=lambda made: made.shown),
    "embedded: the text alone": Choice(read=_body),
    "embedded: path before the text only": Choice(
        read=lambda made: "\n".join((*made.heading_path, _body(made)))
    ),
    "embedded: tables as they stand": Choice(
        read=lambda made: "\n".join((*made.heading_path, _body(made), *made.heading_path))
    ),
    "fused by ranks": Choice(patches=[(retrieval_search.ProductSearch, "ranking", _by_ranks)]),
    "fused without the page": Choice(patches=[(fusion, "PAGE", 0.0)]),
}

COLUMNS = (("dense", ("fc512", "mrr", "t2c")), ("fused", ("fc512", "fc1024")))
SEARCH = ("fc512", "fc1024", "recall@3", "mrr", "t2c")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--form", default="md", choices=FORMS)
    parser.add_argument("--only", nargs="*", default=list(CHOICES), choices=list(CHOICES))
    given = parser.parse_args()
    asked = [one for one in load(given.directory) if one.questions]
    embedder = CachedEmbedder(open_embedder(DEFAULT), open_vectors())
    rows = []
    for name in given.only:
        print(name, file=sys.stderr)
        rows.append(_row(name, _measured(CHOICES[name], given, asked, embedder)))
    head = ["", "chunks"]
    head += [f"{side} {metric}" for side, metrics in COLUMNS for metric in metrics]
    head += [f"search {metric}, {which}" for metric in SEARCH for which in ("1st", "2nd")]
    print(Cells(head, rows).markdown())


def _measured(
    choice: Choice,
    given: argparse.Namespace,
    asked: Sequence[Organisation],
    embedder: CachedEmbedder,
) -> Outcome:
    with ExitStack() as changed:
        for where, name, value in choice.patches:
            changed.enter_context(patch.object(where, name, value))
        method = product_method(choice.policy, embedder.count, read=choice.read)
        pieces = {one.name: method(originals(given.directory, one, given.form)) for one in asked}
        return run(asked, pieces, embedder)


def _row(name: str, outcome: Outcome) -> list[str]:
    halves = [[half(number)(question) for question in outcome.questions] for number in (0, 1)]
    cells = [name, str(outcome.chunks)]
    for side, metrics in COLUMNS:
        everything = outcome.means(side, [True] * len(outcome.questions))
        cells += [_number(metric, everything[metric]) for metric in metrics]
    parts = [outcome.means("search", mask) for mask in halves]
    return cells + [_number(metric, part[metric]) for metric in SEARCH for part in parts]


def _number(metric: str, value: float) -> str:
    return f"{value:.0f}" if metric == "t2c" else f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()

"""The retrieval evaluation: methods in, one comparable table out.

`evaluate` is `wrac eval retrieval`. `quick` is the loop for whoever works on a chunker; it needs
a function of one document and nothing of the product:

    from pathlib import Path
    from pipeline.evaluation import retrieval

    def mine(file, markdown):
        yield shown_text, embedded_text             # one chunk; any number of them

    result = retrieval.quick(Path("corpus/rag-multi-corpus"), {"mine": mine, "other": other})
    print(retrieval.table(result))

Vectors are kept in the folder that `WRAC_EVAL_CACHE` names (default `.cache`), so that only texts
never seen cost time. `keep=retrieval.half(0)` asks one half of the questions, to choose on;
`half(1)` is the other half, to report on. All definitions are in `docs/evaluation.md`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chunker.policy import Policy
from indexer.embedders import DEFAULT, open_embedder
from pipeline.evaluation.methods import Method, Original, per_document
from pipeline.evaluation.methods_baselines import baseline_methods
from pipeline.evaluation.methods_product import product_method
from pipeline.evaluation.methods_reference import reference_methods
from pipeline.evaluation.retrieval_corpus import Organisation, Piece, Question, load
from pipeline.evaluation.retrieval_differences import paired
from pipeline.evaluation.retrieval_run import SIDES, Outcome, run
from pipeline.evaluation.retrieval_vectors import CachedEmbedder, open_vectors

#: The product's row.
PRODUCT = "wrac"
COMPARED = ("fc512", "fc1024", "recall@3", "precision@3", "mrr", "ndcg@6", "t2c")

#: Which questions are asked.
Keep = Callable[[Question], bool]
Progress = Callable[[str], None]


def evaluate(
    directory: Path,
    *,
    policy: Policy | None = None,
    embedder: str = DEFAULT,
    only: Sequence[str] | None = None,
    keep: Keep | None = None,
    progress: Progress = lambda line: None,
) -> dict[str, Any]:
    """Measure the product, the paper's chunks and the baselines on a benchmark folder.

    `only` names the methods to run (all, when None); `progress` gets a line before each. Returns
    the JSON of `wrac eval retrieval`. Raises `UsageError` for a folder of another form.
    """
    opened = CachedEmbedder(open_embedder(embedder), open_vectors())
    methods = {
        PRODUCT: product_method(policy or Policy(), opened.count),
        **reference_methods(directory),
        **baseline_methods(),
    }
    chosen = {name: method for name, method in methods.items() if only is None or name in only}
    return compare(_asked(load(directory), keep), chosen, opened, progress)


def quick(
    directory: Path,
    split: Mapping[str, Callable[[str, str], Iterable[tuple[str, str]]]],
    *,
    keep: Keep | None = None,
    embedder: str = DEFAULT,
) -> dict[str, Any]:
    """Measure chunkers given as functions of file name and Markdown to (shown, embedded) pairs.

    The first is compared with the others. The same JSON as `evaluate`.
    """
    opened = CachedEmbedder(open_embedder(embedder), open_vectors())
    methods = {name: per_document(function) for name, function in split.items()}
    return compare(_asked(load(directory), keep), methods, opened)


def half(number: int) -> Keep:
    """One half of the questions (0 or 1), by a hash of their text."""
    return lambda question: hashlib.sha256(question.text.encode()).digest()[0] % 2 == number


def _asked(organisations: Sequence[Organisation], keep: Keep | None) -> list[Organisation]:
    if keep is None:
        return list(organisations)
    return [
        dataclasses.replace(o, questions=tuple(filter(keep, o.questions))) for o in organisations
    ]


def compare(
    organisations: Sequence[Organisation],
    methods: Mapping[str, Method],
    embedder: CachedEmbedder,
    progress: Progress = lambda line: None,
) -> dict[str, Any]:
    """Run methods on the organisations' Markdown. The first is compared with the others."""
    plain: dict[str, Outcome] = {}
    together: dict[str, Outcome] = {}
    hidden: dict[str, Outcome] = {}
    for name, method in methods.items():
        progress(name)
        pieces = _pieces(organisations, method)
        plain[name] = run(organisations, pieces, embedder)
        together[name] = run(organisations, pieces, embedder, together=True)
        hidden[name] = run(organisations, pieces, embedder, hide_path=True)
    return {
        "questions": sum(len(o.questions) for o in organisations),
        "embedder": embedder.identity,
        **_report(plain),
        "together": _report(together),
        "path_hidden": _report(hidden),
    }


def _pieces(organisations: Sequence[Organisation], method: Method) -> dict[str, list[Piece]]:
    return {
        o.name: method([Original(file, "md", text.encode()) for file, text in o.documents.items()])
        for o in organisations
    }


def _report(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    first, *others = outcomes
    return {
        "methods": {name: outcome.row() for name, outcome in outcomes.items()},
        "differences": [
            difference for other in others for difference in _differences(outcomes, first, other)
        ],
    }


def _differences(
    outcomes: Mapping[str, Outcome], first: str, other: str
) -> Iterable[dict[str, Any]]:
    groups = [question.text.strip().lower() for question in outcomes[first].questions]
    for side in SIDES:
        for metric in COMPARED:
            values, against = (outcomes[name].values[side][metric] for name in (first, other))
            yield {
                "method": first,
                "against": other,
                "side": side,
                "metric": metric,
                **{key: round(v, 4) for key, v in asdict(paired(values, against, groups)).items()},
            }


def table(result: Mapping[str, Any], side: str = "fused") -> str:
    """The methods of a result as a Markdown table."""
    columns = ("fc256", "fc512", "fc1024", "fc2048", "recall@3", "mrr", "ndcg@6")
    lines = [
        f"| {side} | chunks | tokens | lost | unplaced | {' | '.join(columns)} | t2c |",
        "|---" * (len(columns) + 6) + "|",
    ]
    for name, row in result["methods"].items():
        numbers = " | ".join(f"{row[side][column]:.3f}" for column in columns)
        lines.append(
            f"| {name} | {row['chunks']} | {row['mean_tokens']:.0f} | {row['lost']:.3f} "
            f"| {row['unplaced']:.3f} | {numbers} | {row[side]['t2c']:.0f} |"
        )
    return "\n".join(lines)

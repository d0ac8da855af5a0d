"""The retrieval evaluation: methods in, one comparable table out.

`evaluate` is `wrac eval retrieval`. `quick` is the loop for whoever works on a chunker; it needs
a function of one document and nothing of the product:

    from pathlib import Path
    from pipeline.evaluation import retrieval, retrieval_tables

    def mine(file, markdown):
        yield shown_text, embedded_text             # one chunk; any number of them

    result = retrieval.quick(Path("corpus/rag-multi-corpus"), {"mine": mine, "other": other})
    print(retrieval_tables.methods(result).markdown())

Vectors are kept in the folder that `WRAC_EVAL_CACHE` names (default `.cache`), so that only texts
never seen cost time. `keep=retrieval.half(0)` asks one half of the questions, to choose on;
`half(1)` is the other half, to report on. All definitions are in `docs/evaluation.md`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group

from chunker.policy import Policy
from indexer.embedders import DEFAULT, open_embedder
from pipeline.errors import UsageError
from pipeline.evaluation.methods import Method, per_document
from pipeline.evaluation.methods_baselines import baseline_methods
from pipeline.evaluation.methods_product import product_method
from pipeline.evaluation.methods_reference import reference_methods
from pipeline.evaluation.peers import PEERS, peer_methods
from pipeline.evaluation.retrieval_corpus import Organisation, Piece, Question, load
from pipeline.evaluation.retrieval_differences import paired
from pipeline.evaluation.retrieval_forms import MARKDOWN_FORMS, originals
from pipeline.evaluation.retrieval_run import SIDES, Outcome, run
from pipeline.evaluation.retrieval_tables import summary
from pipeline.evaluation.retrieval_vectors import CachedEmbedder, open_vectors
from planner_serving.ports import BatchPlanner

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
    planner: BatchPlanner | None = None,
    embedder: str = DEFAULT,
    only: Sequence[str] | None = None,
    forms: Sequence[str] = (),
    keep: Keep | None = None,
    progress: Progress = lambda line: None,
) -> dict[str, Any]:
    """Measure the product, the paper's chunks, baselines and peers on a benchmark folder.

    `planner` asks the model that `policy` names; `only` names the methods to run (all, when None);
    `forms` what else than plain Markdown the documents are read from (`retrieval_forms.FORMS`);
    `keep` which questions are asked; `progress` gets a line before each step. Returns the JSON of
    `wrac eval retrieval`. Raises `UsageError` for a folder of another form and for an unknown
    method, and what keeps a model from being asked.
    """
    opened = CachedEmbedder(open_embedder(embedder), open_vectors())
    reference = reference_methods(directory)
    product = product_method(policy or Policy(), opened.count, planner)
    here = {PRODUCT: product, **reference, **baseline_methods()}
    names = [*here, *PEERS]
    if unknown := set(only or ()) - set(names):
        raise UsageError(f"no method {sorted(unknown)[0]!r}; known: {', '.join(names)}")
    wanted = [name for name in names if only is None or name in only]
    peers = peer_methods(opened.count, [name for name in PEERS if name in wanted])
    methods = here | peers
    chosen = {name: methods[name] for name in wanted if name in methods}
    organisations = _asked(load(directory), keep)
    bench = Bench(directory, organisations, opened, progress)
    return {
        "questions": sum(len(o.questions) for o in organisations),
        "embedder": opened.identity,
        **bench.views(chosen),
        "forms": {
            form: bench.report(
                {n: m for n, m in chosen.items() if n not in reference and _reads(n, form)}, form
            )
            for form in forms
        },
        "skipped": [name for name in wanted if name not in methods],
    }


def _reads(name: str, form: str) -> bool:
    """Whether a chunker can be run on a form: the product reads all, others Markdown."""
    return name == PRODUCT or form in MARKDOWN_FORMS


def quick(
    directory: Path,
    split: Mapping[str, Callable[[str, str], Iterable[tuple[str, str]]]],
    *,
    form: str = "md",
    keep: Keep | None = None,
    embedder: str = DEFAULT,
) -> dict[str, Any]:
    """Measure chunkers given as functions of file name and Markdown to (shown, embedded) pairs.

    The first is compared with the others. `form` is `md`, `flattened` or `flattened-h`. The
    result has `methods` and `differences` as that of `evaluate`.
    """
    opened = CachedEmbedder(open_embedder(embedder), open_vectors())
    organisations = [o for o in _asked(load(directory), keep) if o.questions]
    methods = {name: per_document(function) for name, function in split.items()}
    return Bench(directory, organisations, opened).report(methods, form)


def half(number: int) -> Keep:
    """One half of the questions (0 or 1), by a hash of their text."""
    return lambda question: hashlib.sha256(question.text.encode()).digest()[0] % 2 == number


def _asked(organisations: Sequence[Organisation], keep: Keep | None) -> list[Organisation]:
    if keep is None:
        return list(organisations)
    return [
        dataclasses.replace(o, questions=tuple(filter(keep, o.questions))) for o in organisations
    ]


@dataclass(frozen=True, slots=True)
class Bench:
    """What methods are measured on."""

    directory: Path
    organisations: Sequence[Organisation]
    embedder: CachedEmbedder
    progress: Progress = lambda line: None

    def report(self, methods: Mapping[str, Method], form: str) -> dict[str, Any]:
        """Rows and differences, one index an organisation, on documents in a form."""
        return _report(
            {
                name: run(self.organisations, pieces, self.embedder)
                for name, pieces in self._pieces(methods, form)
            }
        )

    def views(self, methods: Mapping[str, Method]) -> dict[str, Any]:
        """The same on plain Markdown, with one index for all and with hidden paths besides."""
        apart: dict[str, Outcome] = {}
        together: dict[str, Outcome] = {}
        hidden: dict[str, Outcome] = {}
        for name, pieces in self._pieces(methods, "md"):
            apart[name] = run(self.organisations, pieces, self.embedder)
            together[name] = run(self.organisations, pieces, self.embedder, together=True)
            hidden[name] = run(self.organisations, pieces, self.embedder, hide_path=True)
        return {
            **_report(apart),
            "together": _report(together),
            "path_hidden": _report(hidden),
        }

    def _pieces(
        self, methods: Mapping[str, Method], form: str
    ) -> Iterator[tuple[str, dict[str, list[Piece]]]]:
        documents = {o.name: originals(self.directory, o, form) for o in self.organisations}
        for name, method in methods.items():
            self.progress(f"{form}: {name}")
            yield name, {organisation: method(some) for organisation, some in documents.items()}


def _report(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    first, *others = outcomes or ("",)
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


def table(result: Mapping[str, Any]) -> Group:
    """The result for a terminal."""
    return summary(result)

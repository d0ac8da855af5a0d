"""One method through every question: index, rankings, measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluation import judge, metrics, retrieval_index
from pipeline.evaluation.retrieval_corpus import Organisation, Piece, Question
from pipeline.evaluation.retrieval_search import ProductSearch
from pipeline.evaluation.retrieval_vectors import CachedEmbedder

#: `search` is the product's own: its sparse terms, its fusion, its depth.
SIDES = ("dense", "sparse", "fused", "search")

Values = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one method came to, question by question."""

    questions: tuple[Question, ...]
    values: Mapping[str, Values]
    """Side, then measure, then one value a question."""
    chunks: int
    mean_tokens: float
    lost: float
    unplaced: float

    def row(self) -> dict[str, Any]:
        """The method's entry in the JSON."""
        return {
            "chunks": self.chunks,
            "mean_tokens": round(self.mean_tokens, 1),
            "lost": round(self.lost, 4),
            "unplaced": round(self.unplaced, 4),
            **{side: self.means(side, [True] * len(self.questions)) for side in SIDES},
            "by_type": self._by(lambda question: question.type),
            "by_organisation": self._by(lambda question: question.organisation),
        }

    def means(self, side: str, mask: Sequence[bool]) -> dict[str, float]:
        """Every measure's mean over the questions that `mask` names."""
        chosen = np.array(mask)
        return {
            metric: round(float(value[chosen].mean()), 4 if metric != "t2c" else 1)
            for metric, value in self.values[side].items()
        }

    def _by(self, key: Callable[[Question], str]) -> dict[str, dict[str, Any]]:
        result: dict[str, dict[str, Any]] = {}
        for name in sorted({key(question) for question in self.questions}):
            mask = [key(question) == name for question in self.questions]
            means = {side: self.means(side, mask) for side in SIDES}
            result[name] = {"questions": sum(mask), **means}
        return result


def run(
    organisations: Sequence[Organisation],
    pieces: Mapping[str, Sequence[Piece]],
    embedder: CachedEmbedder,
    together: bool = False,
    hide_path: bool = False,
) -> Outcome:
    """Measure one method, whose chunks are given by organisation.

    `together`: one index for all organisations instead of one each. `hide_path`: the judge does
    not see the chunks' heading paths (search does).
    """
    asked = [o for o in organisations if o.questions]
    per_question: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    sizes: list[int] = []
    lost: list[bool] = []
    whole = [piece for o in organisations for piece in pieces[o.name]] if together else None
    shared = _Searchable(whole, embedder, hide_path) if whole is not None else None
    for organisation in asked:
        searchable = shared or _Searchable(pieces[organisation.name], embedder, hide_path)
        if shared is None or organisation is asked[0]:
            sizes.extend(searchable.index.tokens)
        measured, found = searchable.ask(organisation)
        lost.extend(not one for one in found)
        for side in SIDES:
            per_question[side].extend(measured[side])
    return Outcome(
        tuple(q for o in asked for q in o.questions),
        {side: _columns(rows) for side, rows in per_question.items()},
        len(sizes),
        float(np.mean(sizes)) if sizes else 0.0,
        float(np.mean(lost)) if lost else 0.0,
        unplaced(asked, pieces),
    )


def _columns(rows: Sequence[Mapping[str, float]]) -> Values:
    return {metric: np.array([row[metric] for row in rows]) for metric in (rows[0] if rows else ())}


class _Searchable:
    """One index with its vectors."""

    def __init__(self, pieces: Sequence[Piece], embedder: CachedEmbedder, hide_path: bool) -> None:
        self.index = retrieval_index.make_index(pieces, hide_path)
        self._embedder = embedder
        self._bm25 = retrieval_index.Bm25(self.index.words)
        self._search = ProductSearch(self.index.pieces)
        self._vectors = embedder.embed([piece.embedded for piece in self.index.pieces])

    def ask(
        self, organisation: Organisation
    ) -> tuple[dict[str, list[dict[str, float]]], list[bool]]:
        """Measures of every question by side, and of every fact whether any piece covers it."""
        questions = organisation.questions
        decide = judge.make_judge(organisation.documents.values())
        facts = [fact for question in questions for fact in question.facts]
        covers = decide.matrix(facts, self.index.evidence)
        asked = self._embedder.embed_queries([question.text for question in questions])
        cosines = asked @ self._vectors.T
        result: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
        at = 0
        for question, cosine in zip(questions, cosines, strict=True):
            rows = covers[at : at + len(question.facts)]
            at += len(question.facts)
            weights = [decide.weights(fact) for fact in question.facts]
            for side, ranking in self._rankings(question.text, cosine).items():
                result[side].append(metrics.measure(ranking, rows, weights, self.index))
        return result, np.asarray(covers.any(axis=1)).tolist()

    def _rankings(self, text: str, cosine: retrieval_index.Scores) -> dict[str, list[int]]:
        dense = retrieval_index.ranked(cosine)
        sparse = retrieval_index.ranked(self._bm25.scores(judge.words(text)), above=0.0)
        return {
            "dense": dense,
            "sparse": sparse,
            "fused": retrieval_index.fused([dense, sparse]),
            "search": self._search.ranking(text, cosine),
        }


def unplaced(organisations: Sequence[Organisation], pieces: Mapping[str, Sequence[Piece]]) -> float:
    """Share of the documents' words, headings left out, that are in none of their chunks."""
    total = missing = 0
    for organisation in organisations:
        held: dict[str, Counter[str]] = {}
        for piece in {piece.shown: piece for piece in pieces[organisation.name]}.values():
            held.setdefault(piece.file, Counter()).update(judge.words(piece.body))
        for file, markdown in organisation.documents.items():
            body = Counter(judge.words(judge.without_headings(markdown)))
            total += body.total()
            missing += (body - held.get(file, Counter())).total()
    return missing / total if total else 0.0

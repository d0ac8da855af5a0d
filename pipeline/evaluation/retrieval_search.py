"""The product's own search over the chunks under test: its terms, its fusion, its depth.

The definitions of the benchmark give dense, sparse and fused a plain form, the same for everybody.
This is what a user of `wrac search` gets. Exact where the engine is approximate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from indexer import fusion, sparse
from pipeline.evaluation.retrieval_corpus import Piece
from pipeline.evaluation.retrieval_index import Scores

#: Hits that are asked for: enough for the largest budget.
LIMIT = 100


class ProductSearch:
    """Ranks pieces as `indexer.search` does."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._total = len(pieces)
        self._pages = [piece.file for piece in pieces]
        self._languages = sorted({piece.lang for piece in pieces})
        self._holders: dict[int, list[tuple[int, float]]] = {}
        for at, piece in enumerate(pieces):
            vector = sparse.encode_document(piece.embedded, piece.lang)
            for term, weight in zip(vector.indices, vector.values, strict=True):
                self._holders.setdefault(term, []).append((at, weight))

    def ranking(self, question: str, cosine: Scores) -> list[int]:
        """Indices of pieces, best first."""
        sides = (cosine, self.terms(question))
        dense, terms = (
            [fusion.Candidate(f"{at:08}", self._pages[at], float(side[at])) for at in best(side)]
            for side in sides
        )
        fused = fusion.fuse(dense, [one for one in terms if one.score > 0.0], LIMIT)
        return [int(one.key) for one in fused]

    def terms(self, question: str) -> Scores:
        """Term weights times the engine's inverse document frequency."""
        scores = np.zeros(self._total, dtype=np.float32)
        for term in sparse.encode_query(question, self._languages).indices:
            holders = self._holders.get(term, [])
            idf = math.log1p((self._total - len(holders) + 0.5) / (len(holders) + 0.5))
            for at, weight in holders:
                scores[at] += idf * weight
        return scores


def best(scores: Scores) -> list[int]:
    """Indices of the candidates that a side gives, best first."""
    order = np.argsort(-scores, kind="stable")
    return [int(at) for at in order[: fusion.depth(LIMIT)]]

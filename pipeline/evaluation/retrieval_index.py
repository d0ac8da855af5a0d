"""An index under test: dense by cosine, sparse by BM25, both fused by reciprocal rank.

Exact and in memory, so that what is measured is the chunks and not an engine's approximation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluation import judge, tokens_count
from pipeline.evaluation.retrieval_corpus import Piece

#: Of BM25 and of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
K1, B = 1.2, 0.75
RANK_CONSTANT = 60

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Index:
    """Different pieces, with what every question needs to know of them."""

    pieces: tuple[Piece, ...]
    tokens: tuple[int, ...]
    """o200k_base tokens of each piece as shown."""
    words: tuple[Mapping[str, int], ...]
    """Each piece's words as shown, with how often they occur."""
    evidence: tuple[frozenset[str], ...]
    """The words that the judge sees of each piece: all, or those below the heading path."""
    hide_path: bool

    def beginning(self, at: int, tokens: int) -> frozenset[str]:
        """The words that the judge sees of the first `tokens` tokens of a piece."""
        piece = self.pieces[at]
        part = tokens_count.cut(piece.shown, tokens)
        return frozenset(judge.words(part[piece.path_length :] if self.hide_path else part))


def make_index(pieces: Iterable[Piece], hide_path: bool = False) -> Index:
    """An index of `pieces`; of those that show the same text only the first is kept."""
    first: dict[str, Piece] = {}
    for piece in pieces:
        first.setdefault(piece.shown, piece)
    different = tuple(first.values())
    words = tuple(Counter(judge.words(piece.shown)) for piece in different)
    return Index(
        different,
        tuple(tokens_count.count(piece.shown) for piece in different),
        words,
        tuple(frozenset(judge.words(piece.body)) for piece in different)
        if hide_path
        else tuple(frozenset(counted) for counted in words),
        hide_path,
    )


class Bm25:
    """BM25 (Robertson and Zaragoza 2009) over texts that are given by their words."""

    def __init__(self, texts: Sequence[Mapping[str, int]]) -> None:
        sizes = np.array([sum(text.values()) for text in texts], dtype=np.float64)
        self._damped = K1 * (1 - B + B * sizes / max(sizes.mean() if len(texts) else 0.0, 1.0))
        self._holders: dict[str, list[tuple[int, int]]] = {}
        for at, text in enumerate(texts):
            for word, often in text.items():
                self._holders.setdefault(word, []).append((at, often))

    def scores(self, question: Iterable[str]) -> Scores:
        """The score of every text for a question's words; 0 for one that holds none of them."""
        total = len(self._damped)
        scores = np.zeros(total)
        for word in dict.fromkeys(question):
            if word in self._holders:
                at, often = np.array(self._holders[word]).T
                idf = math.log1p((total - len(at) + 0.5) / (len(at) + 0.5))
                scores[at] += idf * often * (K1 + 1) / (often + self._damped[at])
        return scores.astype(np.float32)


def ranked(scores: Scores, above: float = -math.inf) -> list[int]:
    """Indices by falling score, equal scores in index order, without scores up to `above`."""
    order = np.argsort(-scores, kind="stable")
    return [int(at) for at in order if scores[at] > above]


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """One ranking by the sum of 1 / (60 + rank) over those that name an index."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, at in enumerate(ranking, start=1):
            scores[at] = scores.get(at, 0.0) + 1.0 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda at: (-scores[at], at))

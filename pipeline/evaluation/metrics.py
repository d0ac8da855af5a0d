"""The measures of one ranking for one question. `docs/evaluation.md` defines each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluation import judge
from pipeline.evaluation.retrieval_index import Index

BUDGETS = (256, 512, 1024, 2048)
CUTOFFS = (1, 3, 6, 10)
#: Most tokens that `t2c` walks.
LIMIT = 4096


def measure(
    ranking: Sequence[int],
    covers: NDArray[np.bool_],
    facts: Sequence[Mapping[str, float]],
    index: Index,
) -> dict[str, float]:
    """Every measure of one question's ranking.

    `ranking` holds indices into the index's pieces, best first; `covers[f, p]` is whether piece p
    covers fact f; `facts` are the facts' words with their shares (`Judge.weights`).
    """
    found = covers[:, list(ranking)]
    return {
        **_at_cutoffs(found, int(covers.any(axis=0).sum())),
        **_within_budgets(ranking, facts, index),
    }


def _at_cutoffs(found: NDArray[np.bool_], relevant_in_index: int) -> dict[str, float]:
    relevant: NDArray[np.bool_] = np.asarray(found.any(axis=0))
    result = {"mrr": 1.0 / (int(relevant.argmax()) + 1) if relevant.any() else 0.0}
    for k in CUTOFFS:
        result[f"recall@{k}"] = float(found[:, :k].any(axis=1).mean())
        result[f"precision@{k}"] = float(relevant[:k].sum()) / k
        ideal = _gain(np.ones(min(k, relevant_in_index), dtype=bool))
        result[f"ndcg@{k}"] = _gain(relevant[:k]) / ideal if ideal else 0.0
    return result


def _gain(relevant: NDArray[np.bool_]) -> float:
    return sum(1.0 / math.log2(at + 2) for at, one in enumerate(relevant) if one)


def _within_budgets(
    ranking: Sequence[int], facts: Sequence[Mapping[str, float]], index: Index
) -> dict[str, float]:
    """`fcB` for every budget, and `t2c`, in one walk."""
    retrieved = _Retrieved(facts)
    result: dict[str, float] = {}
    used = 0
    waiting = list(BUDGETS)
    for at in ranking:
        piece, size = index.pieces[at], index.tokens[at]
        while waiting and used + size > waiting[0]:
            budget = waiting.pop(0)
            part = index.beginning(at, budget - used)
            result[f"fc{budget}"] = retrieved.share_with(piece.file, part)
        used += size
        retrieved.add(piece.file, index.evidence[at])
        if retrieved.complete:
            result.setdefault("t2c", float(min(used, LIMIT)))
        if used >= LIMIT:
            break
    for budget in waiting:
        result[f"fc{budget}"] = retrieved.share
    result.setdefault("t2c", float(LIMIT))
    return result


class _Retrieved:
    """The words retrieved so far, file by file, and the facts that they cover."""

    def __init__(self, facts: Sequence[Mapping[str, float]]) -> None:
        self._facts = facts
        self._words: dict[str, set[str]] = {}
        self._covered: set[int] = set()

    def add(self, file: str, words: Set[str]) -> None:
        held = self._words.setdefault(file, set())
        held |= words
        self._covered |= self._covering(held)

    def share_with(self, file: str, words: Set[str]) -> float:
        """Share of the facts that are covered if `words` are added; nothing is added."""
        more = self._covering(self._words.get(file, set()) | words)
        return len(self._covered | more) / len(self._facts)

    def _covering(self, held: Set[str]) -> set[int]:
        return {
            number
            for number, shares in enumerate(self._facts)
            if number not in self._covered and judge.enough(shares, held)
        }

    @property
    def share(self) -> float:
        return len(self._covered) / len(self._facts)

    @property
    def complete(self) -> bool:
        return len(self._covered) == len(self._facts)

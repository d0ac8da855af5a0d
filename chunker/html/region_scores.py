"""How likely each block is content, and which blocks to keep for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from chunker.html.classifier.model import Model, load
from chunker.html.region_features import Features
from chunker.html.region_tables import Floats

Flags = npt.NDArray[np.bool_]

#: Words from which on a text that stands twice is a copy.
COPIES = 4
#: How much of the expected content is believed to be there. Chosen on held-out pages: less keeps
#: less, and what the rules of `region` add later is on top.
CAUTION = 0.5
#: How much of a block's score is the mean of those that look alike, where they are this many:
#: the cards of one list are content together or not at all.
_TOGETHER = 0.6
_MANY_ALIKE = 3


def scores(found: Features, hidden: Flags, model: Model | None = None) -> Floats:
    """The share of each block's words that is expected to be content, 0 to 1.

    `hidden` marks blocks that are left out whatever they hold; theirs is 0.
    """
    model = model or load()
    table = with_kinds(found, model.kinds(summary(found, hidden)))
    return alike(np.where(hidden, np.float32(0), model.trees.probability(table)), found)


def alike(score: Floats, found: Features) -> Floats:
    """The scores, each nearer to the mean of the blocks that look the same, by words."""
    number = found.signature
    weight = found.words + np.float32(0.5)
    mean = np.bincount(number, weight * score) / np.bincount(number, weight)
    share = np.where(np.bincount(number) < _MANY_ALIKE, 0, _TOGETHER)[number]
    result: Floats = ((1 - share) * score + share * mean[number]).astype(np.float32)
    return result


def summary(found: Features, hidden: Flags) -> Floats:
    """The mean row of a page's blocks, by words: what the kind of page is told from."""
    weight = np.where(hidden, 0.01, found.words + 0.1)
    share = (weight / weight.sum()).astype(np.float32)
    mean: Floats = share @ found.table
    return mean


def with_kinds(found: Features, kinds: Floats) -> Floats:
    """The classifier's table: probabilities of the kinds of page before the features."""
    rows, columns = found.table.shape
    table = np.empty((rows, len(kinds) + columns), np.float32, order="F")
    table[:, : len(kinds)] = kinds
    table[:, len(kinds) :] = found.table
    return table


def once(score: Floats, words: Floats, texts: Sequence[str]) -> Floats:
    """The scores with 0 for every copy of a text but the best (a page that holds its text for
    wide and for narrow screens). Short texts may repeat."""
    best: dict[str, int] = {}
    out = score.copy()
    for block in np.argsort(-score, kind="stable").tolist():
        if words[block] >= COPIES:
            text = texts[block].casefold()
            if best.setdefault(text, block) != block:
                out[block] = 0
    return out


def most_expected(score: Floats, words: Floats) -> tuple[Flags, float]:
    """The blocks that maximise the expected word F1, and that F1.

    For a score that is the expected share of a block's words that are content, the best set is a
    prefix of the blocks by score (Jansche 2007; Lewis 1995).
    """
    order = np.argsort(-score, kind="stable")
    expected = CAUTION * float((score * words).sum())
    curve = 2 * np.cumsum((score * words)[order]) / (np.cumsum(words[order]) + expected + 1e-9)
    best = int(np.argmax(curve))
    keep = np.zeros(len(score), bool)
    keep[order[: best + 1]] = True
    keep &= score > 0
    hit = float((score * words)[keep].sum())
    return keep, 2 * hit / max(float(words[keep].sum() + (score * words).sum()), 1e-9)

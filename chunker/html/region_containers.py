"""The containers around blocks: the innermost that is large enough, the one with most prose, and
how far a block is from another element. All over the tables of `region_blocks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
#: Steps up that are followed at most: deeper pages lose precision, not time.
_CLIMB = 48


def climb(element: Ints, parent: Ints, enough: npt.NDArray[np.bool_]) -> Ints:
    """For each block (column) and each row of `enough` the block's innermost element that is
    enough, or the outermost."""
    at = np.where(enough, np.arange(len(parent)), parent)
    while True:  # each step doubles how far up an element looks
        further = np.take_along_axis(at, at, axis=1)
        if (further == at).all():
            return at[:, element]
        at = further


def first_of(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Per row: number of the key, rows with that key, running number among them."""
    _, inverse, count = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(count)[:-1]))
    running = np.empty(len(keys), np.int64)
    running[order] = np.arange(len(keys)) - np.repeat(starts, count)
    return inverse, count[inverse], running


def most_prose(
    element: Ints,
    parent: Ints,
    tag: npt.NDArray[Any],
    raw: npt.NDArray[Any],
    linked: npt.NDArray[Any],
) -> int:
    """The element whose near blocks hold most prose (the idea of Arc90's Readability)."""
    score = np.where(raw[:, 0] >= 8, 1 + raw[:, 3] + np.minimum(raw[:, 0] / 25, 4), 0)
    score = score * (1 - linked[element])
    total = np.zeros(len(parent))
    loose = (tag == 0) | (tag == 3)
    above = np.where(loose, element, parent[element])
    np.add.at(total, above, score)
    np.add.at(total, parent[above], score / 2)
    return int(np.argmax(total * (1 - linked)))


def chain(
    inner: int, parent: Ints, start: Ints, end: Ints, word: npt.NDArray[Any], index: Ints
) -> npt.NDArray[Any]:
    """How far each block is from an element: steps up until both are in one container, and
    the size of that container."""
    chain = [inner]
    while chain[-1] and len(chain) < _CLIMB:
        chain.append(int(parent[chain[-1]]))
    chain.append(0)
    at = np.array(chain)
    inside = (start[at][:, None] <= index) & (index < end[at][:, None])
    apart = np.argmax(inside, axis=0)
    common = word[at[apart]]
    return np.column_stack(
        (apart, np.log1p(common), common / max(word[0], 1), index < start[inner])
    )

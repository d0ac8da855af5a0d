"""How sure a difference between two methods is: paired bootstrap over the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SAMPLES = 10_000
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of `method` minus mean of `against`, with its 95% interval."""

    mean: float
    low: float
    high: float


def paired(
    values: NDArray[np.float64], against: NDArray[np.float64], groups: Sequence[str]
) -> Difference:
    """The difference of two methods' values on the same questions.

    Questions of one group (equal text) are drawn together. Percentile interval over 10,000
    seeded draws (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13).
    """
    difference = values - against
    _, group = np.unique(np.array(groups), return_inverse=True)
    sums = np.bincount(group, weights=difference)
    sizes = np.bincount(group).astype(np.float64)
    drawn = _draws(len(sizes))
    low, high = np.percentile((drawn @ sums) / (drawn @ sizes), [2.5, 97.5])
    return Difference(float(difference.mean()), float(low), float(high))


@lru_cache(maxsize=4)
def _draws(groups: int) -> NDArray[np.float64]:
    """How often each group is in each draw: the same draws for every pair of methods."""
    shares = np.full(groups, 1.0 / groups)
    counts = np.random.default_rng(SEED).multinomial(groups, shares, size=SAMPLES)
    return counts.astype(np.float64)

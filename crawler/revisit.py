"""When a page is worth another visit, decided from what its visits have shown so far.

A page changes as a Poisson process whose rate is not known. A visit shows only *whether* it
changed since the one before, not how often: the observation is censored (Cho and Garcia-Molina,
"Estimating frequency of change", ACM TOIT 3(3), 2003). What is believed of a rate is a Gamma
distribution, two numbers a page. "Unchanged over a span" is conjugate to it; after "changed" the
posterior is a difference of two Gammas, of which the Gamma with the same mean and variance is kept
(assumed density filtering: Minka, "A family of algorithms for approximate Bayesian inference",
2001). As rates drift, a belief fades towards what holds for the source's pages in general.

A page's freshness is the share of time in which the copy is the page as it is. Visited every `I`
days at rate `r` it is (1 - exp(-rI)) / (rI). For a number of visits a day the sum over all pages is
largest where one visit more would gain the same on each of them, and pages that change too fast to
be kept up with get few (Cho and Garcia-Molina, "Effective page refresh policies for web crawlers",
ACM TODS 28(4), 2003; Azar et al., "Tractable near-optimal policies for crawling", PNAS 115(32),
2018). That gain is a source's *worth* of a visit, in days; with it each page's interval follows
from its own belief alone. The gain is taken as its expectation over the belief and not at the
likeliest rate, so that a page of which little is known is looked at sooner.

All functions take numbers or arrays of equal shape. Times are in days.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]

#: Half of what a belief holds beyond the prior is forgotten in this time: pages change their ways.
HALF_LIFE = 60.0
#: Shapes of beliefs are kept within this range, where all below is well behaved.
SHAPES = 0.05, 1e4
#: Halvings of the range in which an interval or a worth is looked for.
STEPS = 32


class Belief(NamedTuple):
    """A Gamma distribution of a page's rate of change: mean `shape / days` changes a day."""

    shape: float
    days: float


#: What is believed of any page at first: a change in ten days, or in a year.
PRIOR = Belief(0.5, 5.0)


def observe(
    shape: ArrayLike, days: ArrayLike, span: ArrayLike, changed: ArrayLike, prior: Belief = PRIOR
) -> tuple[Array, Array]:
    """Shape and days of beliefs after a visit that ended a `span` in which the page `changed`."""
    waited = np.maximum(_floats(span), 0.0)
    kept = np.exp2(-waited / HALF_LIFE)
    a = kept * _floats(shape) + (1 - kept) * prior.shape
    b = kept * _floats(days) + (1 - kept) * prior.days
    # The first two moments after a change: 1 - (b / (b + span)) ** k, without cancellation.
    turns = np.log1p(np.maximum(waited, 1e-9) / b)
    base, first, second = (-np.expm1(-(a + k) * turns) for k in range(3))
    mean = a / b * first / base
    variance = np.maximum(a * (a + 1) / b**2 * second / base - mean**2, 1e-12 * mean**2)
    moved = np.asarray(changed, bool) & (waited > 0)
    return (
        np.clip(np.where(moved, mean**2 / variance, a), *SHAPES),
        np.where(moved, mean / variance, b + waited),
    )


def prior_of(shape: ArrayLike, days: ArrayLike) -> Belief:
    """What holds for a source's pages in general: the spread of their rates, by moments."""
    a, b = _floats(shape), _floats(days)
    means = a / b
    spread = means.var() + (a / b**2).mean()
    mean = means.mean()
    if not mean > 0 or not spread > 0:
        return PRIOR
    fitted = float(np.clip(mean**2 / spread, 0.1, 10.0))
    return Belief(fitted, fitted / float(mean))


def gain(shape: ArrayLike, days: ArrayLike, interval: ArrayLike) -> Array:
    """Expected gain in freshness of one visit a day more, for pages visited at an interval.

    The expectation of (1 - (1 + x) exp(-x)) / rate over the belief, where x = rate * interval.
    """
    a, b = _floats(shape), _floats(days)
    span = _floats(interval) / b
    grown, above = np.log1p(span), a - 1.0
    # (1 - (1 + span) ** -above) / above, which is log1p(span) where above is 0.
    near = np.abs(above) < 1e-6
    ratio = np.where(near, grown, -np.expm1(-above * grown) / np.where(near, 1.0, above))
    found: Array = b * (ratio - span * np.exp(-a * grown))
    return found


def interval(shape: ArrayLike, days: ArrayLike, worth: float, least: float, most: float) -> Array:
    """Days between two visits at which a visit gains as much as it must be worth, in the bounds."""
    a, b = np.broadcast_arrays(_floats(shape), _floats(days))
    low, high = np.full(a.shape, np.log(least)), np.full(a.shape, np.log(most))
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = gain(a, b, np.exp(middle)) >= worth
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    found: Array = np.exp(high)
    return found


def worth(shape: ArrayLike, days: ArrayLike, visits: float, least: float, most: float) -> float:
    """What a visit must be worth so that all pages together get about `visits` a day."""
    low, high = np.log(1e-9), np.log(1e9)
    for _ in range(STEPS):
        middle = (low + high) / 2
        asked = (1 / interval(shape, days, float(np.exp(middle)), least, most)).sum()
        low, high = (middle, high) if asked > visits else (low, middle)
    return float(np.exp((low + high) / 2))


def _floats(values: ArrayLike) -> Array:
    return np.asarray(values, float)

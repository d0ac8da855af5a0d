"""Freshness and age for the same number of requests: the product's revisits against four others.

    python -m benchmarks.revisit --pages 100000 --days 90

Pages change as Poisson processes whose rates are spread over four orders of magnitude, some never
change, and each page's rate is drawn anew now and then. All policies see the same changes of rates,
begin with a copy of every page, and have the same requests in all:

- *uniform*: every page as often as any other;
- *proportional*: as often as its rate says, which it is told;
- *product*: `crawler/revisit.py` as the ledger uses it. It is told nothing, and learns from what
  its own visits find;
- *optimum*: the intervals at which freshness is largest, with every page's rate told to it at every
  moment.

Freshness is the share of pages whose copy is the page as it is, age the days since a page's first
change that the copy lacks (0 for a fresh one); both are exact means over all pages and all time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crawler import revisit
from crawler.revisit import Array

#: Days between two moments at which pages are visited.
STEP = 1 / 8
#: The bounds of a schedule, in days.
LEAST, MOST = STEP, 30.0
#: Days between two fits of what a visit must be worth.
FIT = 1.0
#: Pages whose beliefs or rates a fit looks at.
SAMPLE = 4_000
#: A belief as sharp as that is a rate that is known.
KNOWN = 1e4


@dataclass
class World:
    """Pages and their rates of change over time; the same for the same seed."""

    pages: int
    seed: int
    drift: float
    """Days after which a page's rate is drawn anew, on the average."""
    rates: Array = field(init=False)
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.rates = self._drawn(self.pages)

    def move(self) -> Array:
        """A step of time passes; returns which pages' rates are others now."""
        moved = self.random.random(self.pages) < -np.expm1(-STEP / self.drift)
        self.rates[moved] = self._drawn(int(moved.sum()))
        return moved

    def _drawn(self, count: int) -> Array:
        """A tenth never changes; half of the others changes more often than every 20 days."""
        rates = np.exp(self.random.normal(np.log(1 / 20), 1.8, count))
        rates[self.random.random(count) < 0.1] = 0.0
        return rates


class Policy:
    """Visits each page at its interval, within a budget that no step exceeds for long."""

    def __init__(self, world: World, visits: float) -> None:
        self.world, self.visits = world, visits  # a day
        # Begun at as many moments as there are: no policy visits everything at once.
        self.last = -world.random.uniform(0, world.pages / visits, world.pages)
        self.intervals = np.full(world.pages, world.pages / visits)
        self._saved = 0.0
        self._fitted = -np.inf

    def due(self, now: float) -> np.ndarray:
        """Pages to visit now, the longest overdue first, as far as the budget goes."""
        if now - self._fitted >= FIT:
            self.fit()
            self._fitted = now
        self._saved += self.visits * STEP
        late = now - self.last - self.intervals
        waiting = np.flatnonzero(late >= -1e-9)
        room = int(self._saved)
        if len(waiting) > room:
            share = late[waiting] / self.intervals[waiting]
            waiting = waiting[np.argpartition(-share, room)[:room]] if room else waiting[:0]
        self._saved -= len(waiting)
        return waiting

    def fit(self) -> None:
        """Set all intervals anew."""

    def saw(self, visited: np.ndarray, changed: np.ndarray, now: float) -> None:
        """What visits found."""
        self.last[visited] = now


class Uniform(Policy):
    pass


class Proportional(Policy):
    def fit(self) -> None:
        rates = self.world.rates
        share = np.maximum(rates / rates.sum() * self.visits, 1 / MOST)
        self.intervals = np.clip(1 / share, LEAST, MOST)


class Optimum(Policy):
    """Told the rates; not bound to look at a page at all."""

    def fit(self) -> None:
        rates = np.maximum(self.world.rates, 1e-9)
        sample = slice(0, SAMPLE)
        budget = self.visits * len(rates[sample]) / len(rates)
        shape = np.full(len(rates), KNOWN)
        never = 1e4
        worth = revisit.worth(shape[sample], KNOWN / rates[sample], budget, LEAST, never)
        self.intervals = revisit.interval(shape, KNOWN / rates, worth, LEAST, never)


class Product(Policy):
    """Told nothing but what its visits find."""

    def __init__(self, world: World, visits: float) -> None:
        super().__init__(world, visits)
        self.prior = revisit.PRIOR
        self.shape = np.full(world.pages, self.prior.shape)
        self.days = np.full(world.pages, self.prior.days)
        self.worth = 0.0

    def fit(self) -> None:
        shape, days = self.shape[:SAMPLE], self.days[:SAMPLE]
        if self._fitted > -np.inf:
            self.prior = revisit.prior_of(shape, days)
        budget = self.visits * len(shape) / self.world.pages
        self.worth = revisit.worth(shape, days, budget, LEAST, MOST)
        if self._fitted == -np.inf:
            self.intervals = revisit.interval(self.shape, self.days, self.worth, LEAST, MOST)

    def saw(self, visited: np.ndarray, changed: np.ndarray, now: float) -> None:
        shape, days = revisit.observe(
            self.shape[visited], self.days[visited], now - self.last[visited], changed, self.prior
        )
        self.shape[visited], self.days[visited] = shape, days
        # As in the ledger: a page's next visit is set when it is visited.
        self.intervals[visited] = revisit.interval(shape, days, self.worth, LEAST, MOST)
        super().saw(visited, changed, now)


def simulate(
    make: Callable[[World, float], Policy],
    pages: int,
    days: float,
    seed: int,
    drift: float,
    visits: float,
) -> dict[str, float]:
    """Mean freshness, age and requests of a policy."""
    world = World(pages, seed, drift)
    policy = make(world, visits)
    changes = np.random.default_rng([seed, 1])
    # When each page's copy stops (or stopped) to be the page as it is.
    until = _wait(changes, world.rates)
    fresh = old = requests = 0.0
    began = time.process_time()
    for step in range(round(days / STEP)):
        now = step * STEP
        moved = world.move() & (until > now)
        until[moved] = now + _wait(changes, world.rates[moved])
        visited = policy.due(now)
        policy.saw(visited, until[visited] <= now, now)
        until[visited] = now + _wait(changes, world.rates[visited])
        requests += len(visited)
        end = now + STEP
        fresh += np.clip(until - now, 0, STEP).sum()
        # From a first change at `until` the age grows to what it is at the step's end.
        from_, to = np.maximum(now - until, 0), np.maximum(end - until, 0)
        old += ((to**2 - from_**2) / 2).sum()
    whole = pages * days
    return {
        "freshness": fresh / whole,
        "age_days": old / whole,
        "requests": requests,
        "cpu_seconds": time.process_time() - began,
    }


def _wait(random: np.random.Generator, rates: Array) -> Array:
    with np.errstate(divide="ignore"):
        return random.exponential(size=len(rates)) / rates


POLICIES: dict[str, Callable[[World, float], Policy]] = {
    "uniform": Uniform,
    "proportional": Proportional,
    "product": Product,
    "optimum": Optimum,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--days", type=float, default=90.0)
    parser.add_argument("--every", type=float, default=7.0, help="days a page, on the average")
    parser.add_argument("--drift", type=float, default=60.0, help="days until a rate changes")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    visits = given.pages / given.every
    results = {
        name: simulate(make, given.pages, given.days, given.seed, given.drift, visits)
        for name, make in POLICIES.items()
    }
    best = results["optimum"]["freshness"]
    for result in results.values():
        result["of_optimum"] = result["freshness"] / best
    print(f"{'policy':14}{'freshness':>10}{'of optimum':>12}{'age, days':>11}{'requests':>11}")
    for name, result in results.items():
        print(
            f"{name:14}{result['freshness']:10.4f}{result['of_optimum']:12.4f}"
            f"{result['age_days']:11.3f}{result['requests']:11.0f}"
        )
    print(json.dumps(results))


if __name__ == "__main__":
    main()

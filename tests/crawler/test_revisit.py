"""The rate of change of a page from censored visits, and how visits are shared out by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import revisit
from crawler.revisit import Belief

shapes = st.floats(0.05, 100)
spans = st.floats(0.01, 400)


@given(shapes, spans, spans)
def test_a_change_raises_the_rate_and_none_lowers_it(
    shape: float, days: float, span: float
) -> None:
    belief = Belief(shape, days)  # fades to itself: what a visit adds is seen alone
    for changed in (True, False):
        a, b = revisit.observe(shape, days, span, changed, prior=belief)
        assert a > 0 < b
        assert np.isfinite(a / b)
        assert (a / b > shape / days) == changed or a / b == pytest.approx(shape / days)


@pytest.mark.parametrize("shape, days, span", [(0.5, 5, 3), (2, 10, 1), (1, 1, 20), (5, 200, 1)])
def test_after_a_change_mean_and_variance_are_those_of_the_posterior(
    shape: float, days: float, span: float
) -> None:
    rates = np.linspace(1e-7, 60 * shape / days + 60 / days, 2_000_001)
    density = rates ** (shape - 1) * np.exp(-days * rates) * -np.expm1(-rates * span)
    mean = (rates * density).sum() / density.sum()
    variance = ((rates - mean) ** 2 * density).sum() / density.sum()
    a, b = revisit.observe(shape, days, span, True, prior=Belief(shape, days))
    assert (a / b, a / b**2) == (pytest.approx(mean, rel=1e-3), pytest.approx(variance, rel=1e-3))


def test_a_visit_that_took_no_time_tells_nothing() -> None:
    for changed in (True, False):
        assert revisit.observe(2.0, 7.0, 0.0, changed) == (2.0, 7.0)


@pytest.mark.parametrize("rate", [0.02, 0.2, 2.0])
def test_the_estimate_comes_near_the_rate_whatever_the_intervals(rate: float) -> None:
    random = np.random.default_rng(7)
    found = np.empty(300)
    for page in range(300):
        a, b = np.float64(revisit.PRIOR.shape), np.float64(revisit.PRIOR.days)
        for span in random.uniform(0.2, 4.0 / max(rate, 0.2), 60):
            a, b = revisit.observe(a, b, span, random.random() < -np.expm1(-rate * span))
        found[page] = a / b
    # What holds for pages in general draws it, the more the less a visit tells.
    assert found.mean() == pytest.approx(rate, rel=0.35)


@given(shapes, spans)
def test_a_visit_gains_less_the_more_there_are(shape: float, days: float) -> None:
    gains = revisit.gain(shape, days, np.geomspace(0.01, 1000, 30))
    assert (np.diff(gains) >= 0).all()  # the longer the interval, the more a visit gains
    assert gains[0] >= 0


def test_all_pages_together_get_the_visits_there_are() -> None:
    random = np.random.default_rng(3)
    shape, days = random.uniform(0.1, 5, 2000), random.uniform(1, 100, 2000)
    worth = revisit.worth(shape, days, 2000 / 7, 1 / 24, 60)
    intervals = revisit.interval(shape, days, worth, 1 / 24, 60)
    assert (1 / intervals).sum() == pytest.approx(2000 / 7, rel=0.01)
    assert intervals.min() >= 1 / 24 * 0.999
    assert intervals.max() <= 60 * 1.001


def test_a_page_that_cannot_be_kept_up_with_gives_its_visits_to_others() -> None:
    known = np.full(3, 1e4)
    slow, usual, wild = 1e4 / np.array([0.01, 0.2, 50.0])
    days = np.array([slow, usual, wild])
    intervals = revisit.interval(known, days, 1.0, 0.1, 365)
    assert intervals[1] < intervals[0] < intervals[2] == pytest.approx(365)


def test_the_spread_of_a_sources_rates_is_found_again() -> None:
    random = np.random.default_rng(5)
    rates = random.gamma(0.8, 1 / 12, 20_000)
    shape = np.full(rates.shape, 500.0)
    prior = revisit.prior_of(shape, shape / np.maximum(rates, 1e-9))
    assert (prior.shape, prior.shape / prior.days) == (
        pytest.approx(0.8, rel=0.1),
        pytest.approx(0.8 / 12, rel=0.1),
    )

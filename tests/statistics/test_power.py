"""Power and numbers of queries against SciPy's distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irbatch.statistics.intervals import detectable_difference, queries_needed

stats = pytest.importorskip("scipy.stats")
RATIO = 1.084  # by the approximation 49 queries are enough of it, while it takes 51
DIFFERENCES = np.random.default_rng(0).normal([0.02, -0.05, 0.3], 0.1, (7, 3))


def test_the_detectable_difference_is_that_of_these_queries() -> None:
    t = stats.t(6)
    expected = (t.ppf(0.975) + t.ppf(0.8)) * stats.sem(DIFFERENCES)
    assert detectable_difference(DIFFERENCES, 0.05) == pytest.approx(expected, rel=1e-12)


def test_queries_needed_of_small_and_of_no_differences() -> None:
    """Above some 50 queries the approximation by t counts: it is consistent with itself."""
    few = np.array([[0.01, 0.0, 1.0], [-0.008, 0.0, 1.0], [0.002, 0.0, 1.0]])
    needed = queries_needed(few, 0.05)
    assert needed[1:].tolist() == [np.inf, 2]
    t = stats.t(needed[0] - 1)
    ratio = few[:, 0].std(ddof=1) / few[:, 0].mean()
    assert needed[0] == np.ceil(((t.ppf(0.975) + t.ppf(0.8)) * ratio) ** 2) > 50


@pytest.mark.parametrize("level", [1e-6, 0.01, 0.05, 0.2])
def test_queries_needed_have_the_power_and_one_less_has_not(level: float) -> None:
    """Up to some 50 the power is that of the t-test, above that of the usual approximation."""
    ratios = np.append(np.geomspace(0.05, 6, 400), RATIO)  # of spread to mean
    needed = queries_needed(1 + np.outer([-1, 1], ratios / math.sqrt(2)), level)

    def is_enough(numbers: np.ndarray) -> np.ndarray:
        t = stats.t(numbers - 1)
        return numbers >= ((t.ppf(1 - level / 2) + t.ppf(0.8)) * ratios) ** 2

    numbers = np.arange(2, 60)[:, None]
    edges = stats.t.ppf(1 - level / 2, numbers - 1)
    power = stats.nct.sf(edges, numbers - 1, np.sqrt(numbers) / ratios)
    exact = 2 + (power < 0.8).sum(axis=0)
    few, many = exact < 50, needed > 52
    assert few.sum() > 100
    assert needed[few].tolist() == exact[few].tolist()
    assert is_enough(needed)[many].all()
    assert not is_enough(needed - 1)[many].any()
    if level == 1e-6:
        assert needed[-1] == exact[-1] == 51

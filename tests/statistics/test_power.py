"""Equivalence, power and numbers of queries against SciPy's distributions."""

from __future__ import annotations

import numpy as np
import pytest

from irbatch.statistics.power import detectable_difference, equivalence_p, queries_needed

stats = pytest.importorskip("scipy.stats")
DIFFERENCES = np.random.default_rng(0).normal([0.02, -0.05, 0.3], 0.1, (7, 3))


def test_equivalence_is_two_tests_against_the_margin() -> None:
    for margin in (0.05, 0.2):
        above = stats.ttest_1samp(DIFFERENCES, -margin, alternative="greater").pvalue
        below = stats.ttest_1samp(DIFFERENCES, margin, alternative="less").pvalue
        found = equivalence_p(DIFFERENCES, margin)
        assert found == pytest.approx(np.maximum(above, below), rel=1e-10)
    constant = np.array([[0.1, 0.2, -0.1]] * 4)
    assert equivalence_p(constant, 0.15).tolist() == [0, 1, 0]


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

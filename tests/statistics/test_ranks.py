"""Wilcoxon's test against enumeration and SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from irbatch.statistics.tests import signed_ranks_p


def enumerated(differences: np.ndarray) -> float:
    """Return the share of assignments of signs whose sum of ranks is as far from its mean."""
    some = differences[differences != 0]
    sizes = np.abs(some)
    ranks = [(sizes < each).sum() + ((sizes == each).sum() + 1) / 2 for each in sizes]
    signs = np.array(list(itertools.product((0, 1), repeat=some.size)))
    mean = sum(ranks) / 2
    observed = abs(ranks @ (some > 0) - mean)
    return float((np.abs(signs @ ranks - mean) >= observed - 1e-9).mean())


@pytest.mark.parametrize("seed", range(40))
def test_enumeration(seed: int) -> None:
    """With ties and zeros, however many."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 11))
    tied = random.integers(-3, 5, n).astype(float)
    numbers = random.normal(0.3, 1, n) * (random.random(n) < 0.7)
    for differences in (tied, numbers):
        if differences.any():
            assert signed_ranks_p(differences) == pytest.approx(enumerated(differences), rel=1e-13)


def test_five_rises_and_fifteen_ties() -> None:
    assert signed_ranks_p(np.array([0.1] * 5 + [0.0] * 15)) == 2 / 2**5
    assert signed_ranks_p(np.zeros(4)) == 1


@pytest.mark.parametrize("n", [14, 50, 100, 101, 400])
def test_scipy(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(n).normal(0.2, 1, n)
    method = "exact" if n <= 100 else "asymptotic"
    expected = stats.wilcoxon(differences, method=method).pvalue
    assert signed_ranks_p(differences) == pytest.approx(expected, rel=1e-11)
    tied = np.rint(2 * differences)
    asymptotic = stats.wilcoxon(tied, method="asymptotic", zero_method="wilcox").pvalue
    tolerance = 1e-11 if np.count_nonzero(tied) > 100 else 0.25
    assert signed_ranks_p(tied) == pytest.approx(asymptotic, rel=tolerance)

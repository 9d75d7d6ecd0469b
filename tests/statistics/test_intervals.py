"""Intervals by bootstrap against their definitions, of the same draws."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from irbatch.statistics.intervals import find_intervals
from irbatch.statistics.resampling import draw_means

NORMAL = NormalDist()
VALUES = np.random.default_rng(5).gamma(1, 0.1, (2, 11, 3))
LEVEL, DRAWS, SEED = 0.1, 900, 2


@pytest.mark.parametrize("kind", ["percentile", "bca"])
@pytest.mark.parametrize("geometric", [False, True])
def test_bounds_are_quantiles_of_what_is_drawn(kind: str, geometric: bool) -> None:
    """Efron (1987), with the acceleration that leaving out each query in turn gives."""
    which = np.array([False, geometric, False])
    values = VALUES.copy()
    values[..., which] = np.log(values[..., which])
    found = find_intervals(values, [(1, 0)], kind, LEVEL, DRAWS, SEED, geometric=which)
    for measure in range(3):
        means = [_means(each, which[measure]) for each in values[..., measure]]
        (first, drawn_first, left_first), (second, drawn_second, left_second) = means
        pair = second - first, drawn_second - drawn_first, left_second - left_first
        rows = [
            (found.means[0], means[0]),
            (found.means[1], means[1]),
            (found.differences[0], pair),
        ]
        for bounds, (mean, drawn, left_out) in rows:
            shares = np.array([LEVEL / 2, 1 - LEVEL / 2])
            if kind == "bca":
                shares = _adjusted(shares, mean, drawn, left_out)
            expected = np.quantile(drawn, shares)
            assert bounds[measure] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_what_does_not_vary_has_no_width(kind: str) -> None:
    values = np.array([[[0.25]] * 4, [[0.75]] * 4])
    found = find_intervals(values, [(1, 0)], kind, LEVEL, DRAWS, SEED)
    assert found.means[:, 0].tolist() == [[0.25, 0.25], [0.75, 0.75]]
    assert found.differences[0, 0].tolist() == [0.5, 0.5]


def _means(values: np.ndarray, geometric: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean, those of the draws, and how far each query moves it (delta method)."""
    observed, drawn = draw_means(values[:, None], DRAWS, SEED)
    if not geometric:
        return observed[0], drawn[0], values
    return np.exp(observed[0]), np.exp(drawn[0]), np.exp(observed[0]) * values


def _adjusted(shares: np.ndarray, mean: float, drawn: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the shares with bias corrected and accelerated."""
    bias = NORMAL.inv_cdf(np.mean((drawn < mean) + 0.5 * (drawn == mean)))
    left_out = (values.sum() - values) / (values.size - 1)
    moved = left_out.mean() - left_out
    acceleration = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    shifted = [bias + NORMAL.inv_cdf(share) for share in shares]
    return np.array([NORMAL.cdf(bias + z / (1 - acceleration * z)) for z in shifted])

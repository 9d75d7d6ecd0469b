"""Errors, effects and t-tests of reproduced values, against the plain twin and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracle import reproducibility as twin
from scipy import stats

from irbatch.array_types import Floats
from irbatch.statistics.agreement import (
    delta_relative_improvement,
    effect_ratio,
    paired_p,
    rmse,
)


def some_values(seed: int, queries: int) -> Floats:
    """Values of a measure, in quarters as measures have them, and of another without ties."""
    draw = np.random.default_rng(seed)
    return np.stack([draw.integers(0, 5, queries) / 4, draw.random(queries)], axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_errors_and_effects_are_the_twin_s(seed: int) -> None:
    first, second, third, fourth = (some_values(4 * seed + k, 5 + seed) for k in range(4))
    second += 0.125  # the advanced run: of no effect there is no ratio
    means = np.array([[first.mean(axis=0), second.mean(axis=0)],
                      [third.mean(axis=0), fourth.mean(axis=0)]])  # fmt: skip
    for k in range(2):
        columns = [each[:, k].tolist() for each in (first, second, third, fourth)]
        original, reproduced = (columns[0], columns[1]), (columns[2], columns[3])
        assert rmse(first, second)[k] == pytest.approx(twin.rmse(*original), rel=1e-13)
        ratio = twin.effect_ratio(original, reproduced)
        assert effect_ratio(*means)[k] == pytest.approx(ratio, rel=1e-11)
        change = twin.delta_relative_improvement(original, reproduced)
        assert delta_relative_improvement(*means)[k] == pytest.approx(change, rel=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_those_of_scipy(seed: int) -> None:
    first, second = some_values(seed, 9), some_values(50 + seed, 9)
    assert paired_p(first, second) == pytest.approx(
        stats.ttest_rel(first, second).pvalue, rel=1e-11
    )


def test_what_has_no_spread_or_no_effect() -> None:
    values = np.array([[0.3], [0.8], [0.1]])
    assert paired_p(values, values).tolist() == [1.0]
    assert paired_p(values, values - 0.1).tolist() == [0.0], "the same decimal difference"
    means = np.array([[0.5, 0.0], [0.5, 0.25]])
    assert math.isnan(effect_ratio(means, means + 1.0)[0])
    assert math.isnan(delta_relative_improvement(means, means)[1]), "the baseline is 0"

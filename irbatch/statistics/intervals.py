"""Confidence intervals of means, of systems and of paired differences, from one set of draws."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.runtime.extras import imported
from irbatch.statistics.resampling import draw_means

INTERVALS = ("percentile", "bca", "t")


class Intervals(NamedTuple):
    """Lower and upper bounds: ``(systems, measures, 2)`` and ``(pairs, measures, 2)``."""

    means: Floats
    differences: Floats


def find_intervals(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    kind: str,
    level: float,
    draws: int,
    seed: int,
    strata: Sequence[Ints] | None = None,
    geometric: Bools | None = None,
) -> Intervals:
    """Find the intervals of means of ``(systems, queries, measures)`` that miss by `level`.

    Bootstraps are Efron's (1979, 1987); `strata` are groups of queries drawn from apart. Where
    `geometric` ``(measures,)`` is true values are logarithms, and means are geometric.
    """
    if geometric is None:
        geometric = np.zeros(values.shape[2], bool)
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    apart = as_linear(values, geometric)
    apart = np.concatenate([apart, apart[firsts] - apart[seconds]])
    n = len(values)
    if kind == "t":
        bounds = _student(apart, level)
        bounds[:n, geometric] = np.exp(_student(values[..., geometric], level))
    else:
        flat = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
        drawn = np.concatenate(list(draw_means(flat, draws, seed, strata)))
        means = drawn.reshape(len(drawn), *values[:, 0].shape)
        means[..., geometric] = np.exp(means[..., geometric])
        every = np.concatenate([means, means[:, firsts] - means[:, seconds]], axis=1)
        bounds = _quantiles(every, _tails(every, apart, kind, level))
    return Intervals(bounds[:n], bounds[n:])


def as_linear(values: Floats, geometric: Bools) -> Floats:
    """Return values whose means are the geometric ones, and vary as these do (delta method)."""
    if not geometric.any():
        return values
    linear = values.copy()
    logarithms = values[..., geometric]
    mean = logarithms.mean(axis=1, keepdims=True)
    linear[..., geometric] = np.exp(mean) * (1 + logarithms - mean)
    return linear


def _student(values: Floats, level: float) -> Floats:
    stats = imported("intervals by t", "stats", "scipy.stats")
    n = values.shape[1]
    mean = values.mean(axis=1)
    reach = stats.t.ppf(1 - level / 2, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return np.stack([mean - reach, mean + reach], axis=-1)


def _tails(drawn: Floats, values: Floats, kind: str, level: float) -> Floats:
    """Return which quantiles of the draws the bounds are, ``(columns, measures, 2)``."""
    tails = np.broadcast_to([level / 2, 1 - level / 2], (*drawn.shape[1:], 2))
    if kind == "percentile":
        return tails
    mean = values.mean(axis=1)
    # Draws that equal the mean count half: of values without spread all do.
    below = ((drawn < mean).mean(axis=0) + (drawn <= mean).mean(axis=0)) / 2
    normal = NormalDist()
    edge = 0.5 / len(drawn)
    bias = np.vectorize(normal.inv_cdf)(np.clip(below, edge, 1 - edge))[..., None]
    spread = values - mean[:, None]
    squares = (spread**2).sum(axis=1)
    acceleration = np.divide(
        (spread**3).sum(axis=1), 6 * squares**1.5, out=np.zeros_like(squares), where=squares > 0
    )[..., None]
    shifted = bias + np.array([normal.inv_cdf(level / 2), normal.inv_cdf(1 - level / 2)])
    adjusted = bias + shifted / (1 - acceleration * shifted)
    return np.asarray(np.vectorize(normal.cdf)(adjusted))


def _quantiles(drawn: Floats, tails: Floats) -> Floats:
    """Return quantiles of draws ``(draws, columns, measures)``, linearly between neighbours."""
    ordered = np.sort(drawn, axis=0)
    place = tails * (len(drawn) - 1)
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, len(drawn) - 1)
    columns, measures = np.indices(drawn.shape[1:])[..., None]
    low, high = ordered[lower, columns, measures], ordered[upper, columns, measures]
    between: Floats = low + (place - lower) * (high - low)
    return between

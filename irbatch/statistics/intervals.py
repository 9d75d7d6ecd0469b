"""Confidence intervals of means, of systems and of paired differences, from one set of draws."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.statistics.differences import row_blocks
from irbatch.statistics.distributions import student_quantile
from irbatch.statistics.resampling import draw_means

INTERVALS = ("t", "percentile", "bca")


class IntervalOptions(NamedTuple):
    """How intervals are found, see `find_intervals`."""

    kind: str
    level: float
    draws: int
    seed: int


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
    levels: Floats | None = None,
    weights: Floats | None = None,
) -> Intervals:
    """Find the intervals of means of ``(systems, queries, measures)`` that miss by `level`.

    Those of differences do by `levels` ``(pairs, measures)``, if given. Bootstraps are Efron's
    (1979, 1987); `strata` are groups of queries drawn from apart. Where `geometric`
    ``(measures,)`` is true values are logarithms, and means are geometric. Where means are weighted
    values have been multiplied by their `weights` ``(queries, measures)``, of mean 1.
    """
    if geometric is None:
        geometric = np.zeros(values.shape[2], bool)
    linear = as_linear(values, geometric, weights)
    n, measures = len(values), values.shape[2]
    each = np.full((n + len(pairs), measures), level)
    if levels is not None:
        each[n:] = levels
    bounds = np.empty((*each.shape, 2))
    if kind == "t":
        for some in row_blocks(n, values):
            bounds[:n][some] = _student(linear[some], each[:n][some])
        for some in row_blocks(len(pairs), values):
            firsts, seconds = ([pair[side] for pair in pairs[some]] for side in (0, 1))
            bounds[n:][some] = _student(linear[firsts] - linear[seconds], each[n:][some])
        bounds[:n, geometric] = np.exp(_student(values[..., geometric], each[:n, geometric]))
        return Intervals(bounds[:n], bounds[n:])

    flat = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    observed, drawn = (
        means.reshape(n, values.shape[2], -1) for means in draw_means(flat, draws, seed, strata)
    )
    if weights is not None:
        drawn = _divide(drawn, observed, draw_means(weights, draws, seed, strata)[1])
    for means in observed, drawn:
        means[:, geometric] = np.exp(means[:, geometric])
    for row, (first, second) in enumerate([*((system, None) for system in range(n)), *pairs]):
        mean, means, apart = observed[first], drawn[first], linear[first]
        if second is not None:
            mean, means = mean - observed[second], means - drawn[second]
            apart = apart - linear[second]
        bounds[row] = _quantiles(means, _tails(means, mean, apart, kind, each[row]))
    return Intervals(bounds[:n], bounds[n:])


def _divide(drawn: Floats, observed: Floats, weights: Floats) -> Floats:
    """Divide means by the weights drawn with them; where these are 0 there is nothing to tell."""
    known = np.broadcast_to(weights > 0, drawn.shape)
    means = np.broadcast_to(observed, drawn.shape).copy()
    return np.divide(drawn, weights, out=means, where=known)


def as_linear(values: Floats, geometric: Bools, weights: Floats | None = None) -> Floats:
    """Return values whose means are the geometric or weighted ones, and vary as these do.

    By the delta method; `find_intervals` has arguments.
    """
    if weights is not None:
        values = values - (weights - 1.0) * values.mean(axis=1, keepdims=True)
    if not geometric.any():
        return values
    linear = values.copy()
    logarithms = values[..., geometric]
    mean = logarithms.mean(axis=1, keepdims=True)
    linear[..., geometric] = np.exp(mean) * (1 + logarithms - mean)
    return linear


def _student(values: Floats, levels: Floats) -> Floats:
    """Return intervals by Student's t, each ``(rows, measures)`` of its own level."""
    n = values.shape[1]
    mean = values.mean(axis=1)
    some, place = np.unique(levels, return_inverse=True)
    quantiles = np.array([student_quantile(level / 2, n - 1) for level in some.tolist()])
    reach = quantiles[place.reshape(levels.shape)] * values.std(axis=1, ddof=1) / np.sqrt(n)
    return np.stack([mean - reach, mean + reach], axis=-1)


def _tails(drawn: Floats, observed: Floats, values: Floats, kind: str, levels: Floats) -> Floats:
    """Return which quantiles of the draws ``(measures, draws)`` are bounds, ``(measures, 2)``."""
    tails = np.stack([levels / 2, 1 - levels / 2], axis=1)
    if kind == "percentile":
        return tails
    # Draws that equal the mean count half: of values without spread all do.
    below = ((drawn < observed).mean(axis=1) + (drawn <= observed).mean(axis=1)) / 2
    normal = NormalDist()
    edge = 0.5 / drawn.shape[1]
    bias = np.vectorize(normal.inv_cdf)(np.clip(below, edge, 1 - edge))[:, None]
    spread = values - values.mean(axis=0)
    squares = (spread**2).sum(axis=0)
    acceleration = np.divide(
        (spread**3).sum(axis=0), 6 * squares**1.5, out=np.zeros_like(squares), where=squares > 0
    )[:, None]
    shifted = bias + np.vectorize(normal.inv_cdf)(tails)
    return np.asarray(np.vectorize(normal.cdf)(bias + shifted / (1 - acceleration * shifted)))


def _quantiles(drawn: Floats, tails: Floats) -> Floats:
    """Return quantiles of draws ``(measures, draws)``, linearly between neighbours."""
    ordered = np.sort(drawn, axis=1)
    place = tails * (drawn.shape[1] - 1)
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, drawn.shape[1] - 1)
    low, high = (np.take_along_axis(ordered, at, axis=1) for at in (lower, upper))
    return low + (place - lower) * (high - low)

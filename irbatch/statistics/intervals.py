"""Intervals of means, differences and quantiles; how wide several have to be; power; tails."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.errors import imported
from irbatch.statistics.resampling import draw_means, row_blocks

INTERVALS = ("t", "percentile", "bca")


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
    row_levels = np.full((n + len(pairs), measures), level)
    if levels is not None:
        row_levels[n:] = levels
    bounds = np.empty((*row_levels.shape, 2))
    if kind == "t":
        for block in row_blocks(n, values):
            bounds[:n][block] = _student(linear[block], row_levels[:n][block])
        for block in row_blocks(len(pairs), values):
            firsts, seconds = ([pair[side] for pair in pairs[block]] for side in (0, 1))
            bounds[n:][block] = _student(linear[firsts] - linear[seconds], row_levels[n:][block])
        bounds[:n, geometric] = np.exp(_student(values[..., geometric], row_levels[:n, geometric]))
        return Intervals(bounds[:n], bounds[n:])

    flat = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    observed, drawn = (
        means.reshape(n, values.shape[2], -1) for means in draw_means(flat, draws, seed, strata)
    )
    if weights is not None:
        # Of draws in which no query weighs anything nothing is known.
        drawn_weights = draw_means(weights, draws, seed, strata)[1]
        quotients = drawn / np.where(drawn_weights > 0, drawn_weights, 1.0)
        drawn = np.where(drawn_weights > 0, quotients, observed)
    for means in observed, drawn:
        means[:, geometric] = np.exp(means[:, geometric])
    for row, (first, second) in enumerate([*((system, None) for system in range(n)), *pairs]):
        mean, means, apart = observed[first], drawn[first], linear[first]
        if second is not None:
            mean, means = mean - observed[second], means - drawn[second]
            apart = apart - linear[second]
        bounds[row] = _quantiles(means, _tails(means, mean, apart, kind, row_levels[row]))
    return Intervals(bounds[:n], bounds[n:])


def cut_intervals(bounds: Floats, estimates: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Cut intervals to what can be, but not beyond what was seen."""
    low = np.maximum(bounds[..., 0], np.minimum(lowest, estimates))
    return np.stack([low, np.minimum(bounds[..., 1], np.maximum(highest, estimates))], axis=-1)


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
    distinct, place = np.unique(levels, return_inverse=True)
    quantiles = np.array([student_quantile(level / 2, n - 1) for level in distinct.tolist()])
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


def levels_of(significant: Bools, correction: str, level: float, family: str = "pairs") -> Floats:
    """Return by how much each interval ``(pairs, measures)`` may miss.

    The `family` that is corrected for together: the pairs of a measure, or all of them.

    Bonferroni's all by the level over the number of pairs. So do Holm's of differences found; the
    others share the level among themselves, as in his procedure (Strassburger & Bretz 2008;
    Guilbaud 2008). With a chance of 1 - level none of them misses. After Benjamini & Hochberg, or
    Yekutieli, of those found the expected share that misses is at most the level (Benjamini &
    Yekutieli 2005).
    """
    if family == "all":
        return levels_of(significant.reshape(-1, 1), correction, level).reshape(significant.shape)
    pairs = len(significant)
    counts = significant.sum(axis=0)
    levels = np.full(significant.shape, level)
    if correction == "bonferroni":
        levels /= pairs
    elif correction == "holm":
        levels /= np.where(significant, pairs, np.maximum(pairs - counts, 1))
    elif correction in ("bh", "by"):
        levels *= np.maximum(counts, 1) / pairs
        if correction == "by":
            levels /= (1.0 / np.arange(1, pairs + 1)).sum()
    return levels


ROUNDING = 1e-9  # of chances, that two equal ones are equal


def quantile_ranks(n: int, share: float, level: float) -> tuple[int, int] | None:
    """Return the ranks, from 1, of two of `n` values with the quantile at `share` between them.

    It lies below the one, and above the other, with a chance of `level` / 2 at most. None where n
    is too small for that.

    >>> quantile_ranks(400, 0.99, 0.05), quantile_ranks(300, 0.99, 0.05)
    ((392, 400), None)
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])  # of factorials
    few = np.arange(n + 1)
    log_chances = logs[n] - logs - logs[::-1]
    chances = np.exp(log_chances + few * math.log(share) + few[::-1] * math.log1p(-share))
    lower, upper = _within(chances, level / 2), n + 1 - _within(chances[::-1], level / 2)
    return (lower, upper) if lower >= 1 and upper <= n else None


def _within(chances: Floats, tail: float) -> int:
    """Return how many of the first chances are `tail` at most together."""
    return int(np.searchsorted(np.cumsum(chances), tail * (1 + ROUNDING), side="right"))


POWER = 0.8  # the chance to find a difference that there is

MOST_QUERIES = 1e9
FEW = 50  # queries up to which the usual approximation is off by one or more


def detectable_difference(differences: Floats, level: float | Floats) -> Floats:
    """Find the least true difference that as many queries of this spread show with that power.

    A two-sided test of ``(queries, columns)`` finds by `level`, one or one a column, what is not
    there; a one-sided test by half of it.

    NaN where differences don't vary, so that nothing is known of their spread.
    """
    n = len(differences)
    error = differences.std(axis=0, ddof=1) / np.sqrt(n)
    special = imported("power", "stats", "scipy.special")
    edge = _stats().t.ppf(1 - np.asarray(level) / 2, n - 1)
    shift: Floats = special.nctdtrinc(n - 1.0, 1 - POWER, edge)  # of the non-central t distribution
    return shift * np.where(error > 0, error, np.nan)


def queries_needed(differences: Floats, level: float | Floats) -> Floats:
    """Find how many queries show the observed differences; infinite where there is none."""
    mean, spread = np.abs(differences.mean(axis=0)), differences.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(mean > 0, spread / mean, np.inf)
    needed, t = np.full(mean.shape, 2.0), _stats().t
    for _ in range(50):  # the t distribution depends on the number; a few rounds settle it
        freedom = np.minimum(needed, MOST_QUERIES) - 1
        before = needed
        reach = t.ppf(1 - level / 2, freedom) + t.ppf(POWER, freedom)  # in standard errors
        needed = np.maximum(np.ceil((reach * ratio) ** 2), 2)
        if (before == needed).all():
            break
    # What that leaves of few queries is found by the exact power. Where two numbers lead to each
    # other, the larger one is enough.
    few = np.minimum(before, needed) < FEW
    needed = np.where(few, 2.0, np.maximum(before, needed))
    while (short := few & (_power(needed, ratio, level) < POWER)).any():
        needed[short] += 1
    return needed


def _power(queries: Floats, ratio: Floats, level: float | Floats) -> Floats:
    """Return the power of the two-sided t-test: by the non-central t distribution."""
    stats = _stats()
    queries = np.minimum(queries, 2 * FEW)  # of those that are many it isn't asked
    shift = np.sqrt(queries) / np.where(ratio > 0, ratio, 1.0)
    edge = stats.t.ppf(1 - level / 2, queries - 1)
    power: Floats = stats.nct.sf(edge, queries - 1, shift)
    return np.where(ratio > 0, power, 1.0)


def _stats() -> Any:
    return imported("power", "stats", "scipy.stats")


# Bounds of means of values in a known range, by bets against the hypothesis that a mean is 0 at
# most: a capital of 1, multiplied query by query by ``1 + stake * value``, has an expectation of 1
# at most under the hypothesis while the stake is at most ``-1 / lowest value``, so by Markov's
# inequality it exceeds ``1 / level`` with a chance of `level` at most. The largest of several
# stakes is best where no loss was seen: it then needs as many queries as the rule of three.

STAKES = 6  # over which the capital is spread
LARGEST = 0.5  # the part of the capital on the largest of them
SMALLEST = 5.0  # the smallest, times the values' range and the root of their number
STEPS = 40  # of a bisection: the range / 2**40


def above_zero_bounded_p(values: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Test whether means are above 0, whatever the distribution of the values.

    Student's t trusts the spread that was seen. Where a few queries lose much, a small sample often
    shows no loss at all, and t is sure of a mean that it has not seen.

    Args:
        values: ``(queries, columns)``; of columns with NaN the result is 1.
        lowest, highest: ``(columns,)``, the least that a value can be, below 0, and the most.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by
    betting".

    >>> nothing_lost = np.full((300, 1), 0.01)  # by a margin of 0.01, of values from 0 to 1
    >>> above_zero_bounded_p(nothing_lost, np.array([-0.99]), np.array([1.01])).round(3)
    array([0.084])
    """
    most = -1 / lowest
    # What is best at the edge of a verdict where values scatter as widely as they can.
    least = np.minimum(SMALLEST / ((highest - lowest) * math.sqrt(len(values))), most)
    capital = np.full(values.shape[1], -math.inf)  # its logarithm
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(STAKES):
            stakes = most * (least / most) ** (i / (STAKES - 1))
            weight = LARGEST if i == 0 else (1 - LARGEST) / (STAKES - 1)
            # A value at its lowest takes the whole stake: rounding may leave less than nothing.
            factors = np.maximum(1 + values * stakes, 0)
            capital = np.logaddexp(capital, math.log(weight) + np.log(factors).sum(axis=0))
        return np.where(np.isnan(capital), 1.0, np.minimum(np.exp(-capital), 1.0))


def bounded_intervals(values: Floats, lowest: Floats, highest: Floats, level: float) -> Floats:
    """Return intervals of means that hold whatever the distribution: ``(columns, 2)``.

    Arguments as of `above_zero_bounded_p`; they miss with a chance of `level` at most, half of it
    at each end.

    >>> bounded_intervals(np.ones((20, 1)), np.zeros(1), np.ones(1), 0.05).round(3)
    array([[0.829, 1.   ]])
    """
    low = _bound_below(values, lowest, highest, level / 2)
    high = -_bound_below(-values, -highest, -lowest, level / 2)
    return np.stack([low, high], axis=-1)


def _bound_below(values: Floats, lowest: Floats, highest: Floats, level: float) -> Floats:
    """Return the largest means that the test rejects, by bisection."""
    below, above = np.array(lowest, float), values.mean(axis=0)
    for _ in range(STEPS):
        middle = (below + above) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            p = above_zero_bounded_p(values - middle, lowest - middle, highest - middle)
        rejected = p <= level
        below, above = np.where(rejected, middle, below), np.where(rejected, above, middle)
    return below


MOST_TERMS = 10_000  # of a continued fraction, which takes fewer than 100 but of huge freedom


def normal_tail(z: Floats) -> Floats:
    """Return the chance of a standard normal number above each of `z`."""
    halves = [math.erfc(number / math.sqrt(2.0)) / 2.0 for number in z.ravel().tolist()]
    return np.array(halves, np.float64).reshape(z.shape)


def student_tails(t: Floats, freedom: float) -> Floats:
    """Return the chances that Student's t exceeds each of `t`, of either sign; NaN of NaN.

    >>> student_tails(np.array([2.0, -2.0]), 10).round(6).tolist()
    [0.036694, 0.963306]
    """
    tails = [_student_tail(number, freedom) for number in t.ravel().tolist()]
    return np.array(tails, np.float64).reshape(t.shape)


@functools.lru_cache(256)
def student_quantile(tail: float, freedom: float) -> float:
    """Return what Student's t exceeds with a chance of `tail`, at most 0.5.

    >>> round(student_quantile(0.025, 10), 6)
    2.228139
    """
    low, high = 0.0, 1.0
    while _student_tail(high, freedom) > tail:
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2.0) < high:  # until no number is left between them
        low, high = (middle, high) if _student_tail(middle, freedom) > tail else (low, middle)
    return high


def _student_tail(t: float, freedom: float) -> float:
    """By the regularised incomplete beta function I_x(freedom / 2, 1/2) (DLMF 8.17)."""
    a, square = freedom / 2.0, t * t
    if math.isnan(t) or math.isinf(square):
        return t if math.isnan(t) else float(t < 0)
    x, y = freedom / (freedom + square), square / (freedom + square)
    log_beta = math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    if a >= 50.0:  # so large logarithms leave few digits to their difference: Stirling's series
        rise = math.log(a) / 2.0 - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3) - 1.0 / (640.0 * a**5)
        log_beta = math.lgamma(0.5) - rise
    log_x = math.log1p(-y) if y < 0.5 else math.log(x)
    front = math.exp(a * log_x + math.log(y) / 2.0 - log_beta) if y > 0.0 else 0.0
    if x < (a + 1.0) / (a + 2.5):
        half = front * _fraction(x, a, 0.5) / a / 2.0
    else:
        half = 0.5 - front * _fraction(y, 0.5, a)
    return 1.0 - half if t < 0 else half


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz."""
    value, numerator, denominator = 1.0, math.inf, 1.0
    for i in range(1, MOST_TERMS):
        m = i // 2
        over = (a + 2 * m) * (a + 2 * m + (1 if i % 2 else -1))
        term = (-(a + m) * (a + b + m) if i % 2 else m * (b - m)) * x / over
        denominator = 1.0 / (1.0 + term * denominator)
        numerator = 1.0 + term / numerator
        change = numerator * denominator
        value *= change
        if abs(change - 1.0) < 1e-15:
            break
    return value

"""How far values of reproduced experiments are from the original ones: arrays in, numbers out.

Source: T. Breuer, N. Ferro, N. Fuhr, M. Maistro, T. Sakai, P. Schaer and I. Soboroff, *How to
measure the reproducibility of system-oriented IR experiments*, SIGIR 2020.
"""

from __future__ import annotations

import math

import numpy as np

from irbatch.array_types import Floats
from irbatch.statistics.distributions import student_tail
from irbatch.statistics.flips import ROUNDING


def rmse(original: Floats, reproduced: Floats) -> Floats:
    """Return the root mean square error of values ``(queries, measures)``, ``(measures,)``.

    >>> rmse(np.array([[0.5], [0.25]]), np.array([[0.5], [0.75]])).round(4).tolist()
    [0.3536]
    """
    squares = (original - reproduced) ** 2
    return np.array([math.sqrt(math.fsum(each) / len(each)) for each in squares.T.tolist()])


def effect_ratio(original: Floats, reproduced: Floats) -> Floats:
    """Return the effect in a reproduction over that in the experiment, ``(measures,)``.

    An effect is the mean of the advanced run less that of the baseline. 1: the original effect;
    below 0: the opposite one; NaN where there was none.

    Args:
        original, reproduced: means ``(2, measures)``, of the baseline and of the advanced run.

    >>> effect_ratio(np.array([[0.25], [0.5]]), np.array([[0.25], [0.375]])).tolist()
    [0.5]
    """
    return _divide(reproduced[1] - reproduced[0], original[1] - original[0])


def delta_relative_improvement(original: Floats, reproduced: Floats) -> Floats:
    """Return the relative improvement of an experiment less that of its reproduction.

    An improvement is an effect as a share of the baseline's mean, see `effect_ratio`, which has the
    arguments. 0: the original improvement; above it: a smaller one; NaN where a baseline is 0.

    >>> means = np.array([[0.25], [0.5]]), np.array([[0.25], [0.375]])
    >>> delta_relative_improvement(*means).tolist()
    [0.5]
    """
    first, other = (_divide(means[1] - means[0], means[0]) for means in (original, reproduced))
    return first - other


def paired_p(original: Floats, reproduced: Floats) -> Floats:
    """Test values of the same queries ``(queries, measures)`` by Student's t: ``(measures,)``.

    Values that are alike have a p-value of 1, those that all differ by the same one of 0.
    """
    differences = original - reproduced
    differences[np.abs(differences) <= ROUNDING * np.abs(original)] = 0.0
    n = len(differences)
    error = differences.std(axis=0, ddof=1) / math.sqrt(n)
    return _two_sided(differences.mean(axis=0), error, n - 1)


def unpaired_p(first: Floats, second: Floats) -> Floats:
    """Test two samples ``(queries, measures)`` by Student's t, of equal variances: ``(measures,)``.

    As `paired_p` where values don't vary.
    """
    n, m = len(first), len(second)
    squares = sum(((each - each.mean(axis=0)) ** 2).sum(axis=0) for each in (first, second))
    errors = np.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    return _two_sided(first.mean(axis=0) - second.mean(axis=0), errors, n + m - 2)


def _two_sided(means: Floats, errors: Floats, freedom: int) -> Floats:
    """Return p-values of means by their standard errors; of means without spread 0, of none 1."""
    p = []
    for mean, error in zip(np.abs(means).tolist(), errors.tolist(), strict=True):
        if error <= ROUNDING * mean:
            p.append(0.0 if mean > 0 else 1.0)
        else:
            p.append(2.0 * student_tail(mean / error, freedom))
    return np.array(p, np.float64)


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator is 0."""
    return numerator / np.where(denominator == 0, np.nan, denominator)

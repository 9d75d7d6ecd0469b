"""Means of values that have a known range: tests and bounds that hold for every distribution.

Student's t trusts the spread that was seen. Where a few queries lose much, a small sample often
shows no loss at all, and t is sure of a mean that it has not seen. What holds for any distribution
within a range is a bet against the hypothesis that the mean is at most zero: a capital of 1,
multiplied query by query by ``1 + stake * value``, has an expectation of at most 1 under the
hypothesis while the stake is at most ``-1 / lowest value``, so by Markov's inequality it exceeds
``1 / level`` with a probability of at most `level`. The capital is spread over several stakes, the
largest of which is best where no loss was seen: it then needs as many queries as the rule of three.

Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting".
"""

from __future__ import annotations

import math

import numpy as np

from irbatch.array_types import Floats

STAKES = 6  # over which the capital is spread
LARGEST = 0.5  # the part of the capital on the largest of them
SMALLEST = 5.0  # the smallest, times the values' range and the root of their number
STEPS = 40  # of a bisection: the range / 2**40


def above_zero_bounded_p(values: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Test whether means are above 0, whatever the distribution of the values.

    Args:
        values: ``(queries, columns)``; of columns with NaN the result is 1.
        lowest, highest: ``(columns,)``, the least that a value can be, below 0, and the most.

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

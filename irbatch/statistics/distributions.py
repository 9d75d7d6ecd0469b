"""The few functions of distributions that comparisons take without SciPy."""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Floats

MOST_TERMS = 10_000  # of a continued fraction, which takes fewer than 100 but of huge freedom
CLOSE = 1e-15  # to 1: what a further term changes
LEAST = 1e-300  # in place of 0, to divide by


def normal_tail(z: Floats) -> Floats:
    """Return the chance of a standard normal number above each of `z`."""
    halves = [math.erfc(each / math.sqrt(2.0)) / 2.0 for each in z.ravel().tolist()]
    return np.array(halves, np.float64).reshape(z.shape)


def student_tail(t: float, freedom: float) -> float:
    """Return the chance that Student's t exceeds `t`, at least 0.

    >>> round(student_tail(2.0, 10), 6)
    0.036694
    """
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2.0) / 2.0


@functools.lru_cache(256)
def student_quantile(tail: float, freedom: float) -> float:
    """Return what Student's t exceeds with a chance of `tail`, at most 0.5.

    >>> round(student_quantile(0.025, 10), 6)
    2.228139
    """
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2.0) < high:  # until no number is left between them
        low, high = (middle, high) if student_tail(middle, freedom) > tail else (low, middle)
    return high


def _incomplete_beta(x: float, a: float) -> float:
    """Return the regularised incomplete beta function I_x(a, 1/2) (DLMF 8.17)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    b = 0.5
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22).

    By Lentz's method, from the front: 1 / (1 + d1 / (1 + d2 / (1 + ...))).
    """
    value, numerator, denominator = 1.0, 1.0 / LEAST, 1.0
    for i in range(1, MOST_TERMS):
        m = i // 2
        if i % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1.0 / (1.0 + term * denominator or LEAST)
        numerator = 1.0 + term / numerator or LEAST
        change = numerator * denominator
        value *= change
        if abs(change - 1.0) < CLOSE:
            break
    return value

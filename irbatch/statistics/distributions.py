"""The few functions of distributions that comparisons take without SciPy."""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Floats

MOST_TERMS = 10_000  # of a continued fraction, which takes fewer than 100 but of huge freedom
CLOSE = 1e-15  # to 1: what a further term changes
LEAST = 1e-300  # in place of 0, to divide by
FARTHEST = 1e150  # whose square is a number


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


def student_tails(t: Floats, freedom: float) -> Floats:
    """Return the chances that Student's t exceeds each of `t`, of either sign; NaN of NaN.

    >>> student_tails(np.array([2.0, -2.0]), 10).round(6).tolist()
    [0.036694, 0.963306]
    """
    a, b = freedom / 2.0, 0.5
    square = np.square(np.clip(t, -FARTHEST, FARTHEST))
    below, above = freedom / (freedom + square), square / (freedom + square)
    log_beta = _log_beta(a)
    # By the functions of C, as NumPy's own differ by a bit from one processor to another.
    fronts = [
        math.exp(a * (math.log1p(-y) if y < 0.5 else math.log(x)) + b * math.log(y) - log_beta)
        if y > 0.0
        else y
        for x, y in zip(below.ravel().tolist(), above.ravel().tolist(), strict=True)
    ]
    front = np.array(fronts, np.float64).reshape(t.shape)
    outer = below < (a + 1.0) / (a + b + 2.0)
    fractions = _fractions(
        np.where(outer, below, above), np.where(outer, a, b), np.where(outer, b, a)
    )
    beyond = np.where(outer, front * fractions / a, 1.0 - front * fractions / b)
    beyond = np.where(np.abs(t) > FARTHEST, 0.0, beyond)
    return np.where(t < 0, 1.0 - beyond / 2.0, beyond / 2.0)


def _log_beta(a: float) -> float:
    """Return the logarithm of the beta function B(a, 1/2), by Stirling's series where a is large.

    There the gamma functions' logarithms are so large that their difference has few digits.
    """
    if a < 50.0:
        return math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    rise = math.log(a) / 2.0 - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3) - 1.0 / (640.0 * a**5)
    return math.lgamma(0.5) - rise


def _fractions(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return what `_fraction` returns, of arrays, of which each element ends by itself."""
    value, numerator, denominator = np.ones_like(x), np.full_like(x, 1.0 / LEAST), np.ones_like(x)
    going = np.ones(x.shape, bool)
    for i in range(1, MOST_TERMS):
        m = i // 2
        over = (a + 2 * m) * (a + 2 * m + (1 if i % 2 else -1))
        term = (-(a + m) * (a + b + m) if i % 2 else m * (b - m)) * x / over
        denominator = 1.0 / (1.0 + term * denominator)
        numerator = 1.0 + term / numerator
        change = numerator * denominator
        np.multiply(value, change, out=value, where=going)
        going &= np.abs(change - 1.0) >= CLOSE
        if not going.any():
            break
    return value


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

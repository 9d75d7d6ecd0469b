"""One-sided paired tests by their definitions: every assignment of signs is tried."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def share_of_signs(differences: Sequence[float]) -> float:
    """Share of all assignments of signs whose sum is as high (Fisher 1935, section 21)."""
    exact = [Fraction(float(each)) for each in differences]
    observed = sum(exact)
    slack = Fraction(1, 10**11) * sum(map(abs, exact))  # differences are those of rounded numbers
    sums = [sum(map(_times, signs, exact)) for signs in _signs(len(exact))]
    return sum(each >= observed - slack for each in sums) / len(sums)


def share_of_ranks(differences: Sequence[float]) -> float:
    """Share of all assignments of signs whose positive ranks add up to as much (Wilcoxon 1945).

    Zeros are left out, and equal sizes share the mean of their ranks.
    """
    some = [float(each) for each in differences if each]
    if not some:
        return 1.0
    sizes = sorted(map(abs, some))
    ranks = [Fraction(2 * sizes.index(abs(each)) + 1 + sizes.count(abs(each)), 2) for each in some]
    observed = sum(rank for rank, each in zip(ranks, some, strict=True) if each > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign > 0)
        for signs in _signs(len(ranks))
    ]
    return sum(each >= observed for each in sums) / len(sums)


def p_of_two_one_sided(differences: Sequence[float], margin: float) -> float:
    """The larger p-value of two one-sided t-tests at a margin (Schuirmann 1987)."""
    from scipy import stats  # its distribution function alone

    numbers = np.asarray(differences, np.float64)
    n = numbers.size
    mean = float(numbers.sum()) / n
    error = (float(((numbers - mean) ** 2).sum()) / (n - 1) / n) ** 0.5
    lower, upper = (mean + margin) / error, (mean - margin) / error
    return max(float(stats.t.sf(lower, n - 1)), float(stats.t.cdf(upper, n - 1)))


def _signs(number: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=number))


def _times(sign: int, number: Fraction) -> Fraction:
    return sign * number

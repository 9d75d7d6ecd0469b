"""Leaderboards once more, slowly: who dominates whom, and between which ranks percentiles lie."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate


def dominators(table: Sequence[Sequence[float]], signs: Sequence[int]) -> list[list[int]]:
    """For each system the places of those that are at least as good along every axis.

    And better along one (Santhanam et al. 2022). A table has a row a system and a column an axis,
    of which higher is better where its sign is 1, and lower where it is -1.
    """

    def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
        pairs = [(a * sign, b * sign) for a, b, sign in zip(one, other, signs, strict=True)]
        return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)

    return [[i for i, other in enumerate(table) if dominates(other, row)] for row in table]


def binomial_weights(n: int, share: Fraction) -> list[int]:
    """The chances of 0, 1, … n of n, as whole shares of their sum."""
    yes, total = share.as_integer_ratio()
    return [math.comb(n, k) * yes**k * (total - yes) ** (n - k) for k in range(n + 1)]


def quantile_ranks(n: int, share: Fraction, level: Fraction) -> tuple[int, int] | None:
    """Ranks of two of n values, as close as can be, with a quantile between (David and Nagaraja).

    It is below the lower one where fewer values than its rank are at or below it, and above the
    upper one where as many as its rank are: each with a chance of half the level at most.
    """
    upto = list(accumulate(binomial_weights(n, share)))
    half = level / 2 * upto[-1]
    lower = [rank for rank in range(1, n + 1) if upto[rank - 1] <= half]
    upper = [rank for rank in range(1, n + 1) if upto[-1] - upto[rank - 1] <= half]
    return (lower[-1], upper[0]) if lower and upper else None


def percentile_interval(
    repeats: Sequence[Sequence[float]], percent: float, level: float
) -> tuple[float, float] | None:
    """From one of the times to another: a rank of one pass is as many of all as there are passes.

    Of these the lower end takes the first, and the upper end the last.
    """
    ranks = quantile_ranks(len(repeats[0]), Fraction(percent) / 100, Fraction(level))
    if ranks is None:
        return None
    ordered = sorted(time for repeat in repeats for time in repeat)
    lower, upper = ([ordered[len(repeats) * (rank - 1) + i] for i in range(len(repeats))]
                    for rank in ranks)  # fmt: skip
    return lower[0], upper[-1]

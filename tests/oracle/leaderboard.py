"""Leaderboards once more, in slow and plain Python: the oracle the library is compared with.

Written from the definitions alone and sharing no code with the library. Values are exact
fractions; only logarithms are floats. A table is a list of rows, one a system, and has one column
an axis; `signs` has 1 for an axis of which higher is better, else -1.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

Row = Sequence[Fraction]
Table = Sequence[Row]

HOUR = 3600
MILLION = 1_000_000


def fractions(table: Sequence[Sequence[float]]) -> list[list[Fraction]]:
    """The table without rounding."""
    return [[Fraction(value) for value in row] for row in table]


def turned(table: Table, signs: Sequence[int]) -> list[list[Fraction]]:
    """The table of which higher is better."""
    return [[value * sign for value, sign in zip(row, signs, strict=True)] for row in table]


# ---------------------------------------------------------------- Pareto


def dominates(a: Row, b: Row) -> bool:
    """At least as good along every axis, and better along one (Santhanam et al. 2022)."""
    pairs = list(zip(a, b, strict=True))
    return all(x >= y for x, y in pairs) and any(x > y for x, y in pairs)


def dominators(table: Table, signs: Sequence[int]) -> list[list[int]]:
    """For each system the places of those that dominate it."""
    rows = turned(table, signs)
    return [[i for i, other in enumerate(rows) if dominates(other, row)] for row in rows]


# ---------------------------------------------------------------- efficiency


def cost_per_million(
    price_per_hour: float, milliseconds: float, queries_a_call: int | Fraction = 1
) -> Fraction:
    """What the hardware costs while a million queries are answered one call after the other.

    Santhanam et al. 2022 compare systems so: from the price of an hour and the mean latency.
    """
    hours = Fraction(milliseconds) / 1000 / queries_a_call * MILLION / HOUR
    return Fraction(price_per_hour) * hours


def throughput_cost_per_million(price_per_hour: float, queries_per_second: float) -> Fraction:
    """What the hardware costs while a million queries are answered as fast as it can."""
    return Fraction(price_per_hour) * MILLION / Fraction(queries_per_second) / HOUR


def percentile(values: Sequence[float | Fraction], percent: float | Fraction) -> Fraction:
    """Between neighbours linearly: the smallest value is at 0 and the largest at 100."""
    ordered = sorted(Fraction(value) for value in values)
    place = Fraction(percent) / 100 * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def drawn_times(repeats: Sequence[Sequence[float]], often: Sequence[int]) -> list[float]:
    """The times of calls that were drawn so often each, with all of their repeats."""
    return [
        repeat[call] for call, count in enumerate(often) for repeat in repeats
        for _ in range(count)
    ]  # fmt: skip


def cluster_bootstrap(
    repeats: Sequence[Sequence[float]], draws: Sequence[Sequence[int]], level: float
) -> tuple[Fraction, Fraction]:
    """Percentile interval of the mean, of draws told by how often each call came."""
    means = []
    for often in draws:
        times = drawn_times(repeats, often)
        means.append(sum(map(Fraction, times), Fraction()) / len(times))
    tail = 100 * Fraction(level) / 2
    return percentile(means, tail), percentile(means, 100 - tail)


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

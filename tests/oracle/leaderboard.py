"""Leaderboards once more, in slow and plain Python: the oracle the library is compared with.

Written from the definitions alone and sharing no code with the library. Values are exact
fractions; only logarithms are floats. A table is a list of rows, one a system, and has one column
an axis; `signs` has 1 for an axis of which higher is better, else -1.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise, permutations

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


# ---------------------------------------------------------------- scores


def shares(weights: Sequence[float]) -> list[Fraction]:
    """Weights that add up to 1."""
    exact = [Fraction(each) for each in weights]
    return [each / sum(exact) for each in exact]


def marginal_rates(table: Table, performance: int, cutoff: float) -> list[Fraction] | None:
    """AMRS of every axis (Ma et al. 2021, equation 1); None where no neighbours differ enough.

    `table` is turned and has its offsets. Of systems of equal performance any may be the neighbour:
    what is found is the mean over all pairs of one system of a level and one of the next.
    """
    levels = sorted({row[performance] for row in table})
    noise = Fraction(cutoff) * abs(levels[-1])
    steps = [(low, high) for low, high in pairwise(levels) if high - low > noise]
    if not steps:
        return None
    rates = []
    for k in range(len(table[0])):
        means = []
        for low, high in steps:
            pairs = [abs(b[k] - a[k]) / (high - low) for a in table for b in table
                     if a[performance] == low and b[performance] == high]  # fmt: skip
            means.append(sum(pairs, Fraction()) / len(pairs))
        rates.append(sum(means, Fraction()) / len(means))
    return rates


def ordered_rates(table: Table, performance: int, cutoff: float) -> list[Fraction] | None:
    """The same by its definition: the mean over all orders of the systems, ties as they stand."""
    found = []
    for rows in permutations(table):
        ordered = sorted(rows, key=lambda row: row[performance])
        noise = Fraction(cutoff) * abs(ordered[-1][performance])
        kept = [(low, high) for low, high in pairwise(ordered)
                if high[performance] - low[performance] > noise]  # fmt: skip
        if not kept:
            return None
        found.append([
            sum((abs(high[k] - low[k]) / (high[performance] - low[performance])
                 for low, high in kept), Fraction()) / len(kept)
            for k in range(len(table[0]))
        ])  # fmt: skip
    return [sum(column, Fraction()) / len(found) for column in zip(*found, strict=True)]


def dynascores(
    table: Table, signs: Sequence[int], offsets: Sequence[float], weights: Sequence[float],
    performance: int, cutoff: float = 1e-4,
) -> list[Fraction]:  # fmt: skip
    """Weighted means of what every axis is worth in performance (Ma et al. 2021, equation 2).

    An axis without a rate adds nothing; performance is always worth itself.
    """
    added = [Fraction(each) for each in offsets]
    rows = [[value + more for value, more in zip(row, added, strict=True)]
            for row in turned(table, signs)]  # fmt: skip
    rates = marginal_rates(rows, performance, cutoff) or [Fraction()] * len(signs)
    rates[performance] = Fraction(1)
    return [
        sum((weight * value / rate for weight, value, rate
             in zip(shares(weights), row, rates, strict=True) if rate), Fraction())
        for row in rows
    ]  # fmt: skip


def utilities(
    table: Table, signs: Sequence[int], weights: Sequence[float], scale: str
) -> list[Fraction]:
    """Weighted means of axes on one scale: 0 is the worst system and 1 the best."""
    if scale == "log":
        table = [[Fraction(math.log(value)) for value in row] for row in table]
    rows = turned(table, signs)
    if scale != "none":
        columns = [_stretched(column) for column in zip(*rows, strict=True)]
        rows = [list(row) for row in zip(*columns, strict=True)]
    return [sum((weight * part for weight, part in zip(shares(weights), row, strict=True)),
                Fraction()) for row in rows]  # fmt: skip


def _stretched(column: Row) -> list[Fraction]:
    worst, best = min(column), max(column)
    return [(value - worst) / (best - worst) if best > worst else Fraction(1) for value in column]


# ---------------------------------------------------------------- sweeps


def scores_at(
    weight: Fraction, parts: Table, weights: Sequence[Fraction], axis: int
) -> list[Fraction]:
    """Scores when one axis has this weight, and the others share the rest in proportion."""
    others = [Fraction() if k == axis else each for k, each in enumerate(weights)]
    if len(weights) == 1:
        return [row[0] for row in parts]
    if not any(others):
        others = [Fraction(int(k != axis)) for k in range(len(weights))]
    rest = sum(others)
    now = [weight if k == axis else (1 - weight) * each / rest for k, each in enumerate(others)]
    return [sum((w * part for w, part in zip(now, row, strict=True)), Fraction()) for row in parts]


def winners_at(weight: Fraction, parts: Table, weights: Sequence[Fraction], axis: int) -> list[int]:
    """The places of the systems that score most."""
    scores = scores_at(weight, parts, weights, axis)
    return [i for i, score in enumerate(scores) if score == max(scores)]


def stretches(
    parts: Table, weights: Sequence[Fraction], axis: int
) -> list[tuple[Fraction, Fraction, list[int]]]:
    """Where on [0, 1] the same systems win: between all weights at which two systems are equal."""
    at_0, at_1 = (scores_at(Fraction(end), parts, weights, axis) for end in (0, 1))
    crossings = {Fraction(), Fraction(1)}
    for i, j in combinations(range(len(parts)), 2):
        ahead, behind = at_0[i] - at_0[j], at_1[j] - at_1[i]
        if ahead + behind:
            crossings.add(min(max(ahead / (ahead + behind), Fraction()), Fraction(1)))
    found: list[tuple[Fraction, Fraction, list[int]]] = []
    for low, high in pairwise(sorted(crossings)):
        winners = winners_at((low + high) / 2, parts, weights, axis)
        if found and found[-1][2] == winners:
            low = found.pop()[0]
        found.append((low, high, winners))
    return found


def merged(
    found: Sequence[tuple[Fraction, Fraction, list[int]]], least: Fraction
) -> list[tuple[Fraction, Fraction, list[int]]]:
    """Stretches without those that are not longer than the least: what is next begins there."""
    kept: list[tuple[Fraction, Fraction, list[int]]] = []
    for low, high, winners in found:
        if high - low > least:
            kept.append((kept[-1][1] if kept else Fraction(), high, winners))
    low, _, winners = kept[-1]
    return [*kept[:-1], (low, Fraction(1), winners)]


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

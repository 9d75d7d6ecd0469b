"""How well experiments were reproduced, in slow and plain Python: the oracle of `reproducibility`.

From T. Breuer et al., *How to measure the reproducibility of system-oriented IR experiments*,
SIGIR 2020, sections 4.1 to 4.3. Rankings are ids, best first; values are of topics.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction


def kendall(x: Sequence[int], y: Sequence[int]) -> Fraction:
    """Tau of two lists without ties: pairs in the same order less those in the other, over all."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    agree = sum(1 if (x[i] < x[j]) == (y[i] < y[j]) else -1 for i, j in pairs)
    return Fraction(agree, len(pairs))


def tau_union(original: Sequence[str], reproduced: Sequence[str]) -> float:
    """Kendall's tau of the places, in the union of both rankings, of what stands at each rank.

    The union lists documents as they come, first the original ones. What the longer
    ranking has beyond the shorter one has nothing beside it.
    """
    places = list(dict.fromkeys([*original, *reproduced]))
    ranks = min(len(original), len(reproduced))
    if ranks < 2:
        return math.nan
    first, second = ([places.index(each) for each in ranking[:ranks]]
                     for ranking in (original, reproduced))  # fmt: skip
    return float(kendall(first, second))


def rmse(original: Sequence[float], reproduced: Sequence[float]) -> float:
    """Root mean square error, equation 5."""
    squares = [(a - b) ** 2 for a, b in zip(original, reproduced, strict=True)]
    return math.sqrt(math.fsum(squares) / len(squares))


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def effect_ratio(
    original: tuple[Sequence[float], Sequence[float]],
    reproduced: tuple[Sequence[float], Sequence[float]],
) -> float:
    """Mean improvement of the advanced run on the baseline, reproduced over original (7, 8)."""
    gains = [
        mean([a - b for a, b in zip(advanced, baseline, strict=True)])
        for baseline, advanced in (original, reproduced)
    ]
    return gains[1] / gains[0]


def delta_relative_improvement(
    original: tuple[Sequence[float], Sequence[float]],
    reproduced: tuple[Sequence[float], Sequence[float]],
) -> float:
    """Relative improvement, original less reproduced (9)."""
    shares = [
        (mean(advanced) - mean(baseline)) / mean(baseline)
        for baseline, advanced in (original, reproduced)
    ]
    return shares[0] - shares[1]

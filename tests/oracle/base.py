"""What the slow twins of the measures share: order, relevance, gains, discounts, exact ratios.

Part of the oracle in measures.py, which says how it is written.
"""

import itertools
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeVar

D = TypeVar("D", str, int)
Grade = int | float
Ranking = Sequence[Grade | None]
Judged = Sequence[Grade]
Gain = str | Mapping[Grade, float]
Cutoff = int | None
Rel = int | float | None
Value = Fraction | int | float


class Query(NamedTuple):
    """What a measure is told: grades in rank order, all grades given, and the cutoff."""

    ranking: Ranking
    judged: Judged
    k: Cutoff

    @property
    def top(self) -> Ranking:
        """The first k documents."""
        return self.ranking[: self.k]

    @property
    def depth(self) -> int:
        """What k stands for in a denominator: the cutoff, or n at full depth."""
        return len(self.ranking) if self.k is None else self.k


# ---------------------------------------------------------------- order, relevance, ratios


def order(scores: Mapping[D, float], score_dtype: str = "float64") -> list[D]:
    """Documents by score descending, ties by id (as text, in code-point order) descending."""
    dtypes: dict[str, Callable[[float], float]] = {"float64": float, "float32": to_float32}
    rounded = dtypes[score_dtype]
    return sorted(scores, key=lambda d: (rounded(scores[d]), str(d)), reverse=True)


def to_float32(score: float) -> float:
    """The nearest float32; a score beyond its range becomes infinite."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


def is_relevant(grade: Grade | None, rel: Rel) -> bool:
    """Judged, not negative, and of grade >= rel (1 unless given)."""
    return grade is not None and grade >= 0 and grade >= (1 if rel is None else rel)


def hit_ranks(top: Ranking, rel: Rel) -> list[int]:
    """The ranks, from 1, of the relevant documents among the first k; H_k is their number."""
    return [rank for rank, grade in enumerate(top, 1) if is_relevant(grade, rel)]


def count_relevant(judged: Judged, rel: Rel) -> int:
    """R, the number of relevant documents of the query."""
    return sum(is_relevant(grade, rel) for grade in judged)


def ratio(numerator: Value, denominator: Value) -> Value:
    """numerator / denominator, exact if both are; 0 if the denominator is 0."""
    return Fraction(numerator) / denominator if denominator else Fraction(0)


# ---------------------------------------------------------------- gains and discounts

DISCOUNTS: dict[str, Callable[[int], int | float]] = {
    "log2": lambda rank: math.log2(rank + 1),
    "ln": lambda rank: math.log(rank + 1),
    "log10": lambda rank: math.log10(rank + 1),
    "jk2": lambda rank: max(1, math.log2(rank)),  # Järvelin & Kekäläinen 2002 with b = 2
    "jk10": lambda rank: max(1, math.log10(rank)),
    "rank": lambda rank: rank,
    "none": lambda rank: 1,
}

GAINS: dict[str, Callable[[Grade], Fraction]] = {
    "linear": Fraction,
    "exp": lambda grade: Fraction(2.0**grade) - 1,
    "binary": lambda grade: Fraction(grade > 0),
    "triangular": lambda grade: Fraction(grade) * (Fraction(grade) + 1) / 2,
}


def gain_of(grade: Grade | None, gain: Gain, rel: Rel) -> Fraction:
    """The grade itself, 2^grade - 1 (Burges et al. 2005), or its entry in a table, else itself.

    Or 1 for any grade above 0. 0 for an unjudged document, a negative grade, and a grade below rel
    where rel is given. OverflowError where 2^grade is beyond float64.
    """
    if grade is None or grade < 0 or (rel is not None and grade < rel):
        return Fraction(0)
    if isinstance(gain, str):
        return GAINS[gain](grade)
    return Fraction(gain.get(grade, grade))


def gains_of(grades: Ranking, gain: Gain, rel: Rel) -> list[Fraction]:
    """The gains of documents."""
    return [gain_of(grade, gain, rel) for grade in grades]


def ideal_gains(judged: Judged, gain: Gain, rel: Rel) -> list[Fraction]:
    """The gains of the ideal ranking: all positive ones judged, largest first."""
    counts = Counter(judged)
    gains = sorted(((gain_of(grade, gain, rel), grade) for grade in counts), reverse=True)
    return [g for g, grade in gains if g for _ in range(counts[grade])]


def discounted_sums(gains: Iterable[Fraction], discount: str) -> list[Value]:
    """The sum of gain_j / d(j) over j <= i, for each i from 0.

    Exact for rational discounts, else a sum of floats rounded once.
    """
    terms = [gain / DISCOUNTS[discount](rank) for rank, gain in enumerate(gains, 1)]
    if all(isinstance(term, Fraction) for term in terms):
        return list(itertools.accumulate(terms, initial=Fraction(0)))
    return [math.fsum(terms[:i]) for i in range(len(terms) + 1)]

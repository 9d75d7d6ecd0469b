"""The slow twins of the measures of sampled judgments, written from their papers and definitions.

Yilmaz, Kanoulas & Aslam 2008, in the two versions of TREC's sample_eval; Pavlu & Aslam's statAP.
Sums are exact but for logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Ranking = Sequence[Any]
Strata = Mapping[Any, Mapping[Any, float]]  # stratum to document to grade, below 0: not sampled
Drawn = Mapping[Any, tuple[float, float]]  # document to grade and probability

EPSILON = Fraction(1, 100_000)
TENTHS = [i / 10 for i in range(11)]


class Pool:
    """A query's strata, seen from a least relevant grade."""

    def __init__(self, strata: Strata, rel: float | None) -> None:
        self.rel = max(1 if rel is None else rel, 0)
        self.strata = strata
        self.stratum = {each: name for name, some in strata.items() for each in some}
        self.grade = {each: grade for some in strata.values() for each, grade in some.items()}

    def relevant(self, document: Any) -> bool:
        return self.grade.get(document, -1) >= self.rel

    def rate(self, stratum: Any) -> Fraction:
        """Pooled documents for each that was sampled; none if none was."""
        grades = self.strata[stratum].values()
        sampled = sum(grade >= 0 for grade in grades)
        return Fraction(len(grades), sampled) if sampled else Fraction(0)

    def expected(self) -> Fraction:
        relevant = filter(self.relevant, self.grade)
        return sum((self.rate(self.stratum[each]) for each in relevant), Fraction(0))

    def found(self, documents: Ranking) -> Fraction:
        """How many relevant documents there are estimated to be among some."""
        total = Fraction(0)
        for stratum in self.strata:
            pooled = [each for each in documents if self.stratum.get(each) == stratum]
            sampled = sum(self.grade[each] >= 0 for each in pooled)
            relevant = sum(map(self.relevant, pooled))
            total += len(pooled) * (relevant + EPSILON) / (sampled + 3 * EPSILON)
        return total


def inf_ap(ranking: Ranking, pool: Pool, k: float, version: str = "nist") -> Fraction:
    total = Fraction(0)
    for rank, document in enumerate(ranking, 1):
        if pool.relevant(document):
            precision = (1 + pool.found(ranking[: rank - 1])) / rank
            total += pool.rate(pool.stratum[document]) * precision
    expected = pool.expected()
    if not expected:
        return Fraction(0)
    scaled = version == "trecvid" and expected > k
    return total / expected * (expected / Fraction(k) if scaled else 1)


def inf_ndcg(ranking: Ranking, pool: Pool, k: float, version: str = "nist") -> float:
    found = 0.0
    for stratum in pool.strata:
        placed = [(r, d) for r, d in enumerate(ranking, 1) if pool.stratum.get(d) == stratum]
        sampled = sum(pool.grade[d] >= 0 for _, d in placed)
        gains = [pool.grade[d] / math.log2(r + 1) for r, d in placed if pool.relevant(d)]
        found += len(placed) * math.fsum(gains) / max(sampled, 1)
    ideal = math.fsum(
        grade / math.log2(rank + 1) for grade, rank in ideal_ranks(pool, k, whole=version == "nist")
    )
    return found / ideal if ideal else 0.0


def ideal_ranks(pool: Pool, k: float, *, whole: bool) -> Iterator[tuple[float, Fraction]]:
    """Grades and ranks of the ideal ranking; each grade takes one, even beyond the cutoff."""
    start = Fraction(0)
    for grade in sorted({each for each in pool.grade.values() if each >= pool.rel}, reverse=True):
        some = [each for each, own in pool.grade.items() if own == grade]
        count = sum((pool.rate(pool.stratum[each]) for each in some), Fraction(0))
        if whole:
            count = Fraction(math.floor(count + Fraction(1, 2)))
        rank = start + 1
        while rank <= start + count:
            yield grade, rank
            if rank >= k:
                break
            rank += 1
        start += count


def inf_p(ranking: Ranking, pool: Pool, k: float) -> Fraction:
    depth = len(ranking) if math.isinf(k) else Fraction(k)
    return pool.found(ranking) / depth if depth else Fraction(0)


def inf_iprec(ranking: Ranking, pool: Pool, k: float, recall: float = 0.0) -> Fraction:
    """sample_eval's walk from the last rank to the first."""
    expected = pool.expected()
    points = [each for each in TENTHS if each > recall]
    left = [recall * float(expected), *(each * float(expected) for each in points)]
    while left and left[-1] > pool.found(ranking):
        left.pop()
    best = Fraction(0)
    for rank in range(len(ranking), 0, -1):
        found = pool.found(ranking[:rank])
        best = max(best, found / rank)
        if left and left[-1] > found:
            left.pop()
            if not left:
                return best
    return best if left else Fraction(0)


def num_rel(ranking: Ranking, pool: Pool, k: float) -> Fraction:
    return pool.expected()


def num_rel_ret(ranking: Ranking, pool: Pool, k: float) -> Fraction:
    return pool.found(ranking)


def stat_ap(ranking: Ranking, weights: dict[Any, Fraction], k: float) -> Fraction:
    total = above = Fraction(0)
    for rank, document in enumerate(ranking, 1):
        if document in weights:
            total += weights[document] * (1 + above) / rank
            above += weights[document]
    return total / sum(weights.values())


def stat_p(ranking: Ranking, weights: dict[Any, Fraction], k: float) -> Fraction:
    depth = len(ranking) if math.isinf(k) else Fraction(k)
    return sum((weights.get(each, Fraction(0)) for each in ranking), Fraction(0)) / max(depth, 1)


def stat_rprec(ranking: Ranking, weights: dict[Any, Fraction], k: float) -> Fraction:
    relevant = sum(weights.values(), Fraction(0))
    rank = math.floor(relevant + Fraction(1, 2))
    above = ranking[:rank] if len(ranking) >= rank else ranking
    found = sum((weights.get(each, Fraction(0)) for each in above), Fraction(0))
    return found / (rank if len(ranking) >= rank else relevant)


OF_STRATA: dict[str, Callable[..., Any]] = {
    "xInfAP": inf_ap,
    "InfNDCG": inf_ndcg,
    "InfP": inf_p,
    "InfIPrec": inf_iprec,
    "InfNumRel": num_rel,
    "InfNumRelRet": num_rel_ret,
}
OF_PROBABILITIES: dict[str, Callable[..., Any]] = {
    "StatAP": stat_ap,
    "StatP": stat_p,
    "StatRprec": stat_rprec,
}


def evaluate(
    name: str,
    ranking: Ranking,
    judged: Any,
    k: int | None,
    rel: float | None = None,
    **parameters: Any,
) -> float:
    """The value of one query, of judgments of the kind that the measure reads."""
    cutoff = math.inf if k is None else k
    if name in OF_STRATA:
        return float(OF_STRATA[name](ranking[:k], Pool(judged, rel), cutoff, **parameters))
    least = max(1 if rel is None else rel, 0)
    weights = {d: 1 / Fraction(chance) for d, (grade, chance) in judged.items() if grade >= least}
    if not weights:
        return 0.0
    return float(OF_PROBABILITIES[name](ranking[:k], weights, cutoff, **parameters))

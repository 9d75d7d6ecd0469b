"""What explains a query, once more, in slow and plain Python; see measures.py.

Where its documents stand with two systems, and what each adds to a value: the terms of the sums
that the measures' definitions are, written out one by one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from oracle.base import D, Grade, Judged, Ranking, Value, order

Terms = list[Value]
Cut = int | None


def ranking_of(
    scores: Mapping[D, float],
    grades: Mapping[D, Grade],
    score_dtype: str = "float64",
    max_depth: int | None = None,
    judged_only: bool = False,
) -> list[D]:
    """The documents of a query from the first to the last."""
    documents = order(scores, score_dtype)[:max_depth]
    return [d for d in documents if not judged_only or grades.get(d, -1) >= 0]


def where(document: D, ranking: Sequence[D]) -> int | None:
    """A document's rank, from 1."""
    return ranking.index(document) + 1 if document in ranking else None


def moved(first: int | None, second: int | None, k: Cut) -> str:
    """What became of a document, as far as a measure with this cutoff looks."""
    first, second = (
        rank if rank and (k is None or rank <= k) else None for rank in (first, second)
    )
    if first and second:
        return "same" if first == second else "up" if second < first else "down"
    return "lost" if first else "new" if second else "missed"


# ---------------------------------------------------------------- what each rank adds
# Each returns one term a rank; their sum is the measure's value (see measures.py for the sources).


def relevant(ranking: Ranking, k: Cut) -> list[bool]:
    return [
        grade is not None and grade >= 1 and (k is None or rank <= k)
        for rank, grade in enumerate(ranking, 1)
    ]


def count(judged: Judged) -> int:
    return sum(grade >= 1 for grade in judged)


def shares(divisor: Callable[[Ranking, Judged, Cut], int]) -> Callable[..., Terms]:
    """Each relevant document adds the same: 1 over what hits are divided by."""

    def terms(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
        each = divisor(ranking, judged, k)
        return [Fraction(1, each) if hit and each else 0 for hit in relevant(ranking, k)]

    return terms


def first_one(value: Callable[[int], Value]) -> Callable[..., Terms]:
    """Only the first relevant document adds something."""

    def terms(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
        hits = relevant(ranking, k)
        return [value(i + 1) if hit and not any(hits[:i]) else 0 for i, hit in enumerate(hits)]

    return terms


def of_ap(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
    hits = relevant(ranking, k)
    return [
        Fraction(sum(hits[: i + 1]), (i + 1) * count(judged)) if hit else 0
        for i, hit in enumerate(hits)
    ]


def of_r_precision(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
    return [
        Fraction(1, count(judged)) if hit and i < count(judged) else 0
        for i, hit in enumerate(relevant(ranking, k))
    ]


def of_bpref(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
    """Buckley & Voorhees 2004: what is judged not relevant above a document counts against it."""
    total, others = count(judged), sum(0 <= grade < 1 for grade in judged)
    bound, above, terms = min(total, others), 0, list[Value]()
    for rank, grade in enumerate(ranking, 1):
        inside = k is None or rank <= k
        hit = inside and grade is not None and grade >= 1
        terms.append(1 - Fraction(min(above, total), bound) if hit and above else int(hit))
        above += inside and grade is not None and 0 <= grade < 1
    return [term / total if total else 0 for term in map(Fraction, terms)]


def gain(grade: Grade | None) -> Grade:
    return max(grade or 0, 0)


def of_gains(
    weight: Callable[[int], float], *, normal: bool = False, scale: bool = False
) -> Callable[..., Terms]:
    """Each document adds its gain times its rank's weight, over what the ideal ranking has."""

    def terms(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
        ideal = sorted(map(gain, judged), reverse=True)[:k]
        divisor = sum(each * weight(rank) for rank, each in enumerate(ideal, 1)) if normal else 1
        if scale:
            divisor = max(1, *map(gain, judged))
        inside = (gain(grade) * (k is None or i < k) for i, grade in enumerate(ranking))
        return [each * weight(i) / divisor if each else 0 for i, each in enumerate(inside, 1)]

    return terms


def of_err(ranking: Ranking, judged: Judged, k: Cut, *, normal: bool = False) -> Terms:
    """Chapelle et al. 2009, grades up to 4."""

    def walk(grades: Ranking) -> Terms:
        going, terms = 1.0, list[Value]()
        for rank, grade in enumerate(grades, 1):
            stops = (2 ** gain(grade) - 1) / 2**4 * (k is None or rank <= k)
            terms.append(going * stops / rank)
            going *= 1 - stops
        return terms

    ideal = sum(walk(sorted(map(gain, judged), reverse=True))) if normal else 1
    return [term / ideal if term else 0 for term in walk(ranking)]


def of_nerr(ranking: Ranking, judged: Judged, k: Cut) -> Terms:
    return of_err(ranking, judged, k, normal=True)


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


TERMS: dict[str, Callable[[Ranking, Judged, Cut], Terms]] = {
    "P": shares(lambda ranking, judged, k: k or len(ranking)),
    "R": shares(lambda ranking, judged, k: count(judged)),
    "Rcap": shares(lambda ranking, judged, k: min(k or len(ranking), count(judged))),
    "NumRelRet": shares(lambda ranking, judged, k: 1),
    "Success": first_one(lambda rank: 1),
    "RR": first_one(lambda rank: Fraction(1, rank)),
    "AP": of_ap,
    "Rprec": of_r_precision,
    "Bpref": of_bpref,
    "CG": of_gains(lambda rank: 1),
    "nCG": of_gains(lambda rank: 1, normal=True),
    "DCG": of_gains(discount),
    "nDCG": of_gains(discount, normal=True),
    "RBP": of_gains(lambda rank: (1 - 0.9) * 0.9 ** (rank - 1), scale=True),
    "nRBP": of_gains(lambda rank: 0.9 ** (rank - 1), normal=True),
    "ERR": of_err,
    "nERR": of_nerr,
}

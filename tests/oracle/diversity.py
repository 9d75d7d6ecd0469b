"""The slow twins of the measures of diversity, written from their papers and from ndeval 4.5.

A query's judgments are subtopic to document to grade. Subtopics that no document is relevant to
don't count. Gains are exact; sums of logarithms are rounded once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Judged = Mapping[Any, Mapping[Any, float]]
Ranking = Sequence[Any]


def relevant(judged: Judged, rel: float | None) -> dict[Any, set[Any]]:
    """The relevant documents of each subtopic that has any."""
    least = 1 if rel is None else rel
    found = {s: {d for d, g in those.items() if g >= least} for s, those in judged.items()}
    return {subtopic: those for subtopic, those in found.items() if those}


def gains(ranking: Ranking, judged: dict[Any, set[Any]], alpha: float) -> Iterator[Fraction]:
    """Clarke et al. 2008: what each document adds, subtopic by subtopic, less for each repeat."""
    seen = dict.fromkeys(judged, 0)
    for document in ranking:
        mine = [subtopic for subtopic, those in judged.items() if document in those]
        yield sum(((1 - Fraction(alpha)) ** seen[each] for each in mine), Fraction(0))
        for each in mine:
            seen[each] += 1


def ideal(judged: dict[Any, set[Any]], alpha: float) -> list[Any]:
    """Greedily the document that adds most, the larger id where several do."""
    left = sorted(set().union(*judged.values()), reverse=True)
    order: list[Any] = []
    while left:
        adds = [list(gains([*order, each], judged, alpha))[-1] for each in left]
        order.append(left.pop(adds.index(max(adds))))
    return order


def discounted(added: Sequence[Fraction], k: int, discount: Callable[[int], float]) -> float:
    return math.fsum(float(gain) / discount(rank) for rank, gain in enumerate(added[:k], 1))


def log2(rank: int) -> float:
    return math.log2(rank + 1)


def novelty(discount: Callable[[int], float], *, normalised: bool) -> Callable[..., float]:
    """Make α-DCG and ERR-IA (over all-relevant documents) and their normalised forms."""

    def value(ranking: Ranking, judged: dict[Any, set[Any]], k: int, alpha: float = 0.5) -> float:
        found = discounted(list(gains(ranking, judged, alpha)), k, discount)
        if normalised:
            best = list(gains(ideal(judged, alpha), judged, alpha))
        else:
            kept = 1 - Fraction(alpha)
            best = [len(judged) * kept**i for i in range(k)]
        return found / discounted(best, k if not normalised else len(best[:k]), discount)

    return value


def rank_biased(
    ranking: Ranking, judged: dict[Any, set[Any]], k: int, alpha: float, beta: float
) -> Fraction:
    added = itertools.islice(gains(ranking, judged, alpha), k)
    return sum((gain * Fraction(beta) ** i for i, gain in enumerate(added)), Fraction(0))


def nrbp(
    ranking: Ranking, judged: dict[Any, set[Any]], k: int, alpha: float = 0.5, beta: float = 0.5
) -> Fraction:
    """Clarke, Kolla & Vechtomova 2009."""
    scale = (1 - (1 - Fraction(alpha)) * Fraction(beta)) / len(judged)
    return scale * rank_biased(ranking, judged, k, alpha, beta)


def nnrbp(
    ranking: Ranking, judged: dict[Any, set[Any]], k: int, alpha: float = 0.5, beta: float = 0.5
) -> Fraction:
    best = rank_biased(ideal(judged, alpha), judged, k, alpha, beta)
    return rank_biased(ranking, judged, k, alpha, beta) / best


def ap_ia(ranking: Ranking, judged: dict[Any, set[Any]], k: int) -> Fraction:
    """Agrawal et al. 2009: the mean over subtopics of average precision."""
    total = Fraction(0)
    for those in judged.values():
        hits = [rank for rank, document in enumerate(ranking[:k], 1) if document in those]
        precisions = (Fraction(number, rank) for number, rank in enumerate(hits, 1))
        total += sum(precisions, Fraction(0)) / len(those)
    return total / len(judged)


def p_ia(ranking: Ranking, judged: dict[Any, set[Any]], k: int) -> Fraction:
    hits = sum(document in those for document in ranking[:k] for those in judged.values())
    return Fraction(hits, k * len(judged)) if k else Fraction(0)


def subtopic_recall(ranking: Ranking, judged: dict[Any, set[Any]], k: int) -> Fraction:
    """Zhai, Cohen & Lafferty 2003."""
    return Fraction(sum(bool(those & set(ranking[:k])) for those in judged.values()), len(judged))


MEASURES: dict[str, Callable[..., Any]] = {
    "alpha_DCG": novelty(log2, normalised=False),
    "alpha_nDCG": novelty(log2, normalised=True),
    "ERR_IA": novelty(float, normalised=False),
    "nERR_IA": novelty(float, normalised=True),
    "NRBP": nrbp,
    "nNRBP": nnrbp,
    "AP_IA": ap_ia,
    "P_IA": p_ia,
    "StRecall": subtopic_recall,
}


def evaluate(
    name: str,
    ranking: Ranking,
    judged: Judged,
    k: int | None,
    rel: float | None = None,
    **parameters: float,
) -> float:
    """The value of one query; at full depth k is the number retrieved; 0 without subtopics.

    The ideal of a normalised measure at full depth is that of all relevant documents.
    """
    those = relevant(judged, rel)
    if not those or not ranking:
        return 0.0
    normalised = name in ("alpha_nDCG", "nERR_IA", "nNRBP")
    depth = k if k is not None else 10**6 if normalised else len(ranking)
    return float(MEASURES[name](ranking, those, depth, **parameters))

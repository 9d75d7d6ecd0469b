"""Similarity of rankings, in slow and plain Python: more of the oracle in measures.py.

Notation besides that of measures.py: X_d the number of documents that two rankings have in common
among the first d of each; a group is documents of one score, which are tied.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from oracle.base import Cutoff, Gain, Judged, Ranking, Rel, Value, gain_of, ideal_gains, ratio

COMPARED = 1000


def compatibility(
    ranking: Ranking,
    judged: Judged,
    k: Cutoff,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    p: float = 0.95,
    normalize: bool = True,
) -> Value:
    """RBO(ranking, ideal) / RBO(ideal, ideal) (Clarke, Smucker & Vtyurina 2020).

    RBO = sum of p^(d - 1) X_d / d over d <= 1000, over the sum of p^(d - 1). The ideal ranking has
    the documents of positive gain by gain, then by their rank, those not retrieved last.
    """
    depth = min(k or COMPARED, COMPARED)
    gains = [gain_of(grade, gain, rel) for grade in ranking]
    best_first = sorted((rank for rank, g in enumerate(gains) if g), key=lambda r: (-gains[r], r))
    missing = sorted(ideal_gains(judged, gain, rel), reverse=True)
    for rank in best_first:
        missing.remove(gains[rank])
    ideal = sorted([(-gains[r], 0, r) for r in best_first] + [(-g, 1, 0) for g in missing])
    retrieved = [r if not absent else None for _, absent, r in ideal]
    found = truncated_rbo(common_documents(retrieved, depth), p, depth)
    return ratio(found, truncated_rbo(range(1, len(ideal) + 1), p, depth)) if normalize else found


def common_documents(ideal: Sequence[int | None], depth: int) -> list[int]:
    """X_d for each d until it doesn't change; of the ideal ranking are given ranks, from 0."""
    last = max([len(ideal), *(rank + 1 for rank in ideal if rank is not None)])
    sets = (ideal[:d] for d in range(1, min(last, depth) + 1))
    return [sum(rank is not None and rank < d for rank in first) for d, first in enumerate(sets, 1)]


def truncated_rbo(common: Sequence[int], p: float, depth: int) -> float:
    """The sum of p^(d - 1) X_d / d over d <= depth, over the sum of p^(d - 1)."""
    if not common:
        return 0.0
    weights, rest = weights_of(p, depth)
    terms = [w * x for w, x in zip(weights, common, strict=False)]
    return math.fsum([*terms, common[-1] * rest[min(len(common), depth)]]) / rest[-1]


@functools.cache
def weights_of(p: float, depth: int) -> tuple[list[float], list[float]]:
    """p^(d - 1) / d, and their sums from each d + 1 on; behind these the sum of p^(d - 1)."""
    weights = [p ** (d - 1) / d for d in range(1, depth + 1)]
    rest = [math.fsum(weights[d:]) for d in range(depth + 1)]
    return weights, [*rest, math.fsum(p**d for d in range(depth))]


# ---------------------------------------------------------------- rank correlation


def judged_gains(ranking: Ranking, k: Cutoff, gain: Gain, rel: Rel) -> list[Fraction]:
    """The gains of the judged documents among the first k."""
    return [gain_of(grade, gain, rel) for grade in ranking[:k] if grade is not None]


def tau(
    ranking: Ranking,
    judged: Judged,
    k: Cutoff,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    ties: str = "b",
) -> Value:
    """(concordant - discordant) / all pairs, or / sqrt(all pairs x untied pairs) (Kendall 1945)."""
    pairs = list(itertools.combinations(judged_gains(ranking, k, gain, rel), 2))
    balance = sum((a > b) - (a < b) for a, b in pairs)
    if ties == "a":
        return ratio(balance, len(pairs))
    return ratio(balance, math.sqrt(len(pairs) * sum(a != b for a, b in pairs)))


def tau_ap(
    ranking: Ranking,
    judged: Judged,
    k: Cutoff,
    *,
    rel: Rel = None,
    gain: Gain = "linear",
    ties: str = "a",
) -> Value:
    """2 / (n - 1) x sum over i > 1 of C_i / (i - 1) - 1 (Yilmaz, Aslam & Robertson 2008).

    C_i are the documents above that have more gain; a: and half of those with as much, which is
    the mean over all orders of documents of one gain (Urbano & Marrero 2017). b: half of that of
    the ranking given the gains, and half of that of the gains given the ranking, in each of the
    documents below the first group; ties are not in the same order.
    """
    gains = judged_gains(ranking, k, gain, rel)
    if len(gains) < 2 or (ties == "b" and len(set(gains)) < 2):
        return Fraction(0)
    half = Fraction(ties == "a", 2)
    shares = [
        Fraction(sum((g > own) + half * (g == own) for g in gains[:i]), i)
        for i, own in enumerate(gains)
        if i
    ]
    by_ranking = 2 * sum(shares) / len(shares) - 1
    if ties == "a":
        return by_ranking
    others = [
        Fraction(sum(g > own for g in gains[:i]), sum(g > own for g in gains))
        for i, own in enumerate(gains)
        if own < max(gains)
    ]
    return (by_ranking + 2 * sum(others) / len(others) - 1) / 2


MEASURES: dict[str, Callable[..., Value]] = {
    "Compat": compatibility,
    "Tau": tau,
    "TauAP": tau_ap,
}

"""Similarity of rankings, in slow and plain Python: more of the oracle in measures.py.

Notation besides that of measures.py: X_d the number of documents that two rankings have in common
among the first d of each; a group is documents of one score, which are tied.
"""

import functools
import itertools
import math
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction

from oracle.base import Gain, Query, Ranking, Rel, Value, gain_of, gains_of, ideal_gains, ratio

COMPARED = 1000


def compatibility(
    q: Query, *, rel: Rel = None, gain: Gain = "linear", p: float = 0.95, normalize: bool = True
) -> Value:
    """RBO(ranking, ideal) / RBO(ideal, ideal) (Clarke, Smucker & Vtyurina 2020).

    RBO = sum of p^(d - 1) X_d / d over d <= 1000, over the sum of p^(d - 1). The ideal ranking has
    the documents of positive gain by gain, then by their rank, those not retrieved last.
    """
    depth = min(q.k or COMPARED, COMPARED)
    gains = [gain_of(grade, gain, rel) for grade in q.ranking]
    best_first = sorted((rank for rank, g in enumerate(gains) if g), key=lambda r: (-gains[r], r))
    missing = sorted(ideal_gains(q.judged, gain, rel), reverse=True)
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


def judged_gains(top: Ranking, gain: Gain, rel: Rel) -> list[Fraction]:
    """The gains of the judged documents among the first k."""
    return gains_of([grade for grade in top if grade is not None], gain, rel)


def tau(q: Query, *, rel: Rel = None, gain: Gain = "linear", ties: str = "b") -> Value:
    """(concordant - discordant) / all pairs, or / sqrt(all pairs x untied pairs) (Kendall 1945)."""
    pairs = list(itertools.combinations(judged_gains(q.top, gain, rel), 2))
    balance = sum((a > b) - (a < b) for a, b in pairs)
    if ties == "a":
        return ratio(balance, len(pairs))
    return ratio(balance, math.sqrt(len(pairs) * sum(a != b for a, b in pairs)))


def tau_ap(q: Query, *, rel: Rel = None, gain: Gain = "linear", ties: str = "a") -> Value:
    """2 / (n - 1) x sum over i > 1 of C_i / (i - 1) - 1 (Yilmaz, Aslam & Robertson 2008).

    C_i are the documents above that have more gain; a: and half of those with as much, which is
    the mean over all orders of documents of one gain (Urbano & Marrero 2017). b: half of that of
    the ranking given the gains, and half of that of the gains given the ranking, in each of the
    documents below the first group; ties are not in the same order.
    """
    gains = judged_gains(q.top, gain, rel)
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


# ---------------------------------------------------------------- rank-biased overlap

Groups = Sequence[Collection[str]]


def shares(groups: Groups, depth: int, ties: str) -> dict[str, list[float]]:
    """How much of each document counts at depths 1 …: 0 above its group, 1 at its end and below.

    Inside the group 1 (w), or as many of its ranks as there are so far over all (a, b).
    """
    found, above = {}, 0
    for group in groups:
        inside = [1.0 if ties == "w" else i / len(group) for i in range(1, len(group) + 1)]
        counts = [0.0] * above + inside + [1.0] * depth
        found |= dict.fromkeys(group, counts[:depth])
        above += len(group)
    return found


def tied_rbo(first: Groups, second: Groups, p: float, ties: str) -> dict[str, float]:
    """RBO of rankings with ties (Corsi & Urbano, SIGIR 2024); s and n are their lengths.

    Agreement is 2 X_d / (documents that count of both) for w, X_d / d for a, and X_d over the
    product of both rankings' roots of summed squares for b; of the shorter one d beyond s. To
    X_d beyond s come: for max the first d - s documents that the shorter one lacks, as much as they
    count; for ext (d - s) A_s of their mean share. Beyond n, X_n + (n - s) A_s of n for ext.
    """
    short, long = sorted((first, second), key=lambda groups: sum(map(len, groups)))
    s, n = (sum(map(len, groups)) for groups in (short, long))
    in_short, in_long = shares(short, n, ties), shares(long, n, ties)
    lone = [each for group in long for each in group if each not in in_short]
    agreements: dict[str, list[float]] = {"min": [], "max": [], "ext": []}
    for d in range(1, n + 1):
        of_short, of_long = ([c[d - 1] for c in side.values()] for side in (in_short, in_long))
        x = sum(in_short[each][d - 1] * in_long[each][d - 1] for each in in_short.keys() & in_long)
        norm = {
            "w": (sum(of_short if d <= s else [d]) + sum(of_long)) / 2,
            "a": d,
            "b": math.hypot(*(of_short if d <= s else [math.sqrt(d)])) * math.hypot(*of_long),
        }[ties]
        unseen = [in_long[each][d - 1] for each in lone] if d > s else []
        counting = [each for each in unseen if each]
        mean = sum(counting) / max(len(counting), 1)
        at_s = agreements["ext"][s - 1] if d > s > 0 else 0
        more = {"min": 0, "max": sum(unseen[: max(d - s, 0)]), "ext": (d - s) * at_s * mean}
        for name, each in agreements.items():
            each.append((x + more[name]) / norm)
    total = len(in_short.keys() & in_long)
    at_s = agreements["ext"][s - 1] if s else 0
    for d in range(n + 1, n + 2000):
        agreements["min"].append(total / d)
        agreements["max"].append(min(total + 2 * d - n - s, d) / d)
        agreements["ext"].append((total + (n - s) * at_s) / n)
    return {
        **{name: rank_biased(each, p) for name, each in agreements.items()},
        "truncated": rank_biased(agreements["ext"][:s], p),
        "evened": rank_biased(agreements["ext"][:s], p) + at_s * p**s,
        "average": sum(agreements["ext"][:s]) / max(s, 1),
    }


def rank_biased(agreements: Sequence[float], p: float) -> float:
    """(1 - p) times the sum of p^(d - 1) A_d."""
    return (1 - p) * math.fsum(p**d * each for d, each in enumerate(agreements))


MEASURES: dict[str, Callable[..., Value]] = {"Compat": compatibility, "Tau": tau, "TauAP": tau_ap}

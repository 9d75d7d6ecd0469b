"""Slow twins of the measures of candidates: pairs of them, and the ranks of relevant ones.

Part of the oracle in measures.py, which says how it is written. Candidates are the first k
documents of the ranking, or all of them. Of a query with relevant documents and an empty ranking
shares are the worst there is; ranks that have no worst are NaN, and not averaged.
"""

import math
import statistics
from collections.abc import Callable
from fractions import Fraction

from oracle.base import Query, Ranking, Rel, Value, count_relevant, hit_ranks, is_relevant, ratio


def wrong_pairs(top: Ranking, rel: Rel) -> tuple[int, int]:
    """Pairs of a relevant and another candidate: those whose relevant one stands lower, and all."""
    flags = [is_relevant(grade, rel) for grade in top]
    pairs = [(i, j) for i, one in enumerate(flags) for j, other in enumerate(flags) if one > other]
    return sum(i > j for i, j in pairs), len(pairs)


def auc(q: Query, *, rel: Rel = None) -> Value:
    """AUC = the share of pairs in the right order (Hanley & McNeil 1982), 0 without pairs."""
    wrong, pairs = wrong_pairs(q.top, rel)
    return 1 - Fraction(wrong, pairs) if pairs else 0


def ranking_loss(q: Query, *, rel: Rel = None) -> Value:
    """The share of pairs in the wrong order (Tsoumakas et al. 2010), 0 without pairs."""
    wrong, pairs = wrong_pairs(q.top, rel)
    return Fraction(wrong, pairs) if pairs else int(is_unranked(q, rel))


def fall_out(q: Query, *, rel: Rel = None) -> Value:
    """The share of all candidates that are not relevant that stand among the first k."""
    if is_unranked(q, rel):
        return 1
    wrong, everything = ([not is_relevant(g, rel) for g in part] for part in (q.top, q.ranking))
    return ratio(sum(wrong), sum(everything))


def is_unranked(q: Query, rel: Rel) -> bool:
    """Whether there are relevant documents, and no ranking."""
    return not q.ranking and count_relevant(q.judged, rel) > 0


def coverage_error(q: Query, *, rel: Rel = None) -> Value:
    """The rank of the last relevant candidate (Tsoumakas et al. 2010), 0 without one."""
    if is_unranked(q, rel):
        return math.nan
    return max(hit_ranks(q.top, rel), default=0)


def lrap(q: Query, *, rel: Rel = None) -> Value:
    """The mean precision at relevant candidates (Tsoumakas et al. 2010), 1 without one."""
    precisions = [Fraction(n, rank) for n, rank in enumerate(hit_ranks(q.top, rel), 1)]
    if is_unranked(q, rel):
        return 0
    return sum(precisions) / len(precisions) if precisions else 1


def all_ranks(q: Query, rel: Rel) -> list[Value]:
    """The ranks of all relevant documents, and of one that is not found if there are none.

    What is not among the first k stands at rank k + 1; at full depth behind the ranking, if any.
    """
    if q.k is None and not q.ranking:
        return [math.nan]
    behind = (len(q.ranking) if q.k is None else q.k) + 1
    ranks = hit_ranks(q.top, rel)
    return ranks + [behind] * (count_relevant(q.judged, rel) - len(ranks)) or [behind]


def first_rank(q: Query, *, rel: Rel = None) -> Value:
    """The rank of the first relevant document."""
    return min(all_ranks(q, rel))


def mean_rank(q: Query, *, rel: Rel = None) -> Value:
    """The mean rank of relevant documents (Bordes et al. 2013)."""
    ranks = all_ranks(q, rel)
    return sum(ranks) / Fraction(len(ranks))


def median_rank(q: Query, *, rel: Rel = None) -> Value:
    """The median rank of relevant documents."""
    ranks = all_ranks(q, rel)
    return math.nan if math.nan in ranks else statistics.median(map(Fraction, ranks))


def weight_of_user(q: Query, *, rel: Rel = None) -> Value:
    """GAUC's weight: the relevant candidates, if there are others, too (Zhou et al. 2018)."""
    _, pairs = wrong_pairs(q.top, rel)
    return len(hit_ranks(q.top, rel)) if pairs else 0


MEASURES: dict[str, Callable[..., Value]] = {
    "AUC": auc,
    "GAUC": auc,
    "RankingLoss": ranking_loss,
    "CoverageError": coverage_error,
    "LRAP": lrap,
    "FallOut": fall_out,
    "FirstRank": first_rank,
    "MeanRank": mean_rank,
    "MedianRank": median_rank,
}
WEIGHTS: dict[str, Callable[..., Value]] = {"GAUC": weight_of_user}

"""Slow twins of the measures of candidates: pairs of them, and the ranks of relevant ones.

Part of the oracle in measures.py, which says how it is written. Candidates are the first k
documents of the ranking, or all of them. Of a query with relevant documents and an empty ranking
shares are the worst there is; ranks that have no worst are NaN, and not averaged.
"""

import math
import statistics
from collections.abc import Callable
from fractions import Fraction

from oracle.base import Cutoff, Judged, Ranking, Rel, Value, count_relevant, hit_ranks, is_relevant


def wrong_pairs(ranking: Ranking, k: Cutoff, rel: Rel) -> tuple[int, int]:
    """Pairs of a relevant and another candidate: those whose relevant one stands lower, and all."""
    flags = [is_relevant(grade, rel) for grade in ranking[:k]]
    pairs = [(i, j) for i, one in enumerate(flags) for j, other in enumerate(flags) if one > other]
    return sum(i > j for i, j in pairs), len(pairs)


def auc(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """AUC = the share of pairs in the right order (Hanley & McNeil 1982), 0 without pairs."""
    wrong, pairs = wrong_pairs(ranking, k, rel)
    return 1 - Fraction(wrong, pairs) if pairs else 0


def ranking_loss(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The share of pairs in the wrong order (Tsoumakas et al. 2010), 0 without pairs."""
    wrong, pairs = wrong_pairs(ranking, k, rel)
    return Fraction(wrong, pairs) if pairs else int(is_unranked(ranking, judged, rel))


def is_unranked(ranking: Ranking, judged: Judged, rel: Rel) -> bool:
    """Whether there are relevant documents, and no ranking."""
    return not ranking and count_relevant(judged, rel) > 0


def coverage_error(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The rank of the last relevant candidate (Tsoumakas et al. 2010), 0 without one."""
    if is_unranked(ranking, judged, rel):
        return math.nan
    return max(hit_ranks(ranking, k, rel), default=0)


def lrap(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The mean precision at relevant candidates (Tsoumakas et al. 2010), 1 without one."""
    precisions = [Fraction(n, rank) for n, rank in enumerate(hit_ranks(ranking, k, rel), 1)]
    if is_unranked(ranking, judged, rel):
        return 0
    return sum(precisions) / len(precisions) if precisions else 1


def all_ranks(ranking: Ranking, judged: Judged, k: Cutoff, rel: Rel) -> list[Value]:
    """The ranks of all relevant documents, and of one that is not found if there are none.

    What is not among the first k stands at rank k + 1; at full depth behind the ranking, if any.
    """
    if k is None and not ranking:
        return [math.nan]
    behind = (len(ranking) if k is None else k) + 1
    ranks = hit_ranks(ranking, k, rel)
    return ranks + [behind] * (count_relevant(judged, rel) - len(ranks)) or [behind]


def first_rank(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The rank of the first relevant document."""
    return min(all_ranks(ranking, judged, k, rel))


def mean_rank(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The mean rank of relevant documents (Bordes et al. 2013)."""
    ranks = all_ranks(ranking, judged, k, rel)
    return sum(ranks) / Fraction(len(ranks))


def median_rank(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """The median rank of relevant documents."""
    ranks = all_ranks(ranking, judged, k, rel)
    return math.nan if math.nan in ranks else statistics.median(map(Fraction, ranks))


def weight_of_user(ranking: Ranking, judged: Judged, k: Cutoff, *, rel: Rel = None) -> Value:
    """GAUC's weight: the relevant candidates, if there are others, too (Zhou et al. 2018)."""
    _, pairs = wrong_pairs(ranking, k, rel)
    return len(hit_ranks(ranking, k, rel)) if pairs else 0


MEASURES: dict[str, Callable[..., Value]] = {
    "AUC": auc,
    "GAUC": auc,
    "RankingLoss": ranking_loss,
    "CoverageError": coverage_error,
    "LRAP": lrap,
    "FirstRank": first_rank,
    "MeanRank": mean_rank,
    "MedianRank": median_rank,
}
WEIGHTS: dict[str, Callable[..., Value]] = {"GAUC": weight_of_user}

"""Measures of diversity: a query has subtopics, and a document may be relevant to several.

A formula reads `SubtopicRanks` and returns one value for each ranking: float64 ``(queries,)``. At
full depth k is the number of documents retrieved.
"""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.subtopics import SubtopicRanks, powers
from irbatch.measures.declare import builtin, ratio
from irbatch.measures.parameters import Number, divisors_of

SHARE = Number(0.5, least=0.0, most=1.0)
of_subtopics = functools.partial(builtin, reads="subtopics")


@of_subtopics("alpha_DCG")
def alpha_dcg(s: SubtopicRanks, alpha: float = SHARE) -> Floats:
    ranks = s.ranks_to_sum()
    divisors = divisors_of("log2", ranks)[:ranks]
    return ratio(s.add_up(s.gains(alpha) / divisors[s.ranks - 1]), s.most(alpha, divisors))


@of_subtopics("alpha_nDCG")
def alpha_ndcg(s: SubtopicRanks, alpha: float = SHARE) -> Floats:
    divisors = divisors_of("log2", s.longest)[: s.longest]
    gained = s.add_up(s.gains(alpha) / divisors[s.ranks - 1])
    return ratio(gained, s.ideal(alpha, 1.0 / divisors))


@of_subtopics("ERR_IA")
def err_ia(s: SubtopicRanks, alpha: float = SHARE) -> Floats:
    most = s.most(alpha, np.arange(1.0, s.ranks_to_sum() + 1.0))
    return ratio(s.add_up(s.gains(alpha) / s.ranks), most)


@of_subtopics("nERR_IA")
def nerr_ia(s: SubtopicRanks, alpha: float = SHARE) -> Floats:
    weights = 1.0 / np.arange(1.0, s.longest + 1.0)
    return ratio(s.add_up(s.gains(alpha) / s.ranks), s.ideal(alpha, weights))


def _rank_biased(s: SubtopicRanks, alpha: float, beta: float) -> tuple[Floats, Floats]:
    """Return beta^0 … of ranks, and the gains that they weigh, added up."""
    weights = powers(beta, s.longest)
    return weights, s.add_up(s.gains(alpha) * weights[s.ranks - 1])


@of_subtopics("NRBP")
def nrbp(s: SubtopicRanks, alpha: float = SHARE, beta: float = SHARE) -> Floats:
    _, gained = _rank_biased(s, alpha, beta)
    return ratio((1.0 - (1.0 - alpha) * beta) * gained, s.counts)


@of_subtopics("nNRBP")
def nnrbp(s: SubtopicRanks, alpha: float = SHARE, beta: float = SHARE) -> Floats:
    weights, gained = _rank_biased(s, alpha, beta)
    return ratio(gained, s.ideal(alpha, weights))


@of_subtopics("AP_IA")
def ap_ia(s: SubtopicRanks) -> Floats:
    document, member, number = s.pairs
    queries = s.query_rows[s.row_index[document]]
    relevant = s.judgments.relevant[s.judgments.relevant_starts[queries] + member]
    terms = number / s.ranks[document] / relevant
    added = np.bincount(document, terms, s.sets.size).astype(np.float64)
    return ratio(s.add_up(added), s.counts)


@of_subtopics("P_IA")
def p_ia(s: SubtopicRanks) -> Floats:
    sizes = np.diff(s.judgments.set_starts)[s.sets].astype(np.float64)
    return ratio(s.add_up(sizes), s.depth * s.counts)


@of_subtopics("StRecall")
def subtopic_recall(s: SubtopicRanks) -> Floats:
    document, _, number = s.pairs
    firsts = np.bincount(document[number == 1], minlength=s.sets.size).astype(np.float64)
    return ratio(s.add_up(firsts), s.counts)

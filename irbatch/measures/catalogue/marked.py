"""Measures of judgments that say more than a grade: of diversity, and of sampled judgments.

A query has subtopics, and a document may be relevant to several: formulas read `SubtopicRanks`; at
full depth k is the number of documents retrieved. Or only some documents were judged, of strata of
a pool (`StratumRanks`) or drawn with known probabilities (`ProbabilityRanks`), and values are
estimated. All return one value for each ranking: float64 ``(queries,)``.
"""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.kinds import ProbabilityRanks, StratumRanks, SubtopicRanks
from irbatch.measures.catalogue.documents import ELEVEN_POINTS
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import Choice, Number, divisors_of
from irbatch.runtime.numbers import powers

UNBOUNDED = (0.0, np.inf)
of_subtopics = functools.partial(builtin, reads="subtopics")
of_strata = functools.partial(builtin, reads="strata")
of_probabilities = functools.partial(builtin, reads="probabilities", range=UNBOUNDED)

SHARE = Number(0.5, least=0.0, most=1.0)
VERSION = Choice("nist", ("nist", "trecvid"))  # of sample_eval


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
    added = np.bincount(document, terms, s.codes.size).astype(np.float64)
    return ratio(s.add_up(added), s.counts)


@of_subtopics("P_IA")
def p_ia(s: SubtopicRanks) -> Floats:
    sizes = np.diff(s.judgments.set_starts)[s.codes].astype(np.float64)
    return ratio(s.add_up(sizes), s.depth * s.counts)


@of_subtopics("StRecall")
def subtopic_recall(s: SubtopicRanks) -> Floats:
    document, _, number = s.pairs
    firsts = np.bincount(document[number == 1], minlength=s.codes.size).astype(np.float64)
    return ratio(s.add_up(firsts), s.counts)


def _precisions(s: ProbabilityRanks | StratumRanks) -> Floats:
    """Return the estimated precision down to each document, which is taken to be relevant."""
    above = s.value_at(s.estimates, s.starts[s.row_index], s.numbers - 1)
    return (1.0 + above) / s.ranks


@of_strata("xInfAP", range=UNBOUNDED)
def stratified_average_precision(s: StratumRanks, version: str = VERSION) -> Floats:
    values = ratio(s.add_up(s.weights * _precisions(s), s.relevant & s.is_within), s.expected)
    if version == "trecvid" and np.isfinite(s.cutoff):
        values *= np.maximum(s.expected / s.cutoff, 1.0)
    return values


@of_strata("InfNDCG", range=UNBOUNDED)
def inferred_ndcg(s: StratumRanks, version: str = VERSION) -> Floats:
    divisors = divisors_of("log2", int(s.ranks.max(initial=1)))
    ideals = s.judgments.ideals(s.cutoff, whole=version == "nist")
    return ratio(s.dcg(divisors), ideals[s.query_rows])


@of_strata("InfP", no_relevant=AS_ANY_OTHER)
def inferred_precision(s: StratumRanks) -> Floats:
    return ratio(s.estimated_hits, s.depth)


@of_strata("InfIPrec", no_relevant=AS_ANY_OTHER)
def inferred_interpolated_precision(
    s: StratumRanks, recall: float = Number(0.0, least=0.0, most=1.0)
) -> Floats:
    higher = [point for point in reversed(ELEVEN_POINTS) if point > recall]
    return s.interpolated(np.array([*higher, recall]))


@of_strata("InfNumRel", takes_cutoff=False, aggregate="sum", range=UNBOUNDED)
def inferred_number_relevant(s: StratumRanks) -> Floats:
    return s.expected


@of_strata("InfNumRelRet", aggregate="sum", range=UNBOUNDED, no_relevant=AS_ANY_OTHER)
def inferred_number_relevant_retrieved(s: StratumRanks) -> Floats:
    return s.estimated_hits


@of_probabilities("StatAP")
def stat_average_precision(s: ProbabilityRanks) -> Floats:
    return ratio(s.add_up(s.weights * _precisions(s)), s.expected)


@of_probabilities("StatP")
def stat_precision(s: ProbabilityRanks) -> Floats:
    return ratio(s.add_up(s.weights), s.depth)


@of_probabilities("StatRprec")
def stat_r_precision(s: ProbabilityRanks) -> Floats:
    rank = np.floor(s.expected + 0.5)
    reached = (s.retrieved >= rank) & (rank > 0)
    counted = s.is_within & (s.ranks <= np.where(reached, rank, np.inf)[s.row_index])
    return ratio(s.add_up(s.weights, counted), np.where(reached, rank, s.expected))

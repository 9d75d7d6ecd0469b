"""Measures of sampled judgments: what is estimated where only some documents were judged.

Of strata of a pool (`StratumRanks`), or of documents that were drawn with known probabilities
(`ProbabilityRanks`). Formulas return one value for each ranking: float64 ``(rows,)``.
"""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.kinds import ProbabilityRanks, StratumRanks
from irbatch.measures.catalogue.judged import ELEVEN_POINTS
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import Choice, Number, make_weighting

UNBOUNDED = (0.0, np.inf)
of_strata = functools.partial(
    builtin, reads="strata", source="Yilmaz, Kanoulas & Aslam 2008; sample_eval"
)
of_probabilities = functools.partial(
    builtin, reads="probabilities", range=UNBOUNDED, source="Pavlu & Aslam 2007 (statAP)"
)

VERSION = Choice("nist", ("nist", "trecvid"))  # of sample_eval


@of_strata(
    "xInfAP",
    definition="Extended inferred average precision, of judgments sampled by strata: the precision "
    "at each relevant document is estimated from the strata of those above it, and the document "
    "stands for as many as its stratum's sampling rate says. version=trecvid multiplies by "
    "relevant / k where more than k documents are estimated to be relevant.",
    range=UNBOUNDED,
    past_end="Relevant documents that were not retrieved add 0.",
)
def stratified_average_precision(s: StratumRanks, version: str = VERSION) -> Floats:
    precisions = (1.0 + s.before(s.estimates)) / s.ranks
    values = ratio(s.add_up(s.weights * precisions, s.relevant & s.within), s.expected)
    if version == "trecvid" and np.isfinite(s.cutoff):
        values *= np.maximum(s.expected / s.cutoff, 1.0)
    return values


@of_strata(
    "InfNDCG",
    definition="Inferred nDCG, of judgments sampled by strata: the DCG of each stratum's sampled "
    "documents, scaled to all that were retrieved of it, over that of an ideal ranking of as many "
    "documents of each grade as there are estimated to be. These numbers are rounded "
    "(version=nist), or ranks may lie between whole numbers (version=trecvid).",
    range=UNBOUNDED,
)
def inferred_ndcg(s: StratumRanks, version: str = VERSION) -> Floats:
    divisors = make_weighting("linear", "log2", None).discount(int(s.ranks.max(initial=1)))
    ideals = s.judgments.ideals(s.cutoff, whole=version == "nist")
    return ratio(s.dcg(divisors), ideals[s.queries])


@of_strata(
    "InfP",
    definition="Inferred precision, of judgments sampled by strata: the number of relevant "
    "documents that is estimated for the first k, over k.",
    past_end="Ranks past the end count as not relevant: the divisor stays k.",
    no_relevant=AS_ANY_OTHER,
)
def inferred_precision(s: StratumRanks) -> Floats:
    return ratio(s.found, s.depth)


@of_strata(
    "InfIPrec",
    definition="Inferred interpolated precision, of judgments sampled by strata, as sample_eval "
    "has it: ranks are walked from the last to the first, the best inferred precision is kept, and "
    "where less than a point of recall is found the point gets it; this point comes after all "
    "higher tenths, and no two are met at one rank.",
    past_end="0 where that many relevant documents were not retrieved.",
    no_relevant=AS_ANY_OTHER,
)
def inferred_interpolated_precision(
    s: StratumRanks, recall: float = Number(0.0, least=0.0, most=1.0)
) -> Floats:
    higher = [each for each in reversed(ELEVEN_POINTS) if each > recall]
    return s.interpolated(np.array([*higher, recall]))


@of_strata(
    "InfNumRel",
    definition="Estimated number of relevant documents, from judgments sampled by strata.",
    takes_cutoff=False,
    aggregate="sum",
    range=UNBOUNDED,
)
def inferred_number_relevant(s: StratumRanks) -> Floats:
    return s.expected


@of_strata(
    "InfNumRelRet",
    definition="Estimated number of relevant documents among the first k, from judgments sampled "
    "by strata.",
    aggregate="sum",
    range=UNBOUNDED,
    past_end="Counts what there is.",
    no_relevant=AS_ANY_OTHER,
)
def inferred_number_relevant_retrieved(s: StratumRanks) -> Floats:
    return s.found


@of_probabilities(
    "StatAP",
    definition="Estimated average precision, of documents sampled with known probabilities: each "
    "relevant one sampled stands for 1 / probability documents, also in the precision at those "
    "below it. It may exceed 1.",
    past_end="Relevant documents that were not retrieved add 0.",
)
def stat_average_precision(s: ProbabilityRanks) -> Floats:
    precisions = (1.0 + s.before(s.estimates)) / s.ranks
    return ratio(s.add_up(s.weights * precisions), s.expected)


@of_probabilities(
    "StatP",
    definition="Estimated precision, of documents sampled with known probabilities: the sum of "
    "1 / probability over the relevant ones sampled among the first k, over k. It may exceed 1.",
    past_end="Ranks past the end count as not relevant: the divisor stays k.",
)
def stat_precision(s: ProbabilityRanks) -> Floats:
    return ratio(s.add_up(s.weights), s.depth)


@of_probabilities(
    "StatRprec",
    definition="Estimated R-precision, of documents sampled with known probabilities: the "
    "estimated precision at rank R, R the estimated number of relevant documents, rounded.",
    past_end="Where fewer than R documents were retrieved the divisor is R as it is, not rounded.",
)
def stat_r_precision(s: ProbabilityRanks) -> Floats:
    rank = np.floor(s.expected + 0.5)
    reached = (s.retrieved >= rank) & (rank > 0)
    counted = s.within & (s.ranks <= np.where(reached, rank, np.inf)[s.row_index])
    return ratio(s.add_up(s.weights, counted), np.where(reached, rank, s.expected))

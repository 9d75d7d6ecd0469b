"""Measures of sampled judgments: what is estimated where only some documents were judged.

Of strata of a pool (`StratumRanks`), or of documents that were drawn with known probabilities
(`ProbabilityRanks`). Formulas return one value for each ranking: float64 ``(queries,)``.
"""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.kinds import ProbabilityRanks, StratumRanks
from irbatch.measures.catalogue.judged import ELEVEN_POINTS
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import Choice, Number, divisors_of

UNBOUNDED = (0.0, np.inf)
of_strata = functools.partial(builtin, reads="strata")
of_probabilities = functools.partial(builtin, reads="probabilities", range=UNBOUNDED)

VERSION = Choice("nist", ("nist", "trecvid"))  # of sample_eval


@of_strata("xInfAP", range=UNBOUNDED)
def stratified_average_precision(s: StratumRanks, version: str = VERSION) -> Floats:
    precisions = (1.0 + s.before(s.estimates)) / s.ranks
    values = ratio(s.add_up(s.weights * precisions, s.relevant & s.is_within), s.expected)
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
    precisions = (1.0 + s.before(s.estimates)) / s.ranks
    return ratio(s.add_up(s.weights * precisions), s.expected)


@of_probabilities("StatP")
def stat_precision(s: ProbabilityRanks) -> Floats:
    return ratio(s.add_up(s.weights), s.depth)


@of_probabilities("StatRprec")
def stat_r_precision(s: ProbabilityRanks) -> Floats:
    rank = np.floor(s.expected + 0.5)
    reached = (s.retrieved >= rank) & (rank > 0)
    counted = s.is_within & (s.ranks <= np.where(reached, rank, np.inf)[s.row_index])
    return ratio(s.add_up(s.weights, counted), np.where(reached, rank, s.expected))

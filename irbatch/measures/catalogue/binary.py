"""Measures of relevant or not, each a function of the first k documents.

A formula reads `PrefixStatistics` and returns a value for each query and cutoff: float64
``(queries, cutoffs)``.
"""

from __future__ import annotations

import math

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import builtin, ratio
from irbatch.measures.parameters import Choice, Number

LEAST_MEAN = 1e-5  # what a geometric mean takes for 0, as trec_eval does


@builtin(
    "P",
    definition="Precision: the relevant share of the first k documents (norm=k), or of as many of "
    "them as there are, min(k, retrieved) (norm=retrieved).",
    linear=True,
    past_end="Ranks past the end count as not relevant: the divisor stays k, unless "
    "norm=retrieved.",
    source="van Rijsbergen 1979",
)
def precision(s: PrefixStatistics, norm: str = Choice("k", ("k", "retrieved"))) -> Floats:
    return ratio(s.hits, s.cutoff if norm == "k" else np.minimum(s.cutoff, s.retrieved))


@builtin(
    "R",
    definition="Recall: the share of all relevant documents that stand among the first k.",
    linear=True,
    source="van Rijsbergen 1979",
)
def recall(s: PrefixStatistics) -> Floats:
    return ratio(s.hits, s.relevant)


@builtin(
    "Rcap",
    definition="Capped recall: hits among the first k over the most there could be, "
    "min(k, relevant).",
    linear=True,
    source="Thakur et al. 2021; trec_eval's relative_P",
)
def capped_recall(s: PrefixStatistics) -> Floats:
    return ratio(s.hits, np.minimum(s.cutoff, s.relevant))


@builtin(
    "F",
    definition="F-measure: the harmonic mean of P@k and R@k, recall weighted beta times; "
    "weight is beta², where given.",
    linear=True,
    past_end="As P and R.",
    source="van Rijsbergen 1979",
)
def f_measure(
    s: PrefixStatistics,
    beta: float = Number(1.0, above=0.0),
    weight: float | None = Number(None, above=0.0),
) -> Floats:
    p, r = ratio(s.hits, s.cutoff), ratio(s.hits, s.relevant)
    weight = beta * beta if weight is None else weight
    return ratio((1.0 + weight) * p * r, weight * p + r)


@builtin(
    "Success",
    definition="Success (hit rate): 1 if a relevant document stands among the first k, else 0.",
    linear=True,
    source="Tomlinson (trec_eval)",
)
def success(s: PrefixStatistics) -> Floats:
    return s.any_hit


@builtin(
    "RR",
    definition="Reciprocal rank: 1 / rank of the first relevant document, 0 if beyond k.",
    linear=True,
    source="Kantor & Voorhees 2000",
)
def reciprocal_rank(s: PrefixStatistics) -> Floats:
    return s.reciprocal_rank


@builtin(
    "AP",
    definition="Average precision: the sum of P@i over the ranks i <= k of relevant documents, "
    "divided by all relevant (norm=all), by min(k, relevant) (norm=min), or by those found among "
    "the first k (norm=found).",
    linear=lambda measure: measure["norm"] != "found",
    past_end="Relevant documents that were not retrieved add 0.",
    source="Harman 1992; Buckley & Voorhees 2005",
)
def average_precision(
    s: PrefixStatistics, norm: str = Choice("all", ("all", "min", "found"))
) -> Floats:
    if norm == "min":
        return ratio(s.precision_sum, np.minimum(s.cutoff, s.relevant))
    return ratio(s.precision_sum, s.relevant if norm == "all" else s.hits)


@builtin(
    "GMAP",
    definition="Geometric mean average precision: AP, at least 0.00001, whose mean over queries "
    "is geometric: it tells most of the worst queries.",
    aggregate="geometric",
    # A relevant document that is retrieved is so in any order of tied documents, and AP then far
    # above the floor in all of them.
    linear=lambda measure: measure.cutoff is None,
    range=(LEAST_MEAN, 1.0),
    past_end="As AP.",
    no_relevant="0.00001",
    source="Robertson 2006",
)
def geometric_average_precision(s: PrefixStatistics) -> Floats:
    return np.maximum(ratio(s.precision_sum, s.relevant), LEAST_MEAN)


@builtin(
    "YAAP",
    definition="Yet another average precision: ln((1 + S) / (1 + R - S)), S the sum of P@i over "
    "the ranks i <= k of relevant documents, R their number in the judgments.",
    range=(-np.inf, np.inf),
    past_end="Relevant documents that were not retrieved add 0 to S.",
    source="Robertson 2012",
)
def smoothed_average_precision(s: PrefixStatistics) -> Floats:
    odds = (1.0 + s.precision_sum) / (1.0 + s.relevant - s.precision_sum)
    # C's logarithm: NumPy's may differ in the last bit.
    return np.vectorize(math.log, otypes=[np.float64])(odds)


@builtin(
    "SetAP",
    definition="Unranked average precision: P@k times R@k.",
    past_end="As P and R.",
    source="trec_eval",
)
def set_average_precision(s: PrefixStatistics) -> Floats:
    return ratio(s.hits * s.hits, s.cutoff * s.relevant)


@builtin(
    "Rprec",
    definition="R-precision: precision at rank R, the number of relevant documents; "
    "with a cutoff, ranks beyond k count as not relevant.",
    linear=True,
    past_end="Ranks past the end count as not relevant: the divisor stays R.",
    source="Buckley & Voorhees 2005",
)
def r_precision(s: PrefixStatistics) -> Floats:
    return ratio(s.hits_at_relevant, s.relevant)

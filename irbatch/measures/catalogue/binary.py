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


@builtin("P", linear=True)
def precision(s: PrefixStatistics, norm: str = Choice("k", ("k", "retrieved"))) -> Floats:
    return ratio(s.hits, s.cutoff if norm == "k" else np.minimum(s.cutoff, s.retrieved))


@builtin("R", linear=True)
def recall(s: PrefixStatistics) -> Floats:
    return ratio(s.hits, s.relevant)


@builtin("Rcap", linear=True)
def capped_recall(s: PrefixStatistics) -> Floats:
    return ratio(s.hits, np.minimum(s.cutoff, s.relevant))


@builtin("F", linear=True)
def f_measure(
    s: PrefixStatistics,
    beta: float = Number(1.0, above=0.0),
    weight: float | None = Number(None, above=0.0),
) -> Floats:
    p, r = ratio(s.hits, s.cutoff), ratio(s.hits, s.relevant)
    weight = beta * beta if weight is None else weight
    return ratio((1.0 + weight) * p * r, weight * p + r)


@builtin("Success", linear=True)
def success(s: PrefixStatistics) -> Floats:
    return s.any_hit


@builtin("RR", linear=True)
def reciprocal_rank(s: PrefixStatistics) -> Floats:
    return s.reciprocal_rank


@builtin("AP", linear=lambda measure: measure["norm"] != "found")
def average_precision(
    s: PrefixStatistics, norm: str = Choice("all", ("all", "min", "found"))
) -> Floats:
    if norm == "min":
        return ratio(s.precision_sum, np.minimum(s.cutoff, s.relevant))
    return ratio(s.precision_sum, s.relevant if norm == "all" else s.hits)


@builtin(
    "GMAP",
    aggregate="geometric",
    linear=lambda measure: measure.cutoff is None,
    range=(LEAST_MEAN, 1.0),
    no_relevant="0.00001",
)
def geometric_average_precision(s: PrefixStatistics) -> Floats:
    return np.maximum(ratio(s.precision_sum, s.relevant), LEAST_MEAN)


@builtin("YAAP", range=(-np.inf, np.inf))
def smoothed_average_precision(s: PrefixStatistics) -> Floats:
    odds = (1.0 + s.precision_sum) / (1.0 + s.relevant - s.precision_sum)
    # C's logarithm: NumPy's may differ in the last bit.
    return np.vectorize(math.log, otypes=[np.float64])(odds)


@builtin("SetAP")
def set_average_precision(s: PrefixStatistics) -> Floats:
    return ratio(s.hits * s.hits, s.cutoff * s.relevant)


@builtin("Rprec", linear=True)
def r_precision(s: PrefixStatistics) -> Floats:
    return ratio(s.hits_at_relevant, s.relevant)

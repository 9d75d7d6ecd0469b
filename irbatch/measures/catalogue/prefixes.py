"""Measures that are functions of the first k documents: relevant or not, gains, counts.

A formula reads `PrefixStatistics` and returns a value for each query and cutoff: float64
``(queries, cutoffs)``.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import GRADED, UNDISCOUNTED, Choice, Number

count = functools.partial(builtin, linear=True, aggregate="sum", range=(0.0, np.inf))

LEAST_MEAN = 1e-5  # what a geometric mean takes for 0, as trec_eval does


def share(value: Floats, ideal: Floats) -> Floats:
    """Return value / ideal; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(value, ideal), 1.0)


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


@builtin("CG", linear=True, parameters=UNDISCOUNTED, range=(0.0, np.inf))
def cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.gain


@builtin("DCG", linear=True, parameters=GRADED, range=(0.0, np.inf))
def discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.discounted_gain


@builtin("IDCG", linear=True, parameters=GRADED, range=(0.0, np.inf))
def ideal_discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.ideal_discounted_gain


@builtin("nDCG", linear=True, parameters=GRADED)
def normalized_dcg(s: PrefixStatistics) -> Floats:
    return share(s.discounted_gain, s.ideal_discounted_gain)


@builtin("nCG", linear=True, parameters=UNDISCOUNTED)
def normalized_cumulative_gain(s: PrefixStatistics) -> Floats:
    return share(s.gain, s.ideal_gain)


@builtin("Judged", linear=True, parameters={}, no_relevant=AS_ANY_OTHER)
def judged_share(s: PrefixStatistics) -> Floats:
    return ratio(s.judged, np.minimum(s.cutoff, s.retrieved))


@builtin("Unjudged", linear=True, parameters={}, no_relevant=AS_ANY_OTHER, better="lower")
def unjudged_share(s: PrefixStatistics) -> Floats:
    unjudged = np.minimum(s.cutoff, s.retrieved) - s.judged + s.negative
    return ratio(unjudged, s.cutoff)


@builtin("Utility", linear=True, range=(-np.inf, np.inf), no_relevant=AS_ANY_OTHER)
def utility(
    s: PrefixStatistics,
    a: float = Number(1.0),
    b: float = Number(-1.0),
    c: float = Number(0.0),
    d: float = Number(0.0),
    docs: float = Number(0.0, least=0.0),
) -> Floats:
    retrieved = np.minimum(s.cutoff, s.retrieved)
    missed = s.relevant - s.hits
    rest = docs + s.hits - retrieved - s.relevant
    return a * s.hits + b * (retrieved - s.hits) + c * missed + d * rest


@count("NumQ", parameters={}, takes_cutoff=False, range=(1.0, 1.0), no_relevant="1")
def number_of_queries(s: PrefixStatistics) -> Floats:
    return np.ones_like(s.retrieved)


@count("NumRet", parameters={}, no_relevant=AS_ANY_OTHER)
def number_retrieved(s: PrefixStatistics) -> Floats:
    return np.minimum(s.cutoff, s.retrieved)


@count("NumRel", takes_cutoff=False)
def number_relevant(s: PrefixStatistics) -> Floats:
    return s.relevant


@count("NumRelRet")
def number_relevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.hits


@count("NumNonRelRet", no_relevant=AS_ANY_OTHER)
def number_nonrelevant_retrieved(s: PrefixStatistics) -> Floats:
    return s.judged - s.negative - s.hits

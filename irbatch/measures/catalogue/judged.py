"""Measures of where judged documents stand: at shares of the relevant ones, or none but these.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.matrix import NEGATIVE
from irbatch.measures.catalogue.binary import LEAST_MEAN
from irbatch.measures.declare import of_judged, ratio
from irbatch.measures.parameters import GRADED, REL, Choice, Number, Points

ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
UP = 0.9  # what trec_eval adds to a product before it drops the fraction
ROUNDING = Choice("nearest", ("nearest", "up"))


@of_judged("RprecMult")
def precision_at_multiple(j: JudgedRanks, times: float = Number(1.0, least=0.0)) -> Floats:
    cut = np.trunc(times * j.relevant + UP)
    within = j.hits.ranks <= cut[j.hits.row_index]
    return ratio(np.bincount(j.hits.row_index[within], minlength=j.queries).astype(np.float64), cut)


@of_judged("IPrec")
def interpolated_precision(
    j: JudgedRanks, recall: float = Number(0.0, least=0.0, most=1.0), rounding: str = ROUNDING
) -> Floats:
    """Return the largest i / rank of the i-th hit, from the hit on that reaches the recall."""
    share = recall * j.relevant
    if rounding == "up":  # all but fractions below 0.1; else halves
        needed = np.trunc(share + UP)
    else:
        needed = np.floor(share) + (share - np.floor(share) >= 0.5)
    first = np.maximum(needed, 1).astype(np.int64)
    starts, ends = j.hits.starts[:-1] + first - 1, j.hits.starts[1:]
    values = np.zeros(j.queries)
    reached = np.flatnonzero(starts < ends)
    if reached.size:
        precisions = np.append(j.hits.numbers / j.hits.ranks, 0.0)
        bounds = np.empty(2 * reached.size, np.intp)
        bounds[::2], bounds[1::2] = starts[reached], ends[reached]
        values[reached] = np.maximum.reduceat(precisions, bounds)[::2]
    return values


@of_judged("IPrecAvg")
def mean_interpolated_precision(
    j: JudgedRanks,
    points: tuple[float, ...] = Points(ELEVEN_POINTS, least=0.0, most=1.0),
    rounding: str = ROUNDING,
) -> Floats:
    """Return the mean; summed from the last point to the first, as trec_eval does."""
    total = np.zeros(j.queries)
    for recall in reversed(points):
        total += interpolated_precision(j, recall, rounding)
    return total / len(points)


EPSILON = 1e-5  # keeps infAP's estimates from 0/0


@of_judged("Bpref")
def binary_preference(
    j: JudgedRanks, norm: str = Choice("min", ("min", "R", "N", "relative"))
) -> Floats:
    above = j.count_above((j.codes >= 0) & (j.codes < j.lowest)).astype(np.float64)
    row_index = j.hits.row_index
    relevant, nonrelevant = j.relevant[row_index], j.nonrelevant[row_index]
    if norm == "relative":
        others = above + j.hits.numbers - 1.0
        terms = np.where(others > 0, 1.0 - ratio(above, others), 0.0)
        return ratio(j.hits.add_up(terms), j.relevant)
    pairs = {"min": np.minimum(nonrelevant, relevant), "R": relevant, "N": nonrelevant}[norm]
    counted = above if norm == "N" else np.minimum(above, relevant)
    return ratio(j.hits.add_up(1.0 - ratio(counted, pairs)), j.relevant)


@of_judged("Rpref", parameters={"gain": GRADED["gain"], "rel": REL})
def graded_preference(
    j: JudgedRanks,
    norm: str = Choice("relative2", ("relative2", "relative", "N")),
    max_grade: float | None = Number(None, above=0.0),
) -> Floats:
    """Return the sum; gain x penalty is gain x rank less what is shared with those above."""
    gainful, rows = j.gainful, j.gainful.row_index
    counted = np.concatenate(([0], np.cumsum(j.codes >= 0)))
    ranks = counted[j.gainful_places + 1] - counted[j.starts[rows]]  # among judged documents
    shared = gainful.shared_gains()
    gains = j.ideal.add_up(j.ideal.gains)
    if norm == "relative2":
        terms = shared / ranks
    elif norm == "relative":
        terms = ratio(shared - gainful.gains, ranks - 1.0)
    else:
        most = j.whole.judged.sum(axis=1) - ratio(gains, j.highest_gains(max_grade))
        penalties = np.maximum(gainful.gains * ranks - shared, 0.0)  # rounding may pass it
        terms = gainful.gains - ratio(penalties, most[rows])
    return np.minimum(ratio(gainful.add_up(terms), gains), 1.0)


@of_judged("GMBpref", aggregate="geometric", range=(LEAST_MEAN, 1.0), no_relevant="0.00001")
def geometric_binary_preference(j: JudgedRanks) -> Floats:
    return np.maximum(binary_preference(j), LEAST_MEAN)


@of_judged("InfAP")
def inferred_average_precision(j: JudgedRanks) -> Floats:
    ranks = j.hits.ranks
    before = ranks - 1.0
    relevant = j.hits.numbers - 1
    nonrelevant = j.count_above((j.codes >= 0) & (j.codes < j.lowest))
    pooled = relevant + nonrelevant + j.count_above(j.codes == NEGATIVE)
    estimate = (relevant + EPSILON) / (relevant + nonrelevant + 2 * EPSILON)
    terms = 1.0 / ranks + before / ranks * (pooled / np.maximum(before, 1.0)) * estimate
    terms[ranks == 1] = 1.0
    return ratio(j.hits.add_up(terms), j.relevant)

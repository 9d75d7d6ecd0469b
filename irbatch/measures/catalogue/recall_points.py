"""Precision where a share of the relevant documents is found, or at multiples of their number.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.measures.declare import Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.parameters import REL, Choice, Number, Points
from irbatch.measures.trec_names import OFFICIAL, TrecName

ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
TENTHS = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"  # trec_eval's defaults
MULTIPLES = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"
UP = 0.9  # what trec_eval adds to a product before it drops the fraction
ROUNDING = Choice("nearest", ("nearest", "up"))


@of_judged(
    "RprecMult",
    definition="Precision at a multiple of R: P@c where c is times x R, fractions above 0.1 "
    "rounded up.",
    parameters={"times": Number(1.0, least=0.0), "rel": REL},
    past_end="Ranks past the end count as not relevant: the divisor stays c.",
    source="trec_eval",
    spellings=(TrecName(16, "Rprec_mult", "points", MULTIPLES, ("times",)),),
)
def precision_at_multiple(j: JudgedRanks, times: float) -> Floats:
    cut = np.trunc(times * j.relevant + UP)
    within = j.hit_ranks <= cut[j.hit_rows]
    return ratio(np.bincount(j.hit_rows[within], minlength=j.queries).astype(np.float64), cut)


@of_judged(
    "IPrec",
    definition="Interpolated precision: the best precision at any rank from which on at least "
    "the given share of all relevant documents is found (0: at any rank).",
    parameters={"recall": Number(0.0, least=0.0, most=1.0), "rounding": ROUNDING, "rel": REL},
    past_end="0 where that many relevant documents were not retrieved.",
    source="Salton; Harman 1992; rounding=up: trec_eval before version 10",
    aliases=("InterpolatedPrecision",),
    spellings=(
        TrecName(10, "iprec_at_recall", "points", TENTHS, ("recall",), nicknames=OFFICIAL),
        Spelling("trec_eval", "iprec_at_recall_{recall:.2f}", "", (("rounding", "up"),)),
        # Its own is the first: it takes its values from trec_eval 9.
        Spelling("ir_measures", "IPrec@{recall}", "", (("rounding", "up"),)),
        Spelling("ir_measures", "IPrec@{recall}"),
    ),
)
def interpolated_precision(j: JudgedRanks, recall: float, rounding: str) -> Floats:
    """Return the largest i / rank of the i-th hit, from the hit on that reaches the recall."""
    first = np.maximum(_hits_needed(recall * j.relevant, rounding), 1).astype(np.int64)
    starts, ends = j.hit_starts[:-1] + first - 1, j.hit_starts[1:]
    values = np.zeros(j.queries)
    reached = np.flatnonzero(starts < ends)
    if reached.size:
        bounds = np.empty(2 * reached.size, np.intp)
        bounds[::2], bounds[1::2] = starts[reached], ends[reached]
        values[reached] = np.maximum.reduceat(j.hit_precisions, bounds)[::2]
    return values


@of_judged(
    "IPrecAvg",
    definition="Mean of the interpolated precisions at some recall points; at the default eleven "
    "it is known as 11-point average precision. Points `in_order`, if given, are taken as "
    "trec_eval takes them, the last first: when one needs more hits than the one before, it and "
    "all after it count as recall 0.",
    parameters={
        "points": Points(ELEVEN_POINTS, least=0.0, most=1.0),
        "in_order": Points((), least=0.0, most=1.0, in_order=True),
        "rounding": ROUNDING,
        "rel": REL,
    },
    past_end="As IPrec.",
    source="Salton; Harman 1992; rounding=up: trec_eval before version 10",
    aliases=("11pt_avg", "ElevenPointAverage"),
    spellings=(
        TrecName(18, "11pt_avg", "several", TENTHS, ("points", "in_order")),
        Spelling("trec_eval", "11pt_avg", "", (("rounding", "up"),)),
    ),
)
def mean_interpolated_precision(
    j: JudgedRanks, points: tuple[float, ...], in_order: tuple[float, ...], rounding: str
) -> Floats:
    """Return the mean; summed from the last point to the first, as trec_eval does."""
    total = np.zeros(j.queries)
    if in_order:
        for values in _walk_back(j, in_order, rounding):
            total += values
        return total / len(in_order)
    for recall in reversed(points):
        total += interpolated_precision.declaration.formula(j, recall, rounding)
    return total / len(points)


def _walk_back(j: JudgedRanks, points: tuple[float, ...], rounding: str) -> Iterator[Floats]:
    """Yield interpolated precisions, that of the last point first.

    trec_eval reads a ranking once, from its end: a point that needs more hits than are left there
    is never met, nor is any after it, and they get what is found at the beginning.
    """
    precision = interpolated_precision.declaration.formula
    found, at_beginning = np.diff(j.hit_starts), precision(j, 0.0, rounding)
    left, missed = np.full(j.queries, np.inf), np.zeros(j.queries, bool)
    for recall in reversed(points):
        needed = _hits_needed(recall * j.relevant, rounding)
        missed |= needed > left
        left = np.where(needed <= found, needed, left)
        yield np.where(missed, at_beginning, precision(j, recall, rounding))


def _hits_needed(share: Floats, rounding: str) -> Floats:
    """Round recall times R: ``"nearest"`` halves up, ``"up"`` all but fractions below 0.1."""
    if rounding == "up":
        return np.trunc(share + UP)
    whole = np.floor(share)
    return whole + (share - whole >= 0.5)

"""Measures of documents one by one: of where judged ones stand, and of what they gain.

A reader goes on with probability p (RBP), or stops at a document with a chance that its gain
decides: at one of gain g, of those who come to it, g / (gain of `max_grade` + 1) stop, which is
less than 1: with ``gain=exp`` (2^grade - 1) / 2^max_grade (ERR). The blended ratio is precision and
normalised cumulative gain in one: at rank i (H + beta x gain of the first i documents) / (i + beta
x that of the ideal ranking), H the documents of positive gain among them. Last come measures of how
similar a ranking is to the ideal one.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.engine.concordance import compare_pairs
from irbatch.engine.judged import JudgedRanks, RankedGains
from irbatch.engine.matrix import NEGATIVE, PAD
from irbatch.errors import InputError
from irbatch.measures.catalogue.prefixes import LEAST_MEAN, share
from irbatch.measures.declare import AS_ANY_OTHER, of_judged, ratio
from irbatch.measures.parameters import (
    GRADED,
    MAX_GRADE,
    REL,
    UNDISCOUNTED,
    Choice,
    Flag,
    Gain,
    Number,
    Parameter,
    Points,
    make_weighting,
)
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import powers

of_gains = functools.partial(of_judged, parameters=UNDISCOUNTED)

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
    return _interpolate(j, (recall,), rounding)[0]


@of_judged("IPrecAvg")
def mean_interpolated_precision(
    j: JudgedRanks,
    points: tuple[float, ...] = Points(ELEVEN_POINTS, least=0.0, most=1.0),
    rounding: str = ROUNDING,
) -> Floats:
    """Return the mean; summed from the last point to the first, as trec_eval does."""
    values = _interpolate(j, points[::-1], rounding)
    return np.add.accumulate(values)[-1] / len(points)


def _interpolate(j: JudgedRanks, recalls: tuple[float, ...], rounding: str) -> Floats:
    """Return the largest i / rank of the i-th hit, from the hit on that reaches each recall.

    It is float64 ``(recalls, queries)``.
    """
    shares = np.array(recalls)[:, None] * j.relevant
    if rounding == "up":  # all but fractions below 0.1; else halves
        needed = np.trunc(shares + UP)
    else:
        needed = np.floor(shares) + (shares - np.floor(shares) >= 0.5)
    places = j.hits.starts[:-1] + np.maximum(needed, 1).astype(np.int64) - 1
    if "best" not in j.kept:  # the largest from each hit on, and one of no hit
        j.kept["best"] = best = np.zeros(j.hits.ranks.size + 1)
        _find_best.run(best.size + j.queries, j.hits.starts, j.hits.ranks, best)
    return j.kept["best"][np.where(places < j.hits.starts[1:], places, -1)]


@kernel
def _find_best(starts: Ints, ranks: Ints, best: Floats) -> None:
    """Write the largest i / rank of each query's hits from each on, the i-th of them."""
    for q in range(starts.size - 1):
        highest = 0.0
        for i in range(starts[q + 1] - 1, starts[q] - 1, -1):
            highest = max(highest, (i - starts[q] + 1) / ranks[i])
            best[i] = highest


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


@of_judged("Rpref", parameters=UNDISCOUNTED)
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
    return share(gainful.add_up(terms), gains)


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


@of_judged("nDCGrel", parameters=GRADED)
def ndcg_at_relevant(j: JudgedRanks) -> Floats:
    gainful, ideal = j.gainful, j.ideal
    dcg, best = _running_dcg(j, gainful), _running_dcg(j, ideal)
    rows = gainful.row_index
    reached = ideal.starts[rows] + np.minimum(gainful.ranks, ideal.sizes[rows])
    total = gainful.add_up(dcg / best[reached - 1])
    total += ratio((ideal.sizes - gainful.sizes) * gainful.last_of(dcg), ideal.last_of(best))
    return np.where(gainful.sizes > 0, ratio(total, ideal.sizes), 0.0)


@of_judged("RnDCG", parameters=GRADED)
def ndcg_at_levels(j: JudgedRanks, level: float | None = Number(None, least=0.0)) -> Floats:
    gainful, ideal = j.gainful, j.ideal
    dcg, best = _running_dcg(j, gainful), _running_dcg(j, ideal)
    rows, codes = ideal.row_index, ideal.gains
    ends = np.append((codes[1:] != codes[:-1]) | (rows[1:] != rows[:-1]), rows.size > 0)
    at = np.flatnonzero(ends)  # the last of the ideal ranking of each gain
    rows, base = rows[at], j.divisors.size + 1
    keys = gainful.row_index * base + gainful.ranks
    starts = gainful.starts[rows]
    above = np.searchsorted(keys, rows * base + ideal.ranks[at], side="right") - starts
    shares = gainful.value_at(dcg, starts, above) / best[at]
    total = np.bincount(rows, shares, j.queries).astype(np.float64)
    beyond = (ideal.sizes > 0) & (j.retrieved > ideal.sizes + 1)
    at_end = ratio(gainful.last_of(dcg), ideal.last_of(best))
    total += np.where(beyond, at_end, 0.0)
    values = ratio(total, np.bincount(rows, minlength=j.queries) + beyond)
    if level is not None:
        values[~j.whole.judged[:, j.whole.levels >= level].any(axis=1)] = 0.0
    return values


def _running_dcg(j: JudgedRanks, ranked: RankedGains) -> Floats:
    return ranked.add_up_above(ranked.gains / j.divisors[ranked.ranks - 1])


@of_judged("GAP", parameters={"gain": Gain("triangular"), "rel": REL})
def graded_average_precision(j: JudgedRanks) -> Floats:
    total = j.gainful.add_up(j.gainful.shared_gains() / j.gainful.ranks)
    ideal = j.ideal
    numbers = np.minimum(ideal.sizes, j.cutoff).astype(np.int64)
    best = ideal.value_at(ideal.running_sums, ideal.starts[:-1], numbers)
    return share(total, best)


@of_gains("G")
def normalized_gain(j: JudgedRanks) -> Floats:
    values = np.zeros(j.queries)
    gainful, ideal = j.gainful, j.ideal
    work = 10 * (gainful.ranks.size + ideal.gains.size + j.queries)
    ideals = ideal.starts, ideal.gains
    _discount_by_loss.run(work, gainful.starts, gainful.ranks, gainful.gains, *ideals, values)
    return values


@of_judged("BinG")
def binary_gain(j: JudgedRanks) -> Floats:
    others = j.hits.ranks - j.hits.numbers
    return ratio(j.hits.add_up(1.0 / j.divisors[others]), j.relevant)


@kernel
def _discount_by_loss(
    starts: Ints,
    ranks: Ints,
    gains: Floats,
    ideal_starts: Ints,
    ideal_gains: Floats,
    values: Floats,
) -> None:
    """Write G, of documents of positive gain."""
    for q in range(values.size):
        first, last = ideal_starts[q], ideal_starts[q + 1]
        reached = 0
        total = possible = so_far = 0.0
        for i in range(starts[q], starts[q + 1]):
            while reached < ranks[i]:
                at = first + reached
                possible += max(ideal_gains[at], 1.0) if at < last else 1.0
                reached += 1
            so_far += gains[i]
            # Never more than possible was gained, but for rounding of large sums.
            total += gains[i] / math.log2(max(2.0 + possible - so_far, 2.0))
        all_gains = 0.0
        for i in range(first, last):
            all_gains += ideal_gains[i]
        if first < last:
            values[q] = total / all_gains


PERSISTENCE = Number(0.9, above=0.0, below=1.0)
OF_SCALE: dict[str, Parameter] = {**UNDISCOUNTED, "max_grade": Number(None, above=0.0)}


@of_judged("RBP", parameters=OF_SCALE)
def rank_biased_precision(
    j: JudgedRanks, max_grade: float | None, p: float = PERSISTENCE
) -> Floats:
    highest = j.highest_gains(max_grade)
    least = 1.0 if max_grade is None else 0.0
    gainful = j.gainful
    shares = ratio(gainful.gains, np.maximum(highest, least)[gainful.row_index])
    return (1.0 - p) * gainful.add_up(shares * powers(p, j.depth)[gainful.ranks - 1])


@of_gains("nRBP")
def normalized_rbp(j: JudgedRanks, p: float = PERSISTENCE) -> Floats:
    ideal = j.ideal.within(j.cutoff)
    deepest = max(int(ranked.ranks.max(initial=1)) for ranked in (j.gainful, ideal))
    chances = powers(p, deepest)
    gained, best = (
        ranked.add_up(ranked.gains * chances[ranked.ranks - 1]) for ranked in (j.gainful, ideal)
    )
    return share(gained, best)


@of_judged("RBPresid", parameters={}, no_relevant=AS_ANY_OTHER)
def rank_biased_residual(
    j: JudgedRanks, p: float = PERSISTENCE, tail: str = Choice("unjudged", ("unjudged", "always"))
) -> Floats:
    chances = powers(p, j.matrix.depth + 1)
    unjudged = (j.matrix.codes < 0) & (j.matrix.codes != PAD)
    # In rank order, as every sum here; where nothing is added 0 changes nothing.
    seen = np.cumsum(np.where(unjudged, chances[:-1], 0.0), axis=1)[:, -1]
    residual = np.minimum(chances[j.retrieved] + (1.0 - p) * seen, 1.0)  # rounding may pass it
    return residual if tail == "always" else np.where(unjudged.any(axis=1), residual, 0.0)


@of_judged("RBPupper", parameters=OF_SCALE, no_relevant=AS_ANY_OTHER)
def rank_biased_upper(j: JudgedRanks, max_grade: float | None, p: float = PERSISTENCE) -> Floats:
    most = rank_biased_precision(j, max_grade, p) + rank_biased_residual(j, p, "always")
    return np.minimum(most, 1.0)  # rounding may pass it


BETA = Number(1.0, least=0.0)
PATIENCE = Number(0.99, above=0.0, most=1.0)


@of_gains("Qmeasure")
def q_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    return ratio(j.gainful.add_up(blended_ratios(j, beta)), np.minimum(j.ideal.sizes, j.cutoff))


@of_gains("Omeasure")
def o_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    return j.gainful.add_up(np.where(j.gainful.numbers == 1, blended_ratios(j, beta), 0.0))


@of_gains("Pmeasure")
def p_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    preferred, has_gain = _preferred(j), np.diff(j.gainful.starts) > 0
    return np.where(has_gain, np.append(blended_ratios(j, beta), 0.0)[preferred], 0.0)


@of_gains("Pplus")
def p_plus(j: JudgedRanks, beta: float = BETA) -> Floats:
    gainful, preferred = j.gainful, _preferred(j)
    within = np.arange(gainful.ranks.size) <= preferred[gainful.row_index]
    counts = np.bincount(gainful.row_index[within], minlength=j.queries).astype(np.float64)
    return ratio(gainful.add_up(np.where(within, blended_ratios(j, beta), 0.0)), counts)


@of_gains("NCUrb")
def rank_biased_ncu(
    j: JudgedRanks,
    utility: str = Choice("BR", ("P", "BR", "IE")),
    gamma: float = Number(0.95, above=0.0, most=1.0),
    p: float = PATIENCE,
    beta: float = BETA,
) -> Floats:
    gainful = j.gainful
    chances = powers(gamma, int(j.ideal.sizes.max(initial=0)) + 1)
    total = gainful.add_up(chances[gainful.numbers - 1] * _utilities(j, utility, p, beta))
    best = np.concatenate(([0.0], np.cumsum(chances)))[j.ideal.sizes]
    return ratio(total, best if np.isinf(j.cutoff) else np.minimum(j.ideal.sizes, j.cutoff))


@of_gains("NCUgu")
def graded_uniform_ncu(
    j: JudgedRanks,
    utility: str = Choice("BR", ("P", "BR")),
    stops: Any = Gain("linear"),
    beta: float = BETA,
) -> Floats:
    gainful = j.gainful
    weights = make_weighting(stops, "log2", None).gain(j.whole.levels)
    total = gainful.add_up(weights[gainful.codes] * _utilities(j, utility, 1.0, beta))
    return ratio(total, j.ideal.add_up(weights[j.ideal.codes]))


def blended_ratios(j: JudgedRanks, beta: float) -> Floats:
    """Return the blended ratio at each document of positive gain, float64 ``(documents,)``."""
    gainful, ideal = j.gainful, j.ideal
    rows = gainful.row_index
    reached = ideal.starts[rows] + np.minimum(gainful.ranks, j.ideal.sizes[rows])
    best: Floats = gainful.ranks + beta * ideal.running_sums[reached - 1]
    return (gainful.numbers + beta * gainful.running_sums) / best


def _utilities(j: JudgedRanks, utility: str, p: float, beta: float) -> Floats:
    """Return the utility at each document of positive gain, float64 ``(documents,)``."""
    gainful = j.gainful
    if utility == "BR":
        return blended_ratios(j, beta)
    if utility == "P":
        return gainful.numbers / gainful.ranks
    return powers(p, int(gainful.ranks.max(initial=0)) + 1)[gainful.ranks]


def _preferred(j: JudgedRanks) -> Positions:
    """Return which document of positive gain is each query's first of its highest gain."""
    gainful = j.gainful
    highest = np.zeros(j.queries)
    np.maximum.at(highest, gainful.row_index, gainful.gains)
    preferred = np.zeros(j.queries, np.intp)
    best = np.flatnonzero(gainful.gains == highest[gainful.row_index])[::-1]
    preferred[gainful.row_index[best]] = best  # of several the last one written, the first
    return preferred


EXPONENTIAL: dict[str, Parameter] = {"gain": Gain("exp"), "rel": REL}


@of_gains("ERR", parameters=EXPONENTIAL)
def expected_reciprocal_rank(j: JudgedRanks, max_grade: float = MAX_GRADE) -> Floats:
    return _reciprocal_rank(j, j.gainful, max_grade)


@of_gains("nERR", parameters=EXPONENTIAL)
def normalized_err(j: JudgedRanks, max_grade: float = MAX_GRADE) -> Floats:
    ideal = _reciprocal_rank(j, j.ideal.within(j.cutoff), max_grade)
    return share(_reciprocal_rank(j, j.gainful, max_grade), ideal)


@of_gains("EBR")
def expected_blended_ratio(
    j: JudgedRanks, beta: float = BETA, max_grade: float = MAX_GRADE
) -> Floats:
    return j.gainful.add_up(_stopping(j, j.gainful, max_grade) * blended_ratios(j, beta))


@of_gains("nEBR")
def normalized_ebr(j: JudgedRanks, beta: float = BETA, max_grade: float = MAX_GRADE) -> Floats:
    ideal = j.ideal.within(j.cutoff)
    best = ideal.add_up(_stopping(j, ideal, max_grade))
    return share(expected_blended_ratio(j, beta, max_grade), best)


@of_gains("iRBU")
def intentwise_utility(j: JudgedRanks, p: float = PATIENCE, max_grade: float = MAX_GRADE) -> Floats:
    return _utility(j, j.gainful, max_grade, p)


@of_gains("niRBU")
def normalized_utility(j: JudgedRanks, p: float = PATIENCE, max_grade: float = MAX_GRADE) -> Floats:
    ideal = _utility(j, j.ideal.within(j.cutoff), max_grade, p)
    return share(_utility(j, j.gainful, max_grade, p), ideal)


def _reciprocal_rank(j: JudgedRanks, ranked: RankedGains, max_grade: float) -> Floats:
    return ranked.add_up(_stopping(j, ranked, max_grade) / ranked.ranks)


def _utility(j: JudgedRanks, ranked: RankedGains, max_grade: float, p: float) -> Floats:
    chances = powers(p, int(ranked.ranks.max(initial=0)) + 1)
    return ranked.add_up(_stopping(j, ranked, max_grade) * chances[ranked.ranks])


def _stopping(j: JudgedRanks, ranked: RankedGains, max_grade: float) -> Floats:
    """Return the chance to stop at each document, float64 ``(documents,)``."""
    stops = ranked.gains / (highest_gain(j, max_grade) + 1.0)
    return stops * ranked.chances_left(stops)


def highest_gain(j: JudgedRanks, max_grade: float) -> float:
    """Return the gain of a scale's highest grade; InputError if a judged grade gains more."""
    highest = j.gain_of(max_grade)
    if j.gains.max(initial=0.0) > highest:
        level = int(np.argmax(j.gains > highest))
        grade, gain = j.whole.levels[level], j.gains[level]
        problem = f"gain {gain:g} of grade {grade:g} is above {highest:g}, the gain of max_grade"
        raise InputError(f"{problem}={max_grade:g}", source="measures", value=float(grade))
    return highest


COMPARED = 1000
"""How deep compatibility.py, the program of Compat's authors, compares rankings."""


@of_gains("Compat")
def compatibility(
    j: JudgedRanks, p: float = Number(0.95, above=0.0, below=1.0), normalize: bool = Flag(True)
) -> Floats:
    depth = int(min(j.cutoff, COMPARED))
    gainful, weights = j.gainful.within(depth), powers(p, depth)
    # What a document adds that is in both rankings from a rank on; sums from the far end.
    adds = np.cumsum((weights / np.arange(1.0, depth + 1.0))[::-1])[::-1]
    shared_from = np.maximum(gainful.ranks, gainful.ideal_ranks(j.ideal))
    terms = np.where(shared_from <= depth, adds[np.minimum(shared_from, depth) - 1], 0.0)
    # Rankings that are alike add all of it, which is the sum of p^(i - 1), too.
    alike = np.concatenate(([0.0], np.cumsum(adds)))
    most = alike[np.minimum(j.ideal.sizes, depth)] if normalize else alike[-1:]
    return share(gainful.add_up(terms), most)


of_pairs = functools.partial(
    of_gains,
    no_relevant="0, as wherever fewer than two documents, or only one gain, are compared",
    range=(-1.0, 1.0),
)


@of_pairs("Tau")
def kendall_tau(j: JudgedRanks, ties: str = Choice("b", ("a", "b"))) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).kendall_tau(ties))


@of_pairs("TauAP")
def ap_correlation(j: JudgedRanks, ties: str = Choice("a", ("a", "b"))) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).ap_correlation(ties))

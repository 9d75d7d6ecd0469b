"""Measures of graded documents one by one: readers who go on or stop, and blended ratios.

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
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.engine.concordance import compare_pairs
from irbatch.engine.judged import JudgedRanks, RankedGains
from irbatch.engine.matrix import PAD
from irbatch.errors import InputError
from irbatch.measures.declare import AS_ANY_OTHER, of_judged, ratio
from irbatch.measures.parameters import (
    MAX_GRADE,
    REL,
    UNDISCOUNTED,
    Choice,
    Flag,
    Gain,
    Number,
    Parameter,
    make_weighting,
)

PERSISTENCE = Number(0.9, above=0.0, below=1.0)
OF_SCALE: dict[str, Parameter] = {**UNDISCOUNTED, "max_grade": Number(None, above=0.0)}


@of_judged(
    "RBP",
    definition="Rank-biased precision: (1 - p) times the sum of gain p^(i - 1) over the first k "
    "ranks i; gains are divided by that of max_grade or, where none is given, by the query's "
    "largest judged, if that is above 1.",
    parameters=OF_SCALE,
    source="Moffat & Zobel 2008; the division: trec_eval 10; max_grade: Sakai (NTCIREVAL)",
)
def rank_biased_precision(
    j: JudgedRanks, max_grade: float | None, p: float = PERSISTENCE
) -> Floats:
    highest = j.highest_gains(max_grade)
    least = 1.0 if max_grade is None else 0.0
    found = j.gainful
    shares = ratio(found.gains, np.maximum(highest, least)[found.row_index])
    return (1.0 - p) * found.add_up(shares * chances_of(p, j.depth)[found.ranks - 1])


@of_judged(
    "nRBP",
    definition="Normalised RBP: RBP@k over that of the ideal ranking at the same cutoff.",
    parameters=UNDISCOUNTED,
    past_end="Ranks past the end add 0; the ideal ranking does not shrink with the ranking.",
    source="Sakai (NTCIREVAL, whose p is 0.95)",
)
def normalized_rbp(j: JudgedRanks, p: float = PERSISTENCE) -> Floats:
    ideal = j.ideal.within(j.cutoff)
    deepest = max(int(each.ranks.max(initial=1)) for each in (j.gainful, ideal))
    chances = chances_of(p, deepest)
    found, best = (each.add_up(each.gains * chances[each.ranks - 1]) for each in (j.gainful, ideal))
    return np.minimum(ratio(found, best), 1.0)  # rounding may pass it


@of_judged(
    "RBPresid",
    definition="Residual of rank-biased precision: what it could rise by if all unjudged "
    "documents were relevant: those retrieved and, once there is one, all past the end "
    "(tail=unjudged); or those past the end in any case (tail=always).",
    parameters={},
    past_end="Ranks past the end are unjudged.",
    no_relevant=AS_ANY_OTHER,
    source="tail=always: Moffat & Zobel 2008; tail=unjudged: trec_eval 10",
)
def rank_biased_residual(
    j: JudgedRanks, p: float = PERSISTENCE, tail: str = Choice("unjudged", ("unjudged", "always"))
) -> Floats:
    chances = chances_of(p, j.matrix.depth)
    unjudged = (j.matrix.codes < 0) & (j.matrix.codes != PAD)
    # In rank order, as every sum here; where nothing is added 0 changes nothing.
    seen = np.cumsum(np.where(unjudged, chances[:-1], 0.0), axis=1)[:, -1]
    residual = np.minimum(chances[j.retrieved] + (1.0 - p) * seen, 1.0)  # rounding may pass it
    return residual if tail == "always" else np.where(unjudged.any(axis=1), residual, 0.0)


@of_judged(
    "RBPupper",
    definition="What RBP@k could be at most, the upper end of its residual's interval: RBP@k and "
    "RBPresid(tail=always)@k, all documents that are unjudged or past k being of the highest gain.",
    parameters=OF_SCALE,
    past_end="Ranks past the end are unjudged.",
    no_relevant=AS_ANY_OTHER,
    source="Moffat & Zobel 2008",
)
def rank_biased_upper(j: JudgedRanks, max_grade: float | None, p: float = PERSISTENCE) -> Floats:
    least = rank_biased_precision(j, max_grade, p)
    most = least + rank_biased_residual(j, p, "always")
    return np.minimum(most, 1.0)  # rounding may pass it


def chances_of(p: float, depth: int) -> Floats:
    """Tabulate p^0 … p^depth by repeated multiplication, as trec_eval does."""
    factors = np.full(depth + 1, p)
    factors[0] = 1.0
    return np.multiply.accumulate(factors)


BETA = Number(1.0, least=0.0)
PATIENCE = Number(0.99, above=0.0, most=1.0)
of_blended_ratios = functools.partial(
    of_judged,
    parameters=UNDISCOUNTED,
    past_end="Documents of positive gain that were not retrieved add 0.",
)


@of_blended_ratios(
    "Qmeasure",
    definition="Q-measure: the sum of the blended ratios (H + beta x gain so far) / (i + beta x "
    "ideal gain so far) at the ranks i <= k of documents of positive gain, H of them so far, over "
    "min(k, their number in the judgments).",
    source="Sakai 2004 (NTCIREVAL)",
)
def q_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    return ratio(j.gainful.add_up(blended_ratios(j, beta)), np.minimum(j.rewarding, j.cutoff))


@of_blended_ratios(
    "Omeasure",
    definition="O-measure: the blended ratio (see Qmeasure) at the first document of positive "
    "gain, 0 if there is none among the first k.",
    past_end="0 where no such document was retrieved.",
    source="Sakai 2006 (NTCIREVAL)",
)
def o_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    return j.gainful.add_up(np.where(j.gainful.numbers == 1, blended_ratios(j, beta), 0.0))


@of_blended_ratios(
    "Pmeasure",
    definition="P-measure: the blended ratio (see Qmeasure) at the preferred rank, which is that "
    "of the first document of the highest gain among the first k.",
    past_end="0 where no document of positive gain was retrieved.",
    source="Sakai 2006 (NTCIREVAL)",
)
def p_measure(j: JudgedRanks, beta: float = BETA) -> Floats:
    preferred, found = _preferred(j), np.diff(j.gainful.starts) > 0
    return np.where(found, np.append(blended_ratios(j, beta), 0.0)[preferred], 0.0)


@of_blended_ratios(
    "Pplus",
    definition="P-plus (P+): the mean of the blended ratios (see Qmeasure) at the documents of "
    "positive gain down to the preferred rank (see Pmeasure).",
    past_end="0 where no document of positive gain was retrieved.",
    source="Sakai 2007 (NTCIREVAL)",
)
def p_plus(j: JudgedRanks, beta: float = BETA) -> Floats:
    found, preferred = j.gainful, _preferred(j)
    within = np.arange(found.ranks.size) <= preferred[found.row_index]
    counts = np.bincount(found.row_index[within], minlength=j.queries).astype(np.float64)
    return ratio(found.add_up(np.where(within, blended_ratios(j, beta), 0.0)), counts)


@of_blended_ratios(
    "NCUrb",
    definition="Normalised cumulative utility, rank-biased: the sum of utility x gamma^(H - 1) at "
    "the documents of positive gain, H of them so far, over the sum of gamma^(h - 1) up to their "
    "number in the judgments; at a cutoff, as NTCIREVAL has it, over min(k, that number). The "
    "utility is precision (P), the blended ratio (BR, see Qmeasure), or p^rank (IE).",
    source="Sakai & Robertson 2008 (NTCIREVAL)",
)
def rank_biased_ncu(
    j: JudgedRanks,
    utility: str = Choice("BR", ("P", "BR", "IE")),
    gamma: float = Number(0.95, above=0.0, most=1.0),
    p: float = PATIENCE,
    beta: float = BETA,
) -> Floats:
    found = j.gainful
    chances = chances_of(gamma, int(j.rewarding.max(initial=0)))
    total = found.add_up(chances[found.numbers - 1] * _utilities(j, utility, p, beta))
    best = np.concatenate(([0.0], np.cumsum(chances)))[j.rewarding]
    return ratio(total, best if np.isinf(j.cutoff) else np.minimum(j.rewarding, j.cutoff))


@of_blended_ratios(
    "NCUgu",
    definition="Normalised cumulative utility, graded-uniform: the mean of the utility at the "
    "documents of positive gain, each weighted by what stops has for its grade (as gain). The "
    "utility is precision (P) or the blended ratio (BR, see Qmeasure).",
    source="Sakai & Robertson 2008 (NTCIREVAL)",
)
def graded_uniform_ncu(
    j: JudgedRanks,
    utility: str = Choice("BR", ("P", "BR")),
    stops: Any = Gain("linear"),
    beta: float = BETA,
) -> Floats:
    found = j.gainful
    weights = make_weighting(stops, "log2", None).gain(j.whole.levels)
    total = found.add_up(weights[found.codes] * _utilities(j, utility, 1.0, beta))
    return ratio(total, j.ideal.add_up(weights[j.ideal.codes]))


def blended_ratios(j: JudgedRanks, beta: float) -> Floats:
    """Return the blended ratio at each document of positive gain, float64 ``(documents,)``."""
    found, ideal = j.gainful, j.ideal
    rows = found.row_index
    reached = ideal.starts[rows] + np.minimum(found.ranks, j.rewarding[rows])
    gained = beta * found.running_sums
    ratios: Floats = (found.numbers + gained) / (
        found.ranks + beta * ideal.running_sums[reached - 1]
    )
    return ratios


def _utilities(j: JudgedRanks, utility: str, p: float, beta: float) -> Floats:
    """Return the utility at each document of positive gain, float64 ``(documents,)``."""
    found = j.gainful
    if utility == "BR":
        return blended_ratios(j, beta)
    if utility == "P":
        return found.numbers / found.ranks
    return chances_of(p, int(found.ranks.max(initial=0)))[found.ranks]


def _preferred(j: JudgedRanks) -> Positions:
    """Return which document of positive gain is each query's first of its highest gain."""
    found = j.gainful
    highest = np.zeros(j.queries)
    np.maximum.at(highest, found.row_index, found.gains)
    preferred = np.zeros(j.queries, np.intp)
    best = np.flatnonzero(found.gains == highest[found.row_index])[::-1]
    preferred[found.row_index[best]] = best  # of several the last one written, the first
    return preferred


EXPONENTIAL: dict[str, Parameter] = {"gain": Gain("exp"), "rel": REL}
STOPPING = "gain / (gain of max_grade + 1) of the readers stop at a document"
of_stopping = functools.partial(of_judged, parameters=UNDISCOUNTED)
of_normalized = functools.partial(
    of_stopping,
    past_end="Ranks past the end add 0; the ideal ranking does not shrink with the ranking.",
)
IDEAL = "that of the ideal ranking at the same cutoff"


@of_stopping(
    "ERR",
    definition="Expected reciprocal rank: the sum over the first k ranks i of the chance to stop "
    f"at i, over i, where {STOPPING}; that is (2^grade - 1) / 2^max_grade (gain=exp).",
    parameters=EXPONENTIAL,
    source="Chapelle et al. 2009; max_grade=4: gdeval",
)
def expected_reciprocal_rank(j: JudgedRanks, max_grade: float = MAX_GRADE) -> Floats:
    return _reciprocal_rank(j, j.gainful, max_grade)


@of_normalized(
    "nERR",
    definition=f"Normalised ERR: ERR@k over {IDEAL}.",
    parameters=EXPONENTIAL,
    source="Chapelle et al. 2009; Sakai (NTCIREVAL)",
)
def normalized_err(j: JudgedRanks, max_grade: float = MAX_GRADE) -> Floats:
    ideal = _reciprocal_rank(j, j.ideal.within(j.cutoff), max_grade)
    return share(_reciprocal_rank(j, j.gainful, max_grade), ideal)


@of_stopping(
    "EBR",
    definition="Expected blended ratio: as ERR, of the blended ratio at i (see Qmeasure) instead "
    f"of 1 / i; {STOPPING}.",
    source="Sakai & Zeng 2019 (NTCIREVAL)",
)
def expected_blended_ratio(
    j: JudgedRanks, beta: float = BETA, max_grade: float = MAX_GRADE
) -> Floats:
    return j.gainful.add_up(_stopping(j, j.gainful, max_grade) * blended_ratios(j, beta))


@of_normalized(
    "nEBR",
    definition=f"Normalised EBR: EBR@k over {IDEAL}, whose blended ratios are 1.",
    source="Sakai (NTCIREVAL)",
)
def normalized_ebr(j: JudgedRanks, beta: float = BETA, max_grade: float = MAX_GRADE) -> Floats:
    ideal = j.ideal.within(j.cutoff)
    best = ideal.add_up(_stopping(j, ideal, max_grade))
    return share(expected_blended_ratio(j, beta, max_grade), best)


@of_stopping(
    "iRBU",
    definition="Intentwise rank-biased utility: as ERR, of p^i instead of 1 / i, the effort that "
    f"coming to rank i leaves; {STOPPING}.",
    source="Sakai & Zeng 2019 (NTCIREVAL), after Amigó et al. 2018",
)
def intentwise_utility(j: JudgedRanks, p: float = PATIENCE, max_grade: float = MAX_GRADE) -> Floats:
    return _utility(j, j.gainful, max_grade, p)


@of_normalized(
    "niRBU",
    definition=f"Normalised iRBU: iRBU@k over {IDEAL}.",
    source="Sakai (NTCIREVAL)",
)
def normalized_utility(j: JudgedRanks, p: float = PATIENCE, max_grade: float = MAX_GRADE) -> Floats:
    ideal = _utility(j, j.ideal.within(j.cutoff), max_grade, p)
    return share(_utility(j, j.gainful, max_grade, p), ideal)


def share(value: Floats, ideal: Floats) -> Floats:
    """Return value / ideal; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(value, ideal), 1.0)


def _reciprocal_rank(j: JudgedRanks, ranked: RankedGains, max_grade: float) -> Floats:
    return ranked.add_up(_stopping(j, ranked, max_grade) / ranked.ranks)


def _utility(j: JudgedRanks, ranked: RankedGains, max_grade: float, p: float) -> Floats:
    chances = chances_of(p, int(ranked.ranks.max(initial=0)))
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

OF_PAIRS = "Of documents that were judged, among the first k: "


@of_judged(
    "Compat",
    definition="Compatibility: rank-biased overlap, to the first 1,000 ranks or k, with the ideal "
    "ranking that is most like it: documents of positive gain from the highest down, those of one "
    "gain in the order that they were retrieved in, others last. Normalised, it is over that "
    "of the ideal ranking with itself.",
    parameters=UNDISCOUNTED,
    past_end="The documents in common stay as many, of more and more ranks.",
    source="Clarke, Smucker & Vtyurina 2020; Clarke, Vtyurina & Smucker 2021",
)
def compatibility(
    j: JudgedRanks, p: float = Number(0.95, above=0.0, below=1.0), normalize: bool = Flag(True)
) -> Floats:
    depth = int(min(j.cutoff, COMPARED))
    found, weights = j.gainful.within(depth), chances_of(p, depth - 1)
    # What a document adds that is in both rankings from a rank on; sums from the far end.
    adds = np.cumsum((weights / np.arange(1.0, depth + 1.0))[::-1])[::-1]
    shared_from = np.maximum(found.ranks, found.ideal_ranks(j.ideal))
    terms = np.where(shared_from <= depth, adds[np.minimum(shared_from, depth) - 1], 0.0)
    # Rankings that are alike add all of it, which is the sum of p^(i - 1), too.
    alike = np.concatenate(([0.0], np.cumsum(adds)))
    most = alike[np.minimum(j.rewarding, depth)] if normalize else alike[-1:]
    return np.minimum(ratio(found.add_up(terms), most), 1.0)  # rounding may pass it


@of_judged(
    "Tau",
    definition=f"Kendall's tau of the ranking and of gains. {OF_PAIRS}pairs in the order of their "
    "gains less those in the opposite one, over all pairs (ties=a) or over the geometric mean of "
    "their number and that of pairs of different gains (ties=b).",
    parameters=UNDISCOUNTED,
    past_end="Only documents that were retrieved are compared.",
    no_relevant="0, as wherever fewer than two documents, or only one gain, are compared",
    range=(-1.0, 1.0),
    source="Kendall 1945",
)
def kendall_tau(j: JudgedRanks, ties: str = Choice("b", ("a", "b"))) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).kendall_tau(ties))


@of_judged(
    "TauAP",
    definition=f"AP correlation of the ranking and of gains. {OF_PAIRS}at each but the first the "
    "share of those above it whose gain is higher, averaged, from -1 to 1. Half of those of the "
    "same gain count (ties=a, the mean over all their orders); or they don't, and it is the mean "
    "of this and of the correlation of gains with the ranking (ties=b, symmetric).",
    parameters=UNDISCOUNTED,
    past_end="Only documents that were retrieved are compared.",
    no_relevant="0, as wherever fewer than two documents, or only one gain, are compared",
    range=(-1.0, 1.0),
    source="Yilmaz, Aslam & Robertson 2008; ties: Urbano & Marrero 2017",
)
def ap_correlation(j: JudgedRanks, ties: str = Choice("a", ("a", "b"))) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).ap_correlation(ties))

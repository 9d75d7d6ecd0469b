"""Measures of a reader who stops at a document with a chance that its gain decides.

At a document of gain g, of those who come to it, g / (gain of `max_grade` + 1) stop, which is less
than 1: with ``gain=exp`` (2^grade - 1) / 2^max_grade. A formula reads `JudgedRanks` and returns
one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks, RankedGains
from irbatch.errors import InputError
from irbatch.measures.catalogue.blended import BETA, blended_ratios
from irbatch.measures.catalogue.persistence import chances_of
from irbatch.measures.declare import Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.parameters import GRADED, MAX_GRADE, REL, Gain, Number, Parameter

EXPONENTIAL: dict[str, Parameter] = {"max_grade": MAX_GRADE, "gain": Gain("exp"), "rel": REL}
LINEAR: dict[str, Parameter] = {"max_grade": MAX_GRADE, "gain": GRADED["gain"], "rel": REL}
PATIENCE = Number(0.99, above=0.0, most=1.0)
STOPPING = "gain / (gain of max_grade + 1) of the readers stop at a document"
ADDS_0 = "Ranks past the end add 0."
OF_IDEAL = "Ranks past the end add 0; the ideal ranking does not shrink with the ranking."
IDEAL = "that of the ideal ranking at the same cutoff"


@of_judged(
    "ERR",
    definition="Expected reciprocal rank: the sum over the first k ranks i of the chance to stop "
    f"at i, over i, where {STOPPING}; that is (2^grade - 1) / 2^max_grade (gain=exp).",
    parameters=EXPONENTIAL,
    past_end=ADDS_0,
    source="Chapelle et al. 2009; max_grade=4: gdeval",
    aliases=("ExpectedReciprocalRank",),
    spellings=(
        Spelling("ir_measures", "", "ERR@{k}"),
        Spelling("gdeval", "", "err@{k}"),
        Spelling("ntcireval", "ERR", "ERR@{k:04d}"),
    ),
)
def expected_reciprocal_rank(j: JudgedRanks, max_grade: float) -> Floats:
    return _reciprocal_rank(j, j.gainful, max_grade)


@of_judged(
    "nERR",
    definition=f"Normalised ERR: ERR@k over {IDEAL}.",
    parameters=EXPONENTIAL,
    past_end=OF_IDEAL,
    source="Chapelle et al. 2009; Sakai (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "", "nERR@{k:04d}"),),
)
def normalized_err(j: JudgedRanks, max_grade: float) -> Floats:
    ideal = _reciprocal_rank(j, j.ideal.within(j.cutoff), max_grade)
    return share(_reciprocal_rank(j, j.gainful, max_grade), ideal)


@of_judged(
    "EBR",
    definition="Expected blended ratio: as ERR, of the blended ratio at i (see Qmeasure) instead "
    f"of 1 / i; {STOPPING}.",
    parameters={"beta": BETA, **LINEAR},
    past_end=ADDS_0,
    source="Sakai & Zeng 2019 (NTCIREVAL)",
    aliases=("ExpectedBlendedRatio",),
    spellings=(Spelling("ntcireval", "EBR", "EBR@{k:04d}"),),
)
def expected_blended_ratio(j: JudgedRanks, max_grade: float, beta: float) -> Floats:
    return j.gainful.add_up(_stopping(j, j.gainful, max_grade) * blended_ratios(j, beta))


@of_judged(
    "nEBR",
    definition=f"Normalised EBR: EBR@k over {IDEAL}, whose blended ratios are 1.",
    parameters={"beta": BETA, **LINEAR},
    past_end=OF_IDEAL,
    source="Sakai (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "", "nEBR@{k:04d}"),),
)
def normalized_ebr(j: JudgedRanks, max_grade: float, beta: float) -> Floats:
    ideal = j.ideal.within(j.cutoff)
    best = ideal.add_up(_stopping(j, ideal, max_grade))
    return share(expected_blended_ratio.declaration.formula(j, max_grade, beta), best)


@of_judged(
    "iRBU",
    definition="Intentwise rank-biased utility: as ERR, of p^i instead of 1 / i, the effort that "
    f"coming to rank i leaves; {STOPPING}.",
    parameters={"p": PATIENCE, **LINEAR},
    past_end=ADDS_0,
    source="Sakai & Zeng 2019 (NTCIREVAL), after Amigó et al. 2018",
    spellings=(Spelling("ntcireval", "iRBU", "iRBU@{k:04d}"),),
)
def intentwise_utility(j: JudgedRanks, max_grade: float, p: float) -> Floats:
    return _utility(j, j.gainful, max_grade, p)


@of_judged(
    "niRBU",
    definition=f"Normalised iRBU: iRBU@k over {IDEAL}.",
    parameters={"p": PATIENCE, **LINEAR},
    past_end=OF_IDEAL,
    source="Sakai (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "", "niRBU@{k:04d}"),),
)
def normalized_utility(j: JudgedRanks, max_grade: float, p: float) -> Floats:
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

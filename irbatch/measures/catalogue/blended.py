"""Measures of the blended ratio, which is precision and normalised cumulative gain in one.

At rank i it is (H + beta x gain of the first i documents) / (i + beta x that of the ideal ranking),
H the documents of positive gain among them. A formula reads `JudgedRanks` and returns one value
for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.engine.judged import JudgedRanks
from irbatch.measures.catalogue.persistence import chances_of
from irbatch.measures.declare import Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.gains import make_weighting
from irbatch.measures.parameters import GRADED, Choice, Gain, Number, Parameter

BETA = Number(1.0, least=0.0)
BLENDED: dict[str, Parameter] = {"beta": BETA, "gain": GRADED["gain"], "rel": GRADED["rel"]}
NOT_FOUND = "Documents of positive gain that were not retrieved add 0."


@of_judged(
    "Qmeasure",
    definition="Q-measure: the sum of the blended ratios (H + beta x gain so far) / (i + beta x "
    "ideal gain so far) at the ranks i <= k of documents of positive gain, H of them so far, over "
    "min(k, their number in the judgments).",
    parameters=BLENDED,
    past_end=NOT_FOUND,
    source="Sakai 2004 (NTCIREVAL)",
    aliases=("Q",),
    spellings=(Spelling("ntcireval", "Q-measure", "Q@{k:04d}"),),
)
def q_measure(j: JudgedRanks, beta: float) -> Floats:
    return ratio(j.gainful.add_up(blended_ratios(j, beta)), np.minimum(j.rewarding, j.cutoff))


@of_judged(
    "Omeasure",
    definition="O-measure: the blended ratio (see Qmeasure) at the first document of positive "
    "gain, 0 if there is none among the first k.",
    parameters=BLENDED,
    past_end="0 where no such document was retrieved.",
    source="Sakai 2006 (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "O-measure"),),
)
def o_measure(j: JudgedRanks, beta: float) -> Floats:
    return j.gainful.add_up(np.where(j.gainful.numbers == 1, blended_ratios(j, beta), 0.0))


@of_judged(
    "Pmeasure",
    definition="P-measure: the blended ratio (see Qmeasure) at the preferred rank, which is that "
    "of the first document of the highest gain among the first k.",
    parameters=BLENDED,
    past_end="0 where no document of positive gain was retrieved.",
    source="Sakai 2006 (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "P-measure"),),
)
def p_measure(j: JudgedRanks, beta: float) -> Floats:
    preferred, found = _preferred(j), np.diff(j.gainful.starts) > 0
    return np.where(found, np.append(blended_ratios(j, beta), 0.0)[preferred], 0.0)


@of_judged(
    "Pplus",
    definition="P-plus (P+): the mean of the blended ratios (see Qmeasure) at the documents of "
    "positive gain down to the preferred rank (see Pmeasure).",
    parameters=BLENDED,
    past_end="0 where no document of positive gain was retrieved.",
    source="Sakai 2007 (NTCIREVAL)",
    spellings=(Spelling("ntcireval", "P-plus"),),
)
def p_plus(j: JudgedRanks, beta: float) -> Floats:
    found, preferred = j.gainful, _preferred(j)
    within = np.arange(found.ranks.size) <= preferred[found.row_index]
    counts = np.bincount(found.row_index[within], minlength=j.queries).astype(np.float64)
    return ratio(found.add_up(np.where(within, blended_ratios(j, beta), 0.0)), counts)


@of_judged(
    "NCUrb",
    definition="Normalised cumulative utility, rank-biased: the sum of utility x gamma^(H - 1) at "
    "the documents of positive gain, H of them so far, over the sum of gamma^(h - 1) up to their "
    "number in the judgments; at a cutoff, as NTCIREVAL has it, over min(k, that number). The "
    "utility is precision (P), the blended ratio (BR, see Qmeasure), or p^rank (IE).",
    parameters={
        "utility": Choice("BR", ("P", "BR", "IE")),
        "gamma": Number(0.95, above=0.0, most=1.0),
        "p": Number(0.99, above=0.0, most=1.0),
        **BLENDED,
    },
    past_end=NOT_FOUND,
    source="Sakai & Robertson 2008 (NTCIREVAL)",
    spellings=tuple(
        Spelling("ntcireval", f"NCUrb,{name}", f"NCUrb,{name}@{{k:04d}}", (("utility", name),) * i)
        for i, name in ((0, "BR"), (1, "P"), (1, "IE"))
    ),
)
def rank_biased_ncu(j: JudgedRanks, utility: str, gamma: float, p: float, beta: float) -> Floats:
    found = j.gainful
    chances = chances_of(gamma, int(j.rewarding.max(initial=0)))
    total = found.add_up(chances[found.numbers - 1] * _utilities(j, utility, p, beta))
    best = np.concatenate(([0.0], np.cumsum(chances)))[j.rewarding]
    return ratio(total, best if np.isinf(j.cutoff) else np.minimum(j.rewarding, j.cutoff))


@of_judged(
    "NCUgu",
    definition="Normalised cumulative utility, graded-uniform: the mean of the utility at the "
    "documents of positive gain, each weighted by what stops has for its grade (as gain). The "
    "utility is precision (P) or the blended ratio (BR, see Qmeasure).",
    parameters={"utility": Choice("BR", ("P", "BR")), "stops": Gain("linear"), **BLENDED},
    past_end=NOT_FOUND,
    source="Sakai & Robertson 2008 (NTCIREVAL)",
    spellings=(
        Spelling("ntcireval", "NCUgu,BR"),
        Spelling("ntcireval", "NCUgu,P", "", (("utility", "P"),)),
    ),
)
def graded_uniform_ncu(j: JudgedRanks, utility: str, stops: Any, beta: float) -> Floats:
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

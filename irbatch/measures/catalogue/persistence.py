"""Rank-biased precision, a reader who goes on to the next document with probability p.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.matrix import PAD
from irbatch.measures.declare import AS_ANY_OTHER, Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.parameters import GRADED, Choice, Number, Parameter
from irbatch.measures.trec_names import TrecName

PERSISTENCE = Number(0.9, above=0.0, below=1.0)
GAINS: dict[str, Parameter] = {"gain": GRADED["gain"], "rel": GRADED["rel"]}
OF_SCALE: dict[str, Parameter] = {**GAINS, "max_grade": Number(None, above=0.0)}


@of_judged(
    "RBP",
    definition="Rank-biased precision: (1 - p) times the sum of gain p^(i - 1) over the first k "
    "ranks i; gains are divided by that of max_grade or, where none is given, by the query's "
    "largest judged, if that is above 1.",
    parameters={"p": PERSISTENCE, **OF_SCALE},
    past_end="Ranks past the end add 0.",
    source="Moffat & Zobel 2008; the division: trec_eval 10; max_grade: Sakai (NTCIREVAL)",
    aliases=("RankBiasedPrecision",),
    spellings=(
        TrecName(37, "rbp", "gains", "", ("p",), since=10),
        Spelling(
            "ir_measures",
            "",
            parameters=(("gain", "binary"),),
            asked=("RBP(rel={rel},p={p})", "RBP(rel={rel},p={p})@{k}"),
        ),
    ),
)
def rank_biased_precision(j: JudgedRanks, p: float, max_grade: float | None) -> Floats:
    highest = j.highest_gains(max_grade)
    least = 1.0 if max_grade is None else 0.0
    found = j.gainful
    shares = ratio(found.gains, np.maximum(highest, least)[found.row_index])
    return (1.0 - p) * found.add_up(shares * chances_of(p, j.depth)[found.ranks - 1])


@of_judged(
    "nRBP",
    definition="Normalised RBP: RBP@k over that of the ideal ranking at the same cutoff.",
    parameters={"p": PERSISTENCE, **GAINS},
    past_end="Ranks past the end add 0; the ideal ranking does not shrink with the ranking.",
    source="Sakai (NTCIREVAL, whose p is 0.95)",
)
def normalized_rbp(j: JudgedRanks, p: float) -> Floats:
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
    parameters={"p": PERSISTENCE, "tail": Choice("unjudged", ("unjudged", "always"))},
    past_end="Ranks past the end are unjudged.",
    no_relevant=AS_ANY_OTHER,
    source="tail=always: Moffat & Zobel 2008; tail=unjudged: trec_eval 10",
    spellings=(TrecName(38, "rbp_resid", since=10),),
)
def rank_biased_residual(j: JudgedRanks, p: float, tail: str) -> Floats:
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
    parameters={"p": PERSISTENCE, **OF_SCALE},
    past_end="Ranks past the end are unjudged.",
    no_relevant=AS_ANY_OTHER,
    source="Moffat & Zobel 2008",
)
def rank_biased_upper(j: JudgedRanks, p: float, max_grade: float | None) -> Floats:
    least = rank_biased_precision.declaration.formula(j, p, max_grade)
    most = least + rank_biased_residual.declaration.formula(j, p, "always")
    return np.minimum(most, 1.0)  # rounding may pass it


def chances_of(p: float, depth: int) -> Floats:
    """Tabulate p^0 … p^depth by repeated multiplication, as trec_eval does."""
    factors = np.full(depth + 1, p)
    factors[0] = 1.0
    return np.multiply.accumulate(factors)

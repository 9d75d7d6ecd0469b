"""Rank-biased precision, a reader who goes on to the next document with probability p.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.matrix import PAD
from irbatch.measures.declare import AS_ANY_OTHER, Spelling
from irbatch.measures.define import of_judged
from irbatch.measures.parameters import GRADED, Choice, Number
from irbatch.measures.trec_names import TrecName

PERSISTENCE = Number(0.9, above=0.0, below=1.0)


@of_judged(
    "RBP",
    definition="Rank-biased precision: (1 - p) times the sum of gain p^(i - 1) over the first k "
    "ranks i; gains are divided by the largest judged of the query where that is above 1.",
    parameters={"p": PERSISTENCE, "gain": GRADED["gain"], "rel": GRADED["rel"]},
    past_end="Ranks past the end add 0.",
    source="Moffat & Zobel 2008; the division: trec_eval 10",
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
def rank_biased_precision(j: JudgedRanks, p: float) -> Floats:
    largest = np.where(j.matrix.judged > 0, j.gains, 0.0).max(axis=1, initial=1.0)
    terms = j.gained / largest[j.row_index] * _chances(p, j.matrix.depth)[j.ranks - 1]
    expected: Floats = (1.0 - p) * np.bincount(j.row_index, terms, j.queries).astype(np.float64)
    return expected


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
    chances = _chances(p, j.matrix.depth)
    unjudged = (j.matrix.codes < 0) & (j.matrix.codes != PAD)
    # In rank order, as every sum here; where nothing is added 0 changes nothing.
    seen = np.cumsum(np.where(unjudged, chances[:-1], 0.0), axis=1)[:, -1]
    residual = np.minimum(chances[j.retrieved] + (1.0 - p) * seen, 1.0)  # rounding may pass it
    return residual if tail == "always" else np.where(unjudged.any(axis=1), residual, 0.0)


def _chances(p: float, depth: int) -> Floats:
    """Tabulate p^0 … p^depth by repeated multiplication, as trec_eval does."""
    factors = np.full(depth + 1, p)
    factors[0] = 1.0
    powers: Floats = np.multiply.accumulate(factors)
    return powers

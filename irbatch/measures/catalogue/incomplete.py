"""Measures made for incomplete judgments: they look at judged documents only, or infer the rest.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.matrix import NEGATIVE
from irbatch.measures.catalogue.binary import LEAST_MEAN
from irbatch.measures.declare import Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.trec_names import OFFICIAL, TrecName

EPSILON = 1e-5  # keeps infAP's estimates from 0/0


@of_judged(
    "Bpref",
    definition="Binary preference: the mean over relevant documents of the share of the first R "
    "judged nonrelevant ones that do not stand above them.",
    past_end="Relevant documents that were not retrieved add 0.",
    source="Buckley & Voorhees 2004, as corrected in trec_eval 8",
    aliases=("BinaryPreference",),
    spellings=(
        TrecName(8, "bpref", nicknames=OFFICIAL),
        Spelling("ir_measures", "Bpref"),
        Spelling("ranx", "bpref"),
    ),
)
def binary_preference(j: JudgedRanks) -> Floats:
    above = j.count_above((j.codes >= 0) & (j.codes < j.lowest))
    row_index = j.hit_rows
    relevant, nonrelevant = j.relevant[row_index], j.nonrelevant[row_index]
    broken = ratio(np.minimum(above, relevant), np.minimum(nonrelevant, relevant))
    return ratio(j.sum_over_hits(1.0 - broken), j.relevant)


@of_judged(
    "GMBpref",
    definition="Bpref, at least 0.00001, whose mean over queries is geometric.",
    aggregate="geometric",
    range=(LEAST_MEAN, 1.0),
    past_end="As Bpref.",
    no_relevant="0.00001",
    source="trec_eval",
    spellings=(TrecName(15, "gm_bpref"),),
)
def geometric_binary_preference(j: JudgedRanks) -> Floats:
    return np.maximum(binary_preference.declaration.formula(j), LEAST_MEAN)


@of_judged(
    "InfAP",
    definition="Inferred average precision: AP with the precision at each relevant document "
    "estimated from the judged ones above it; a negative grade means pooled but not judged.",
    past_end="Relevant documents that were not retrieved add 0.",
    source="Yilmaz & Aslam 2006",
    aliases=("InferredAP",),
    spellings=(TrecName(14, "infAP"), Spelling("ir_measures", "infAP")),
)
def inferred_average_precision(j: JudgedRanks) -> Floats:
    ranks = j.hit_ranks
    before = ranks - 1.0
    relevant = j.hit_numbers - 1
    nonrelevant = j.count_above((j.codes >= 0) & (j.codes < j.lowest))
    pooled = relevant + nonrelevant + j.count_above(j.codes == NEGATIVE)
    estimate = (relevant + EPSILON) / (relevant + nonrelevant + 2 * EPSILON)
    terms = 1.0 / ranks + before / ranks * (pooled / np.maximum(before, 1.0)) * estimate
    terms[ranks == 1] = 1.0
    return ratio(j.sum_over_hits(terms), j.relevant)

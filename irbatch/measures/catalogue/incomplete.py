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
from irbatch.measures.parameters import GRADED, REL, Choice, Number
from irbatch.measures.trec_names import OFFICIAL, TrecName

EPSILON = 1e-5  # keeps infAP's estimates from 0/0


@of_judged(
    "Bpref",
    definition="Binary preference: the mean over relevant documents of the share of the first R "
    "judged nonrelevant ones that do not stand above them: of the first min(R, N) (norm=min, N "
    "nonrelevant ones judged), of R (norm=R), of all N (norm=N), or of the judged documents above "
    "(norm=relative: the first judged document counts nothing).",
    parameters={"norm": Choice("min", ("min", "R", "N", "relative")), "rel": REL},
    past_end="Relevant documents that were not retrieved add 0.",
    source="Buckley & Voorhees 2004, as corrected in trec_eval 8; norm: Sakai 2007 (NTCIREVAL)",
    aliases=("BinaryPreference",),
    spellings=(
        TrecName(8, "bpref", nicknames=OFFICIAL),
        Spelling("ir_measures", "Bpref"),
        Spelling("ranx", "bpref"),
        *(
            Spelling("ntcireval", f"bpref_{norm}", "", (("norm", norm),))
            for norm in ("R", "N", "relative")
        ),
    ),
)
def binary_preference(j: JudgedRanks, norm: str) -> Floats:
    above = j.count_above((j.codes >= 0) & (j.codes < j.lowest)).astype(np.float64)
    row_index = j.hit_rows
    relevant, nonrelevant = j.relevant[row_index], j.nonrelevant[row_index]
    if norm == "relative":
        others = above + j.hit_numbers - 1.0
        terms = np.where(others > 0, 1.0 - ratio(above, others), 0.0)
        return ratio(j.sum_over_hits(terms), j.relevant)
    pairs = {"min": np.minimum(nonrelevant, relevant), "R": relevant, "N": nonrelevant}[norm]
    counted = above if norm == "N" else np.minimum(above, relevant)
    return ratio(j.sum_over_hits(1.0 - ratio(counted, pairs)), j.relevant)


@of_judged(
    "Rpref",
    definition="Graded bpref (rpref): the sum of gain x (1 - penalty / n) over the sum of all "
    "judged gains, the penalty being the sum of (gain - other gain) / gain over judged documents "
    "of lower gain above. n is the document's rank among judged documents (norm=relative2), one "
    "less, the first counting nothing (norm=relative), or all judged documents less their gains' "
    "sum over the gain of max_grade, where none is given the largest judged of the query (norm=N).",
    parameters={
        "norm": Choice("relative2", ("relative2", "relative", "N")),
        "max_grade": Number(None, above=0.0),
        "gain": GRADED["gain"],
        "rel": REL,
    },
    past_end="Documents of positive gain that were not retrieved add 0.",
    source="De Beer & Moens 2006; norm: Sakai 2007 (NTCIREVAL)",
    spellings=(
        Spelling("ntcireval", "rpref_relative2"),
        *(
            Spelling("ntcireval", f"rpref_{norm}", "", (("norm", norm),))
            for norm in ("N", "relative")
        ),
    ),
)
def graded_preference(j: JudgedRanks, norm: str, max_grade: float | None) -> Floats:
    """Return the sum; gain x penalty is gain x rank less what is shared with those above."""
    found, rows = j.gainful, j.gainful.row_index
    counted = np.concatenate(([0], np.cumsum(j.codes >= 0)))
    ranks = counted[j.gainful_places + 1] - counted[j.starts[rows]]  # among judged documents
    shared = found.shared_gains()
    gains = j.ideal.add_up(j.ideal.gains)
    if norm == "relative2":
        terms = shared / ranks
    elif norm == "relative":
        terms = ratio(shared - found.gains, ranks - 1.0)
    else:
        most = j.whole.judged.sum(axis=1) - ratio(gains, j.highest_gains(max_grade))
        penalties = np.maximum(found.gains * ranks - shared, 0.0)  # rounding may pass it
        terms = found.gains - ratio(penalties, most[rows])
    return np.minimum(ratio(found.add_up(terms), gains), 1.0)


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
    return np.maximum(binary_preference.declaration.formula(j, "min"), LEAST_MEAN)


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

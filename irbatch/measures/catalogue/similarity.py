"""How similar a ranking is to an ideal one: rank-biased overlap, rank correlation.

A formula reads `JudgedRanks` and returns one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.concordance import compare_pairs
from irbatch.engine.judged import JudgedRanks
from irbatch.measures.catalogue.persistence import chances_of
from irbatch.measures.declare import Spelling
from irbatch.measures.define import of_judged, ratio
from irbatch.measures.parameters import GRADED, Choice, Flag, Number, Parameter

COMPARED = 1000
"""How deep compatibility.py, the program of Compat's authors, compares rankings."""

GAINS: dict[str, Parameter] = {"gain": GRADED["gain"], "rel": GRADED["rel"]}
OF_PAIRS = "Of documents that were judged, among the first k: "


@of_judged(
    "Compat",
    definition="Compatibility: rank-biased overlap, to the first 1,000 ranks or k, with the ideal "
    "ranking that is most like it: documents of positive gain from the highest down, those of one "
    "gain in the order that they were retrieved in, others last. Normalised, it is over that "
    "of the ideal ranking with itself.",
    parameters={"p": Number(0.95, above=0.0, below=1.0), "normalize": Flag(True), **GAINS},
    past_end="The documents in common stay as many, of more and more ranks.",
    source="Clarke, Smucker & Vtyurina 2020; Clarke, Vtyurina & Smucker 2021",
    aliases=("Compatibility",),
    spellings=(Spelling("ir_measures", "Compat"),),
)
def compatibility(j: JudgedRanks, p: float, normalize: bool) -> Floats:
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
    parameters={"ties": Choice("b", ("a", "b")), **GAINS},
    past_end="Only documents that were retrieved are compared.",
    no_relevant="0, as wherever fewer than two documents, or only one gain, are compared",
    range=(-1.0, 1.0),
    source="Kendall 1945",
    aliases=("KendallTau",),
)
def kendall_tau(j: JudgedRanks, ties: str) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).kendall_tau(ties))


@of_judged(
    "TauAP",
    definition=f"AP correlation of the ranking and of gains. {OF_PAIRS}at each but the first the "
    "share of those above it whose gain is higher, averaged, from -1 to 1. Half of those of the "
    "same gain count (ties=a, the mean over all their orders); or they don't, and it is the mean "
    "of this and of the correlation of gains with the ranking (ties=b, symmetric).",
    parameters={"ties": Choice("a", ("a", "b")), **GAINS},
    past_end="Only documents that were retrieved are compared.",
    no_relevant="0, as wherever fewer than two documents, or only one gain, are compared",
    range=(-1.0, 1.0),
    source="Yilmaz, Aslam & Robertson 2008; ties: Urbano & Marrero 2017",
)
def ap_correlation(j: JudgedRanks, ties: str) -> Floats:
    return np.nan_to_num(compare_pairs(j.starts, j.gained).ap_correlation(ties))

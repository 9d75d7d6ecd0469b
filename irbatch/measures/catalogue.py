"""The measures: each one short formula over prefix statistics and one declaration beside it.

Formulas see arrays ``(queries, cutoffs)``, see `irbatch.prefix.PrefixStatistics`. A ratio whose
denominator is 0 is 0: nothing retrieved, or nothing to retrieve, scores nothing.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from irbatch.measures.declare import Spelling, define_measure
from irbatch.measures.parameters import GRADED, REL, Choice, Number
from irbatch.prefix import PrefixStatistics

Array = npt.NDArray[np.float64]
builtin = functools.partial(define_measure, builtin=True)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, with 0 where the denominator is 0."""
    nothing = denominator == 0
    quotient: Array = np.where(nothing, 0.0, numerator / np.where(nothing, 1.0, denominator))
    return quotient


@builtin(
    "P",
    definition="Precision: the relevant share of the first k documents.",
    past_end="Ranks past the end count as not relevant: the divisor stays k.",
    source="van Rijsbergen 1979",
    aliases=("Precision",),
    spellings=(
        Spelling("trec_eval", "set_P", "P_{k}"),
        Spelling("ir_measures", "SetP", "P@{k}"),
        Spelling("ranx", "precision", "precision@{k}"),
        Spelling("beir", "", "P@{k}"),
        Spelling("mteb", "", "precision_at_{k}"),
        Spelling("sentence-transformers", "", "precision@{k}"),
    ),
)
def precision(s: PrefixStatistics) -> Array:
    """Return hits / k."""
    return ratio(s.hits, s.cutoff)


@builtin(
    "R",
    definition="Recall: the share of all relevant documents that stand among the first k.",
    past_end="Ranks past the end count as not relevant.",
    source="van Rijsbergen 1979",
    aliases=("Recall",),
    spellings=(
        Spelling("trec_eval", "set_recall", "recall_{k}"),
        Spelling("ir_measures", "SetR", "R@{k}"),
        Spelling("ranx", "recall", "recall@{k}"),
        Spelling("beir", "", "Recall@{k}"),
        Spelling("mteb", "", "recall_at_{k}"),
        Spelling("sentence-transformers", "", "recall@{k}"),
    ),
)
def recall(s: PrefixStatistics) -> Array:
    """Return hits / relevant."""
    return ratio(s.hits, s.relevant)


@builtin(
    "Rcap",
    definition="Capped recall: hits among the first k over the most there could be, "
    "min(k, relevant).",
    past_end="Ranks past the end count as not relevant.",
    source="Thakur et al. 2021; trec_eval's relative_P",
    aliases=("CappedRecall", "recall_cap"),
    spellings=(
        Spelling("trec_eval", "set_relative_P", "relative_P_{k}"),
        Spelling("ir_measures", "SetRelP", ""),
        Spelling("beir", "", "R_cap@{k}"),
        Spelling("mteb", "", "R_cap_at_{k}"),
    ),
)
def capped_recall(s: PrefixStatistics) -> Array:
    """Return hits / min(k, relevant)."""
    return ratio(s.hits, np.minimum(s.cutoff, s.relevant))


@builtin(
    "F",
    definition="F-measure: the harmonic mean of P@k and R@k, recall weighted beta times.",
    parameters={"beta": Number(1.0, above=0.0), "rel": REL},
    past_end="As P and R.",
    source="van Rijsbergen 1979",
    aliases=("F1", "FMeasure"),
    spellings=(
        Spelling("trec_eval", "set_F"),
        Spelling("ir_measures", "SetF", ""),
        Spelling("ranx", "f1", "f1@{k}"),
    ),
)
def f_measure(s: PrefixStatistics, beta: float) -> Array:
    """Return (1 + beta²) P R / (beta² P + R)."""
    p, r = ratio(s.hits, s.cutoff), ratio(s.hits, s.relevant)
    weight = beta * beta
    return ratio((1.0 + weight) * p * r, weight * p + r)


@builtin(
    "Success",
    definition="Success (hit rate): 1 if a relevant document stands among the first k, else 0.",
    past_end="Ranks past the end count as not relevant.",
    source="Tomlinson (trec_eval)",
    aliases=("HitRate", "Hit"),
    spellings=(
        Spelling("trec_eval", "", "success_{k}"),
        Spelling("ir_measures", "", "Success@{k}"),
        Spelling("ranx", "hit_rate", "hit_rate@{k}"),
        Spelling("beir", "", "Accuracy@{k}"),
        Spelling("mteb", "", "hit_rate_at_{k}"),
        Spelling("sentence-transformers", "", "accuracy@{k}"),
    ),
)
def success(s: PrefixStatistics) -> Array:
    """Return 1 where there are hits."""
    return (s.hits > 0).astype(np.float64)


@builtin(
    "RR",
    definition="Reciprocal rank: 1 / rank of the first relevant document, 0 if beyond k.",
    past_end="Ranks past the end count as not relevant.",
    source="Kantor & Voorhees 2000",
    aliases=("MRR", "ReciprocalRank"),
    spellings=(
        Spelling("trec_eval", "recip_rank"),
        Spelling("ir_measures", "RR", "RR@{k}"),
        Spelling("ranx", "mrr", "mrr@{k}"),
        Spelling("beir", "", "MRR@{k}"),
        Spelling("mteb", "", "mrr_at_{k}"),
        Spelling("sentence-transformers", "", "mrr@{k}"),
    ),
)
def reciprocal_rank(s: PrefixStatistics) -> Array:
    """Return 1 / first hit."""
    return ratio(np.ones_like(s.first_hit), s.first_hit)


@builtin(
    "AP",
    definition="Average precision: the sum of P@i over the ranks i <= k of relevant documents, "
    "divided by all relevant (norm=all), by min(k, relevant) (norm=min), or by those found among "
    "the first k (norm=found).",
    parameters={"norm": Choice("all", ("all", "min", "found")), "rel": REL},
    past_end="Relevant documents that were not retrieved add 0.",
    source="Harman 1992; Buckley & Voorhees 2005",
    aliases=("MAP", "AveragePrecision"),
    spellings=(
        Spelling("trec_eval", "map", "map_cut_{k}"),
        Spelling("ir_measures", "AP", "AP@{k}"),
        Spelling("ranx", "map", "map@{k}"),
        Spelling("beir", "", "MAP@{k}"),
        Spelling("mteb", "", "map_at_{k}"),
    ),
)
def average_precision(s: PrefixStatistics, norm: str) -> Array:
    """Return the precision sum over the chosen normaliser."""
    if norm == "min":
        return ratio(s.precision_sum, np.minimum(s.cutoff, s.relevant))
    return ratio(s.precision_sum, s.relevant if norm == "all" else s.hits)


@builtin(
    "Rprec",
    definition="R-precision: precision at rank R, the number of relevant documents; "
    "with a cutoff, ranks beyond k count as not relevant.",
    past_end="Ranks past the end count as not relevant: the divisor stays R.",
    source="Buckley & Voorhees 2005",
    aliases=("RPrecision",),
    spellings=(
        Spelling("trec_eval", "Rprec"),
        Spelling("ir_measures", "Rprec", ""),
        Spelling("ranx", "r-precision", ""),
    ),
)
def r_precision(s: PrefixStatistics) -> Array:
    """Return hits among the first `relevant` documents / relevant."""
    return ratio(s.hits_at_relevant, s.relevant)


@builtin(
    "CG",
    definition="Cumulative gain: the sum of the gains of the first k documents.",
    parameters={name: GRADED[name] for name in ("gain", "rel")},
    range=(0.0, np.inf),
    past_end="Ranks past the end add 0.",
    source="Järvelin & Kekäläinen 2002",
    aliases=("CumulativeGain",),
)
def cumulative_gain(s: PrefixStatistics) -> Array:
    """Return the gain."""
    return s.gain


@builtin(
    "DCG",
    definition="Discounted cumulative gain: the sum over the first k ranks i of "
    "gain / log2(i + 1).",
    parameters=GRADED,
    range=(0.0, np.inf),
    past_end="Ranks past the end add 0.",
    source="Järvelin & Kekäläinen 2002; gain=exp: Burges et al. 2005",
    spellings=(
        Spelling("trec_eval", "dcg"),
        Spelling("ranx", "dcg", "dcg@{k}"),
        Spelling("ranx", "dcg_burges", "dcg_burges@{k}", (("gain", "exp"),)),
    ),
)
def discounted_cumulative_gain(s: PrefixStatistics) -> Array:
    """Return the discounted gain."""
    return s.discounted_gain


@builtin(
    "IDCG",
    definition="Ideal DCG: the DCG of all judged documents ranked by gain.",
    parameters=GRADED,
    range=(0.0, np.inf),
    past_end="Looks at the judgments only, whatever was retrieved.",
    source="Järvelin & Kekäläinen 2002",
    spellings=(Spelling("trec_eval", "ideal_dcg"),),
)
def ideal_discounted_cumulative_gain(s: PrefixStatistics) -> Array:
    """Return the ideal ranking's discounted gain."""
    return s.ideal_discounted_gain


@builtin(
    "nDCG",
    definition="Normalised DCG: DCG@k over IDCG@k, the best that any ranking of the judged "
    "documents could reach.",
    parameters=GRADED,
    past_end="Ranks past the end add 0 to DCG; IDCG does not shrink with the ranking.",
    source="Järvelin & Kekäläinen 2002; gain=exp: Burges et al. 2005",
    spellings=(
        Spelling("trec_eval", "ndcg", "ndcg_cut_{k}"),
        Spelling("ir_measures", "nDCG", "nDCG@{k}"),
        Spelling("ir_measures", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@{k}",
                 (("gain", "exp"),)),
        Spelling("ranx", "ndcg", "ndcg@{k}"),
        Spelling("ranx", "ndcg_burges", "ndcg_burges@{k}", (("gain", "exp"),)),
        Spelling("beir", "", "NDCG@{k}"),
        Spelling("mteb", "", "ndcg_at_{k}"),
        Spelling("sentence-transformers", "", "ndcg@{k}"),
    ),
)  # fmt: skip
def normalized_dcg(s: PrefixStatistics) -> Array:
    """Return DCG / IDCG; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(s.discounted_gain, s.ideal_discounted_gain), 1.0)


@builtin(
    "Judged",
    definition="Judged share: documents with a judgment, of any grade, among the first k.",
    parameters={},
    past_end="The divisor is the number of documents there are, min(k, retrieved).",
    no_relevant="as any other",
    source="MacAvaney et al. 2022",
    spellings=(Spelling("ir_measures", "Judged", "Judged@{k}"),),
)
def judged_share(s: PrefixStatistics) -> Array:
    """Return judged / min(k, retrieved)."""
    return ratio(s.judged, np.minimum(s.cutoff, s.retrieved))


@builtin(
    "NumQ",
    definition="Number of queries averaged.",
    parameters={},
    takes_cutoff=False,
    aggregate="sum",
    range=(1.0, 1.0),
    no_relevant="1",
    spellings=(Spelling("trec_eval", "num_q"), Spelling("ir_measures", "NumQ")),
)
def number_of_queries(s: PrefixStatistics) -> Array:
    """Return 1 for each query."""
    return np.ones_like(s.retrieved)


@builtin(
    "NumRet",
    definition="Number of documents retrieved (of the first k).",
    parameters={},
    aggregate="sum",
    range=(0.0, np.inf),
    past_end="Counts what there is.",
    no_relevant="as any other",
    spellings=(Spelling("trec_eval", "num_ret"), Spelling("ir_measures", "NumRet")),
)
def number_retrieved(s: PrefixStatistics) -> Array:
    """Return min(k, retrieved)."""
    return np.minimum(s.cutoff, s.retrieved)


@builtin(
    "NumRel",
    definition="Number of relevant documents in the judgments.",
    takes_cutoff=False,
    aggregate="sum",
    range=(0.0, np.inf),
    spellings=(Spelling("trec_eval", "num_rel"), Spelling("ir_measures", "NumRel")),
)
def number_relevant(s: PrefixStatistics) -> Array:
    """Return relevant."""
    return s.relevant


@builtin(
    "NumRelRet",
    definition="Number of relevant documents retrieved (among the first k).",
    aggregate="sum",
    range=(0.0, np.inf),
    past_end="Counts what there is.",
    spellings=(
        Spelling("trec_eval", "num_rel_ret"),
        Spelling("ir_measures", "NumRelRet"),
    ),
)
def number_relevant_retrieved(s: PrefixStatistics) -> Array:
    """Return hits."""
    return s.hits

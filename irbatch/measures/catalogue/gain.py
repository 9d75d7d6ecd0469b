"""Measures of gain that are functions of the first k documents: DCG and its kin."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.prefix import PrefixStatistics
from irbatch.measures.declare import Spelling
from irbatch.measures.define import builtin, ratio
from irbatch.measures.parameters import GRADED
from irbatch.measures.trec_names import CUTOFFS, TrecName


@builtin(
    "CG",
    definition="Cumulative gain: the sum of the gains of the first k documents.",
    linear=True,
    parameters={name: GRADED[name] for name in ("gain", "rel")},
    range=(0.0, np.inf),
    past_end="Ranks past the end add 0.",
    source="Järvelin & Kekäläinen 2002",
    aliases=("CumulativeGain",),
)
def cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.gain


@builtin(
    "DCG",
    definition="Discounted cumulative gain: the sum over the first k ranks i of "
    "gain / log2(i + 1).",
    linear=True,
    parameters=GRADED,
    range=(0.0, np.inf),
    past_end="Ranks past the end add 0.",
    source="Järvelin & Kekäläinen 2002; gain=exp: Burges et al. 2005",
    spellings=(
        TrecName(21, "dcg", "gains", since=10, nicknames=()),
        Spelling("ranx", "dcg", "dcg@{k}"),
        Spelling("ranx", "dcg_burges", "dcg_burges@{k}", (("gain", "exp"),)),
    ),
)
def discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.discounted_gain


@builtin(
    "IDCG",
    definition="Ideal DCG: the DCG of all judged documents ranked by gain.",
    linear=True,
    parameters=GRADED,
    range=(0.0, np.inf),
    past_end="Looks at the judgments only, whatever was retrieved.",
    source="Järvelin & Kekäläinen 2002",
    spellings=(TrecName(22, "ideal_dcg", "gains", since=10, nicknames=()),),
)
def ideal_discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.ideal_discounted_gain


@builtin(
    "nDCG",
    definition="Normalised DCG: DCG@k over IDCG@k, the best that any ranking of the judged "
    "documents could reach.",
    linear=True,
    parameters=GRADED,
    past_end="Ranks past the end add 0 to DCG; IDCG does not shrink with the ranking.",
    source="Järvelin & Kekäläinen 2002; gain=exp: Burges et al. 2005",
    spellings=(
        TrecName(23, "ndcg", "gains"),
        TrecName(26, "ndcg_cut", "cutoffs", CUTOFFS),
        Spelling("ir_measures", "nDCG", "nDCG@{k}", renamed={"gains": "gain"}),
        Spelling(
            "ir_measures",
            "nDCG(dcg='exp-log2')",
            "nDCG(dcg='exp-log2')@{k}",
            (("gain", "exp"),),
            renamed={"gains": "gain"},
        ),
        Spelling("ranx", "ndcg", "ndcg@{k}"),
        Spelling("ranx", "ndcg_burges", "ndcg_burges@{k}", (("gain", "exp"),)),
        Spelling("beir", "", "NDCG@{k}"),
        Spelling("mteb", "", "ndcg_at_{k}"),
        Spelling("sentence-transformers", "", "ndcg@{k}"),
    ),
)
def normalized_dcg(s: PrefixStatistics) -> Floats:
    """Return DCG / IDCG; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(s.discounted_gain, s.ideal_discounted_gain), 1.0)

"""Measures of gain: functions of the first k documents, and sums over documents one by one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import Spelling, builtin, of_judged, ratio
from irbatch.measures.parameters import GRADED, Gain
from irbatch.measures.trec_names import CUTOFFS, TrecName
from irbatch.runtime.kernels import Kernel, kernel

UNDISCOUNTED = {name: GRADED[name] for name in ("gain", "rel")}


@builtin(
    "CG",
    definition="Cumulative gain: the sum of the gains of the first k documents.",
    linear=True,
    parameters=UNDISCOUNTED,
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
    aliases=("DiscountedCumulativeGain",),
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
    aliases=("NormalizedDCG", "NormalizedDiscountedCumulativeGain"),
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
        Spelling("recbole", "", "ndcg@{k}"),
        Spelling("recommenders", "", "ndcg_at_{k}"),
        Spelling("ntcireval", "", "MSnDCG@{k:04d}", (("discount", "ln"),)),
    ),
)
def normalized_dcg(s: PrefixStatistics) -> Floats:
    """Return DCG / IDCG; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(s.discounted_gain, s.ideal_discounted_gain), 1.0)


@builtin(
    "nCG",
    definition="Normalised cumulative gain: CG@k over that of the ideal ranking at the same "
    "cutoff.",
    linear=True,
    parameters=UNDISCOUNTED,
    past_end="Ranks past the end add 0 to CG; the ideal ranking does not shrink with the ranking.",
    source="Järvelin & Kekäläinen 2002",
    aliases=("NormalizedCumulativeGain",),
)
def normalized_cumulative_gain(s: PrefixStatistics) -> Floats:
    return np.minimum(ratio(s.gain, s.ideal_gain), 1.0)


# Summed document by document: a formula reads `JudgedRanks` and returns float64 ``(queries,)``.


@of_judged(
    "nDCGrel",
    definition="nDCG averaged at the documents of positive gain: at their ranks, or at the end "
    "of the ranking for those not retrieved.",
    parameters=GRADED,
    past_end="Ranks past the end add 0 to DCG; IDCG does not shrink with the ranking.",
    source="Buckley (trec_eval)",
    spellings=(TrecName(24, "ndcg_rel", "gains"),),
)
def ndcg_at_relevant(j: JudgedRanks) -> Floats:
    return _run(_average_at_relevant, j, j.divisors)


@of_judged(
    "RnDCG",
    definition="nDCG averaged at the ranks where the ideal ranking passes to a lower gain, and, "
    "with two or more ranks beyond the last of them, at the end of the ranking.",
    parameters=GRADED,
    past_end="Ranks past the end add 0 to DCG; IDCG does not shrink with the ranking.",
    source="Buckley (trec_eval)",
    spellings=(TrecName(25, "Rndcg", "gains"),),
)
def ndcg_at_levels(j: JudgedRanks) -> Floats:
    return _run(_average_at_levels, j, j.divisors, j.retrieved)


@of_judged(
    "GAP",
    definition="Graded average precision: at each document of the first k the sum, over it and "
    "all above, of the smaller of the two documents' gains, over its rank; over the sum of the "
    "gains of the ideal ranking's first k. A gain is the weight of the thresholds up to a grade: "
    "gain=triangular weighs them by grade (NTCIREVAL), gain=linear equally.",
    parameters={"gain": Gain("triangular"), "rel": GRADED["rel"]},
    past_end="Ranks past the end add 0; the ideal ranking does not shrink with the ranking.",
    source="Robertson, Kanoulas & Yilmaz 2010; gain=triangular: Sakai (NTCIREVAL)",
    aliases=("GradedAveragePrecision",),
    spellings=(Spelling("ntcireval", "GAP", "GAP@{k:04d}"),),
)
def graded_average_precision(j: JudgedRanks) -> Floats:
    total = j.gainful.add_up(j.gainful.shared_gains() / j.gainful.ranks)
    return np.minimum(ratio(total, j.ideal.sum_of_first(j.cutoff)), 1.0)


@of_judged(
    "G",
    definition="Normalised gain: each gain divided by log2(2 + what an ideal ranking would have "
    "gained by then, at least 1 a rank, less what was gained), over the sum of all gains.",
    parameters=UNDISCOUNTED,
    past_end="Ranks past the end add 0.",
    source="Buckley (trec_eval)",
    spellings=(TrecName(20, "G", "gains"),),
)
def normalized_gain(j: JudgedRanks) -> Floats:
    return _run(_discount_by_loss, j)


@of_judged(
    "BinG",
    definition="Binary G: the mean over relevant documents of 1 / log2(2 + the number of other "
    "documents above).",
    past_end="Relevant documents that were not retrieved add 0.",
    source="Buckley (trec_eval)",
    spellings=(TrecName(19, "binG"),),
)
def binary_gain(j: JudgedRanks) -> Floats:
    others = j.hit_ranks - j.hit_numbers
    return ratio(j.sum_over_hits(1.0 / j.divisors[others]), j.relevant)


class Retrieved(NamedTuple):
    """The judged documents retrieved, query after query; those of query q from ``starts[q]`` on."""

    starts: Ints
    ranks: Ints
    gains: Floats


class Ideal(NamedTuple):
    """The gains of the ideal rankings, query after query; of query q from ``starts[q]`` on."""

    starts: Ints
    gains: Floats


def _run(loop: Kernel, j: JudgedRanks, *more: Floats | Ints) -> Floats:
    """Run one of the kernels below over all queries."""
    ideal = Ideal(j.ideal.starts, j.ideal.gains)
    values = np.zeros(j.queries)
    cells = 10 * (j.ranks.size + ideal.gains.size + j.queries)
    loop.run(cells, Retrieved(j.starts, j.ranks, j.gained), ideal, *more, values)
    return values


@kernel
def _average_at_relevant(
    retrieved: Retrieved, ideal: Ideal, divisors: Floats, values: Floats
) -> None:
    """Write the mean nDCG at documents of positive gain."""
    starts, ranks, gains = retrieved
    for q in range(values.size):
        first = ideal.starts[q]
        wanted = ideal.starts[q + 1] - first
        reached = found = 0
        total = dcg = idcg = 0.0
        for i in range(starts[q], starts[q + 1]):
            if gains[i] > 0.0:
                while reached < min(ranks[i], wanted):
                    idcg += ideal.gains[first + reached] / divisors[reached]
                    reached += 1
                dcg += gains[i] / divisors[ranks[i] - 1]
                total += dcg / idcg
                found += 1
        while reached < wanted:
            idcg += ideal.gains[first + reached] / divisors[reached]
            reached += 1
        if found > 0:
            values[q] = (total + (wanted - found) * dcg / idcg) / wanted


@kernel
def _average_at_levels(
    retrieved: Retrieved, ideal: Ideal, divisors: Floats, depths: Ints, values: Floats
) -> None:
    """Write the mean nDCG at the ends of the ideal ranking's levels, and of the ranking."""
    starts, ranks, gains = retrieved
    for q in range(values.size):
        first = ideal.starts[q]
        wanted = ideal.starts[q + 1] - first
        i = starts[q]
        points = 0
        total = dcg = idcg = 0.0
        for rank in range(1, wanted + 1):
            idcg += ideal.gains[first + rank - 1] / divisors[rank - 1]
            if rank == wanted or ideal.gains[first + rank] != ideal.gains[first + rank - 1]:
                while i < starts[q + 1] and ranks[i] <= rank:
                    dcg += gains[i] / divisors[ranks[i] - 1]
                    i += 1
                total += dcg / idcg
                points += 1
        if wanted > 0 and depths[q] > wanted + 1:
            while i < starts[q + 1]:
                dcg += gains[i] / divisors[ranks[i] - 1]
                i += 1
            total += dcg / idcg
            points += 1
        if points > 0:
            values[q] = total / points


@kernel
def _discount_by_loss(retrieved: Retrieved, ideal: Ideal, values: Floats) -> None:
    """Write G."""
    starts, ranks, gains = retrieved
    for q in range(values.size):
        first = ideal.starts[q]
        wanted = ideal.starts[q + 1] - first
        reached = 0
        total = possible = so_far = 0.0
        for i in range(starts[q], starts[q + 1]):
            if gains[i] > 0.0:
                while reached < ranks[i]:
                    possible += max(ideal.gains[first + reached], 1.0) if reached < wanted else 1.0
                    reached += 1
                so_far += gains[i]
                # Never more than possible was gained, but for rounding of large sums.
                total += gains[i] / math.log2(max(2.0 + possible - so_far, 2.0))
        all_gains = 0.0
        for i in range(first, first + wanted):
            all_gains += ideal.gains[i]
        if wanted > 0:
            values[q] = total / all_gains

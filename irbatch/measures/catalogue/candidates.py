"""Measures of where relevant candidates stand among all of them: pairs, and the ranks themselves.

Candidates are the documents that a ranking lists, or the first k of these. A formula reads
`JudgedRanks` and returns one value for each query: float64 ``(queries,)``, NaN where it has none.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.engine.judged import JudgedRanks
from irbatch.engine.scan import FULL_DEPTH, PrefixStatistics
from irbatch.measures.declare import AS_ANY_OTHER, Measure, builtin


def at_full_depth(measure: Measure) -> bool:
    """Tell whether the number of relevant candidates is the same in any order of tied ones."""
    return measure.cutoff is None


of_candidates = functools.partial(builtin, reads="relevant", linear=at_full_depth)
of_pairs = functools.partial(
    of_candidates,
    undefined=0.0,
    no_relevant="0, or left out, as is a query without other candidates",
)


@of_pairs("AUC")
def area_under_curve(j: JudgedRanks) -> Floats:
    pairs = _count_pairs(j)
    return _share(j, pairs - _count_wrong(j), pairs, worst=0.0)


@of_candidates(
    "GAUC",
    aggregate="weighted",
    # The number of relevant candidates, 0 where there is no other.
    weight=lambda j: np.where(_count_pairs(j) > 0, _count_hits(j), 0.0),
    takes_cutoff=False,
    undefined=0.0,
    no_relevant="left out",
)
def grouped_area_under_curve(j: JudgedRanks) -> Floats:
    return area_under_curve(j)


@of_pairs("RankingLoss", better="lower")
def ranking_loss(j: JudgedRanks) -> Floats:
    return _share(j, _count_wrong(j), _count_pairs(j), worst=1.0)


@of_candidates(
    "CoverageError", better="lower", undefined=math.nan, range=(0.0, np.inf), no_relevant="0"
)
def coverage_error(j: JudgedRanks) -> Floats:
    last = np.append(j.ordered_hit_ranks, 0.0)[j.hits.starts[1:] - 1]
    return np.where(_is_unranked(j), np.nan, np.where(_count_hits(j) > 0, last, 0.0))


@builtin("LRAP", linear=at_full_depth, undefined=1.0, no_relevant="1, or left out")
def label_ranking_average_precision(s: PrefixStatistics) -> Floats:
    return _share(s, s.precision_sum, s.hits, worst=0.0)


@builtin(
    "FallOut", linear=True, better="lower", undefined=0.0, no_relevant=AS_ANY_OTHER, whole=True
)
def fall_out(s: PrefixStatistics) -> Floats:
    retrieved = np.minimum(s.cutoff, s.retrieved)
    return _share(s, retrieved - s.hits, s.retrieved - s.all_hits, worst=1.0)


of_ranks = functools.partial(
    of_candidates,
    better="lower",
    undefined=math.nan,
    range=(1.0, np.inf),
    no_relevant="as one that is not found",
)


@of_ranks("FirstRank")
def first_rank(j: JudgedRanks) -> Floats:
    first = np.append(j.ordered_hit_ranks, 0.0)[j.hits.starts[:-1]]
    return np.where(_count_hits(j) > 0, first, _rank_behind(j))


@of_ranks("MeanRank")
def mean_rank(j: JudgedRanks) -> Floats:
    behind = _rank_behind(j)
    missed = (j.relevant - _count_hits(j)) * behind
    total = j.hits.add_up(j.mean_hit_ranks) + missed
    return np.where(j.relevant > 0, total / np.maximum(j.relevant, 1.0), behind)


@of_ranks("MedianRank")
def median_rank(j: JudgedRanks) -> Floats:
    relevant = j.relevant.astype(np.int64)
    behind, ranks = _rank_behind(j), np.append(j.ordered_hit_ranks, 0.0)
    middle = []
    for number in ((relevant - 1) // 2, relevant // 2):
        places = j.hits.starts[:-1] + number
        is_found = (places < j.hits.starts[1:]) & (relevant > 0)
        middle.append(np.where(is_found, ranks[np.where(is_found, places, -1)], behind))
    # Halves of each, as two cutoffs may be more than float64 holds.
    return middle[0] / 2.0 + middle[1] / 2.0


def _count_hits(j: JudgedRanks) -> Floats:
    return j.hits.sizes.astype(np.float64)


def _count_pairs(j: JudgedRanks) -> Floats:
    """Count the pairs of a relevant and another candidate, ``(queries,)``."""
    hits = _count_hits(j)
    return hits * (j.retrieved - hits)


def _count_wrong(j: JudgedRanks) -> Floats:
    """Count the pairs whose relevant candidate stands lower; of tied ones, as is to be expected."""
    return j.hits.add_up(j.mean_hit_ranks - j.hits.numbers)


def _rank_behind(j: JudgedRanks) -> Floats:
    """Return the rank of documents that are not among the first k, ``(queries,)``."""
    if j.cutoff == FULL_DEPTH:
        return np.where(j.retrieved > 0, j.retrieved + 1.0, np.nan)
    return np.full(j.queries, j.cutoff + 1.0)


def _is_unranked(statistics: JudgedRanks | PrefixStatistics) -> Bools:
    """Tell which queries have relevant documents, and no ranking."""
    return (statistics.retrieved == 0) & (statistics.relevant > 0)


def _share(
    statistics: JudgedRanks | PrefixStatistics, part: Floats, whole: Floats, worst: float
) -> Floats:
    """Divide, with NaN where there is nothing to divide by, but the worst without a ranking."""
    shares = np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
    return np.where(_is_unranked(statistics), worst, shares)

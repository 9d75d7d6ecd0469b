"""Measures of gain: functions of the first k documents, and sums over documents one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.scan import PrefixStatistics
from irbatch.measures.declare import builtin, of_judged, ratio
from irbatch.measures.parameters import GRADED, UNDISCOUNTED, Gain, Number
from irbatch.runtime.kernels import kernel

if TYPE_CHECKING:
    from irbatch.engine.judged import JudgedRanks, RankedGains


@builtin("CG", linear=True, parameters=UNDISCOUNTED, range=(0.0, np.inf))
def cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.gain


@builtin("DCG", linear=True, parameters=GRADED, range=(0.0, np.inf))
def discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.discounted_gain


@builtin("IDCG", linear=True, parameters=GRADED, range=(0.0, np.inf))
def ideal_discounted_cumulative_gain(s: PrefixStatistics) -> Floats:
    return s.ideal_discounted_gain


@builtin("nDCG", linear=True, parameters=GRADED)
def normalized_dcg(s: PrefixStatistics) -> Floats:
    """Return DCG / IDCG; never above 1, which rounding could otherwise pass by an ulp."""
    return np.minimum(ratio(s.discounted_gain, s.ideal_discounted_gain), 1.0)


@builtin("nCG", linear=True, parameters=UNDISCOUNTED)
def normalized_cumulative_gain(s: PrefixStatistics) -> Floats:
    return np.minimum(ratio(s.gain, s.ideal_gain), 1.0)


# Summed document by document: a formula reads `JudgedRanks` and returns float64 ``(queries,)``.


@of_judged("nDCGrel", parameters=GRADED)
def ndcg_at_relevant(j: JudgedRanks) -> Floats:
    gainful, ideal = j.gainful, j.ideal
    dcg, best = _running_dcg(j, gainful), _running_dcg(j, ideal)
    rows = gainful.row_index
    reached = ideal.starts[rows] + np.minimum(gainful.ranks, ideal.sizes[rows])
    total = gainful.add_up(dcg / best[reached - 1])
    total += ratio((ideal.sizes - gainful.sizes) * gainful.last_of(dcg), ideal.last_of(best))
    return np.where(gainful.sizes > 0, ratio(total, ideal.sizes), 0.0)


@of_judged("RnDCG", parameters=GRADED)
def ndcg_at_levels(j: JudgedRanks, level: float | None = Number(None, least=0.0)) -> Floats:
    gainful, ideal = j.gainful, j.ideal
    dcg, best = _running_dcg(j, gainful), _running_dcg(j, ideal)
    rows, codes = ideal.row_index, ideal.gains
    ends = np.append((codes[1:] != codes[:-1]) | (rows[1:] != rows[:-1]), rows.size > 0)
    at = np.flatnonzero(ends)  # the last of the ideal ranking of each gain
    rows, base = rows[at], j.divisors.size + 1
    keys = gainful.row_index * base + gainful.ranks
    above = (
        np.searchsorted(keys, rows * base + ideal.ranks[at], side="right") - gainful.starts[rows]
    )
    shares = gainful.value_at(dcg, gainful.starts[rows], above) / best[at]
    total = np.bincount(rows, shares, j.queries).astype(np.float64)
    beyond = (ideal.sizes > 0) & (j.retrieved > ideal.sizes + 1)
    at_end = ratio(gainful.last_of(dcg), ideal.last_of(best))
    total += np.where(beyond, at_end, 0.0)
    values = ratio(total, np.bincount(rows, minlength=j.queries) + beyond)
    if level is not None:
        values[~j.whole.judged[:, j.whole.levels >= level].any(axis=1)] = 0.0
    return values


def _running_dcg(j: JudgedRanks, ranked: RankedGains) -> Floats:
    """Return the DCG down to each document."""
    return ranked.add_up_above(ranked.gains / j.divisors[ranked.ranks - 1])


@of_judged("GAP", parameters={"gain": Gain("triangular"), "rel": GRADED["rel"]})
def graded_average_precision(j: JudgedRanks) -> Floats:
    total = j.gainful.add_up(j.gainful.shared_gains() / j.gainful.ranks)
    ideal = j.ideal
    numbers = np.minimum(ideal.sizes, j.cutoff).astype(np.int64)
    best = ideal.value_at(ideal.running_sums, ideal.starts[:-1], numbers)
    return np.minimum(ratio(total, best), 1.0)


@of_judged("G", parameters=UNDISCOUNTED)
def normalized_gain(j: JudgedRanks) -> Floats:
    values = np.zeros(j.queries)
    gainful, ideal = j.gainful, j.ideal
    work = 10 * (gainful.ranks.size + ideal.gains.size + j.queries)
    ideals = ideal.starts, ideal.gains
    _discount_by_loss.run(work, gainful.starts, gainful.ranks, gainful.gains, *ideals, values)
    return values


@of_judged("BinG")
def binary_gain(j: JudgedRanks) -> Floats:
    others = j.hits.ranks - j.hits.numbers
    return ratio(j.hits.add_up(1.0 / j.divisors[others]), j.relevant)


@kernel
def _discount_by_loss(
    starts: Ints,
    ranks: Ints,
    gains: Floats,
    ideal_starts: Ints,
    ideal_gains: Floats,
    values: Floats,
) -> None:
    """Write G, of documents of positive gain."""
    for q in range(values.size):
        first, last = ideal_starts[q], ideal_starts[q + 1]
        reached = 0
        total = possible = so_far = 0.0
        for i in range(starts[q], starts[q + 1]):
            while reached < ranks[i]:
                at = first + reached
                possible += max(ideal_gains[at], 1.0) if at < last else 1.0
                reached += 1
            so_far += gains[i]
            # Never more than possible was gained, but for rounding of large sums.
            total += gains[i] / math.log2(max(2.0 + possible - so_far, 2.0))
        all_gains = 0.0
        for i in range(first, last):
            all_gains += ideal_gains[i]
        if first < last:
            values[q] = total / all_gains

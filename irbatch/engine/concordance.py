"""Pairs of documents that a ranking and some values have in the same order, of many rankings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Ints2
from irbatch.runtime.kernels import kernel
from irbatch.runtime.ragged import row_index_of


@dataclass(frozen=True, eq=False)
class Concordance:
    """How the documents of rankings compare with others of theirs: each int64 ``(documents,)``."""

    starts: Ints  # (rankings + 1,): where rankings begin and end
    above: Ints  # documents that stand above it, and above those it shares its rank with
    higher: Ints  # those of them whose value is higher: in the same order by both
    equal: Ints  # those of them whose value is the same
    all_higher: Ints  # documents of its ranking whose value is higher

    def kendall_tau(self, ties: str) -> Floats:
        """Return Kendall's tau-a or tau-b, float64 ``(rankings,)``; NaN where it isn't defined."""
        sizes = np.diff(self.starts).astype(np.float64)
        every = sizes * (sizes - 1.0) / 2.0
        by_rank, by_value = self._add_up(self.above), self._add_up(self.all_higher)
        balance = 2.0 * self._add_up(self.higher) + self._add_up(self.equal) - by_rank
        return divide(balance, every if ties == "a" else np.sqrt(by_rank * by_value))

    def ap_correlation(self, ties: str) -> Floats:
        """Return the AP correlation with the values, taken to be true, or symmetric (ties b).

        Float64 ``(rankings,)``; NaN where it isn't defined.
        """
        above = np.maximum(self.above, 1)
        if ties == "a":
            return 2.0 * self._mean_precision() - 1.0
        by_rank = divide(self._add_up(self.higher / above), self._add_up(self.above > 0))
        shares = self.higher / np.maximum(self.all_higher, 1)
        return by_rank + divide(self._add_up(shares), self._add_up(self.all_higher > 0)) - 1.0

    def _mean_precision(self) -> Floats:
        """Return the mean share above in both orders, over ranks but the first, with ties open."""
        sizes = np.diff(self.starts)
        ranks = np.arange(self.above.size) - np.repeat(self.starts[:-1], sizes)
        groups = np.flatnonzero(ranks == self.above)
        in_group = np.diff(groups, append=ranks.size)
        expected = self.higher + 0.5 * self.equal
        if groups.size < ranks.size:
            expected = np.repeat(np.add.reduceat(expected, groups) / in_group, in_group)
        shares = (expected + 0.5 * (ranks - self.above)) / np.maximum(ranks, 1)
        return divide(self._add_up(shares), np.maximum(sizes - 1.0, 0.0))

    def _add_up(self, terms: Floats | Ints | Bools) -> Floats:
        """Add up one term a document, in rank order: float64 ``(rankings,)``."""
        sums = np.bincount(row_index_of(self.starts), terms, self.starts.size - 1)
        return sums.astype(np.float64)


def compare_pairs(starts: Ints, values: Floats, above: Ints | None = None) -> Concordance:
    """Count, for each document, those above it that values place above it, too, or tie with it.

    Args:
        starts: where rankings begin and end, int64 ``(rankings + 1,)``.
        values: of each document, ranking after ranking, best first; float64 ``(documents,)``.
        above: how many documents stand above each, the same for those that share a rank; default:
            none do.
    """
    if above is None:
        above = np.arange(values.size) - np.repeat(starts[:-1], np.diff(starts))
    kinds, order = np.unique(values, return_inverse=True)
    counts = np.empty((3, values.size), np.int64)
    tree = np.zeros(kinds.size + 1, np.int64)
    work = 20 * values.size + starts.size
    _compare_above.run(work, starts, above, order.reshape(-1).astype(np.int64), tree, counts)
    return Concordance(starts, above, *counts)


def divide(above: Floats, below: Floats, otherwise: Floats | float = np.nan) -> Floats:
    """Divide where there is something to divide by."""
    return np.where(below == 0, otherwise, above / np.where(below == 0, 1.0, below))


@kernel
def _compare_above(starts: Ints, above: Ints, order: Ints, tree: Ints, counts: Ints2) -> None:
    """Write documents above of a higher value and of the same, and all of a higher value.

    The tree (Fenwick's) counts documents seen by `order`, places of values; it comes empty.
    """
    for q in range(starts.size - 1):
        first = starts[q]
        last = starts[q + 1]
        begin = first
        while begin < last:
            end = begin
            while end < last and above[end] == above[begin]:
                place = order[end]
                counts[0, end] = above[end] - _count(tree, place + 1)
                counts[1, end] = above[end] - _count(tree, place) - counts[0, end]
                end += 1
            for i in range(begin, end):
                _add(tree, order[i] + 1, 1)
            begin = end
        for i in range(first, last):
            counts[2, i] = last - first - _count(tree, order[i] + 1)
        for i in range(first, last):
            _add(tree, order[i] + 1, -1)


@kernel
def _count(tree: Ints, place: int) -> int:
    """Count the documents seen whose value is among the lowest `place`."""
    count = 0
    while place > 0:
        count += tree[place]
        place -= place & -place
    return count


@kernel
def _add(tree: Ints, place: int, number: int) -> None:
    """Add a number of documents of the value at a place, from 1."""
    while place < tree.size:
        tree[place] += number
        place += place & -place

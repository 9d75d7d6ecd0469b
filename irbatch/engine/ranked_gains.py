"""Documents of positive gain in rank order, of a block of queries: retrieved, or ideally ranked."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.runtime.cached import cached_property
from irbatch.runtime.jit import kernel


class RankedGains:
    """The documents of positive gain that rankings hold, query after query.

    Args:
        row_index: the query of each, int64 ``(documents,)``, ascending.
        ranks: from 1, ascending within a query.
        codes: their levels.
        level_gains: the gain of each level, float64 ``(levels,)``.
        queries: how many queries there are.
    """

    def __init__(
        self, row_index: Ints, ranks: Ints, codes: Ints, level_gains: Floats, queries: int
    ) -> None:
        self.row_index, self.ranks, self.codes = row_index, ranks, codes
        self.level_gains, self.queries = level_gains, queries
        self.gains = level_gains[codes]

    def within(self, rank: float) -> RankedGains:
        """Return those that stand no deeper than at a rank."""
        kept = self.ranks <= rank
        if kept.all():
            return self
        rows, ranks, codes = (each[kept] for each in (self.row_index, self.ranks, self.codes))
        return RankedGains(rows, ranks, codes, self.level_gains, self.queries)

    def with_gains(self, level_gains: Floats) -> RankedGains:
        """Return the same documents with other gains, all positive, too."""
        other = RankedGains(self.row_index, self.ranks, self.codes, level_gains, self.queries)
        other.starts, other.numbers = self.starts, self.numbers
        return other

    def sum_of_first(self, k: float) -> Floats:
        """Add up each query's first k gains, where these are at ranks 1, 2, …: ``(queries,)``."""
        counts = np.minimum(np.diff(self.starts), k).astype(np.int64)
        last = np.append(self.running_sums, 0.0)[self.starts[:-1] + counts - 1]
        return np.where(counts > 0, last, 0.0)

    @cached_property
    def starts(self) -> Ints:
        """Where each query's documents begin and end, int64 ``(queries + 1,)``."""
        return np.searchsorted(self.row_index, np.arange(self.queries + 1))

    @cached_property
    def numbers(self) -> Ints:
        """The number of each document among those of its query, from 1."""
        return np.arange(1, self.ranks.size + 1) - self.starts[self.row_index]

    @cached_property
    def running_sums(self) -> Floats:
        """The gains of each document and of those above it, together."""
        sums = np.empty(self.gains.size)
        _add_up.run(self.gains.size + self.queries, self.starts, self.gains, sums)
        return sums

    def chances_left(self, stops: Floats) -> Floats:
        """Return the chance of a reader to come to each document.

        `stops` are the chances of stopping at each, float64 ``(documents,)``.
        """
        left = np.empty(stops.size)
        _read_on.run(stops.size + self.queries, self.starts, stops, left)
        return left

    def shared_gains(self) -> Floats:
        """Add up, for each document and those above it, the smaller of the two documents' gains.

        A document and itself have its gain.
        """
        kinds, places = np.unique(self.level_gains, return_inverse=True)
        shared, tree = np.empty(self.gains.size), np.zeros((2, kinds.size + 1))
        order = places.reshape(-1)[self.codes]
        _share.run(20 * order.size + self.queries, self.starts, order, kinds, tree, shared)
        return shared

    def ideal_ranks(self, ideal: RankedGains) -> Ints:
        """Return the rank of each document in its query's ideal ranking.

        Documents of one gain stand in the order they have here; others of it, below them.
        """
        kinds, places = np.unique(self.level_gains, return_inverse=True)
        mine, theirs = places.reshape(-1)[self.codes], places.reshape(-1)[ideal.codes]
        ranks, free = np.empty(mine.size, np.int64), np.empty(kinds.size, np.int64)
        work = mine.size + theirs.size + self.queries
        _rank_ideally.run(work, self.starts, mine, ideal.starts, theirs, free, ranks)
        return ranks

    def add_up(self, terms: Floats) -> Floats:
        """Add up one term a document, in rank order: float64 ``(documents,)`` to ``(queries,)``."""
        return np.bincount(self.row_index, terms, self.queries).astype(np.float64)


@kernel
def _add_up(starts: Ints, terms: Floats, sums: Floats) -> None:
    """Write running sums of each query's terms."""
    for q in range(starts.size - 1):
        total = 0.0
        for i in range(starts[q], starts[q + 1]):
            total += terms[i]
            sums[i] = total


@kernel
def _read_on(starts: Ints, stops: Floats, left: Floats) -> None:
    """Write the products of 1 - stop over each query's documents above each."""
    for q in range(starts.size - 1):
        chance = 1.0
        for i in range(starts[q], starts[q + 1]):
            left[i] = chance
            chance *= 1.0 - stops[i]


@kernel
def _share(starts: Ints, order: Ints, kinds: Floats, tree: Floats, shared: Floats) -> None:
    """Write the sums of shared gains; `order` are places of documents' gains among `kinds`.

    The tree (Fenwick's) has the number and the sum of the gains seen, of ranges of kinds.
    """
    for q in range(starts.size - 1):
        for i in range(starts[q], starts[q + 1]):
            lower = 0.0
            lower_sum = 0.0
            node = order[i]
            while node > 0:
                lower += tree[0, node]
                lower_sum += tree[1, node]
                node -= node & -node
            gain = kinds[order[i]]
            shared[i] = lower_sum + gain * (i + 1 - starts[q] - lower)
            node = order[i] + 1
            while node < tree.shape[1]:
                tree[0, node] += 1.0
                tree[1, node] += gain
                node += node & -node
        for i in range(starts[q], starts[q + 1]):
            node = order[i] + 1
            while node < tree.shape[1]:
                tree[0, node] = 0.0
                tree[1, node] = 0.0
                node += node & -node


@kernel
def _rank_ideally(
    starts: Ints, kinds: Ints, ideal_starts: Ints, ideal_kinds: Ints, free: Ints, ranks: Ints
) -> None:
    """Write the ideal ranks; `free` is the next rank of each kind of gain that is not taken."""
    for q in range(starts.size - 1):
        first = ideal_starts[q]
        for i in range(ideal_starts[q + 1] - 1, first - 1, -1):
            free[ideal_kinds[i]] = i - first + 1
        for i in range(starts[q], starts[q + 1]):
            ranks[i] = free[kinds[i]]
            free[kinds[i]] += 1

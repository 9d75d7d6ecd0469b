"""Where judged documents stand in their rankings, for measures that read them one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Floats2, Ints, NDArray, Positions
from irbatch.engine.matrix import NEGATIVE, PAD, UNJUDGED, WORD, RelevanceMatrix, SparseMatrix
from irbatch.engine.scan import FULL_DEPTH, Weighting, word_of
from irbatch.runtime.kernels import kernel
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import cached_property


class Ranked:
    """Some documents of rankings, query after query in rank order; its arrays are read-only.

    Args:
        row_index: the query of each, int64 ``(documents,)``, ascending.
        ranks: from 1, ascending within a query.
        codes: indices into the levels of a `RelevanceMatrix`, or NEGATIVE.
        queries: how many queries there are.
    """

    def __init__(self, row_index: Ints, ranks: Ints, codes: Ints, queries: int) -> None:
        self.row_index, self.ranks, self.codes, self.queries = row_index, ranks, codes, queries
        _freeze(row_index, ranks, codes)

    def select(self, which: Bools | Positions) -> Ranked:
        """Return some of the documents, bool ``(documents,)`` or ascending positions."""
        return Ranked(self.row_index[which], self.ranks[which], self.codes[which], self.queries)

    def within(self, rank: float) -> Ranked:
        """Return those that stand no deeper than at a rank."""
        kept = self.ranks <= rank
        return self if kept.all() else self.select(kept)

    @cached_property
    def starts(self) -> Ints:
        """Where each query's documents begin and end, int64 ``(queries + 1,)``."""
        return _freeze(np.searchsorted(self.row_index, np.arange(self.queries + 1)))

    @cached_property
    def sizes(self) -> Ints:
        """How many documents each query has, int64 ``(queries,)``."""
        return _freeze(np.diff(self.starts))

    @cached_property
    def numbers(self) -> Ints:
        """The number of each document among those of its query, from 1."""
        return _freeze(np.arange(1, self.ranks.size + 1) - self.starts[self.row_index])

    def add_up(self, terms: Floats) -> Floats:
        """Add up one term a document, in rank order: float64 ``(documents,)`` to ``(queries,)``."""
        return np.bincount(self.row_index, terms, self.queries).astype(np.float64)

    @staticmethod
    def value_at(values: Floats, starts: Ints, numbers: Ints) -> Floats:
        """Return the values of documents by their numbers from `starts` on; 0 at number 0."""
        return np.where(numbers > 0, np.append(values, 0.0)[starts + numbers - 1], 0.0)


class RankedGains(Ranked):
    """Documents of positive gain; `level_gains` is that of each level, float64 ``(levels,)``."""

    def __init__(self, documents: Ranked, level_gains: Floats) -> None:
        row_index, ranks, codes = documents.row_index, documents.ranks, documents.codes
        super().__init__(row_index, ranks, codes, documents.queries)
        self.level_gains, self.gains = level_gains, level_gains[codes]

    def within(self, rank: float) -> RankedGains:
        """Return those that stand no deeper than at a rank."""
        kept = super().within(rank)
        return self if kept is self else RankedGains(kept, self.level_gains)

    def last_of(self, values: Floats) -> Floats:
        """Return the value of each query's last document, 0 without any: ``(queries,)``."""
        return self.value_at(values, self.starts[:-1], self.sizes)

    @cached_property
    def running_sums(self) -> Floats:
        """The gains of each document and of those above it, together."""
        return self.add_up_above(self.gains)

    def add_up_above(self, terms: Floats) -> Floats:
        """Add up a term of each document and of those above it: float64 ``(documents,)``."""
        sums = np.empty(terms.size)
        _add_up.run(terms.size + self.queries, self.starts, terms, sums)
        return sums

    def chances_left(self, stops: Floats) -> Floats:
        """Return the chance of a reader to come to each document; `stops`, of stopping there."""
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


@kernel
def _add_up(starts: Ints, terms: Floats, sums: Floats) -> None:
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
def _share(starts: Ints, order: Ints, kinds: Floats, tree: Floats2, shared: Floats) -> None:
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


def collect_judged(matrix: RelevanceMatrix) -> Ranked:
    """Collect a block's judged documents; words without any are skipped: a fifth of the time."""
    words = matrix.codes.view(np.int64).ravel()  # in one dimension: a third of the time of two
    size = matrix.codes.itemsize
    some = np.flatnonzero((words != word_of(UNJUDGED, size)) & (words != word_of(PAD, size)))
    in_word = WORD // size
    shift = in_word.bit_length() - 1
    cells = matrix.codes.reshape(-1, in_word)[some].ravel()
    picks = np.flatnonzero((cells >= 0) | (cells == NEGATIVE))
    places = (some[picks >> shift] << shift) + (picks & (in_word - 1))
    rows = places // matrix.depth
    ranks, codes = places - rows * matrix.depth + 1, cells[picks].astype(np.int64)
    return Ranked(rows, ranks, codes, matrix.retrieved.size)


def collect_relevant(matrix: RelevanceMatrix) -> Ranked:
    """Collect at least those of a grade above 0, which alone may be all that is written down."""
    if not isinstance(matrix, SparseMatrix):
        return collect_judged(matrix)
    starts, ranks, codes = matrix.entries
    return Ranked(row_index_of(starts), ranks, codes, matrix.retrieved.size)


class JudgedRanks(Ranked):
    """What a measure reads of a block's judged documents, down to a cutoff.

    Args:
        whole: the block.
        judged: the documents.
        threshold: the least relevant grade.
        weighting: what they gain.
        cutoff: infinite at full depth.
        ideals: the ideal rankings of weightings, which all cutoffs share.

    Attributes:
        kept: what several measures share.
    """

    def __init__(
        self,
        whole: RelevanceMatrix,
        judged: Ranked,
        threshold: float,
        weighting: Weighting,
        cutoff: float,
        ideals: dict[Weighting, RankedGains],
    ) -> None:
        super().__init__(judged.row_index, judged.ranks, judged.codes, judged.queries)
        self.whole, self.threshold, self.weighting = whole, threshold, weighting
        self.cutoff, self.ideals = cutoff, ideals
        self.kept: dict[Any, Any] = {}
        _freeze(whole.levels, whole.retrieved, whole.judged)

    @cached_property
    def matrix(self) -> RelevanceMatrix:
        """The block, without what stands beyond the cutoff."""
        matrix = self.whole
        if self.cutoff != FULL_DEPTH:
            matrix = matrix.truncated(int(self.cutoff))
        _freeze(matrix.codes, matrix.retrieved)
        return matrix

    @cached_property
    def gains(self) -> Floats:
        """The gain of each level, float64 ``(levels,)``."""
        return _freeze(np.asarray(self.weighting.gain(self.whole.levels), np.float64))

    @cached_property
    def divisors(self) -> Floats:
        """The discount of ranks 1 … depth or more."""
        most_judged = int(self.whole.judged.sum(axis=1).max(initial=0))
        return self.weighting.discount(max(self.depth, most_judged, 1))

    @property
    def depth(self) -> int:
        """How deep the deepest ranking is, or more."""
        return int(min(self.whole.depth, self.cutoff))

    @cached_property
    def retrieved(self) -> Ints:
        """Documents retrieved, int64 ``(queries,)``."""
        return _freeze(np.minimum(self.whole.retrieved, self.cutoff).astype(np.int64))

    @cached_property
    def lowest(self) -> int:
        """The lowest relevant level."""
        return int(np.searchsorted(self.whole.levels, self.threshold))

    @cached_property
    def relevant(self) -> Floats:
        """Relevant documents in the judgments, float64 ``(queries,)``."""
        return self.whole.judged[:, self.lowest :].sum(axis=1).astype(np.float64)

    @cached_property
    def nonrelevant(self) -> Floats:
        """Documents judged with a grade of 0 or more that is not relevant, ``(queries,)``."""
        return self.whole.judged[:, : self.lowest].sum(axis=1).astype(np.float64)

    @cached_property
    def hit_places(self) -> Positions:
        """Which of the documents are relevant: intp, positions in `ranks`."""
        return _freeze(np.flatnonzero(self.codes >= self.lowest))

    @cached_property
    def hits(self) -> Ranked:
        """Those of the documents that are relevant."""
        return self.select(self.hit_places)

    @cached_property
    def _tied_ranks(self) -> tuple[Ints, Ints]:
        """The first and the last rank that each hit could have, were open ties decided."""
        rows, ranks, ties = self.hits.row_index, self.hits.ranks, self.whole.ties
        if ties is None or not ties.rows.size:
            return ranks, ranks
        base = self.whole.depth + 1
        places = np.searchsorted(ties.rows * base + ties.ends, rows * base + ranks)
        begins, ends = (np.append(bounds, 0)[places] for bounds in (ties.begins, ties.ends))
        tied = (np.append(ties.rows, -1)[places] == rows) & (begins < ranks)
        return np.where(tied, begins + 1, ranks), np.where(tied, ends, ranks)

    @cached_property
    def mean_hit_ranks(self) -> Floats:
        """The rank of each hit, in the mean over the orders of open ties: ``(hits,)``."""
        first, last = self._tied_ranks
        return _freeze((first + last) / 2.0)

    @cached_property
    def ordered_hit_ranks(self) -> Floats:
        """The rank of each query's first hit, of its second …, as `mean_hit_ranks`: ``(hits,)``.

        The j-th smallest of h different ranks of n is j (n + 1) / (h + 1) in the mean.
        """
        (first, last), before = self._tied_ranks, self.hits.row_index * (self.whole.depth + 1)
        keys = before + self.hits.ranks
        begins = np.searchsorted(keys, before + first)
        hits = np.searchsorted(keys, before + last, side="right") - begins
        numbers = np.arange(1, keys.size + 1) - begins
        return _freeze(first - 1 + numbers * (last - first + 2) / (hits + 1.0))

    @cached_property
    def gained(self) -> Floats:
        """The gain of each of the documents, float64 ``(documents,)``."""
        return _freeze(np.append(self.gains, 0.0)[np.maximum(self.codes, -1)])

    @cached_property
    def gainful(self) -> RankedGains:
        """Those of the documents whose gain is positive."""
        return RankedGains(self.select(self.gainful_places), self.gains)

    @cached_property
    def gainful_places(self) -> Positions:
        """Which of the documents these are: intp, positions in `ranks`."""
        return _freeze(np.flatnonzero(self.gained))

    @property
    def ideal(self) -> RankedGains:
        """The ideal rankings: all judged documents of positive gain, from the highest down."""
        if self.weighting in self.ideals:
            return self.ideals[self.weighting]
        order = np.argsort(-self.gains, kind="stable")
        order = order[self.gains[order] > 0]
        counts = self.whole.judged[:, order]
        starts = offsets_of(counts.sum(axis=1))
        rows = row_index_of(starts)
        codes = np.repeat(np.tile(order, self.queries), counts.ravel())
        ranks = np.arange(1, codes.size + 1) - starts[rows]
        ideal = RankedGains(Ranked(rows, ranks, codes, self.queries), self.gains)
        return self.ideals.setdefault(self.weighting, ideal)

    def gain_of(self, grade: float) -> float:
        """Return the gain of a grade, which no document need have."""
        return float(self.weighting.gain(np.array([grade]))[0])

    def highest_gains(self, grade: float | None) -> Floats:
        """Return the gain of a grade or, of None, each query's largest judged: ``(queries,)``."""
        if grade is not None:
            return np.full(self.queries, self.gain_of(grade))
        return np.where(self.whole.judged > 0, self.gains, 0.0).max(axis=1, initial=0.0)

    def count_above(self, which: Bools) -> Ints:
        """Count for each hit how many of some documents, bool ``(documents,)``, stand above it."""
        before = np.concatenate(([0], np.cumsum(which)))
        return before[self.hit_places] - before[self.starts[self.hits.row_index]]


def _freeze(*arrays: NDArray[Any]) -> NDArray[Any]:
    """Make arrays read-only, as the measures of a call share them; return the first."""
    for array in arrays:
        array.flags.writeable = False
    return arrays[0]

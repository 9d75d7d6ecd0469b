"""What is asked of a scan, the one pass over a relevance matrix, and the statistics it yields."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Codes, Floats, Ints, NDArray
from irbatch.engine.matrix import PAD, UNJUDGED, WORD, Entries, RelevanceMatrix, SparseMatrix
from irbatch.engine.scan_rows import KernelRequest, PrefixSums, Rows, Space, scan_rows
from irbatch.errors import many
from irbatch.runtime.threads import cached_property, map_ranges

FULL_DEPTH = math.inf  # the cutoff that stands for "no cutoff"


class Weighting:
    """What a document contributes to a gain measure: its gain, divided by its rank's discount.

    Args:
        gain: grades to gains, each finite and >= 0.
        discount: n to the divisors of ranks 1 … n or more, each > 0.
    """

    def __init__(self, gain: Callable[[Floats], Floats], discount: Callable[[int], Floats]) -> None:
        self.gain, self.discount = gain, discount


class ScanRequest:
    """What a scan is to collect.

    Args:
        cutoffs: whole, from 1, ascending; `FULL_DEPTH` last if wanted.
        thresholds: grades from which a document counts as relevant.
        weightings: what documents contribute to measures of gain.
    """

    def __init__(
        self, cutoffs: Sequence[float], thresholds: Sequence[float], weightings: Sequence[Weighting]
    ) -> None:
        self.cutoffs, self.thresholds, self.weightings = cutoffs, thresholds, weightings


def empty_sums(request: ScanRequest, queries: int, counts: type[np.number]) -> PrefixSums:
    """Make room for the answers to a request; `counts` is the type of those counted."""
    binary, graded = len(request.thresholds), len(request.weightings)
    # In two pieces: large ones come in large pages, of which few have to be fetched.
    counted = np.empty((2 + binary, queries, len(request.cutoffs)), counts)
    summed = np.empty((binary + 4 * graded, queries, len(request.cutoffs)))
    of_gains = summed[binary:].reshape(4, graded, *counted.shape[1:])
    return PrefixSums(
        judged=counted[0],
        negative=counted[1],
        hits=counted[2:],
        precision_sum=summed[:binary],
        first_hit=np.empty((binary, queries), np.int64),
        hits_at_relevant=np.empty((binary, queries), counts),
        relevant=np.empty((binary, queries), np.int64),
        gain=of_gains[0],
        discounted_gain=of_gains[1],
        ideal_gain=of_gains[2],
        ideal_discounted_gain=of_gains[3],
    )


class PrefixStatistics:
    """What is known of the first k documents of each ranking: what every measure is a function of.

    It views what a scan collected, at the positions of a threshold, a weighting and cutoffs. Arrays
    are ``(queries, cutoffs)`` or, where a value doesn't depend on the cutoff, ``(queries, 1)``;
    float64, so that they divide and broadcast without care.

    Of queries with ties they are what is to be expected: a formula that is linear in one of them,
    the others being the same in every order, has its expected value when it is given these. Each is
    computed when it is first asked for, and read-only: measures share them.
    """

    def __init__(self, scan: Scan, threshold: int, weighting: int, columns: Sequence[int]) -> None:
        self._scan, self._sums = scan, scan.sums
        self._threshold, self._weighting = threshold, weighting
        self._columns = as_slice(columns)

    def __repr__(self) -> str:
        return f"<PrefixStatistics: {many(len(self.retrieved), 'query')}>"

    @cached_property
    def retrieved(self) -> Floats:
        """Documents retrieved, ``(queries, 1)``."""
        return _frozen(self._scan.retrieved.astype(np.float64)[:, None])

    @cached_property
    def cutoff(self) -> Floats:
        """The cutoffs k; at full depth the number of documents retrieved."""
        cutoffs = self._scan.cutoffs[self._columns][None, :]
        return _frozen(np.where(cutoffs == FULL_DEPTH, self.retrieved, cutoffs))

    @cached_property
    def relevant(self) -> Floats:
        """Relevant documents in the judgments, ``(queries, 1)``."""
        return self._of_queries(self._sums.relevant)

    @cached_property
    def hits(self) -> Floats:
        """Relevant documents among the first k."""
        return self._at(self._sums.hits[self._threshold])

    @cached_property
    def all_hits(self) -> Floats:
        """Relevant documents retrieved at any rank, ``(queries, 1)``; NaN unless asked for."""
        last = self._sums.hits[self._threshold][:, -1:].astype(np.float64)
        return _frozen(last if self._scan.cutoffs[-1] == FULL_DEPTH else np.full_like(last, np.nan))

    @cached_property
    def any_hit(self) -> Floats:
        """1 where there is a hit, else 0."""
        if self._scan.any_hit is not None:
            return self._at(self._scan.any_hit[self._threshold])
        return _frozen((self.hits > 0).astype(np.float64))

    @cached_property
    def reciprocal_rank(self) -> Floats:
        """1 over the rank of the first hit, 0 if there is no hit."""
        if self._scan.reciprocal is not None:
            return self._at(self._scan.reciprocal[self._threshold])
        first_hit = self._of_queries(self._sums.first_hit)
        is_within = (first_hit > 0) & (first_hit <= self._scan.cutoffs[self._columns])
        none = np.zeros(is_within.shape)
        return _frozen(np.divide(1.0, first_hit, out=none, where=is_within))

    @cached_property
    def hits_at_relevant(self) -> Floats:
        """Hits among the first min(k, `relevant`) documents."""
        of_all = self._of_queries(self._sums.hits_at_relevant)
        return _frozen(np.where(self.cutoff < self.relevant, self.hits, of_all))

    @cached_property
    def precision_sum(self) -> Floats:
        """Sum of the precisions at the ranks of the hits."""
        return self._at(self._sums.precision_sum[self._threshold])

    @cached_property
    def judged(self) -> Floats:
        """Judged documents among the first k, whatever their grade."""
        return self._at(self._sums.judged)

    @cached_property
    def negative(self) -> Floats:
        """Those of the judged ones with a grade below 0."""
        return self._at(self._sums.negative)

    @cached_property
    def gain(self) -> Floats:
        """Sum of the gains of the first k documents."""
        return self._at(self._sums.gain[self._weighting])

    @cached_property
    def discounted_gain(self) -> Floats:
        """Sum of their gains, each divided by its rank's discount."""
        return self._at(self._sums.discounted_gain[self._weighting])

    @cached_property
    def ideal_gain(self) -> Floats:
        """The same as `gain` for the ideal ranking of all judged documents."""
        return self._at(self._sums.ideal_gain[self._weighting])

    @cached_property
    def ideal_discounted_gain(self) -> Floats:
        """The same as `discounted_gain` for that ranking."""
        return self._at(self._sums.ideal_discounted_gain[self._weighting])

    def _at(self, values: NDArray[Any]) -> Floats:
        """Return the columns of the cutoffs."""
        return _frozen(values[:, self._columns].astype(np.float64, copy=False))

    def _of_queries(self, values: Ints) -> Floats:
        return _frozen(values[self._threshold].astype(np.float64)[:, None])


class Scan:
    """Everything one pass collected; or, of queries with ties, what is to be expected.

    Args:
        cutoffs: float64 ``(cutoffs,)``.
        retrieved: int64 ``(queries,)``.
        sums: what was counted and added up.
        any_hit: the chance of a hit, ``(thresholds, queries, cutoffs)``; of what is expected alone.
        reciprocal: the expected reciprocal rank of the first hit, of that shape.
    """

    def __init__(
        self,
        cutoffs: Floats,
        retrieved: Ints,
        sums: PrefixSums,
        any_hit: Floats | None = None,
        reciprocal: Floats | None = None,
    ) -> None:
        self.cutoffs, self.retrieved, self.sums = cutoffs, retrieved, sums
        self.any_hit, self.reciprocal = any_hit, reciprocal

    def of_rows(self, rows: slice) -> Scan:
        """View the statistics of some queries."""
        if rows.stop - rows.start == self.retrieved.size:
            return self
        parts = (array[rows] if i < 2 else array[:, rows] for i, array in enumerate(self.sums))
        return Scan(self.cutoffs, self.retrieved[rows], PrefixSums(*parts))


def as_slice(columns: Sequence[int]) -> slice | list[int]:
    """Return the same columns as a slice if they are consecutive: a slice is not copied."""
    first, last = min(columns, default=0), max(columns, default=0)
    return slice(first, last + 1) if [*columns] == [*range(first, last + 1)] else list(columns)


def _frozen(values: Floats) -> Floats:
    values = values.view()  # what it may be a part of stays as it is
    values.flags.writeable = False
    return values


DEEPEST = 2**62  # more ranks than any ranking has
KEPT_RANKS = 1 << 14  # up to which depth the tables of a request are kept
# Rows that take each step of the scan together, and about as many documents and cutoffs of theirs:
# many for long runs of memory, few for the second-level cache.
ROWS_AT_ONCE, DOCUMENTS_AT_ONCE, CUTOFFS_AT_ONCE = 256, 1 << 13, 1 << 16
NO_ENTRIES = Entries(*(np.empty(0, np.int64) for _ in range(3)))


def scan(matrix: RelevanceMatrix, request: ScanRequest, threads: int | None = None) -> Scan:
    """Collect every statistic of a request in one pass, on as many threads as the work is worth."""
    queries = matrix.retrieved.size
    tabulated = tabulate(matrix, request)
    rows = _rows(matrix, tabulated)
    sums = empty_sums(request, queries, np.int32)
    # In plain Python a word costs about one cell, a judged document about ten a statistic.
    documents = int(matrix.judged[:, int(matrix.complete) :].sum()) + queries
    statistics = 1 + len(request.thresholds) + 2 * len(request.weightings)
    work = rows.codes.nbytes // WORD + 10 * documents * statistics
    map_ranges(
        lambda start, stop: scan_rows.run(
            work, rows, tabulated, sums, make_space(rows, len(request.cutoffs)), start, stop
        ),
        queries,
        cells=rows.codes.size + 10 * rows.ranks.size,
        threads=threads,
    )
    return Scan(np.array(request.cutoffs, np.float64), matrix.retrieved, sums)


def tabulate(matrix: RelevanceMatrix, request: ScanRequest) -> KernelRequest:
    """Turn a request into arrays for a block."""
    judged = np.einsum("ij->i", matrix.judged)  # a sum along short rows, in a quarter of the time
    ideal = min(int(judged.max(initial=0)), request.cutoffs[-1])  # ranks that are looked at
    ranks = 1 << (max(matrix.depth, int(ideal), 1) - 1).bit_length()
    make = _tabulate if ranks <= KEPT_RANKS else _tabulate.__wrapped__
    return make(request, matrix.levels.tobytes(), matrix.depth, ranks)


@functools.lru_cache(maxsize=64)
def _tabulate(request: ScanRequest, levels: bytes, depth: int, ranks: int) -> KernelRequest:
    """Make the arrays for some levels and matrices of a depth, with discounts of so many ranks."""
    grades = np.frombuffer(levels)
    gains = np.zeros((len(request.weightings), grades.size - PAD))
    for row, weighting in zip(gains[:, -PAD:], request.weightings, strict=True):
        row[:] = weighting.gain(grades)
    bounds = [0, *(int(min(cutoff, depth)) for cutoff in request.cutoffs)]
    return KernelRequest(
        # Ranks are 64-bit; a cutoff beyond them cuts nothing off, but still divides.
        cutoffs=np.array([min(cutoff, DEEPEST) for cutoff in request.cutoffs], np.int64),
        lowest_relevant=np.searchsorted(grades, np.asarray(request.thresholds, np.float64)),
        slots=np.repeat(np.arange(len(request.cutoffs), dtype=np.uint32), np.diff(bounds)),
        gains=gains,
        # Equal gains in any order sum the same.
        ideal_order=np.argsort(-gains[:, -PAD:], axis=1, kind="stable"),
        divisors=np.stack([weighting.discount(ranks)[:ranks] for weighting in request.weightings]),
    )


def choose_blank(matrix: RelevanceMatrix, request: KernelRequest) -> int:
    """Choose the code that is passed over: that of unjudged documents, as a rule.

    Where all are judged it is the lowest level, if no measure sees relevance or gain in it.
    """
    irrelevant = matrix.levels.size > 0 and request.lowest_relevant.min() > 0
    return 0 if matrix.complete and irrelevant and not request.gains[:, -PAD].any() else UNJUDGED


def _rows(matrix: RelevanceMatrix, request: KernelRequest) -> Rows:
    """Return a block's rows: entries where these are all that is not blank, else the cells."""
    blank = choose_blank(matrix, request)
    if isinstance(matrix, SparseMatrix) and blank == 0:
        codes: Codes = np.empty((matrix.retrieved.size, 0), np.int8)
        entries = matrix.entries
    else:
        codes, entries = matrix.codes, NO_ENTRIES
    return Rows(
        codes,
        codes.view(np.int64),
        (8 * codes.itemsize).bit_length() - 1,
        blank,
        word_of(blank, codes.itemsize),
        word_of(1, codes.itemsize),
        *entries,
        complete=matrix.complete,
        lengths=np.minimum(matrix.retrieved, request.cutoffs[-1]),
        level_counts=matrix.judged,
    )


@functools.cache
def word_of(code: int, itemsize: int) -> int:
    """Return a word of nothing but one code of so many bytes."""
    cell = code.to_bytes(itemsize, "little", signed=True)
    return int.from_bytes(cell * (WORD // itemsize), "little", signed=True)


def make_space(rows: Rows, n_cutoffs: int) -> Space:
    """Make memory for a thread that scans some rows."""
    n_rows = min(rows.lengths.size, ROWS_AT_ONCE, 1 + CUTOFFS_AT_ONCE // n_cutoffs)
    longest = rows.codes.shape[1]
    if rows.starts.size:
        longest = int((rows.starts[1:] - rows.starts[:-1]).max(initial=0))
    size = longest + 1 + min(n_rows * longest, DOCUMENTS_AT_ONCE)
    places, codes = np.empty((2, size), np.uint32)
    gained, terms = np.empty((2, size))
    return Space(
        words=np.empty(rows.words.shape[1], np.uint32),
        starts=np.zeros(n_rows + 1, np.uint32),
        places=places,
        codes=codes,
        last_within=np.empty((n_rows, n_cutoffs), np.uint32),
        counts=np.empty(size, np.int32),
        gained=gained,
        terms=terms,
    )

"""The hot path: one pass over a relevance matrix that yields every running statistic.

Each row is walked once for where its judged documents stand (words of documents that count for
nothing are skipped whole); the statistics at all cutoffs, for all relevance thresholds and all
gains, are then read off these few positions, and the ideal ranking's off the level counts. Sums
run in rank order in float64, and a ranking and its ideal are summed the same way, so that a
perfect ranking comes to exactly its ideal. All kernels stand in this file because they call each
other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Codes, Floats, Ints
from irbatch.engine.matrix import NEGATIVE, UNJUDGED, WORD, Entries, RelevanceMatrix, SparseMatrix
from irbatch.engine.prefix import PrefixSums, Scan, ScanRequest
from irbatch.runtime.jit import kernel
from irbatch.runtime.threads import map_ranges

DEEPEST = 2**62  # more ranks than any ranking has
NO_ENTRIES = Entries(*(np.empty(0, np.int64) for _ in range(3)))

Counts = npt.NDArray[np.int32]


class KernelRequest(NamedTuple):
    """A `ScanRequest` as kernels read it, for the levels of a block."""

    cutoffs: Ints  # (cutoffs,)
    lowest_relevant: Ints  # (thresholds,): the lowest relevant level at each
    gains: Floats  # (weightings, levels)
    ideal_order: Ints  # (weightings, levels): levels from the highest gain down
    divisors: Floats  # (weightings, ranks): the discounts


class Rows(NamedTuple):
    """A block as the scan reads it: cells to walk, or entries that are written down already."""

    codes: Codes  # (queries, depth); without columns where there are entries
    words: Ints  # the same memory
    blank: int  # the code that is passed over
    blank_word: int  # a word of it
    starts: Ints  # this and the next two are `Entries`; empty where cells are walked
    ranks: Ints
    entry_codes: Ints
    complete: bool  # whether all retrieved documents are judged
    lengths: Ints  # (queries,): how many ranks to look at
    level_counts: Ints  # (queries, levels): the judged documents of each level


class Found(NamedTuple):
    """Documents of one ranking that are not blank: their ranks, ascending, and their codes."""

    ranks: Ints
    codes: Ints


class Space(NamedTuple):
    """Memory that a thread works in: one ranking's documents, and where words hold some."""

    found: Found
    places: Ints

    @classmethod
    def for_rows(cls, rows: Rows) -> Space:
        """Make as much as the longest of some rows takes."""
        ranks, codes = np.empty((2, rows.codes.shape[1]), np.int64)
        return cls(Found(ranks, codes), np.empty(rows.words.shape[1], np.int64))


def scan(matrix: RelevanceMatrix, request: ScanRequest, threads: int | None = None) -> Scan:
    """Collect every statistic of a request in one pass, on as many threads as the work is worth."""
    queries = matrix.retrieved.size
    tabulated = tabulate(matrix, request)
    rows = _rows(matrix, tabulated)
    sums = PrefixSums.empty(request, queries, np.int32)
    # In plain Python a word costs about one cell, a judged document about ten a statistic.
    documents = int(matrix.judged[:, int(matrix.complete) :].sum()) + queries
    statistics = 1 + len(request.thresholds) + 2 * len(request.weightings)
    work = rows.codes.nbytes // WORD + 10 * documents * statistics
    map_ranges(
        lambda start, stop: _scan_rows.run(
            work, rows, tabulated, sums, Space.for_rows(rows), start, stop
        ),
        queries,
        cells=rows.codes.size + 10 * rows.ranks.size,
        threads=threads,
    )
    return Scan(np.array(request.cutoffs, np.float64), matrix.retrieved, sums)


def tabulate(matrix: RelevanceMatrix, request: ScanRequest) -> KernelRequest:
    """Turn a request into arrays for a block."""
    gains = np.empty((len(request.weightings), matrix.levels.size))
    for row, weighting in zip(gains, request.weightings, strict=True):
        row[:] = weighting.gain(matrix.levels)
    deepest = max(matrix.depth, int(matrix.judged.sum(axis=1).max(initial=0)), 1)
    return KernelRequest(
        # Ranks are 64-bit; a cutoff beyond them cuts nothing off, but still divides.
        cutoffs=np.array([min(cutoff, DEEPEST) for cutoff in request.cutoffs], np.int64),
        lowest_relevant=np.searchsorted(matrix.levels, np.asarray(request.thresholds, np.float64)),
        gains=gains,
        # Equal gains in any order sum the same.
        ideal_order=np.argsort(-gains, axis=1, kind="stable"),
        divisors=np.stack([each.discount(deepest)[:deepest] for each in request.weightings]),
    )


def choose_blank(matrix: RelevanceMatrix, request: KernelRequest) -> int:
    """Choose the code that is passed over: that of unjudged documents, as a rule.

    Where all are judged it is the lowest level, if no measure sees relevance or gain in it.
    """
    irrelevant = matrix.levels.size > 0 and request.lowest_relevant.min() > 0
    return 0 if matrix.complete and irrelevant and not request.gains[:, 0].any() else UNJUDGED


def _rows(matrix: RelevanceMatrix, request: KernelRequest) -> Rows:
    """Return a block's rows: entries where these are all that is not blank, else the cells."""
    blank = choose_blank(matrix, request)
    if isinstance(matrix, SparseMatrix) and blank == 0:
        codes: Codes = np.empty((matrix.retrieved.size, 0), np.int8)
        entries = matrix.entries
    else:
        codes, entries = matrix.codes, NO_ENTRIES
    words = codes.view(np.int64)
    blank_word = int(np.full(WORD // codes.itemsize, blank, codes.dtype).view(np.int64)[0])
    lengths = np.minimum(matrix.retrieved, request.cutoffs[-1])
    return Rows(codes, words, blank, blank_word, *entries, matrix.complete, lengths, matrix.judged)


@kernel
def _scan_rows(
    rows: Rows, request: KernelRequest, sums: PrefixSums, space: Space, start: int, stop: int
) -> None:
    """Scan rows `start` to `stop` and write what comes of them."""
    starts, lengths, level_counts = rows.starts, rows.lengths, rows.level_counts
    cutoffs, lowest_relevant = request.cutoffs, request.lowest_relevant
    for q in range(start, stop):
        if starts.size > 0:
            first, last = starts[q], starts[q + 1]
            ranks, codes = rows.ranks[first:last], rows.entry_codes[first:last]
        else:
            n = _collect_judged(rows, q, space.places, space.found)
            ranks, codes = space.found.ranks[:n], space.found.codes[:n]
        n = ranks.size
        while n > 0 and ranks[n - 1] > lengths[q]:  # beyond the last cutoff, or the end
            n -= 1
        found = Found(ranks[:n], codes[:n])
        _count_judged(found, cutoffs, sums.judged[q], sums.negative[q])
        if rows.complete:  # those passed over are judged, too
            for k in range(cutoffs.size):
                sums.judged[q, k] = min(cutoffs[k], lengths[q])
        for t in range(lowest_relevant.size):
            lowest = lowest_relevant[t]
            total = 0
            for level in range(lowest, level_counts.shape[1]):
                total += level_counts[q, level]
            sums.relevant[t, q] = total
            sums.first_hit[t, q], sums.hits_at_relevant[t, q] = _accumulate_hits(
                found, lowest, total, cutoffs, sums.hits[t, q], sums.precision_sum[t, q]
            )
        for g in range(request.gains.shape[0]):
            gain, discounted = sums.gain[g, q], sums.discounted_gain[g, q]
            _accumulate_gains(found, request, g, gain, discounted)
            gain, discounted = sums.ideal_gain[g, q], sums.ideal_discounted_gain[g, q]
            _accumulate_ideal(level_counts[q], request, g, gain, discounted)


@kernel
def _collect_judged(rows: Rows, q: int, places: Ints, space: Found) -> int:
    """Write rank and code of each document of a row that is not blank; return their number.

    Both loops write first and then advance or not, without a branch: where judged documents stand
    cannot be predicted, and this takes 0.6 times what branches do.
    """
    codes, words, blank, blank_word = rows.codes[q], rows.words[q], rows.blank, rows.blank_word
    ranks, found = space
    cells = words.itemsize // codes.itemsize  # known to the compiler, which unrolls the loop
    filled = 0
    for w in range((rows.lengths[q] + cells - 1) // cells):
        places[filled] = w
        filled += words[w] != blank_word
    n = 0
    for j in range(filled):
        start = places[j] * cells
        for i in range(start, start + cells):
            ranks[n] = i + 1
            found[n] = codes[i]
            n += codes[i] != blank
    return n


@kernel
def _count_judged(found: Found, cutoffs: Ints, judged: Counts, negative: Counts) -> None:
    """Write the number of judged documents, and of those graded below 0, at each cutoff."""
    ranks, codes = found
    below = 0
    k = 0
    for i in range(ranks.size):
        while k < cutoffs.size and cutoffs[k] < ranks[i]:
            judged[k] = i
            negative[k] = below
            k += 1
        below += codes[i] == NEGATIVE
    judged[k:] = ranks.size
    negative[k:] = below


@kernel
def _accumulate_hits(
    found: Found, lowest: int, total: int, cutoffs: Ints, hits: Counts, precision_sum: Floats
) -> tuple[int, int]:
    """Write hits and precision sums at each cutoff; return first hit and hits at rank `total`."""
    ranks, codes = found
    count = 0
    precisions = 0.0
    first = 0
    at_total = 0
    k = 0
    for i in range(ranks.size):
        if codes[i] >= lowest:
            while k < cutoffs.size and cutoffs[k] < ranks[i]:
                hits[k] = count
                precision_sum[k] = precisions
                k += 1
            count += 1
            precisions += count / ranks[i]
            if count == 1:
                first = ranks[i]
            if ranks[i] <= total:
                at_total = count
    hits[k:] = count
    precision_sum[k:] = precisions
    return first, at_total


@kernel
def _accumulate_gains(
    found: Found, request: KernelRequest, g: int, gain: Floats, discounted: Floats
) -> None:
    """Write the ranking's gain and discounted gain at each cutoff, of one weighting."""
    ranks, codes = found
    cutoffs, gains, divisors = request.cutoffs, request.gains[g], request.divisors[g]
    plain_sum = 0.0
    discounted_sum = 0.0
    k = 0
    for i in range(ranks.size):
        if codes[i] >= 0 and gains[codes[i]] > 0.0:
            while k < cutoffs.size and cutoffs[k] < ranks[i]:
                gain[k] = plain_sum
                discounted[k] = discounted_sum
                k += 1
            plain_sum += gains[codes[i]]
            discounted_sum += gains[codes[i]] / divisors[ranks[i] - 1]
    gain[k:] = plain_sum
    discounted[k:] = discounted_sum


@kernel
def _accumulate_ideal(
    level_counts: Ints, request: KernelRequest, g: int, gain: Floats, discounted: Floats
) -> None:
    """Write the same for the ideal ranking: all judged documents from the highest gain down."""
    cutoffs, gains, divisors = request.cutoffs, request.gains[g], request.divisors[g]
    plain_sum = 0.0
    discounted_sum = 0.0
    rank = 0
    k = 0
    for level in request.ideal_order[g]:
        if gains[level] <= 0.0:
            break
        for _ in range(level_counts[level]):
            if k < cutoffs.size and cutoffs[k] == rank:
                gain[k] = plain_sum
                discounted[k] = discounted_sum
                k += 1
            plain_sum += gains[level]
            discounted_sum += gains[level] / divisors[rank]
            rank += 1
    gain[k:] = plain_sum
    discounted[k:] = discounted_sum

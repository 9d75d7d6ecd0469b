"""The hot path: one pass over a relevance matrix that yields every running statistic.

Each row is walked once for where its judged documents stand (words of documents that count for
nothing are skipped whole); the statistics at all cutoffs, for all relevance thresholds and all
gains, are then read off these few positions, and the ideal ranking's off the level counts. Sums
run in rank order in float64, and a ranking and its ideal are summed the same way, so that a
perfect ranking comes to exactly its ideal. All kernels stand in this file because they call each
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.engine.listed import ListedMatrix
from irbatch.engine.matrix import NEGATIVE, UNJUDGED, WORD, RelevanceMatrix
from irbatch.engine.prefix import Scan, ScanRequest
from irbatch.runtime.jit import kernel
from irbatch.runtime.threads import map_ranges

__all__ = ["choose_blank", "find_lowest_relevant", "scan", "tabulate_gains"]

DEEPEST = 2**62  # more ranks than any ranking has

Codes = npt.NDArray[np.signedinteger]
Counts = npt.NDArray[np.int32]


def scan(matrix: RelevanceMatrix, request: ScanRequest, threads: int | None = None) -> Scan:
    """Collect every statistic of the request in one pass over the matrix.

    Args:
        matrix: a block of queries.
        request: cutoffs, thresholds and weightings.
        threads: how many threads share the rows; default: as many as the work is worth.
    """
    queries = matrix.retrieved.size
    # Ranks are 64-bit; a cutoff beyond them cuts nothing off, but still divides.
    cutoffs = np.array([min(cutoff, DEEPEST) for cutoff in request.cutoffs], np.int64)
    at_cutoffs = (queries, cutoffs.size)
    binary, graded = len(request.thresholds), len(request.weightings)
    result = Scan(
        cutoffs=np.array(request.cutoffs, np.float64),
        retrieved=matrix.retrieved,
        judged=np.empty(at_cutoffs, np.int32),
        negative=np.empty(at_cutoffs, np.int32),
        hits=np.empty((binary, *at_cutoffs), np.int32),
        precision_sum=np.empty((binary, *at_cutoffs)),
        first_hit=np.empty((binary, queries), np.int64),
        hits_at_relevant=np.empty((binary, queries), np.int64),
        relevant=np.empty((binary, queries), np.int64),
        gain=np.empty((graded, *at_cutoffs)),
        discounted_gain=np.empty((graded, *at_cutoffs)),
        ideal_gain=np.empty((graded, *at_cutoffs)),
        ideal_discounted_gain=np.empty((graded, *at_cutoffs)),
    )
    lowest_relevant = find_lowest_relevant(matrix.levels, request)
    gains = tabulate_gains(matrix.levels, request)
    rows = _rows(matrix, choose_blank(matrix, lowest_relevant, gains))
    codes, listed = rows[0], rows[-1]
    inputs = _inputs(matrix, request, cutoffs, lowest_relevant, gains)
    arguments = (*rows, *inputs, *_outputs(result))
    # In plain Python a word costs about one cell, a judged document about ten a statistic.
    documents = int(matrix.judged[:, int(matrix.complete) :].sum()) + queries
    work = codes.nbytes // WORD + 10 * documents * (1 + binary + 2 * graded)
    map_ranges(
        lambda start, stop: _scan_rows.run(work, *arguments, start, stop),
        queries,
        cells=codes.size + 10 * listed.size,
        threads=threads,
    )
    return result


def _rows(matrix: RelevanceMatrix, code: int) -> tuple[Any, ...]:
    """Return what there is of the ranks: cells to walk, or documents that are listed already.

    Args:
        matrix: a block of queries.
        code: what is passed over.

    Returns:
        Codes; the same as words; the code passed over, and a word of it; whether all documents
        are judged; and where each query's listed documents begin, their ranks and codes. Either
        the codes or the list is empty.
    """
    none = np.empty(0, np.int64)
    if isinstance(matrix, ListedMatrix) and code == 0:
        codes = np.empty((matrix.retrieved.size, 0), np.int8)
        listed = matrix.starts, matrix.ranks, matrix.listed
    else:
        codes, listed = matrix.codes, (none, none, none)
    word = np.full(WORD // codes.itemsize, code, codes.dtype).view(np.int64)[0]
    return codes, codes.view(np.int64), code, int(word), matrix.complete, *listed


def _inputs(
    matrix: RelevanceMatrix,
    request: ScanRequest,
    cutoffs: Ints,
    lowest_relevant: Ints,
    gains: Floats,
) -> tuple[Any, ...]:
    """Turn the request into the arrays the kernel reads."""
    # Levels from the highest gain down: the ideal ranking. Equal gains in any order sum the same.
    ideal_order = np.argsort(-gains, axis=1, kind="stable")
    deepest = max(matrix.depth, int(matrix.judged.sum(axis=1).max(initial=0)), 1)
    divisors = np.stack([each.discount(deepest)[:deepest] for each in request.weightings])
    return (
        np.minimum(matrix.retrieved, cutoffs[-1]),
        matrix.judged,
        cutoffs,
        lowest_relevant,
        gains,
        ideal_order,
        divisors,
    )


def tabulate_gains(levels: Floats, request: ScanRequest) -> Floats:
    """Return the gain of each level under each weighting, float64 ``(weightings, levels)``."""
    gains = np.empty((len(request.weightings), levels.size))
    for row, weighting in zip(gains, request.weightings, strict=True):
        row[:] = weighting.gain(levels)
    return gains


def find_lowest_relevant(levels: Floats, request: ScanRequest) -> Ints:
    """Return the lowest relevant level at each threshold, int64 ``(thresholds,)``."""
    return np.searchsorted(levels, np.asarray(request.thresholds, np.float64)).astype(np.int64)


def choose_blank(matrix: RelevanceMatrix, lowest_relevant: Ints, gains: Floats) -> int:
    """Choose the code that is passed over: the most frequent one that adds to no statistic.

    Unjudged documents, as a rule. Where all are judged, and their number needs no counting, it is
    the lowest level, if none of the measures sees relevance or gain in it.
    """
    useless = matrix.levels.size > 0 and lowest_relevant.min() > 0 and not gains[:, 0].any()
    return 0 if matrix.complete and useless else UNJUDGED


def _outputs(result: Scan) -> tuple[Any, ...]:
    return (
        result.judged,
        result.negative,
        result.hits,
        result.precision_sum,
        result.first_hit,
        result.hits_at_relevant,
        result.relevant,
        result.gain,
        result.discounted_gain,
        result.ideal_gain,
        result.ideal_discounted_gain,
    )


@kernel
def _scan_rows(
    codes: Codes, words: Ints, blank: int, blank_word: int, complete: bool,
    starts: Ints, listed_ranks: Ints, listed_codes: Ints,
    lengths: Ints, level_counts: Ints, cutoffs: Ints,
    lowest_relevant: Ints, gains: Floats, ideal_order: Ints, divisors: Floats,
    judged: Counts, negative: Counts, hits: Counts, precision_sum: Floats,
    first_hit: Ints, hits_at_relevant: Ints, relevant: Ints,
    gain: Floats, discounted_gain: Floats, ideal_gain: Floats, ideal_discounted_gain: Floats,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Scan rows `start` to `stop`; shapes as in `RelevanceMatrix`, `ScanRequest` and `Scan`."""
    ranks = np.empty(codes.shape[1], np.int64)
    found = np.empty(codes.shape[1], np.int64)
    places = np.empty(words.shape[1], np.int64)
    for q in range(start, stop):
        if starts.size > 0:
            ranks = listed_ranks[starts[q] : starts[q + 1]]
            found = listed_codes[starts[q] : starts[q + 1]]
            n = ranks.size
        else:
            n = _collect_judged(
                codes[q], words[q], blank, blank_word, lengths[q], places, ranks, found
            )
        while n > 0 and ranks[n - 1] > lengths[q]:  # beyond the last cutoff, or the end
            n -= 1
        _count_judged(ranks, found, n, cutoffs, complete, lengths[q], judged[q], negative[q])
        for t in range(lowest_relevant.size):
            total = 0
            for level in range(lowest_relevant[t], level_counts.shape[1]):
                total += level_counts[q, level]
            relevant[t, q] = total
            first_hit[t, q], hits_at_relevant[t, q] = _accumulate_hits(
                ranks, found, n, lowest_relevant[t], total, cutoffs, hits[t, q], precision_sum[t, q]
            )
        for g in range(gains.shape[0]):
            _accumulate_gains(
                ranks, found, n, gains[g], divisors[g], cutoffs, gain[g, q], discounted_gain[g, q]
            )
            _accumulate_ideal(
                level_counts[q], ideal_order[g], gains[g], divisors[g], cutoffs,
                ideal_gain[g, q], ideal_discounted_gain[g, q],
            )  # fmt: skip


@kernel
def _collect_judged(
    codes: Codes, words: Ints, blank: int, blank_word: int, length: int,
    places: Ints, ranks: Ints, found: Ints,
) -> int:  # fmt: skip
    """Write rank and code of each document of a row that is not blank; return their number.

    Both loops write first and then advance or not, without a branch: where judged documents stand
    cannot be predicted, and this takes 0.6 times what branches do.
    """
    cells = words.itemsize // codes.itemsize  # known to the compiler, which unrolls the loop
    filled = 0
    for w in range((length + cells - 1) // cells):
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
def _count_judged(
    ranks: Ints, found: Ints, n: int, cutoffs: Ints, complete: bool, length: int,
    judged: Counts, negative: Counts,
) -> None:  # fmt: skip
    """Write the number of judged documents, and of those graded below 0, at each cutoff."""
    below = 0
    k = 0
    for i in range(n):
        while k < cutoffs.size and cutoffs[k] < ranks[i]:
            judged[k] = i
            negative[k] = below
            k += 1
        below += found[i] == NEGATIVE
    judged[k:] = n
    negative[k:] = below
    if complete:  # those passed over are judged, too
        for k in range(cutoffs.size):
            judged[k] = min(cutoffs[k], length)


@kernel
def _accumulate_hits(
    ranks: Ints, found: Ints, n: int, lowest: int, total: int, cutoffs: Ints,
    hits: Counts, precision_sum: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Write hits and precision sums at each cutoff; return first hit and hits at rank `total`."""
    count = 0
    precisions = 0.0
    first = 0
    at_total = 0
    k = 0
    for i in range(n):
        if found[i] >= lowest:
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
    ranks: Ints, found: Ints, n: int, gains: Floats, divisors: Floats, cutoffs: Ints,
    gain: Floats, discounted_gain: Floats,
) -> None:  # fmt: skip
    """Write the ranking's gain and discounted gain at each cutoff."""
    plain = 0.0
    discounted = 0.0
    k = 0
    for i in range(n):
        if found[i] >= 0 and gains[found[i]] > 0.0:
            while k < cutoffs.size and cutoffs[k] < ranks[i]:
                gain[k] = plain
                discounted_gain[k] = discounted
                k += 1
            plain += gains[found[i]]
            discounted += gains[found[i]] / divisors[ranks[i] - 1]
    gain[k:] = plain
    discounted_gain[k:] = discounted


@kernel
def _accumulate_ideal(
    counts: Ints, ideal_order: Ints, gains: Floats, divisors: Floats, cutoffs: Ints,
    gain: Floats, discounted_gain: Floats,
) -> None:  # fmt: skip
    """Write the same for the ideal ranking: all judged documents from the highest gain down."""
    plain = 0.0
    discounted = 0.0
    rank = 0
    k = 0
    for level in ideal_order:
        if gains[level] <= 0.0:
            break
        for _ in range(counts[level]):
            if k < cutoffs.size and cutoffs[k] == rank:
                gain[k] = plain
                discounted_gain[k] = discounted
                k += 1
            plain += gains[level]
            discounted += gains[level] / divisors[rank]
            rank += 1
    gain[k:] = plain
    discounted_gain[k:] = discounted

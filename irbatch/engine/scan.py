"""The hot path: one pass over a relevance matrix that yields every running statistic."""

from __future__ import annotations

import functools

import numpy as np

from irbatch.array_types import Codes, Ints
from irbatch.engine.matrix import PAD, UNJUDGED, WORD, Entries, RelevanceMatrix, SparseMatrix
from irbatch.engine.prefix import PrefixSums, Scan, ScanRequest
from irbatch.engine.scan_arguments import KernelRequest, Rows, Space
from irbatch.engine.scan_rows import scan_rows
from irbatch.runtime.threads import map_ranges

DEEPEST = 2**62  # more ranks than any ranking has
# Rows that take each step of the scan together, and about as many documents and cutoffs of theirs:
# many for long runs of memory, few for the second-level cache (see benchmarks/test_scan.py).
ROWS_AT_ONCE, DOCUMENTS_AT_ONCE, CUTOFFS_AT_ONCE = 256, 1 << 13, 1 << 16
NO_ENTRIES = Entries(*(np.empty(0, np.int64) for _ in range(3)))


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
    gains = np.zeros((len(request.weightings), matrix.levels.size - PAD))
    levels = gains[:, -PAD:]
    for row, weighting in zip(levels, request.weightings, strict=True):
        row[:] = weighting.gain(matrix.levels)
    judged = np.einsum("ij->i", matrix.judged)  # a sum along short rows, in a quarter of the time
    ideal = min(int(judged.max(initial=0)), request.cutoffs[-1])  # ranks that are looked at
    deepest = max(matrix.depth, int(ideal), 1)
    return KernelRequest(
        # Ranks are 64-bit; a cutoff beyond them cuts nothing off, but still divides.
        cutoffs=np.array([min(cutoff, DEEPEST) for cutoff in request.cutoffs], np.int64),
        lowest_relevant=np.searchsorted(matrix.levels, np.asarray(request.thresholds, np.float64)),
        slots=_slots(tuple(request.cutoffs), matrix.depth),
        gains=gains,
        # Equal gains in any order sum the same.
        ideal_order=np.argsort(-levels, axis=1, kind="stable"),
        divisors=np.stack([each.discount(deepest)[:deepest] for each in request.weightings]),
    )


@functools.lru_cache(maxsize=64)
def _slots(cutoffs: tuple[float, ...], depth: int) -> Ints:
    """Return the number of the first cutoff that each rank is within, as far as there is one."""
    bounds = [0, *(int(min(cutoff, depth)) for cutoff in cutoffs)]
    return np.repeat(np.arange(len(cutoffs), dtype=np.uint32), np.diff(bounds))


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
        _word_of(blank, codes.itemsize),
        _word_of(1, codes.itemsize),
        *entries,
        complete=matrix.complete,
        lengths=np.minimum(matrix.retrieved, request.cutoffs[-1]),
        level_counts=matrix.judged,
    )


@functools.cache
def _word_of(code: int, itemsize: int) -> int:
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

"""Ranks without sorting: how many candidates score higher than, or the same as, a graded one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Bytes, Ints
from irbatch.data.cells import GradedCandidates
from irbatch.errors import InputError
from irbatch.pack.candidates import Candidates, part_of
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import row_index_of
from irbatch.runtime.threads import map_ranges

# Graded candidates a query from which sorting the row costs less than counting for each
# (python -m benchmarks --only scores).
SORTED_FROM = 160

# Tied candidates of a row up to which counting for each costs less than sorting it: 24 against
# 36 µs for 200 of 1,000, as much for 400 (benchmarks/test_ties_by_key.py).
MANY_TIED = 200

# Kernels count in steps of 3. Where a truth value is added, or 1, the compiler makes the comparison
# a number first; another number is added where it is true: an instruction less, 0.87 times the time
# (10 graded candidates of 20,000 in the second-level cache, with 1 for 3 here).
STEP = 3

Matrix = npt.NDArray[Any]


class ScoreRows(NamedTuple):
    """Some rows of scores, as kernels read them."""

    scores: Matrix  # (rows, candidates)
    there: Bytes  # of that shape, 1 where a cell is a candidate; (0, 0) if all are
    widths: Ints  # (rows,): cells from there on are no candidates


class Counted(NamedTuple):
    """The graded candidates of some rows, and what is counted for each."""

    starts: Ints  # (rows + 1,): where each row's begin and end
    columns: Ints
    above: Ints  # how many candidates score higher
    equal: Ints  # how many score the same


def count_candidates(
    candidates: Candidates, graded: GradedCandidates, threads: int | None = None
) -> tuple[Ints, Ints]:
    """Count for each graded candidate those of its query that score higher, and the same."""
    above, equal = np.zeros((2, graded.columns.size), np.int64)
    for start, stop in candidates.blocks():
        scores, there = candidates.block(start, stop)
        part, starts = part_of(graded.starts, start, stop)
        counted = Counted(starts, graded.columns[part], above[part], equal[part])
        widths = candidates.widths[start:stop]
        if counted.columns.size > SORTED_FROM * (stop - start):
            has_nan = _count_by_sorting(scores, there, widths, counted, threads)
        else:
            cells = np.empty((0, 0), np.uint8) if there is None else there.view(np.uint8)
            has_nan = _count(ScoreRows(as_input(scores), cells, widths), counted, threads) > 0
        for row in np.flatnonzero(has_nan).tolist():
            refuse_nan(candidates, start + row, scores[row])
        if candidates.excluded is not None and candidates.excluded.columns.size:
            out, starts = part_of(candidates.excluded.starts, start, stop)
            work = 3 * int((np.diff(counted.starts) * np.diff(starts)).sum())
            excluded = candidates.excluded.columns[out]
            _subtract_rows.run(work, as_input(scores), starts, excluded, counted)
    return above, equal


def count_lower(candidates: Candidates, rows: Ints, columns: Ints, keys: Ints) -> Ints:
    """Count for some candidates those of the same query and score whose keys are lower.

    Rows ascend. Keys are ``(queries, candidates)``, or one row of them for all.
    """
    before = np.zeros(rows.size, np.int64)
    spans: Iterable[tuple[int, int]] = candidates.blocks()
    if candidates.on_accelerator:  # rows without ties don't travel
        spans = ((row, row + 1) for row in distinct(rows).tolist())
    for start, stop in spans:
        part = slice(*np.searchsorted(rows, [start, stop]).tolist())
        if part.start == part.stop:
            continue
        scores, _ = candidates.block(start, stop)
        cells = np.empty((0, 0), np.uint8)
        if not candidates.whole:
            cells = candidates.are_candidates(start, stop).view(np.uint8)
        mine = keys if len(keys) == 1 else keys[start:stop]
        row_index, found = rows[part] - start, before[part]
        sizes = np.bincount(row_index)
        cost = 2 * row_index.size * scores.shape[1]
        few = sizes, row_index, columns[part], found
        _count_lower.run(cost, as_input(scores), cells, mine, *few)
        for row in np.flatnonzero(sizes > MANY_TIED).tolist():
            many = slice(*np.searchsorted(row_index, [row, row + 1]).tolist())
            there = np.flatnonzero(candidates.are_candidates(start + row, start + row + 1)[0])
            found[many] = _rank_ties(scores[row], mine[row % len(mine)], there, columns[part][many])
    return before


def _rank_ties(scores: Matrix, keys: Ints, there: Ints, columns: Ints) -> Ints:
    """Count as `count_lower` in one row by sorting it."""
    ordered = there[np.lexsort((keys[there], scores[there]))]
    place = np.empty(scores.size, np.int64)
    place[ordered] = np.arange(ordered.size)
    return place[columns] - np.searchsorted(scores[ordered], scores[columns])


def refuse_nan(candidates: Candidates, row: int, scores: Matrix) -> None:
    """Refuse a NaN among a row's candidates; cells that are no candidates may be NaN."""
    bad = np.isnan(scores) & candidates.are_candidates(row, row + 1)[0]
    if bad.any():
        problem = f"score nan of candidate {int(np.argmax(bad))} is not a number"
        query = candidates.queries[row]
        raise InputError(problem, source="scores", query=query, value=float("nan"))


def _count(rows: ScoreRows, counted: Counted, threads: int | None) -> Ints:
    """Count by comparing each row with each of its graded scores; return the NaN of each row."""
    nan = np.zeros(rows.widths.size, np.int64)
    cells = (counted.columns.size + nan.size) * rows.scores.shape[1]

    def count(first: int, last: int) -> None:
        space = np.empty(rows.there.shape[1], rows.scores.dtype)
        _count_rows.run(3 * cells, rows, counted, nan, space, first, last)

    map_ranges(count, nan.size, cells=cells // 4, threads=threads)
    return nan


def _count_by_sorting(
    scores: Matrix, there: Bools | None, widths: Ints, counted: Counted, threads: int | None
) -> Bools:
    """Count by sorting each row and looking its graded scores up; tell which rows have a NaN."""
    wanted = scores[row_index_of(counted.starts), counted.columns]
    hidden = np.arange(scores.shape[1]) >= widths[:, None]
    if there is not None:
        hidden |= ~there
    nan = np.isnan(scores) if scores.dtype.kind == "f" else np.zeros_like(hidden)
    hidden |= nan
    lowest = -np.inf if scores.dtype.kind == "f" else np.iinfo(scores.dtype).min
    # What is hidden goes below all that is not, and is passed over there.
    ordered = np.where(hidden, np.array(lowest, scores.dtype), scores)
    fillers = hidden.sum(axis=1)

    def look(first: int, last: int) -> None:
        ordered[first:last].sort(axis=1)
        work = 20 * int(counted.starts[last] - counted.starts[first])
        _search_rows.run(work, ordered, fillers, wanted, counted, first, last)

    map_ranges(look, scores.shape[0], cells=10 * scores.size, threads=threads)
    return np.asarray(nan.any(axis=1))


@kernel
def _count_rows(
    rows: ScoreRows, counted: Counted, nan: Ints, space: Matrix, first: int, last: int
) -> None:
    """Compare rows `first` to `last` with their graded scores; count the NaN of each.

    Scores of candidates alone are put into `space`, which has room for a row of them.

    Counts are 32 bits wide and said to be at each step: as wide as the scores, so that sixteen of
    them are compared at once; 64 bits take twice as long.
    """
    scores, there, widths = rows
    starts, columns, above, equal = counted
    for q in range(first, last):
        row = scores[q]
        n = widths[q]
        if there.shape[0] > 0:
            m = 0
            for c in range(n):
                space[m] = row[c]
                m += int(there[q, c])  # a byte alone would overflow in plain Python
            n = m
            row = space
        nan[q] = _count_nan(row, n)
        i = starts[q]
        while i + 4 <= starts[q + 1]:
            _count_four(row, n, scores[q], columns[i : i + 4], above[i : i + 4], equal[i : i + 4])
            i += 4
        while i < starts[q + 1]:
            above[i], equal[i] = _count_one(row, n, scores[q, columns[i]])
            i += 1


@kernel
def _count_nan(row: Matrix, n: int) -> int:
    """Count what is not equal to itself."""
    odd = np.int32(0)
    for c in range(n):
        odd = np.int32(odd + (STEP if row[c] != row[c] else 0))
    return int(odd) // STEP


@kernel
def _count_one(row: Matrix, n: int, score: float) -> tuple[int, int]:
    """Count what is higher than a score, and what is the same."""
    higher = np.int32(0)
    same = np.int32(0)
    for c in range(n):
        higher = np.int32(higher + (STEP if row[c] > score else 0))
        same = np.int32(same + (STEP if row[c] == score else 0))
    return int(higher) // STEP, int(same) // STEP


@kernel
def _count_four(
    row: Matrix, n: int, scores: Matrix, columns: Ints, above: Ints, equal: Ints
) -> None:
    """Do so for four scores: each cell is read once for all, which saves a seventh of the time."""
    s0, s1, s2, s3 = scores[columns[0]], scores[columns[1]], scores[columns[2]], scores[columns[3]]
    a0 = a1 = a2 = a3 = e0 = e1 = e2 = e3 = np.int32(0)
    for c in range(n):
        a0 = np.int32(a0 + (STEP if row[c] > s0 else 0))
        a1 = np.int32(a1 + (STEP if row[c] > s1 else 0))
        a2 = np.int32(a2 + (STEP if row[c] > s2 else 0))
        a3 = np.int32(a3 + (STEP if row[c] > s3 else 0))
        e0 = np.int32(e0 + (STEP if row[c] == s0 else 0))
        e1 = np.int32(e1 + (STEP if row[c] == s1 else 0))
        e2 = np.int32(e2 + (STEP if row[c] == s2 else 0))
        e3 = np.int32(e3 + (STEP if row[c] == s3 else 0))
    above[0], above[1], above[2], above[3] = a0 // STEP, a1 // STEP, a2 // STEP, a3 // STEP
    equal[0], equal[1], equal[2], equal[3] = e0 // STEP, e1 // STEP, e2 // STEP, e3 // STEP


@kernel
def _search_rows(
    ordered: Matrix, fillers: Ints, wanted: Matrix, counted: Counted, first: int, last: int
) -> None:
    """Look graded scores up in rows that ascend, behind their fillers."""
    starts, _, above, equal = counted
    for q in range(first, last):
        for i in range(starts[q], starts[q + 1]):
            low = fillers[q]
            high = ordered.shape[1]
            while low < high:
                middle = (low + high) // 2
                if ordered[q, middle] < wanted[i]:
                    low = middle + 1
                else:
                    high = middle
            begin = low
            high = ordered.shape[1]
            while low < high:
                middle = (low + high) // 2
                if ordered[q, middle] <= wanted[i]:
                    low = middle + 1
                else:
                    high = middle
            above[i] = ordered.shape[1] - low
            equal[i] = low - begin


@kernel
def _subtract_rows(scores: Matrix, out_starts: Ints, out: Ints, counted: Counted) -> None:
    """Take excluded candidates out of the counts."""
    starts, columns, above, equal = counted
    for q in range(starts.size - 1):
        for i in range(starts[q], starts[q + 1]):
            score = scores[q, columns[i]]
            for j in range(out_starts[q], out_starts[q + 1]):
                above[i] -= scores[q, out[j]] > score
                equal[i] -= scores[q, out[j]] == score


@kernel
def _count_lower(
    scores: Matrix,
    there: Bytes,
    keys: Ints,
    sizes: Ints,
    row_index: Ints,
    columns: Ints,
    before: Ints,
) -> None:
    """Count for each candidate those of its row and score whose keys are lower than its own.

    Rows of more candidates than `MANY_TIED` are passed over; `sizes` are those of rows.
    """
    for i in range(columns.size):
        if sizes[row_index[i]] > MANY_TIED:
            continue
        row = scores[row_index[i]]
        key = keys[row_index[i] % keys.shape[0]]
        score, mine = row[columns[i]], key[columns[i]]
        number = np.int64(0)
        if there.shape[0] > 0:
            is_there = there[row_index[i]]
            for c in range(row.size):
                number += is_there[c] & (row[c] == score) & (key[c] < mine)
        else:
            for c in range(row.size):
                number += (row[c] == score) & (key[c] < mine)
        before[i] = number

"""Ranks without sorting: how many candidates score higher than, or the same as, a listed one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Bytes, Ints
from irbatch.data.arguments.candidates import Listed
from irbatch.errors import InputError
from irbatch.pack.candidates import Candidates
from irbatch.runtime.jit import as_input, kernel
from irbatch.runtime.ragged import row_index_of
from irbatch.runtime.threads import map_ranges

__all__ = ["count_candidates", "refuse_nan"]

# Listed candidates a query from which sorting the row costs less than counting for each
# (python -m benchmarks --only scores).
SORTED_FROM = 160

Matrix = npt.NDArray[Any]


def count_candidates(
    candidates: Candidates, listed: Listed, threads: int | None = None
) -> tuple[Ints, Ints]:
    """Count for each listed candidate those of its query that score higher, and the same.

    Args:
        candidates: the scores.
        listed: which to count for; all of them candidates.
        threads: how many threads share the rows; default: as many as the work is worth.

    Returns:
        int64 ``(listed,)`` twice: the number of candidates that score higher, and of those that
        score the same, itself included.

    Raises:
        InputError: for a candidate whose score is NaN.
    """
    above = np.zeros(listed.columns.size, np.int64)
    equal = np.zeros(listed.columns.size, np.int64)
    for start, stop in candidates.blocks():
        scores, there = candidates.block(start, stop)
        part = slice(int(listed.starts[start]), int(listed.starts[stop]))
        starts = listed.starts[start : stop + 1] - part.start
        rows = scores, there, candidates.widths[start:stop]
        found = starts, listed.columns[part], above[part], equal[part]
        suspects = np.zeros(stop - start, np.int64)
        if found[1].size > SORTED_FROM * (stop - start):
            _count_sorted(*rows, *found, suspects, threads)
        else:
            _count(*rows, *found, suspects, threads)
        for row in np.flatnonzero(suspects):
            refuse_nan(candidates, start + int(row), scores[row])
    if candidates.excluded is not None:
        _subtract_excluded(candidates, listed, above, equal)
    return above, equal


def refuse_nan(candidates: Candidates, row: int, scores: Matrix) -> None:
    """Refuse a NaN among a row's candidates; elsewhere it is nobody's score.

    Raises:
        InputError: naming query and candidate.
    """
    bad = np.isnan(scores) & candidates.are_candidates(row, row + 1)[0]
    if bad.any():
        raise InputError(
            f"score nan of candidate {int(np.argmax(bad))} is not a number",
            source="scores",
            query=candidates.queries[row],
            value=float("nan"),
        )


def _count(
    scores: Matrix, there: Bools | None, widths: Ints,
    starts: Ints, columns: Ints, above: Ints, equal: Ints, suspects: Ints, threads: int | None,
) -> None:  # fmt: skip
    """Count by comparing each row with each of its listed scores."""
    if there is None:
        there = np.empty((0, 0), np.bool_)
    arguments = as_input(scores), there.view(np.uint8), widths, starts, columns
    passes = columns.size + scores.shape[0]
    map_ranges(
        lambda first, last: _count_rows.run(
            3 * passes * scores.shape[1], *arguments, above, equal, suspects, first, last
        ),
        scores.shape[0],
        cells=passes * scores.shape[1] // 4,
        threads=threads,
    )


def _count_sorted(
    scores: Matrix, there: Bools | None, widths: Ints,
    starts: Ints, columns: Ints, above: Ints, equal: Ints, suspects: Ints, threads: int | None,
) -> None:  # fmt: skip
    """Count by sorting each row and looking its listed scores up."""
    row_index = row_index_of(starts)
    wanted = scores[row_index, columns]
    hidden = np.arange(scores.shape[1]) >= widths[:, None]
    if there is not None:
        hidden |= ~there
    if scores.dtype.kind == "f":
        nan = np.isnan(scores)
        suspects[:] = nan.any(axis=1)
        hidden |= nan
    lowest = -np.inf if scores.dtype.kind == "f" else np.iinfo(scores.dtype).min
    # What is hidden goes below all that is not, and is passed over there.
    ordered = np.where(hidden, np.array(lowest, scores.dtype), scores)
    fillers = hidden.sum(axis=1)

    def look(first: int, last: int) -> None:
        ordered[first:last].sort(axis=1)
        work = 20 * int(starts[last] - starts[first])
        _search_rows.run(work, ordered, fillers, starts, wanted, above, equal, first, last)

    map_ranges(look, scores.shape[0], cells=10 * scores.size, threads=threads)


def _subtract_excluded(candidates: Candidates, listed: Listed, above: Ints, equal: Ints) -> None:
    """Take back what was counted of candidates to be left out."""
    excluded = candidates.excluded
    if excluded is None or not excluded.columns.size:
        return
    for start, stop in candidates.blocks():
        scores, _ = candidates.block(start, stop)
        mine = slice(int(listed.starts[start]), int(listed.starts[stop]))
        out = slice(int(excluded.starts[start]), int(excluded.starts[stop]))
        starts = listed.starts[start : stop + 1] - mine.start
        out_starts = excluded.starts[start : stop + 1] - out.start
        work = 3 * int((np.diff(starts) * np.diff(out_starts)).sum())
        _subtract_rows.run(
            work, as_input(scores), out_starts, excluded.columns[out], starts,
            listed.columns[mine], above[mine], equal[mine],
        )  # fmt: skip


@kernel
def _count_rows(
    scores: Matrix, there: Bytes, widths: Ints, starts: Ints, columns: Ints,
    above: Ints, equal: Ints, suspects: Ints, first: int, last: int,
) -> None:  # fmt: skip
    """Compare rows `first` to `last` with their listed scores; note the NaN of each.

    Counts are 32 bits wide and said to be at each step: as wide as the scores, so that sixteen of
    them are compared at once; 64 bits take twice as long.
    """
    scratch = np.empty(scores.shape[1], scores.dtype)
    for q in range(first, last):
        row = scores[q]
        n = widths[q]
        if there.shape[0] > 0:
            m = 0
            for c in range(n):
                scratch[m] = row[c]
                m += there[q, c]
            n = m
            row = scratch
        suspects[q] = _count_nan(row, n)
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
        odd = np.int32(odd + (row[c] != row[c]))
    return int(odd)


@kernel
def _count_one(row: Matrix, n: int, score: float) -> tuple[int, int]:
    """Count what is higher than a score, and what is the same."""
    higher = np.int32(0)
    same = np.int32(0)
    for c in range(n):
        higher = np.int32(higher + (row[c] > score))
        same = np.int32(same + (row[c] == score))
    return int(higher), int(same)


@kernel
def _count_four(
    row: Matrix, n: int, scores: Matrix, columns: Ints, above: Ints, equal: Ints
) -> None:
    """Do so for four scores: each cell is read once for all, which saves a seventh of the time."""
    s0, s1, s2, s3 = scores[columns[0]], scores[columns[1]], scores[columns[2]], scores[columns[3]]
    a0 = a1 = a2 = a3 = e0 = e1 = e2 = e3 = np.int32(0)
    for c in range(n):
        a0 = np.int32(a0 + (row[c] > s0))
        a1 = np.int32(a1 + (row[c] > s1))
        a2 = np.int32(a2 + (row[c] > s2))
        a3 = np.int32(a3 + (row[c] > s3))
        e0 = np.int32(e0 + (row[c] == s0))
        e1 = np.int32(e1 + (row[c] == s1))
        e2 = np.int32(e2 + (row[c] == s2))
        e3 = np.int32(e3 + (row[c] == s3))
    above[0], above[1], above[2], above[3] = a0, a1, a2, a3
    equal[0], equal[1], equal[2], equal[3] = e0, e1, e2, e3


@kernel
def _search_rows(
    ordered: Matrix, fillers: Ints, starts: Ints, wanted: Matrix, above: Ints, equal: Ints,
    first: int, last: int,
) -> None:  # fmt: skip
    """Look listed scores up in rows that ascend, behind their fillers."""
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
def _subtract_rows(
    scores: Matrix, out_starts: Ints, out: Ints, starts: Ints, columns: Ints,
    above: Ints, equal: Ints,
) -> None:  # fmt: skip
    """Take excluded candidates out of the counts."""
    for q in range(starts.size - 1):
        for i in range(starts[q], starts[q + 1]):
            score = scores[q, columns[i]]
            for j in range(out_starts[q], out_starts[q + 1]):
                above[i] -= scores[q, out[j]] > score
                equal[i] -= scores[q, out[j]] == score

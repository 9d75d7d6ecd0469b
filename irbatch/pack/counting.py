"""Ranks without sorting: how many candidates score higher than, or the same as, a graded one.

Where candidates share a score a policy decides, or nothing does and the block says so in its ties.
Scores on an accelerator are counted there; what comes back is as small as the list of relevant
candidates.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes2, Floats, Ints, Ints2, NDArray, Positions
from irbatch.data.cells import GradedCandidates
from irbatch.data.ids import read_candidate_ids
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE, Entries, SparseMatrix, count_levels
from irbatch.engine.ties import OpenTies, TieGroups, TiePolicy, place_ids
from irbatch.errors import InputError
from irbatch.pack.candidates import Candidates, part_of
from irbatch.pack.join import Block
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import map_ranges

# Graded candidates a query from which sorting the row costs less than counting for each: it costs
# as much for 350 of 20,000 float64, for 500 of float32, and for more of shorter rows.
SORTED_FROM = 350

# Tied candidates of a row up to which counting for each costs less than sorting it: 24 against
# 36 µs for 200 of 1,000, as much for 400.
MANY_TIED = 200

Scores = Annotated[NDArray[Any], "f4 f8 i8 u8"]
Scores2 = Annotated[NDArray[Any], "f4 f8 i8 u8", 2]


class ScoreRows(NamedTuple):
    """Some rows of scores, as kernels read them."""

    scores: Scores2  # (rows, candidates)
    there: Bytes2  # of that shape, 1 where a cell is a candidate; (0, 0) if all are
    widths: Ints  # (rows,): cells from there on are not candidates
    sizes: Ints  # (rows,): how many candidates there are
    lowest: Scores  # (1,): the lowest score there can be


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
        part, starts = part_of(graded.starts, start, stop)
        counted = Counted(starts, graded.columns[part], above[part], equal[part])
        if candidates.on_accelerator:
            nan: Bools | Ints = _count_there(candidates, start, stop, counted)
        elif counted.columns.size > SORTED_FROM * (stop - start):
            nan = _count_by_sorting(candidates, start, stop, counted, threads)
        else:
            nan = _count_by_comparing(candidates, start, stop, counted, threads)
        for row in np.flatnonzero(nan).tolist() if np.count_nonzero(nan) else ():
            _reject_nan(candidates, start + row)
    return above, equal


def count_by_keys(
    candidates: Candidates, graded: GradedCandidates, equal: Ints, keys: Ints
) -> Ints:
    """Count for each graded candidate those of its query and score that stand before it.

    `keys`, ``(queries, candidates)``, or one row of them for all, decide: lower ones come first.
    """
    all_before = np.zeros(equal.size, np.int64)
    shared = np.flatnonzero(equal > 1)
    rows, columns = graded.row_index[shared], graded.columns[shared]
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
        row_index, counts = rows[part] - start, before[part]
        sizes = np.bincount(row_index)
        cost = 2 * row_index.size * scores.shape[1]
        few = sizes, row_index, columns[part], counts
        _count_lower.run(cost, as_input(scores), cells, mine, *few)
        for row in np.flatnonzero(sizes > MANY_TIED).tolist():  # these are sorted
            many = slice(*np.searchsorted(row_index, [row, row + 1]).tolist())
            present = np.flatnonzero(candidates.are_candidates(start + row, start + row + 1)[0])
            of_row, tied = scores[row], columns[part][many]
            ordered = present[np.lexsort((mine[row % len(mine)][present], of_row[present]))]
            place = np.empty(of_row.size, np.int64)
            place[ordered] = np.arange(ordered.size)
            counts[many] = place[tied] - np.searchsorted(of_row[ordered], of_row[tied])
    all_before[shared] = before
    return all_before


def _reject_nan(candidates: Candidates, row: int) -> None:
    """Reject a NaN among a row's candidates; cells that are not candidates may be NaN."""
    scores, _ = candidates.block(row, row + 1)
    bad = np.isnan(scores[0]) & candidates.are_candidates(row, row + 1)[0]
    if bad.any():
        problem = f"score nan of candidate {int(np.argmax(bad))} is not a number"
        query = candidates.queries[row]
        raise InputError(problem, source="scores", query=query, value=float("nan"))


def _count_by_comparing(
    candidates: Candidates, start: int, stop: int, counted: Counted, threads: int | None
) -> Ints:
    """Count by comparing each row with each of its graded scores; return the NaN of each row."""
    scores, kept = candidates.block(start, stop)
    widths, sizes = candidates.widths[start:stop], candidates.sizes[start:stop]
    there = np.empty((0, 0), np.uint8) if kept is None else kept.view(np.uint8)
    lowest = -np.inf if scores.dtype.kind == "f" else np.iinfo(scores.dtype).min
    rows = ScoreRows(as_input(scores), there, widths, sizes, np.array([lowest], scores.dtype))
    nan = np.zeros(widths.size, np.int64)
    cells = (counted.columns.size + nan.size) * scores.shape[1]

    def count(first: int, last: int) -> None:
        space = np.empty(there.shape[1], scores.dtype)
        _count_rows.run(3 * cells, rows, counted, nan, space, first, last)

    map_ranges(count, nan.size, cells=cells // 4, threads=threads)
    return nan


def _count_by_sorting(
    candidates: Candidates, start: int, stop: int, counted: Counted, threads: int | None
) -> Bools:
    """Count by sorting each row and looking its graded scores up; tell which rows have a NaN."""
    scores, kept = candidates.block(start, stop)
    nan = np.zeros(stop - start, bool)

    def count(first: int, last: int) -> None:
        for row in range(first, last):
            width = candidates.widths[start + row]
            own = scores[row, :width] if kept is None else scores[row, :width][kept[row, :width]]
            ordered = np.sort(own)  # NaN last
            nan[row] = ordered.size > 0 and ordered[-1] != ordered[-1]
            part = slice(counted.starts[row], counted.starts[row + 1])
            graded_scores = scores[row, counted.columns[part]]
            ends = np.searchsorted(ordered, graded_scores, "right")
            counted.above[part] = ordered.size - ends
            counted.equal[part] = ends - np.searchsorted(ordered, graded_scores)

    map_ranges(count, nan.size, cells=10 * scores.size, threads=threads)
    return nan


@kernel
def _count_rows(
    rows: ScoreRows, counted: Counted, nan: Ints, space: Scores, first: int, last: int
) -> None:
    """Compare rows `first` to `last` with their graded scores; count the NaN of each.

    What is not a candidate has the lowest score in `space`, which has room for a row.
    """
    scores, there, widths, sizes, lowest = rows
    starts, columns, above, equal = counted
    filler = lowest[0]
    for q in range(first, last):
        row = scores[q]
        n = widths[q]
        if there.shape[0] > 0:
            for c in range(n):
                space[c] = row[c] if there[q, c] != 0 else filler
            row = space
        nan[q] = _count_nan(row, n)
        for i in range(starts[q], starts[q + 1]):
            score = scores[q, columns[i]]
            above[i], equal[i] = _count_one(row, n, score)
            if score == filler:
                equal[i] -= n - sizes[q]


@kernel
def _count_nan(row: Scores, n: int) -> int:
    odd = np.int32(0)
    for c in range(n):
        odd = np.int32(odd - (row[c] != row[c]))
    return -int(odd)


@kernel
def _count_one(row: Scores, n: int, score: float) -> tuple[int, int]:
    """Count what is higher than a score, and what is the same.

    Counts are as wide as the scores, and said to be at each step, so that an instruction takes as
    many of them; they go down, as a comparison gives -1. To count for 10 of 20,000 takes 9 µs, of
    float64 18; it was 13 and 45 with counts of 32 bits that go up.
    """
    if row.itemsize > 4:
        return _count_wide(row, n, score)
    higher = np.int32(0)
    same = np.int32(0)
    for c in range(n):
        higher = np.int32(higher - (row[c] > score))
        same = np.int32(same - (row[c] == score))
    return -int(higher), -int(same)


@kernel
def _count_wide(row: Scores, n: int, score: float) -> tuple[int, int]:
    higher = np.int64(0)
    same = np.int64(0)
    for c in range(n):
        higher = np.int64(higher - (row[c] > score))
        same = np.int64(same - (row[c] == score))
    return -int(higher), -int(same)


@kernel
def _count_lower(
    scores: Scores2,
    there: Bytes2,
    keys: Ints2,
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


# Graded candidates a query from which sorting the row takes less time than counting for each: for
# 2,000 x 20,000 an H100 takes 4.1 ms to sort, 0.75 to count for one; of 1,000, 0.2 and 0.07.
SORTED_THERE_FROM = 5


def _count_there(candidates: Candidates, start: int, stop: int, counted: Counted) -> Bools:
    """Count in some rows, all at once; tell which have a NaN."""
    torch = sys.modules["torch"]  # there is a tensor, so that it is loaded
    scores: Any = candidates.scores[start:stop]
    is_candidate = None
    if not candidates.whole:
        is_candidate = scores.new_tensor(candidates.are_candidates(start, stop), dtype=torch.bool)
    counts = np.diff(counted.starts)
    most = int(counts.max(initial=0))
    if most:
        real = np.arange(most) < counts[:, None]
        padded = np.zeros(real.shape, np.int64)
        padded[real] = counted.columns
        graded_scores = scores.gather(1, scores.new_tensor(padded, dtype=torch.int64))
        count = _sort_there if most > SORTED_THERE_FROM else _compare_there
        above, equal = count(torch, scores, is_candidate, graded_scores)
        counted.above[:] = to_numpy(above, "scores")[real]
        counted.equal[:] = to_numpy(equal, "scores")[real]
    nan = scores != scores
    return to_numpy((nan if is_candidate is None else nan & is_candidate).any(dim=1), "scores")


def _compare_there(
    torch: Any, scores: Any, is_candidate: Any, graded_scores: Any
) -> tuple[Any, Any]:
    def count(cells: Any) -> Any:
        return (cells if is_candidate is None else cells & is_candidate).sum(dim=1)

    columns = graded_scores.split(1, dim=1)
    above = torch.stack([count(scores > column) for column in columns], dim=1)
    return above, torch.stack([count(scores == column) for column in columns], dim=1)


def _sort_there(torch: Any, scores: Any, is_candidate: Any, graded_scores: Any) -> tuple[Any, Any]:
    """Sort; what is not a candidate goes below the candidates, and is passed over there."""
    hidden = scores != scores if is_candidate is None else ~is_candidate
    lowest = -math.inf if scores.dtype.is_floating_point else torch.iinfo(scores.dtype).min
    ordered = scores.masked_fill(hidden, lowest).sort(dim=1).values
    graded_scores = graded_scores.contiguous()
    end = torch.searchsorted(ordered, graded_scores, right=True)
    begin = torch.searchsorted(ordered, graded_scores)
    begin = begin.maximum(hidden.sum(dim=1, keepdim=True))
    return scores.shape[1] - end, end - begin


# Cells of a block whose matrix is never written out, and of the level counts of any block.
SPARSE_CELLS = 64 << 20
COUNT_CELLS = 2 << 20


class CountedCandidates(NamedTuple):
    """Graded candidates of queries, and how many others stand before each."""

    sizes: Ints  # (queries,): how many candidates there are of each
    width: int  # of the matrix of scores
    starts: Ints  # (queries + 1,): where the graded ones of each begin and end
    grades: Floats
    all_one: bool  # whether every grade is 1
    above: Ints  # how many score higher
    equal: Ints  # how many score the same
    before: Ints  # how many of these a key puts before it; empty if no keys decide

    def join(self, others: Sequence[CountedCandidates]) -> CountedCandidates:
        """Put those of other queries behind them."""
        parts = (self, *others)
        sizes, grades, above, equal, before = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("sizes", "grades", "above", "equal", "before")
        )
        starts = offsets_of(np.concatenate([part.starts[1:] - part.starts[:-1] for part in parts]))
        width, all_one = max(part.width for part in parts), all(part.all_one for part in parts)
        return CountedCandidates(sizes, width, starts, grades, all_one, above, equal, before)


class Ranked(NamedTuple):
    """Graded candidates where they stand, query after query in rank order."""

    counted: CountedCandidates
    ranks: Ints  # from 1
    grades: Floats
    ties: OpenTies | None  # where the order was not decided; None if a policy decided all
    tied: Bools  # (queries,): which have candidates of different grades that share a score


def read_tie_keys(policy: TiePolicy, document_ids: Any, shape: tuple[int, int]) -> Ints | None:
    """Return what decides among candidates that share a score, as `count_by_keys` takes it.

    Ids may be ``(candidates,)`` or of a row for each query. None if neither ids nor positions
    decide.
    """
    if not policy.by_key:
        return None
    if document_ids is None:
        return np.arange(shape[1])[None, :]
    ids = read_candidate_ids(document_ids, shape)
    return np.stack([place_ids(policy, row_ids) for row_ids in ids])


def rank_candidates(counted: CountedCandidates, policy: TiePolicy) -> Ranked:
    """Turn counts into ranks."""
    rows, ranks = row_index_of(counted.starts), counted.above + 1
    open_ties, tied = None, np.zeros(counted.sizes.size, bool)
    shared = np.flatnonzero(counted.equal > 1)
    if shared.size:
        above, equal = counted.above[shared], counted.equal[shared]
        groups = TieGroups(policy, rows[shared], counted.grades[shared], above, equal)
        if (rejected := groups.find_rejected()) is not None:
            raise TieError(int(shared[rejected]))
        ranks[shared] += groups.count_before(lambda: counted.before[shared])
        open_ties, tied = groups.list_open(), groups.mark_rows(tied.size)
    ranks, grades = _in_rank_order(counted, rows, ranks)
    return Ranked(counted, ranks, grades, open_ties, tied)


class TieError(ValueError):
    """A tie that a policy rejects, at the place of one of its graded candidates."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def _in_rank_order(counted: CountedCandidates, rows: Ints, ranks: Ints) -> tuple[Ints, Floats]:
    """Sort each query's ranks, and grades with them; by merging, as queries are in order."""
    if (rows[1:] > rows[:-1]).all():  # one of each query
        return ranks, counted.grades
    base = counted.width + 1  # above all ranks
    keys = rows * base + ranks  # one number of both sorts sooner than two do
    if counted.all_one:
        keys.sort(kind="stable")
        return keys - rows * base, counted.grades
    order = np.argsort(keys, kind="stable")
    return ranks[order], counted.grades[order]


def pack_candidates(
    ranked: Ranked, n_relevant: Ints | None, *, every_cell: bool
) -> Iterator[Block]:
    """Pack ranked candidates into blocks, small ones if every cell of them will be read."""
    queries, width = ranked.counted.sizes.size, ranked.counted.width
    at_once = max((BLOCK_BYTES if every_cell else SPARSE_CELLS) // max(width, 1), 1)
    for start in range(0, queries, at_once):
        yield from _pack_rows(ranked, n_relevant, np.arange(start, min(start + at_once, queries)))


def _pack_rows(ranked: Ranked, n_relevant: Ints | None, rows: Positions) -> Iterator[Block]:
    """Pack some rows; in parts where their grades turn out to be very many."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    part, starts = part_of(ranked.counted.starts, first, last)
    grades, sizes = ranked.grades[part], ranked.counted.sizes[first:last]
    all_one = ranked.counted.all_one
    # 0, which other candidates have, and the grades above it.
    least = [0.0, 1.0] if n_relevant is not None or (all_one and grades.size) else [0.0]
    levels = np.array(least) if all_one else distinct(np.append(grades[grades > 0], least))
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(ranked, n_relevant, half)
        return
    n_graded = np.diff(starts)
    if all_one:
        codes = np.ones(grades.size, np.int64)
        judged = np.empty((rows.size, levels.size), np.int64)
        judged[:, 1:] = n_graded[:, None]
    else:
        codes = np.where(grades < 0, NEGATIVE, np.searchsorted(levels, grades)).astype(np.int64)
        judged = count_levels(row_index_of(starts), codes, (rows.size, levels.size))
    judged[:, 0] = sizes - n_graded
    if n_relevant is not None:
        judged[:, 1] = n_relevant[rows]
    ties = None if ranked.ties is None else ranked.ties.of_rows(first, last)
    entries = Entries(starts, ranked.ranks[part], codes)
    yield Block(rows, SparseMatrix(levels, sizes, judged, entries, ties), ranked.tied[first:last])

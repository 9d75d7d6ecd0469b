"""Packing candidates that have scores and no ids: where the graded ones stand, and blocks of them.

Ranks come from counts. Where candidates share a score a policy decides, or nothing does and the
block says so in its ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.cells import GradedCandidates
from irbatch.data.ids import read_candidate_ids
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE, Entries, SparseMatrix, count_levels
from irbatch.engine.ties import OpenTies, TieGroups, TiePolicy, place_ids
from irbatch.pack.block import Block
from irbatch.pack.candidates import Candidates, part_of
from irbatch.pack.counting import count_lower
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import offsets_of, row_index_of

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
        *entries, total = offsets_of([part.grades.size for part in parts]).tolist()
        starts = [part.starts[:-1] + entry for part, entry in zip(parts, entries, strict=True)]
        return CountedCandidates(
            sizes=np.concatenate([part.sizes for part in parts]),
            width=max(part.width for part in parts),
            starts=np.append(np.concatenate(starts), total),
            grades=np.concatenate([part.grades for part in parts]),
            all_one=all(part.all_one for part in parts),
            above=np.concatenate([part.above for part in parts]),
            equal=np.concatenate([part.equal for part in parts]),
            before=np.concatenate([part.before for part in parts]),
        )


class Ranked(NamedTuple):
    """Graded candidates where they stand, query after query in rank order."""

    counted: CountedCandidates
    ranks: Ints  # from 1
    grades: Floats
    ties: OpenTies | None  # where the order was not decided; None if a policy decided all
    tied: Bools  # (queries,): which have candidates of different grades that share a score
    constant: int  # how many queries have one score for all of their candidates


def count_by_keys(
    candidates: Candidates, graded: GradedCandidates, equal: Ints, keys: Ints
) -> Ints:
    """Count for each graded candidate those of its query and score that stand before it.

    `keys`, ``(queries, candidates)``, or one row of them for all, decide: lower ones come first.
    """
    before = np.zeros(equal.size, np.int64)
    shared = np.flatnonzero(equal > 1)
    if shared.size:
        rows, columns = graded.row_index[shared], graded.columns[shared]
        before[shared] = count_lower(candidates, rows, columns, keys)
    return before


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
    return np.stack([place_ids(policy, each) for each in ids])


def rank_candidates(counted: CountedCandidates, policy: TiePolicy) -> Ranked:
    """Turn counts into ranks.

    Raises:
        TieError: if the policy refuses a tie.
    """
    rows, ranks = row_index_of(counted.starts), counted.above + 1
    open_ties, tied, constant = None, np.zeros(counted.sizes.size, bool), 0
    shared = np.flatnonzero(counted.equal > 1)
    if shared.size:
        above, equal = counted.above[shared], counted.equal[shared]
        groups = TieGroups(policy, rows[shared], counted.grades[shared], above, equal)
        if (refused := groups.find_refused()) is not None:
            raise TieError(int(shared[refused]))
        ranks[shared] += groups.count_before(lambda: counted.before[shared])
        open_ties, tied = groups.list_open(), groups.mark_rows(tied.size)
        constant = groups.count_constant(counted.sizes)
    ranks, grades = _in_rank_order(counted, rows, ranks)
    return Ranked(counted, ranks, grades, open_ties, tied, constant)


class TieError(ValueError):
    """A tie that a policy refuses, at the place of one of its graded candidates."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def _in_rank_order(counted: CountedCandidates, rows: Ints, ranks: Ints) -> tuple[Ints, Floats]:
    """Sort each query's ranks, and grades with them."""
    if (rows[1:] > rows[:-1]).all():  # one of each query
        return ranks, counted.grades
    base = counted.width + 1  # above all ranks
    keys = rows * base + ranks  # one number of both sorts sooner than two do
    if counted.all_one:
        keys.sort()  # in half the time of an order to be applied
        return keys - rows * base, counted.grades
    order = np.argsort(keys)
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
    levels = _list_levels(grades, all_one=all_one, binary=n_relevant is not None)
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(ranked, n_relevant, half)
        return
    found = np.diff(starts)
    if all_one:
        codes = np.ones(grades.size, np.int64)
        judged = np.empty((rows.size, levels.size), np.int64)
        judged[:, 1:] = found[:, None]
    else:
        codes = np.where(grades < 0, NEGATIVE, np.searchsorted(levels, grades)).astype(np.int64)
        judged = count_levels(row_index_of(starts), codes, (rows.size, levels.size))
    judged[:, 0] = sizes - found
    if n_relevant is not None:
        judged[:, 1] = n_relevant[rows]
    ties = None if ranked.ties is None else ranked.ties.of_rows(first, last)
    entries = Entries(starts, ranked.ranks[part], codes)
    yield Block(rows, SparseMatrix(levels, sizes, judged, entries, ties), ranked.tied[first:last])


def _list_levels(grades: Floats, *, all_one: bool, binary: bool) -> Floats:
    """List the levels of a block: 0, which other candidates have, and the grades above it."""
    least = [0.0, 1.0] if binary or (all_one and grades.size) else [0.0]
    return np.array(least) if all_one else distinct(np.append(grades[grades > 0], least))

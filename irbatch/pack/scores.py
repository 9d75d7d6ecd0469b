"""Packing candidates that have scores and no ids: where the graded ones stand, and blocks of them.

Ranks come from counts. Where candidates share a score a policy decides, or nothing does and the
block says so in its ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.arguments.candidates import GradedCandidates
from irbatch.data.arguments.ids import read_candidate_ids
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE, Entries, SparseMatrix, count_levels
from irbatch.engine.ties.by_id import place_ids
from irbatch.engine.ties.groups import OpenTies, TieGroups
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError
from irbatch.pack.block import Block
from irbatch.pack.candidates import Candidates, part_of
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import row_index_of

# Cells of a block whose matrix is never written out, and of the level counts of any block.
SPARSE_CELLS = 64 << 20
COUNT_CELLS = 2 << 20
MANY_TIED = 16  # graded candidates of a row from which sorting it is sooner than a look at each


@dataclass(frozen=True, eq=False)
class Ranked:
    """Graded candidates where they stand, query after query in rank order."""

    starts: Ints  # (queries + 1,)
    ranks: Ints  # from 1
    grades: Floats
    ties: OpenTies | None  # where the order was not decided; None if a policy decided all
    tied: Bools  # (queries,): which have candidates of different grades that share a score
    constant: int  # how many queries have one score for all of their candidates


def read_tie_keys(policy: TiePolicy, document_ids: Any, shape: tuple[int, int]) -> Ints:
    """Return what decides among candidates that share a score: lower numbers come first.

    Ids may be, and keys are, ``(candidates,)`` or of a row for each query; or there is one row.
    """
    if document_ids is None:
        return np.arange(shape[1])
    ids = read_candidate_ids(document_ids, shape)
    return np.stack([place_ids(policy, each) for each in ids])


def rank_candidates(
    candidates: Candidates,
    graded: GradedCandidates,
    above: Ints,
    equal: Ints,
    policy: TiePolicy,
    keys: Ints,
) -> Ranked:
    """Turn the counts of `count_candidates` into ranks; `keys` are those of `read_tie_keys`."""
    rows = graded.row_index
    ranks = above + 1
    open_ties, tied, constant = None, np.zeros(candidates.shape[0], bool), 0
    shared = np.flatnonzero(equal > 1)
    if shared.size:
        grades = graded.grades[shared]
        groups = TieGroups(policy, rows[shared], grades, above[shared], equal[shared])
        if (refused := groups.find_refused()) is not None:
            _refuse_tie(candidates, int(rows[shared[refused]]), graded.columns[shared[refused]])
        ranks[shared] += groups.count_before(
            lambda: _count_before(candidates, graded, shared, keys)
        )
        open_ties, tied = groups.list_open(), groups.mark_rows(tied.size)
        constant = groups.count_constant(candidates.sizes)
    ranks, grades = _in_rank_order(rows, ranks, graded.grades, candidates.shape[1] + 1)
    return Ranked(graded.starts, ranks, grades, open_ties, tied, constant)


def _in_rank_order(row_index: Ints, ranks: Ints, grades: Floats, base: int) -> tuple[Ints, Floats]:
    """Sort each query's ranks, and grades with them; `base` is above all ranks."""
    keys = row_index * base + ranks  # one number of both sorts sooner than two do
    if (grades == 1).all():
        keys.sort()  # in half the time of an order to be applied
        return keys - row_index * base, grades
    order = np.argsort(keys)
    return ranks[order], grades[order]


def pack_candidates(
    candidates: Candidates, ranked: Ranked, n_relevant: Ints | None, *, every_cell: bool
) -> Iterator[Block]:
    """Pack ranked candidates into blocks, small ones if every cell of them will be read."""
    deepest = max(candidates.shape[1], 1)
    at_once = max((BLOCK_BYTES if every_cell else SPARSE_CELLS) // deepest, 1)
    for start in range(0, candidates.shape[0], at_once):
        rows = np.arange(start, min(start + at_once, candidates.shape[0]))
        yield from _pack_rows(candidates, ranked, n_relevant, rows)


def _pack_rows(
    candidates: Candidates, ranked: Ranked, n_relevant: Ints | None, rows: Positions
) -> Iterator[Block]:
    """Pack some rows; in parts where their grades turn out to be very many."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    part, starts = part_of(ranked.starts, first, last)
    grades = ranked.grades[part]
    levels = distinct(np.append(grades[grades > 0], [0.0] if n_relevant is None else [0.0, 1.0]))
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(candidates, ranked, n_relevant, half)
        return
    codes = np.where(grades < 0, NEGATIVE, np.searchsorted(levels, grades)).astype(np.int64)
    judged = count_levels(row_index_of(starts), codes, (rows.size, levels.size))
    judged[:, 0] = candidates.sizes[rows] - np.diff(starts)
    if n_relevant is not None:
        judged[:, 1] = n_relevant[rows]
    ties = None if ranked.ties is None else ranked.ties.of_rows(first, last)
    entries = Entries(starts, ranked.ranks[part], codes)
    matrix = SparseMatrix(levels, candidates.sizes[rows], judged, entries, ties)
    yield Block(rows, matrix, ranked.tied[rows])


def _count_before(candidates: Candidates, graded: GradedCandidates, tied: Ints, keys: Ints) -> Ints:
    """Count for candidates `tied` those of the same score that a key puts before them."""
    keys = np.broadcast_to(keys, candidates.shape)
    before = np.zeros(graded.columns.size, np.int64)
    rows, firsts = np.unique(graded.row_index[tied], return_index=True)
    for row, mine in zip(rows.tolist(), np.split(tied, firsts[1:]), strict=True):
        scores = candidates.block(row, row + 1)[0][0]
        there, key = candidates.are_candidates(row, row + 1)[0], keys[row]
        columns = graded.columns[mine]
        if mine.size < MANY_TIED:
            for i, column in zip(mine, columns, strict=True):
                same = there & (scores == scores[column])
                before[i] = np.count_nonzero(key[same] < key[column])
            continue
        cells = np.flatnonzero(there)
        ordered = cells[np.lexsort((key[cells], scores[cells]))]
        place = np.empty(there.size, np.int64)
        place[ordered] = np.arange(ordered.size)
        before[mine] = place[columns] - np.searchsorted(scores[ordered], scores[columns])
    return before[tied]


def _refuse_tie(candidates: Candidates, row: int, column: int) -> None:
    score = float(candidates.scores[row, column])
    problem = (
        f"candidates of different relevance share the score {score:g}: say what decides "
        "with ties='expected', 'pessimistic', 'optimistic' or 'index'"
    )
    raise InputError(problem, source="scores", query=candidates.queries[row], value=score)

"""Packing candidates that have scores and no ids: where the listed ones stand, and blocks of them.

Ranks come from counts. Where candidates share a score a policy decides, or nothing does and the
block says so in its ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.arguments.candidates import Listed
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE
from irbatch.engine.sparse_matrix import Entries, SparseMatrix
from irbatch.engine.ties.groups import TieGroups
from irbatch.engine.ties.open_ties import OpenTies
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError
from irbatch.pack.block import Block
from irbatch.pack.candidates import Candidates
from irbatch.runtime.ragged import row_index_of

__all__ = ["Ranked", "pack_candidates", "rank_candidates"]

Keys = Callable[[int], Ints]
"""From a row to what decides among its candidates that share a score: lower numbers first."""

# Cells of a block whose matrix is never written out, and of the level counts of any block.
LISTED_CELLS = 64 << 20
COUNT_CELLS = 2 << 20
MANY_TIED = 16  # listed candidates of a row from which sorting it is sooner than a look at each


@dataclass(frozen=True, eq=False)
class Ranked:
    """Listed candidates where they stand, query after query in rank order.

    Args:
        starts: int64 ``(queries + 1,)``.
        ranks: int64 ``(listed,)``, from 1.
        grades: float64 ``(listed,)``.
        ties: where the order was not decided; None if a policy decided all.
        tied: bool ``(queries,)``, which have candidates of different grades that share a score.
        constant: int, how many queries have one score for all of their candidates.
    """

    starts: Ints
    ranks: Ints
    grades: Floats
    ties: OpenTies | None
    tied: Bools
    constant: int


def rank_candidates(
    candidates: Candidates,
    listed: Listed,
    above: Ints,
    equal: Ints,
    ties: TiePolicy,
    keys: Keys | None = None,
) -> Ranked:
    """Turn counts into ranks.

    Args:
        candidates: the scores.
        listed: the candidates counted for.
        above, equal: what `irbatch.pack.counting.count_candidates` returned.
        ties: ``"expected"`` leaves the order open, ``"pessimistic"`` puts lower grades first,
            ``"optimistic"`` higher ones, ``"error"`` refuses ties of different grades; any other
            lets `keys` decide.
        keys: what decides then.

    Raises:
        InputError: for refused ties.
    """
    row_index = listed.row_index
    ranks = above + 1
    shared = np.flatnonzero(equal > 1)
    groups = None
    if shared.size:
        groups = TieGroups(row_index[shared], listed.grades[shared], above[shared], equal[shared])
        if ties == "error" and groups.matters.any():
            which = int(shared[groups.order[np.argmax(groups.matters)]])
            _refuse_ties(candidates, listed, row_index, which)
        if keys is not None:
            ranks += _count_before(candidates, listed, shared, keys)
        else:
            ranks[shared] += groups.places(ties)
    ranks, grades = _in_rank_order(row_index, ranks, listed.grades, candidates.shape[1] + 1)
    tied = np.zeros(candidates.shape[0], bool)
    if groups is not None and not ties.by_id:
        tied[groups.tied_queries()] = True
    return Ranked(
        listed.starts,
        ranks,
        grades,
        groups.open_ties() if groups is not None and ties == "expected" else None,
        tied,
        0 if groups is None else groups.count_constant(candidates.sizes),
    )


def _in_rank_order(row_index: Ints, ranks: Ints, grades: Floats, base: int) -> tuple[Ints, Floats]:
    """Sort each query's ranks, and grades with them; `base` is above all ranks."""
    keys = row_index * base + ranks  # one number of both sorts sooner than two do
    if (grades == 1).all():
        keys.sort()  # in half the time of an order to be applied
        return keys - row_index * base, grades
    order = np.argsort(keys)
    return ranks[order], grades[order]


def pack_candidates(candidates: Candidates, ranked: Ranked, n_relevant: Ints | None,
                    *, every_cell: bool) -> Iterator[Block]:  # fmt: skip
    """Pack ranked candidates into blocks.

    Args:
        candidates: the scores.
        ranked: where their listed ones stand.
        n_relevant: int64 ``(queries,)``, how many relevant documents each query has in all;
            default: those listed.
        every_cell: whether all of a block's cells will be read, so that it has to be small.
    """
    deepest = max(candidates.shape[1], 1)
    at_once = max((BLOCK_BYTES if every_cell else LISTED_CELLS) // deepest, 1)
    for start in range(0, candidates.shape[0], at_once):
        rows = np.arange(start, min(start + at_once, candidates.shape[0]))
        yield from _pack_rows(candidates, ranked, n_relevant, rows)


def _pack_rows(
    candidates: Candidates, ranked: Ranked, n_relevant: Ints | None, rows: Positions
) -> Iterator[Block]:
    """Pack some rows; in parts where their grades turn out to be very many."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    part = slice(int(ranked.starts[first]), int(ranked.starts[last]))
    grades = ranked.grades[part]
    levels = np.unique(np.append(grades[grades > 0], [0.0] if n_relevant is None else [0.0, 1.0]))
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(candidates, ranked, n_relevant, half)
        return
    starts = ranked.starts[first : last + 1] - part.start
    row_index = row_index_of(starts)
    codes = np.where(grades < 0, NEGATIVE, np.searchsorted(levels, grades)).astype(np.int64)
    counted = codes >= 0
    cells = row_index[counted] * levels.size + codes[counted]
    judged = np.bincount(cells, minlength=rows.size * levels.size).reshape(rows.size, levels.size)
    judged[:, 0] = candidates.sizes[rows] - np.diff(starts)
    if n_relevant is not None:
        judged[:, 1] = n_relevant[rows]
    ties = None
    if ranked.ties is not None:
        mine = slice(*np.searchsorted(ranked.ties.rows, [first, last]).tolist())
        ties = OpenTies(ranked.ties.rows[mine] - first, ranked.ties.begins[mine],
                    ranked.ties.ends[mine])  # fmt: skip
    entries = Entries(starts, ranked.ranks[part], codes)
    matrix = SparseMatrix(levels, candidates.sizes[rows], judged, entries, ties)
    yield Block(rows, matrix, ranked.tied[rows])


def _count_before(candidates: Candidates, listed: Listed, tied: Ints, keys: Keys) -> Ints:
    """Count for each listed candidate those of the same score that a key puts before it.

    Args:
        tied: int64 ``(tied,)``, positions of those listed that share their score.
    """
    before = np.zeros(listed.columns.size, np.int64)
    rows, firsts = np.unique(listed.row_index[tied], return_index=True)
    for row, mine in zip(rows.tolist(), np.split(tied, firsts[1:]), strict=True):
        scores = candidates.block(row, row + 1)[0][0]
        there, key = candidates.are_candidates(row, row + 1)[0], keys(row)
        columns = listed.columns[mine]
        if mine.size < MANY_TIED:
            for i, column in zip(mine, columns, strict=True):
                same = there & (scores == scores[column])
                before[i] = np.count_nonzero(key[same] < key[column])
            continue
        cells = np.flatnonzero(there)
        ordered = cells[np.lexsort((-key[cells], scores[cells]))[::-1]]
        # Places in that order, less the place of the first that has the same score.
        place = np.empty(there.size, np.int64)
        place[ordered] = np.arange(ordered.size)
        new = np.append(True, scores[ordered][1:] != scores[ordered][:-1])
        first = np.flatnonzero(new)[np.cumsum(new) - 1]
        before[mine] = place[columns] - first[place[columns]]
    return before


def _refuse_ties(candidates: Candidates, listed: Listed, row_index: Ints, which: int) -> None:
    row, column = int(row_index[which]), int(listed.columns[which])
    score: Any = candidates.scores[row, column]
    raise InputError(
        f"candidates of different relevance share the score {float(score):g}: say what decides "
        "with ties='expected', 'pessimistic', 'optimistic' or 'index'",
        source="scores",
        query=candidates.queries[row],
        value=float(score),
    )

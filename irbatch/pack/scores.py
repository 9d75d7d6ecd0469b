"""Packing candidates that have scores and no ids: where the graded ones stand, and blocks of them.

Ranks come from counts. Where candidates share a score a policy decides, or nothing does and the
block says so in its ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
from irbatch.pack.counting import count_before
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import offsets_of, row_index_of

# Cells of a block whose matrix is never written out, and of the level counts of any block.
SPARSE_CELLS = 64 << 20
COUNT_CELLS = 2 << 20


class Ranked(NamedTuple):
    """Graded candidates where they stand, query after query in rank order."""

    sizes: Ints  # (queries,): how many candidates each has
    width: int  # of the matrix of scores
    starts: Ints  # (queries + 1,)
    ranks: Ints  # from 1
    grades: Floats
    all_one: bool  # whether every grade is 1
    ties: OpenTies | None  # where the order was not decided; None if a policy decided all
    tied: Bools  # (queries,): which have candidates of different grades that share a score
    constant: int  # how many queries have one score for all of their candidates


def read_tie_keys(policy: TiePolicy, document_ids: Any, shape: tuple[int, int]) -> Ints | None:
    """Return what decides among candidates that share a score: lower numbers come first.

    Ids may be ``(candidates,)`` or of a row for each query, and so are the keys, with one row or
    with as many. None if neither ids nor positions decide.
    """
    if not policy.by_key:
        return None
    if document_ids is None:
        return np.arange(shape[1])[None, :]
    ids = read_candidate_ids(document_ids, shape)
    return np.stack([place_ids(policy, each) for each in ids])


def rank_candidates(
    candidates: Candidates,
    graded: GradedCandidates,
    above: Ints,
    equal: Ints,
    policy: TiePolicy,
    keys: Ints | None,
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
            _refuse_tie(
                candidates, int(rows[shared[refused]]), int(graded.columns[shared[refused]])
            )
        ranks[shared] += groups.count_before(
            lambda: count_before(candidates, rows[shared], graded.columns[shared], keys)
        )
        open_ties, tied = groups.list_open(), groups.mark_rows(tied.size)
        constant = groups.count_constant(candidates.sizes)
    width = candidates.shape[1]
    ranks, grades = _in_rank_order(graded, ranks, width + 1)
    placed = graded.starts, ranks, grades, graded.all_one
    return Ranked(candidates.sizes, width, *placed, open_ties, tied, constant)


def _in_rank_order(graded: GradedCandidates, ranks: Ints, base: int) -> tuple[Ints, Floats]:
    """Sort each query's ranks, and grades with them; `base` is above all ranks."""
    rows = graded.row_index
    if (rows[1:] > rows[:-1]).all():  # one of each query
        return ranks, graded.grades
    keys = rows * base + ranks  # one number of both sorts sooner than two do
    if graded.all_one:
        keys.sort()  # in half the time of an order to be applied
        return keys - rows * base, graded.grades
    order = np.argsort(keys)
    return ranks[order], graded.grades[order]


def join_ranked(parts: Sequence[Ranked]) -> Ranked:
    """Put ranked candidates of several matrices one after the other."""
    sizes = [part.sizes.size for part in parts]
    begins = offsets_of(sizes)[:-1].tolist()
    *entries, total = offsets_of([part.ranks.size for part in parts]).tolist()
    starts = [part.starts[:-1] + entry for part, entry in zip(parts, entries, strict=True)]
    ties = [
        (part.ties.rows + begin, part.ties.begins, part.ties.ends)
        for part, begin in zip(parts, begins, strict=True)
        if part.ties is not None
    ]
    return Ranked(
        sizes=np.concatenate([part.sizes for part in parts]),
        width=max(part.width for part in parts),
        starts=np.append(np.concatenate(starts), total),
        ranks=np.concatenate([part.ranks for part in parts]),
        grades=np.concatenate([part.grades for part in parts]),
        all_one=all(part.all_one for part in parts),
        ties=OpenTies(*map(np.concatenate, zip(*ties, strict=True))) if ties else None,
        tied=np.concatenate([part.tied for part in parts]),
        constant=sum(part.constant for part in parts),
    )


def pack_candidates(
    ranked: Ranked, n_relevant: Ints | None, *, every_cell: bool
) -> Iterator[Block]:
    """Pack ranked candidates into blocks, small ones if every cell of them will be read."""
    queries = ranked.sizes.size
    at_once = max((BLOCK_BYTES if every_cell else SPARSE_CELLS) // max(ranked.width, 1), 1)
    for start in range(0, queries, at_once):
        yield from _pack_rows(ranked, n_relevant, np.arange(start, min(start + at_once, queries)))


def _pack_rows(ranked: Ranked, n_relevant: Ints | None, rows: Positions) -> Iterator[Block]:
    """Pack some rows; in parts where their grades turn out to be very many."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    part, starts = part_of(ranked.starts, first, last)
    grades, sizes = ranked.grades[part], ranked.sizes[first:last]
    levels = _list_levels(grades, all_one=ranked.all_one, counted=n_relevant is not None)
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(ranked, n_relevant, half)
        return
    found = np.diff(starts)
    if ranked.all_one:
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


def _list_levels(grades: Floats, *, all_one: bool, counted: bool) -> Floats:
    """List the levels of a block: 0, which ungraded candidates have, and the grades above it."""
    if all_one:
        return np.array([0.0, 1.0] if grades.size or counted else [0.0])
    return distinct(np.append(grades[grades > 0], [0.0, 1.0] if counted else [0.0]))


def _refuse_tie(candidates: Candidates, row: int, column: int) -> None:
    score = candidates.score_of(row, int(column))
    problem = (
        f"candidates of different relevance share the score {score:g}: say what decides "
        "with ties='expected', 'pessimistic', 'optimistic' or 'index'"
    )
    raise InputError(problem, source="scores", query=candidates.queries[row], value=score)

"""A block of packed queries, and how judgments are joined with rankings in one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.qrels import Qrels
from irbatch.engine.matrix import (
    BLOCK_BYTES,
    BYTE_LEVELS,
    RelevanceMatrix,
    count_levels,
    plan_blocks,
)
from irbatch.engine.ties import TieGroups, TiePolicy, find_ranks, rank_in_tie
from irbatch.errors import InputError
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import offsets_of


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the queries, packed."""

    rows: Positions  # (queries,): places among the queries to evaluate
    matrix: RelevanceMatrix
    tied: Bools | None = None  # (queries,): which have ties that matter and ids didn't decide

    def split(self, most: int) -> Iterator[Block]:
        """Yield the same queries in blocks of so many at most."""
        if self.rows.size <= most:
            yield self
            return
        for first in range(0, self.rows.size, most):
            last = min(first + most, self.rows.size)
            tied = None if self.tied is None else self.tied[first:last]
            yield Block(self.rows[first:last], self.matrix.of_rows(first, last), tied)


def plan_query_blocks(qrels: Qrels, rows: Positions, depths: Ints) -> Iterator[Positions]:
    """Group the judged queries at `rows` by the depths of their rankings, see `plan_blocks`."""
    levels = qrels.levels.size
    if levels > BYTE_LEVELS and rows.size:
        # A block of n queries with j judgments each has at most n*j levels of its own, so that
        # its n*n*j counts fill the budget at about this many levels.
        most = int((qrels.starts[rows + 1] - qrels.starts[rows]).max())
        levels = min(levels, math.isqrt(BLOCK_BYTES * most // 8) + 1)
    return plan_blocks(depths, levels)


def blank_matrix(
    qrels: Qrels, rows: Positions, retrieved: Ints
) -> tuple[RelevanceMatrix, npt.NDArray[np.int32], Ints]:
    """Start a block, nothing judged at any rank; also return its judgments' codes and rows."""
    codes, row_index = qrels.gather(rows)
    levels = qrels.levels
    if levels.size > BYTE_LEVELS:
        used = distinct(codes[codes >= 0])
        codes = np.where(codes < 0, codes, np.searchsorted(used, codes)).astype(np.int32)
        levels = levels[used]
    counts = count_levels(row_index, codes, (rows.size, levels.size))
    return RelevanceMatrix.unjudged(retrieved, levels, counts), codes, row_index


class Joined(NamedTuple):
    """Rankings of some queries, and the judged documents, query after query, found in them."""

    scores: Floats  # descending within a ranking
    begins: Ints  # (queries,): of each ranking in `scores`
    ends: Ints
    judged_scores: Floats  # NaN where a document was not retrieved
    ids_at: Callable[[int, float], Sequence[Any]]  # by ranking and score, as they came in
    near: Ints | None = None  # where judged documents may stand in `scores`, or -1
    # Instead of `scores` and `near`: how many documents score higher, and how many the same.
    counts: Sequence[Ints] | None = None


def pack_joined(
    qrels: Qrels, rows: Positions, picks: Positions, joined: Joined, policy: TiePolicy
) -> Block:
    """Pack the queries at `rows` of the qrels, at `picks` of those to evaluate."""
    scores, begins, ends, judged_scores, ids_at, near, counts = joined
    matrix, codes, row_index = blank_matrix(qrels, rows, ends - begins)
    found = np.flatnonzero(~np.isnan(judged_scores))
    codes, row_index, judged_scores = codes[found], row_index[found], judged_scores[found]
    if counts is not None:
        ranks, equal = (each[found] for each in counts)
    else:
        near = np.full(found.size, -1, np.int64) if near is None else near[found]
        ranks, equal = find_ranks(scores, begins, ends, judged_scores, row_index, near)
    shared = np.flatnonzero(equal > 1)
    block = Block(picks, matrix)
    if shared.size:
        grades = np.append(matrix.levels, -1.0)[np.maximum(codes[shared], -1)]
        in_rows = row_index[shared]
        groups = TieGroups(policy, in_rows, grades, ranks[shared], equal[shared])
        if (refused := groups.find_refused()) is not None:
            score = float(judged_scores[shared[refused]])
            problem = f"documents of different grades share the score {score:g}"
            query = qrels.queries[rows[in_rows[refused]]]
            raise InputError(problem, source="run", query=query, value=score)

        def rank_by_key() -> Ints:
            offsets = offsets_of(qrels.starts[rows + 1] - qrels.starts[rows])
            before = np.empty(shared.size, np.int64)
            at, documents = -1, []
            for group in groups:  # those of one row follow each other
                row = int(in_rows[group[0]])
                if row != at:
                    at, documents = row, list(qrels.documents[int(rows[row])])
                tied = ids_at(row, judged_scores[shared[group[0]]])
                judged = [documents[each] for each in found[shared[group]] - offsets[row]]
                before[group] = rank_in_tie(policy, tied, judged)
            return before

        ranks[shared] += groups.count_before(rank_by_key)
        block = Block(picks, replace(matrix, ties=groups.list_open()), groups.mark_rows(rows.size))
    matrix.codes[row_index, ranks] = codes
    return block

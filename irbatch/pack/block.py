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
from irbatch.engine.ties.by_id import rank_in_tie
from irbatch.engine.ties.by_score import find_ranks
from irbatch.engine.ties.groups import TieGroups
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError
from irbatch.runtime.numbers import distinct


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the queries, packed.

    Args:
        rows: intp ``(queries,)``, the position of each among the queries to evaluate.
        matrix: their relevance.
        tied: bool ``(queries,)``, which have documents of one score whose order matters and was
            not decided by their ids; None if no query has.
    """

    rows: Positions
    matrix: RelevanceMatrix
    tied: Bools | None = None


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
    """Start a block: nothing judged yet at any rank, but the judgments counted.

    Returns:
        The matrix; the codes that the judged documents of the queries at `rows` have in it, one
        query after the other; and the row of each.
    """
    codes, row_index = qrels.gather(rows)
    levels = qrels.levels
    if levels.size > BYTE_LEVELS:
        used = distinct(codes[codes >= 0])
        codes = np.where(codes < 0, codes, np.searchsorted(used, codes)).astype(np.int32)
        levels = levels[used]
    counts = count_levels(row_index, codes, (rows.size, levels.size))
    return RelevanceMatrix.unjudged(retrieved, levels, counts), codes, row_index


class Joined(NamedTuple):
    """Rankings of some queries, and the judged documents that were found in them.

    Args:
        scores: descending within a ranking.
        begins, ends: where each ranking begins and ends in them.
        judged_scores: of each judged document, one query after the other, NaN where it was not
            retrieved.
        ids_at: from a ranking and a score to the ids of the documents that have it, in the order
            they came in.
        near: where in `scores` each judged document may stand, -1 where that is not known; None
            if it is not known of any.
    """

    scores: Floats
    begins: Ints
    ends: Ints
    judged_scores: Floats
    ids_at: Callable[[int, float], Sequence[Any]]
    near: Ints | None = None


def pack_joined(
    qrels: Qrels, rows: Positions, picks: Positions, joined: Joined, policy: TiePolicy
) -> Block:
    """Pack a block: write the codes of the judged documents at their ranks.

    Args:
        qrels: the judgments.
        rows: positions in `qrels.queries` of the block's queries.
        picks: their positions among the queries to evaluate, which the block has as `rows`.
        joined: their rankings.
        policy: what becomes of ties; one of different grades may be refused.
    """
    scores, begins, ends, judged_scores, ids_at, near = joined
    matrix, codes, row_index = blank_matrix(qrels, rows, ends - begins)
    found = np.flatnonzero(~np.isnan(judged_scores))
    near = np.full(found.size, -1, np.int64) if near is None else near[found]
    codes, row_index, judged_scores = codes[found], row_index[found], judged_scores[found]
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
            documents = [document for row in rows.tolist() for document in qrels.documents[row]]
            before = np.empty(shared.size, np.int64)
            for group in groups:
                tied = ids_at(int(in_rows[group[0]]), judged_scores[shared[group[0]]])
                judged = [documents[each] for each in found[shared[group]]]
                before[group] = rank_in_tie(policy, tied, judged)
            return before

        ranks[shared] += groups.count_before(rank_by_key)
        block = Block(picks, replace(matrix, ties=groups.list_open()), groups.mark_rows(rows.size))
    matrix.codes[row_index, ranks] = codes
    return block

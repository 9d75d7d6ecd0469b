"""Packing rankings whose judged documents were found: the last step of joins by score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.qrels import Qrels
from irbatch.engine.ties.by_id import rank_in_tie
from irbatch.engine.ties.by_score import find_ranks
from irbatch.engine.ties.groups import TieGroups
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError
from irbatch.pack.block import Block, blank_matrix


class Joined(NamedTuple):
    """Rankings of some queries, and the judged documents that were found in them.

    Args:
        scores: float64 ``(documents,)``, descending within a ranking.
        begins, ends: int64 ``(queries,)``, where each ranking begins and ends in them.
        judged_scores: float64 ``(judged,)``, the score of each judged document, one query after
            the other, NaN where it was not retrieved.
        ids_at: from a ranking and a score to the ids of the documents that have it, in the order
            they came in.
        near: int64 ``(judged,)``, where in `scores` each may stand, -1 where that is not known;
            None if it is not known of any.
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
        policy: what becomes of documents that share a score.

    Raises:
        InputError: if documents of different grades share a score and the policy refuses that.
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

"""Where judged documents stand once their scores are known: the last step of joins by score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.qrels import Qrels
from irbatch.engine.ties.by_id import rank_in_tie
from irbatch.engine.ties.by_score import find_ranks
from irbatch.engine.ties.groups import TieGroups
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError
from irbatch.pack.block import Block, blank_matrix

__all__ = ["place_judged"]


def place_judged(
    qrels: Qrels,
    rows: Positions,
    scores: Floats,
    begins: Ints,
    ends: Ints,
    wanted: Floats,
    tied: Callable[[int, float], Sequence[Any]],
    near: Ints | None = None,
    ties: TiePolicy = TiePolicy.ID,
) -> Block:
    """Pack a block: write the judged documents where they stand.

    Args:
        qrels: the judgments.
        rows: positions in `qrels.queries`.
        scores: float64 ``(documents,)``, as compared.
        begins, ends: int64 ``(rankings,)``, where each ranking begins and ends in them; its scores
            descend.
        wanted: the score of each judged document, one query after the other, NaN where it was not
            retrieved.
        near: int64, where in `scores` each may stand, -1 where nobody knows; None if nobody does.
        tied: from a ranking of the block and a score to the ids of the documents that have it, in
            the order they came in.
        ties: what becomes of documents that share a score, see `irbatch.evaluate`.

    Returns:
        The block; its `rows` are positions in `rows`.

    Raises:
        InputError: for ties that are refused.
    """
    matrix, codes, row_index = blank_matrix(qrels, rows, ends - begins)
    found = np.flatnonzero(~np.isnan(wanted))
    row_index = row_index[found]
    near = np.full(wanted.size, -1, np.int64) if near is None else near
    ranks, equal = find_ranks(scores, begins, ends, wanted[found], row_index, near[found])
    shared = np.flatnonzero(equal > 1)
    groups = None
    if shared.size and not ties.by_id:
        grades = np.append(matrix.levels, -1.0)[np.maximum(codes[found[shared]], -1)]
        groups = TieGroups(row_index[shared], grades, ranks[shared], equal[shared])
        _check_ties(qrels, rows, groups, wanted[found[shared]], ties)
    if shared.size and (ties.by_id or ties == "index"):
        documents = [document for row in rows.tolist() for document in qrels.documents[row]]
        judged = [documents[each] for each in found[shared]]
        ranks[shared] += _rank_ties(row_index[shared], wanted[found[shared]], judged, tied, ties)
    elif groups is not None:
        ranks[shared] += groups.places(ties)
    matrix.codes[row_index, ranks] = codes[found]
    picks = np.arange(rows.size)
    if groups is None:
        return Block(picks, matrix)
    marked = np.zeros(rows.size, bool)
    marked[groups.tied_queries()] = True
    if ties == "expected":
        matrix = replace(matrix, ties=groups.open_ties())
    return Block(picks, matrix, marked)


def _check_ties(
    qrels: Qrels, rows: Positions, groups: TieGroups, scores: Floats, ties: TiePolicy
) -> None:
    """Refuse ties that matter, if they are to be refused."""
    if ties != "error" or not groups.matters.any():
        return
    which = int(np.argmax(groups.matters))
    score = float(scores[groups.order[which]])
    raise InputError(
        f"documents of different grades share the score {score:g}",
        source="run",
        query=qrels.queries[rows[groups.row_index[which]]],
        value=score,
    )


def _rank_ties(
    row_index: Ints,
    scores: Floats,
    judged: list[Any],
    tied: Callable[[int, float], Sequence[Any]],
    ties: TiePolicy,
) -> Ints:
    """Rank judged documents inside their ties; `row_index` ascend."""
    ranks = np.zeros(row_index.size, np.int64)
    owning, starts = np.unique(row_index, return_index=True)
    for owner, mine in zip(owning, np.split(np.arange(row_index.size), starts[1:]), strict=True):
        for score in np.unique(scores[mine]):
            these = mine[scores[mine] == score]
            every, wanted = tied(int(owner), score), [judged[i] for i in these]
            ranks[these] = [every.index(each) for each in wanted] if ties == "index" else (
                rank_in_tie(every, wanted, ascending=ties == "id_ascending")
            )  # fmt: skip
    return ranks

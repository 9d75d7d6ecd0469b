"""Where judged documents stand once their scores are known: the last step of joins by score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.matrix import RelevanceMatrix
from irbatch.pack.block import blank_matrix
from irbatch.qrels import Qrels
from irbatch.ranking import find_ranks, rank_in_tie

__all__ = ["place_judged"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def place_judged(
    qrels: Qrels,
    rows: npt.NDArray[np.intp],
    scores: Floats,
    begins: Ints,
    ends: Ints,
    wanted: Floats,
    tied: Callable[[int, float], Sequence[Any]],
    near: Ints | None = None,
) -> RelevanceMatrix:
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
        tied: from a ranking of the block and a score to the ids of the documents that have it.
    """
    matrix, codes, owners = blank_matrix(qrels, rows, ends - begins)
    found = np.flatnonzero(~np.isnan(wanted))
    owners = owners[found]
    near = np.full(wanted.size, -1, np.int64) if near is None else near
    ranks, equal = find_ranks(scores, begins, ends, wanted[found], owners, near[found])
    ties = np.flatnonzero(equal > 1)
    if ties.size:
        documents = [document for row in rows.tolist() for document in qrels.documents[row]]
        judged = [documents[each] for each in found[ties]]
        ranks[ties] += _rank_ties(owners[ties], wanted[found[ties]], judged, tied)
    matrix.codes[owners, ranks] = codes[found]
    return matrix


def _rank_ties(
    owners: Ints, scores: Floats, judged: list[Any], tied: Callable[[int, float], Sequence[Any]]
) -> Ints:
    """Rank judged documents inside their ties; `owners` ascend."""
    ranks = np.zeros(owners.size, np.int64)
    owning, starts = np.unique(owners, return_index=True)
    for owner, mine in zip(owning, np.split(np.arange(owners.size), starts[1:]), strict=True):
        for score in np.unique(scores[mine]):
            these = mine[scores[mine] == score]
            ranks[these] = rank_in_tie(tied(int(owner), score), [judged[i] for i in these])
    return ranks

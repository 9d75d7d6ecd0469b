"""The order of documents: by score descending, equal scores by document id descending.

Integer ids compare as their decimal text, as they would in a file: the same order whatever
container they came in.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints

__all__ = ["id_texts", "order_documents", "place_ids", "rank_in_tie"]


def id_texts(ids: Sequence[Any]) -> Sequence[str]:
    """Return ids as they compare."""
    return ids if set(map(type, ids)) == {str} else [str(each) for each in ids]


def order_documents(row_index: Ints, scores: Floats, ids: Sequence[Any]) -> Ints:
    """Return the positions of documents in the order of their rankings.

    Args:
        row_index: int64 ``(documents,)``, the ranking of each, ascending.
        scores: float64 ``(documents,)``, none of them NaN.
        ids: the documents' ids, compared as they are.
    """
    same_row = row_index[1:] == row_index[:-1]
    if not (same_row & (scores[1:] >= scores[:-1])).any():
        return np.arange(scores.size)
    order = np.lexsort((-scores, row_index))
    tied = same_row & (scores[order[1:]] == scores[order[:-1]])
    edges = np.flatnonzero(np.diff(tied, prepend=False, append=False))
    for first, last in edges.reshape(-1, 2).tolist():
        tie = order[first : last + 1].tolist()
        order[first : last + 1] = sorted(tie, key=ids.__getitem__, reverse=True)
    return order


def place_ids(ids: Sequence[Any]) -> Ints:
    """Return the place of each document when all are ordered by id: int64 ``(documents,)``."""
    places = np.empty(len(ids), np.int64)
    places[sorted(range(len(ids)), key=id_texts(ids).__getitem__, reverse=True)] = range(len(ids))
    return places


def rank_in_tie(
    tied: Sequence[Any], documents: Sequence[Any], *, ascending: bool = False
) -> list[int]:
    """Rank some of the documents that share a score by id, from 0."""
    ordered = sorted(id_texts(tied))
    if ascending:
        return [bisect.bisect_left(ordered, str(each)) for each in documents]
    return [len(tied) - bisect.bisect_right(ordered, str(each)) for each in documents]

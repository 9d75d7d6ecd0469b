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
from irbatch.engine.ties.policy import TiePolicy


def id_texts(ids: Sequence[Any]) -> Sequence[str]:
    """Return ids as they compare."""
    return ids if set(map(type, ids)) == {str} else [str(each) for each in ids]


def order_documents(
    row_index: Ints, scores: Floats, ids: Sequence[Any], *, descending: bool = True
) -> Ints:
    """Return documents' positions in rank order; `row_index`, their rankings, is ascending.

    Equal scores are in the order of ids, descending or not.
    """
    same_row = row_index[1:] == row_index[:-1]
    if not (same_row & (scores[1:] >= scores[:-1])).any():
        return np.arange(scores.size)
    order = np.lexsort((-scores, row_index))
    tied = same_row & (scores[order[1:]] == scores[order[:-1]])
    edges = np.flatnonzero(np.diff(tied, prepend=False, append=False))
    for first, last in edges.reshape(-1, 2).tolist():
        tie = order[first : last + 1].tolist()
        order[first : last + 1] = sorted(tie, key=ids.__getitem__, reverse=descending)
    return order


def place_ids(policy: TiePolicy, ids: Sequence[Any]) -> Ints:
    """Return the place of each document when all are ordered by id."""
    texts = id_texts(ids)
    descending = policy != TiePolicy.ID_ASCENDING
    places = np.empty(len(ids), np.int64)
    places[sorted(range(len(ids)), key=texts.__getitem__, reverse=descending)] = range(len(ids))
    return places


def rank_in_tie(policy: TiePolicy, tied: Sequence[Any], documents: Sequence[Any]) -> list[int]:
    """Rank some documents of a tie, from 0; `tied` are the ids of all, as they came in."""
    if policy == TiePolicy.INDEX:
        return [tied.index(each) for each in documents]
    ordered = sorted(id_texts(tied))
    if policy == TiePolicy.ID_ASCENDING:
        return [bisect.bisect_left(ordered, str(each)) for each in documents]
    return [len(tied) - bisect.bisect_right(ordered, str(each)) for each in documents]

"""The order of a ranking: scores descending, ties by document id descending.

Only where judged documents stand matters. Scores that are in order already are left alone, a
judged document's rank is found by binary search for its score, and ids are compared only inside
the ties that a judged document is part of.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.jit import kernel

__all__ = [
    "SCORE_DTYPES",
    "as_compared",
    "find_ranks",
    "order_scores",
    "rank_in_tie",
    "round_scores",
]

SCORE_DTYPES = ("float64", "float32")

CHUNK = 1 << 14  # scores

HAS_NAN = 2  # what `_check_order` says of a ranking

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def as_compared(scores: Floats, score_dtype: str) -> Floats:
    """Round scores to the precision they are compared in: float64 in and out, any shape.

    float32 is what trec_eval 9 and pytrec_eval compare; what overflows it becomes infinite there.
    """
    if score_dtype == "float64":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def round_scores(scores: Floats, score_dtype: str) -> None:
    """Do the same in place: float64 ``(documents,)``.

    A cache's share at a time, which takes half as long as all at once.
    """
    for start in range(0, scores.size if score_dtype != "float64" else 0, CHUNK):
        part = scores[start : start + CHUNK]
        part[:] = as_compared(part, score_dtype)


def order_scores(scores: Floats, starts: Ints) -> bool:
    """Sort each ranking's scores into descending order, in place, where they are not.

    Args:
        scores: float64 ``(documents,)``, the rankings one after the other.
        starts: int64 ``(rankings + 1,)``, where each begins and ends.

    Returns:
        Whether all could be ordered: False, with nothing sorted, when a score is NaN.
    """
    states = np.empty(starts.size - 1, np.int8)
    _check_order.run(scores.size, scores, starts, states)
    if (states == HAS_NAN).any():
        return False
    for row in np.flatnonzero(states):
        scores[starts[row] : starts[row + 1]][::-1].sort()
    return True


def find_ranks(
    scores: Floats,
    starts: Ints,
    wanted: Floats,
    rows: Ints,
) -> tuple[Ints, Ints]:
    """Find where documents of given scores stand in their rankings.

    Args:
        scores: rankings in descending order, as in `order_scores`.
        starts: where each begins and ends.
        wanted: float64 ``(n,)``, scores that occur in their ranking.
        rows: int64 ``(n,)``, the ranking of each.

    Returns:
        int64 ``(n,)`` twice: how many documents score higher, and how many score the same (the
        document itself included).
    """
    above = np.empty(wanted.size, np.int64)
    equal = np.empty(wanted.size, np.int64)
    _search.run(20 * wanted.size, scores, starts, wanted, rows, above, equal)
    return above, equal


def rank_in_tie(tied: Sequence[Any], documents: Sequence[Any]) -> list[int]:
    """Rank documents among those that share their score: by id, descending, from 0.

    Integer ids compare as their decimal text, as they would in a file: the same bits whatever
    container they came in.
    """
    texts = tied if set(map(type, tied)) == {str} else [str(each) for each in tied]
    ascending = sorted(texts)
    return [len(tied) - bisect.bisect_right(ascending, str(each)) for each in documents]


@kernel
def _check_order(scores: Floats, starts: Ints, states: npt.NDArray[np.int8]) -> None:
    """Write 0 for a ranking in descending order, 1 for another, 2 for one with a NaN."""
    for row in range(starts.size - 1):
        state = 0
        previous = np.inf
        for i in range(starts[row], starts[row + 1]):
            if not scores[i] <= previous:
                state = 1
                if scores[i] != scores[i]:
                    state = 2
                    break
            previous = scores[i]
        states[row] = state


@kernel
def _search(
    scores: Floats, starts: Ints, wanted: Floats, rows: Ints, above: Ints, equal: Ints
) -> None:
    """Binary search for the first and the last place of each wanted score."""
    for i in range(wanted.size):
        low = starts[rows[i]]
        high = starts[rows[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if scores[middle] > wanted[i]:
                low = middle + 1
            else:
                high = middle
        first = low
        high = starts[rows[i] + 1]
        if first + 1 < high and scores[first + 1] < wanted[i]:
            high = first + 1  # no tie, as a rule
            low = high
        while low < high:
            middle = (low + high) // 2
            if scores[middle] >= wanted[i]:
                low = middle + 1
            else:
                high = middle
        above[i] = first - starts[rows[i]]
        equal[i] = low - first

"""Rankings as descending scores, and where documents stand in them.

Only where judged documents stand matters. Scores that are in order already are left alone, a
judged document's rank is found by binary search for its score, and `irbatch.engine.ties.by_id`
compares ids only inside the ties that a judged document is part of.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.runtime.jit import as_input, kernel
from irbatch.runtime.threads import map_ranges

CHUNK = 1 << 14  # scores

DESCENDING, UNORDERED, HAS_NAN = 0, 1, 2  # what `check_order` says of a ranking


def as_compared(scores: Floats, score_dtype: str) -> Floats:
    """Round scores to the precision they are compared in: float64 in and out, any shape.

    float32 is what trec_eval 9 and pytrec_eval compare; what overflows it becomes infinite there.
    """
    if score_dtype == "float64":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def round_scores(scores: Floats, score_dtype: str) -> None:
    """Do the same in place, a cache's share at a time, which takes half as long as all at once."""
    for start in range(0, scores.size if score_dtype != "float64" else 0, CHUNK):
        part = scores[start : start + CHUNK]
        part[:] = as_compared(part, score_dtype)


def order_scores(scores: Floats, starts: Ints) -> bool:
    """Sort each ranking's scores descending, in place; return False, unsorted, if one is NaN."""
    states = check_order(scores, starts[:-1], starts[1:])
    if (states == HAS_NAN).any():
        return False
    for row in np.flatnonzero(states):
        scores[starts[row] : starts[row + 1]][::-1].sort()
    return True


def check_order(scores: Floats, begins: Ints, ends: Ints) -> npt.NDArray[np.int8]:
    """Tell of each ranking, at `begins` to `ends`: `DESCENDING`, `UNORDERED` or `HAS_NAN`."""
    states = np.empty(begins.size, np.int8)

    def look(first: int, last: int) -> None:
        _check_order.run(scores.size, as_input(scores), begins, ends, first, last, states)

    map_ranges(look, begins.size, cells=scores.size)
    return states


def find_ranks(
    scores: Floats, begins: Ints, ends: Ints, wanted: Floats, rows: Ints, near: Ints
) -> tuple[Ints, Ints]:
    """Count for wanted scores, of rankings `rows`, those above and those equal, itself included.

    Scores descend from `begins` to `ends` of a ranking and contain those wanted; `near` is where
    each may stand in them, -1 where that is not known.
    """
    above = np.empty(wanted.size, np.int64)
    equal = np.empty(wanted.size, np.int64)
    places = begins[rows], ends[rows]
    _search.run(20 * wanted.size, as_input(scores), *places, wanted, near, above, equal)
    return above, equal


@kernel
def _check_order(
    scores: Floats, begins: Ints, ends: Ints, first: int, last: int, states: npt.NDArray[np.int8]
) -> None:
    """Write the state of each ranking."""
    for row in range(first, last):
        state = DESCENDING
        previous = np.inf
        for i in range(begins[row], ends[row]):
            if not scores[i] <= previous:
                state = UNORDERED
                if scores[i] != scores[i]:
                    state = HAS_NAN
                    break
            previous = scores[i]
        states[row] = state


@kernel
def _search(
    scores: Floats, begins: Ints, ends: Ints, wanted: Floats, near: Ints, above: Ints, equal: Ints
) -> None:
    """Binary search for the first and the last place of each wanted score."""
    for i in range(wanted.size):
        low = begins[i]
        high = ends[i]
        at = near[i]
        if (
            at >= 0
            and (at == low or scores[at - 1] > wanted[i])
            and (at + 1 == high or scores[at + 1] < wanted[i])
        ):
            above[i] = at - low
            equal[i] = 1
            continue
        while low < high:
            middle = (low + high) // 2
            if scores[middle] > wanted[i]:
                low = middle + 1
            else:
                high = middle
        first = low
        high = ends[i]
        if first + 1 < high and scores[first + 1] < wanted[i]:
            high = first + 1  # no tie, as a rule
            low = high
        while low < high:
            middle = (low + high) // 2
            if scores[middle] >= wanted[i]:
                low = middle + 1
            else:
                high = middle
        above[i] = first - begins[i]
        equal[i] = low - first

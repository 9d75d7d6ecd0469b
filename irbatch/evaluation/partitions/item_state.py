"""What an evaluator of batches keeps for measures of the whole run: in its state, and read from it.

By query its items are kept, so that a query that comes again is counted once; among sums how often
each item was recommended, which adds up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.engine.items import OUTSIDE, ItemCounts, ItemRows, Items
from irbatch.errors import InputError, shown
from irbatch.measures import Measure
from irbatch.runtime.numbers import is_whole

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

Counts = dict[int | None, ItemCounts]  # by cutoff
MOST = 2**62 - 1


def cutoffs_of_run(measures: Sequence[Measure]) -> list[int | None]:
    """List the cutoffs of measures of the whole run, each once."""
    return list(dict.fromkeys(each.cutoff for each in measures if each.aggregate == "run"))


def items_of_run(measures: Sequence[Measure], items: ItemStatistics | None) -> Items | None:
    """Return what is known of items, where measures of the whole run read it."""
    of_run = any(each.aggregate == "run" for each in measures)
    return items.arrays if of_run and items is not None else None


def count_items(known: Items, cutoffs: Sequence[int | None], lists: Sequence[ItemRows]) -> Counts:
    """Count items of lists up to each cutoff."""
    depth = [math.inf if each is None else each for each in cutoffs]
    return {
        cutoff: ItemCounts.of(known, lists, at) for cutoff, at in zip(cutoffs, depth, strict=True)
    }


def write_items(known: Items, items: Sequence[ItemRows] | Counts) -> dict[str, Any]:
    """Return lists or counts in plain numbers."""
    written: dict[str, Any] = {"catalogue": known.fingerprint}
    if isinstance(items, dict):
        written["counts"] = [
            [cutoff, each.keys.tolist(), each.numbers.tolist(), each.lists.tolist()]
            for cutoff, each in items.items()
        ]
    else:
        written["lists"] = [each.tolist() for each in items]
    return written


def read_items(
    state: Any, known: Items, cutoffs: Sequence[int | None] | None, queries: int
) -> list[ItemRows] | Counts:
    """Read lists, or counts at `cutoffs`, of so many queries.

    Raises:
        InputError: if they are those of another catalogue, or of nothing.
    """
    key = "lists" if cutoffs is None else "counts"
    if not isinstance(state, Mapping) or set(state) != {"catalogue", key}:
        raise _refuse(f"'items' are {shown(state)}, not 'catalogue' and {key!r}", state)
    if state["catalogue"] != known.fingerprint:
        theirs = shown(state["catalogue"])
        raise _refuse(f"'items' are of the catalogue {theirs}, not {known.fingerprint!r}", theirs)
    if cutoffs is None:
        return _read_lists(state[key], known, queries)
    return _read_counts(state[key], known, cutoffs, queries)


def _read_lists(given: Any, known: Items, queries: int) -> list[ItemRows]:
    if not isinstance(given, list | tuple) or len(given) != queries:
        raise _refuse(f"'items': lists are {shown(given)}, not one for each query", given)
    return [_whole("a list", each, OUTSIDE, known.size - 1).astype(np.int32) for each in given]


def _read_counts(given: Any, known: Items, cutoffs: Sequence[int | None], queries: int) -> Counts:
    found: Counts = {}
    if not isinstance(given, list | tuple) or any(
        not isinstance(each, list | tuple) or len(each) != 4 for each in given
    ):
        raise _refuse(f"'items': counts are {shown(given)}, not four lists a cutoff", given)
    for cutoff, *parts in given:
        if not (cutoff is None or is_whole(cutoff)):
            raise _refuse(f"'items': counts at cutoff {shown(cutoff)}", cutoff)
        keys, numbers, lists = (_whole("counts", each, 0, MOST) for each in parts)
        lengths = keys // max(known.size, 1)
        fits = keys.size == numbers.size and bool((np.diff(keys) > 0).all())
        fits = fits and int(lists.sum()) == queries and bool((lengths < lists.size).all())
        if fits:
            totals = np.bincount(lengths, numbers, lists.size)
            fits = bool((totals == lists * np.arange(lists.size)).all())
            fits = fits and bool(((numbers > 0) & (numbers <= lists[lengths])).all())
        if not fits:
            raise _refuse(f"'items': counts at cutoff {cutoff} are not of {queries} queries", given)
        found[cutoff] = ItemCounts(known, keys, numbers, lists)
    if list(found) != list(cutoffs):
        raise _refuse(f"'items': counts are at {list(found)}, not {list(cutoffs)}", given)
    return found


def _whole(what: str, given: Any, least: int, most: int) -> Ints:
    """Read whole numbers within limits."""
    if not isinstance(given, list | tuple | np.ndarray):
        raise _refuse(f"'items': {what} is {shown(given)}, not whole numbers", given)
    for each in given:
        if not is_whole(each) or not least <= each <= most:
            raise _refuse(f"'items': {shown(each)} in {what} is no such number", each)
    return np.array(given, np.int64)


def _refuse(problem: str, value: Any) -> InputError:
    return InputError(problem, source="state", value=value)

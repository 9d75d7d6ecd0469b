"""Reading judgments and rankings that are dictionaries of text to numbers.

Compiled kernels walk through the objects themselves, which takes half the time of `struct.pack` and
`dict.get`. Whatever is not exactly a `dict` of `str` to `float` or
`int` is left to those who call these functions, who know all kinds, and say what is wrong with one.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from irbatch.array_types import Floats, Ints, NDArray
from irbatch.runtime.kernels import (
    FLOAT_VALUE,
    TEXT_HASH,
    TYPE,
    TYPES,
    Types,
    any_error,
    compare_texts,
    float_at,
    kernel,
    kernel_on_objects,
    list_item,
    next_item,
    whole_as_float,
    word_at,
)

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable

FEWEST_SLOTS, SLOTS_PER_DOCUMENT = 64, 8
NO_HASH = -1  # of text whose hash was not computed yet
ODD, NOT_COUNTED = -1, -1
ERRORS = OverflowError, IndexError  # of the functions that kernels call
# In a ranking that is not in order scores are counted for each judged document, if these are few
# or so is the work; else all are left to others, who sort it.
FEW_JUDGED, FEW_COMPARED = 32, 1 << 18


class Dicts(NamedTuple):
    """The addresses of some queries' dictionaries, or lists, and where their items are written."""

    addresses: Ints  # (queries,)
    starts: Ints  # (queries + 1,)

    @classmethod
    def of(cls, objects: Sequence[Collection[object]], starts: Ints) -> Dicts:
        """Take the addresses of objects, which have to be kept alive."""
        return cls(np.fromiter(map(id, objects), np.int64, starts.size - 1), starts)


class Found(NamedTuple):
    """Where judged documents stand in their queries' rankings: each ``(judged,)``."""

    scores: Floats  # NaN where a document was not retrieved: then the others say nothing
    above: Ints  # how many documents score higher
    equal: Ints  # how many score the same, itself included
    before: Ints  # of these, how many ids put before it, or NOT_COUNTED


class Space(NamedTuple):
    """Memory that the kernels work in."""

    item: Ints  # (3,), see `next_item`
    item_at: int  # its address
    slots: NDArray[np.int32]  # a table of one query's judged documents, or -1
    judged: Ints  # (most judged,): their addresses, and their hashes
    hashes: Ints
    scores: Floats  # (longest + 1,): of one ranking
    likely: Ints  # (longest + 1,): places of documents that may be judged
    keys: Ints  # (longest + 1,): the addresses of all

    @classmethod
    def of(cls, most_judged: int, longest: int) -> Space:
        """Make as much as rankings take."""
        item, slots = np.empty(3, np.int64), np.empty(_slots_for(most_judged), np.int32)
        judged, hashes = np.empty((2, most_judged), np.int64)
        scores, (likely, keys) = np.empty(longest + 1), np.empty((2, longest + 1), np.int64)
        return cls(item, item.ctypes.data, slots, judged, hashes, scores, likely, keys)


def is_table(rankings: object) -> TypeGuard[QueryTable]:
    """Tell whether it is a `QueryTable`, without loading what reads columns."""
    columns = sys.modules.get("irbatch.data.columns")
    return columns is not None and isinstance(rankings, columns.QueryTable)


def are_dicts(table: Mapping[Any, Any]) -> bool:
    """Tell whether it is a dictionary of exact dictionaries, in a tenth of `isinstance`'s time."""
    return isinstance(table, dict) and set(map(type, table.values())) <= {dict}


def read_judgments(judged: Sequence[Collection[object]], starts: Ints) -> Floats | None:
    """Return the grades of some queries, dictionaries of text to numbers; None if they aren't."""
    grades = np.empty(starts[-1])
    work = grades.size // 4  # by other means: a fourth of a cell's time in plain Python
    item, dicts = np.empty(3, np.int64), Dicts.of(judged, starts)
    place = item, item.ctypes.data
    try:
        done = _read_judgments.run_compiled(work, dicts, TYPES, grades, *place)
    except ERRORS:
        return None
    return grades if done == len(judged) else None


def find_in_rankings(
    rankings: Sequence[Collection[object]],
    starts: Ints,
    documents: Sequence[Collection[object]],
    judged_starts: Ints,
    score_dtype: str,
    direction: int = 0,
) -> Found | None:
    """Find judged documents in rankings, dictionaries of text to scores.

    None if they aren't such, or if sorting a ranking takes less time. Starts are where each begins
    and ends, were they in a row. Where scores are the same, ids that are higher (`direction` 1) or
    lower (-1) come before others; with 0 that isn't counted.
    """
    standings = Found(np.empty(judged_starts[-1]), *np.empty((3, judged_starts[-1]), np.int64))
    dicts = Dicts.of(rankings, starts), Dicts.of(documents, judged_starts)
    sizes = (int(np.diff(lists.starts).max(initial=0)) for lists in reversed(dicts))
    # By other means: a score an eighth of a cell's time in plain Python, a look-up a half.
    work, rounded = int(starts[-1]) // 8 + standings.scores.size // 2, score_dtype == "float32"
    try:
        options = TYPES, rounded, direction
        done = _find_judged.run_compiled(work, *dicts, *options, standings, Space.of(*sizes))
    except ERRORS:
        return None
    return standings if done == len(rankings) else None


@kernel_on_objects
def _read_judgments(judged: Dicts, types: Types, grades: Floats, item: Ints, item_at: int) -> int:
    """Read judgments one query after the other; return how many come before an odd one.

    `item` and its address are as in `Space`.
    """
    for q in range(judged.addresses.size):
        documents, row, end = judged.addresses[q], judged.starts[q], judged.starts[q + 1]
        if word_at(documents + TYPE) != types.dict:
            return q
        item[0] = 0
        while next_item(documents, item_at, item_at + 8, item_at + 16) != 0:
            grade = _number_at(item[2], types)
            if word_at(item[1] + TYPE) != types.str or grade != grade or row == end:
                return q
            grades[row] = grade
            row += 1
        if row != end:
            return q
    return judged.addresses.size


@kernel_on_objects
def _find_judged(
    rankings: Dicts,
    documents: Dicts,
    types: Types,
    rounded: bool,
    direction: int,
    found: Found,
    space: Space,
) -> int:
    """Read rankings one after the other; return how many come before an odd one."""
    for q in range(rankings.addresses.size):
        ranking, size = rankings.addresses[q], rankings.starts[q + 1] - rankings.starts[q]
        first = documents.starts[q]
        n_judged = documents.starts[q + 1] - first
        if word_at(ranking + TYPE) != types.dict:
            return q
        if not _enter_judged(documents.addresses[q], n_judged, types, space):
            return q
        last_slot = _slots_for(n_judged) - 1
        n_likely, is_ordered = _read_ranking(ranking, size, types, rounded, last_slot, space)
        many = n_likely > FEW_JUDGED and n_likely * size > FEW_COMPARED
        if n_likely == ODD or (many and not is_ordered):
            return q
        found.scores[first : first + n_judged] = np.nan
        found.equal[first : first + n_judged] = 0
        scores = space.scores[:size]
        for i in range(n_likely):
            place = space.likely[i]
            d = _look_up(space.keys[place], space, last_slot)
            if d >= 0:
                found.scores[first + d] = scores[place]
                if is_ordered:
                    above, equal = _count_in_order(scores, place)
                else:
                    above, equal = _count(scores, scores[place])
                found.above[first + d], found.equal[first + d] = above, equal
                begin, end = (above, above + equal) if is_ordered else (0, size)
                found.before[first + d] = NOT_COUNTED
                if direction != 0 and equal > 1 and n_likely * (end - begin) <= FEW_COMPARED:
                    before = _count_before(space.keys, scores, place, begin, end, direction)
                    found.before[first + d] = before
    return rankings.addresses.size


@kernel
def _read_ranking(
    ranking: int, size: int, types: Types, rounded: bool, last_slot: int, space: Space
) -> tuple[int, bool]:
    """Write a ranking's scores, and the documents that may be judged; return these' number.

    Also return whether the scores descend. Most documents are not judged: which may be is written
    down without a branch, that the processor would guess wrong, and then looked at.
    """
    item, at, slots, likely, keys = space.item, space.item_at, space.slots, space.likely, space.keys
    place, n_likely, previous, is_ordered = 0, 0, np.inf, True
    item[0] = 0
    while next_item(ranking, at, at + 8, at + 16) != 0:
        key = item[1]
        score = _number_at(item[2], types)
        text_hash = word_at(key + TEXT_HASH)
        if word_at(key + TYPE) != types.str or text_hash == NO_HASH or score != score:
            return ODD, False
        if place == size:
            return ODD, False
        if rounded:
            score = np.float64(np.float32(score))
        is_ordered = is_ordered and score <= previous
        previous = score
        space.scores[place] = score
        likely[n_likely], keys[place] = place, key
        n_likely += slots[text_hash & last_slot] >= 0
        place += 1
    return (n_likely if place == size else ODD), is_ordered


@kernel
def _count_in_order(scores: Floats, place: int) -> tuple[int, int]:
    """Count, where scores descend, those above the one at a place, and those that are the same."""
    score = scores[place]
    low, high = place, place + 1  # no tie, as a rule
    if low > 0 and scores[low - 1] == score:
        first = 0
        while first < low:
            middle = (first + low) // 2
            if scores[middle] > score:
                first = middle + 1
            else:
                low = middle
    if high < scores.size and scores[high] == score:
        last = scores.size
        while high < last:
            middle = (high + last) // 2
            if scores[middle] >= score:
                high = middle + 1
            else:
                last = middle
    return low, high - low


@kernel
def _count(scores: Floats, score: float) -> tuple[int, int]:
    """Count, in any order, scores above one, and those that are the same."""
    above, equal = 0, 0
    for each in scores:
        above += each > score
        equal += each == score
    return above, equal


@kernel
def _count_before(
    keys: Ints, scores: Floats, place: int, begin: int, end: int, direction: int
) -> int:
    """Count the documents that have the score of the one at a place, and ids before its own."""
    number = 0
    for i in range(begin, end):
        if scores[i] == scores[place]:
            number += compare_texts(keys[i], keys[place]) * direction > 0
    return number


@kernel
def _enter_judged(documents: int, n: int, types: Types, space: Space) -> bool:
    """Enter a query's judged documents in the table; tell whether all are as they should be."""
    item, item_at, slots, judged, hashes = space[:5]
    kind, last_slot = word_at(documents + TYPE), _slots_for(n) - 1
    if kind != types.list and kind != types.dict:
        return False
    slots[: last_slot + 1] = -1
    item[0] = 0
    for d in range(n):
        if kind == types.list:
            judged[d] = list_item(documents, d)
        else:
            more = next_item(documents, item_at, item_at + 8, item_at + 16)
            judged[d] = item[1] if more != 0 else 0
        if judged[d] == 0:
            return False
        hashes[d] = word_at(judged[d] + TEXT_HASH)
        if word_at(judged[d] + TYPE) != types.str or hashes[d] == NO_HASH:
            return False
        slot = hashes[d] & last_slot
        while slots[slot] >= 0:
            slot = (slot + 1) & last_slot
        slots[slot] = d
    return True


@kernel
def _look_up(key: int, space: Space, last_slot: int) -> Any:
    """Return which of the judged documents in the table has some text, or -1."""
    text_hash = word_at(key + TEXT_HASH)
    slot = text_hash & last_slot
    while space.slots[slot] >= 0:
        d = space.slots[slot]
        if space.hashes[d] == text_hash:
            other = space.judged[d]
            if other == key or compare_texts(other, key) == 0:
                return d
        slot = (slot + 1) & last_slot
    return -1


@kernel
def _number_at(number: int, types: Types) -> Any:
    """Return a float, or an int as one; NaN where it is another object, or an int too large."""
    kind = word_at(number + TYPE)
    if kind == types.float:
        return float_at(number + FLOAT_VALUE)
    if kind == types.int:
        value = whole_as_float(number)
        if value != -1.0 or any_error() == 0:
            return value
    return np.nan


@kernel
def _slots_for(documents: int) -> int:
    """Return a number of slots, a power of two: most documents should end at an empty one."""
    slots = FEWEST_SLOTS
    while slots < SLOTS_PER_DOCUMENT * documents:
        slots *= 2
    return slots

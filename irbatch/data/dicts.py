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
from irbatch.engine.ties import place_behind, place_of
from irbatch.runtime.kernels import (
    FLOAT_VALUE,
    NO_HASH,
    ODD,
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
    pairs_of,
    room_for_pairs,
    whole_as_float,
    word_at,
)

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable

FEWEST_SLOTS, SLOTS_PER_DOCUMENT = 64, 8
NOT_COUNTED = -1
ERRORS = OverflowError, IndexError  # of the functions that kernels call
# In a ranking that is not in order scores are counted for each judged document, if few were found;
# else it is sorted, which takes as long as counting for so many.
FEW_FOUND = 64
LARGEST_WHOLE = (1 << 63) - 1
MOST_COMPARED = (
    1 << 18
)  # ids within a tie; if it takes more these are left to others, who sort them
NEAR = 32  # places within which the ends of a tie are looked for one by one: most are small


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

    room: Ints  # see `room_for_pairs`
    room_at: int
    slots: NDArray[np.int32]  # a table of one query's judged documents, or -1
    judged: Ints  # (most judged,): their addresses, and their hashes
    hashes: Ints
    scores: Floats  # (longest + 1,): of one ranking
    bits: Ints  # the same as whole numbers, in the same memory
    likely: Ints  # (longest + 1,): places of documents that may be judged
    keys: Ints  # (longest + 1,): the addresses of all
    spare_bits: Ints  # (longest + 1,): for sorting, as the next
    spare_keys: Ints
    counts: Ints  # (256,)

    @classmethod
    def of(cls, most_judged: int, longest: int) -> Space:
        """Make as much as rankings take."""
        slots = np.empty(_slots_for(most_judged), np.int32)
        judged, hashes = np.empty((2, most_judged), np.int64)
        scores, lists = np.empty(longest + 1), np.empty((4, longest + 1), np.int64)
        own = judged, hashes, scores, scores.view(np.int64), *lists, np.empty(256, np.int64)
        return cls(*room_for_pairs(max(most_judged, longest)), slots, *own)


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
    room = room_for_pairs(int(np.diff(starts).max(initial=0)))
    try:
        done = _read_judgments.run_compiled(work, Dicts.of(judged, starts), TYPES, grades, *room)
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

    None if they aren't such. Starts are where each begins and ends, were they in a row. Where
    scores are the same, ids that are higher (`direction` 1) or lower (-1) come before others; with
    0 that isn't counted.
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
def _read_judgments(judged: Dicts, types: Types, grades: Floats, room: Ints, room_at: int) -> int:
    """Read judgments one query after the other; return how many come before an odd one."""
    for q in range(judged.addresses.size):
        first, end = judged.starts[q], judged.starts[q + 1]
        pairs = pairs_of(judged.addresses[q], end - first, types, room, room_at)
        if pairs == ODD:
            return q
        for row in range(first, end):
            grades[row] = _number_at(word_at(pairs + 16 * (row - first) + 8), types)
            if grades[row] != grades[row]:
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
        if not _enter_judged(documents.addresses[q], n_judged, types, space):
            return q
        last_slot = _slots_for(n_judged) - 1
        n_likely, is_ordered = _read_ranking(ranking, size, types, rounded, last_slot, space)
        if n_likely == ODD:
            return q
        scores, keys = space.scores[:size], space.keys[:size]
        own = slice(first, first + n_judged)
        judged_scores, places, equal, before = (
            found.scores[own],
            found.above[own],
            found.equal[own],
            found.before[own],
        )
        judged_scores[:] = np.nan
        equal[:] = 0
        n_found = 0
        for i in range(n_likely):
            place = space.likely[i]
            d = _look_up(keys[place], space, last_slot)
            if d >= 0:
                judged_scores[d], places[d] = scores[place], place
                n_found += 1
        is_sorted = not is_ordered and n_found > FEW_FOUND
        if is_sorted:
            _sort(space, size)
        for d in range(n_judged):
            score, begin, end = judged_scores[d], 0, size
            if score != score:
                continue
            if is_ordered or is_sorted:
                place = places[d] if is_ordered else place_of(scores, score, 0, size)
                above, equal[d] = _count_in_order(scores, place)
                begin, end = above, above + equal[d]
            else:
                above, equal[d] = _count(scores, score)
            places[d], before[d] = above, NOT_COUNTED
            if direction != 0 and equal[d] > 1 and n_found * (end - begin) <= MOST_COMPARED:
                tie = scores[begin:end], keys[begin:end], score
                before[d] = _count_before(*tie, space.judged[d], direction)
    return rankings.addresses.size


@kernel
def _read_ranking(
    ranking: int, size: int, types: Types, rounded: bool, last_slot: int, space: Space
) -> tuple[int, bool]:
    """Write a ranking's scores, and the documents that may be judged; return these' number.

    Also return whether the scores descend. Most documents are not judged: which may be is written
    down without a branch, that the processor would guess wrong, and then looked at.
    """
    slots, likely, keys = space.slots, space.likely, space.keys
    n_likely, previous, is_ordered = 0, np.inf, True
    pairs = pairs_of(ranking, size, types, space.room, space.room_at)
    if pairs == ODD:
        return ODD, False
    for place in range(size):
        key = word_at(pairs + 16 * place)
        score = _number_at(word_at(pairs + 16 * place + 8), types)
        if score != score:
            return ODD, False
        if rounded:
            score = np.float64(np.float32(score))
        is_ordered = is_ordered and score <= previous
        previous = score
        space.scores[place] = score
        likely[n_likely], keys[place] = place, key
        n_likely += slots[word_at(key + TEXT_HASH) & last_slot] >= 0
    return n_likely, is_ordered


@kernel
def _count_in_order(scores: Floats, place: int) -> tuple[int, int]:
    """Count, where scores descend, those above the one at a place, and those that are the same."""
    score = scores[place]
    low, high = place, place + 1
    nearest, last = max(place - NEAR, 0), min(place + NEAR, scores.size)
    while low > nearest and scores[low - 1] == score:
        low -= 1
    while high < last and scores[high] == score:
        high += 1
    low = place_of(scores, score, 0 if low == nearest else low, low)
    last = scores.size if high == last else high
    high = place_behind(scores, score, high, last)
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
def _count_before(scores: Floats, keys: Ints, score: float, judged: int, direction: int) -> int:
    """Count the documents with a score whose ids put them before a judged one."""
    number = 0
    for i in range(keys.size):
        if scores[i] == score:
            number += compare_texts(keys[i], judged) * direction > 0
    return number


@kernel
def _sort(space: Space, size: int) -> None:
    """Sort a ranking's scores from the highest down, and with them its documents.

    As whole numbers that have this order, by one of their bytes after the other.
    """
    bits, keys, counts = space.bits[:size], space.keys[:size], space.counts
    for i in range(size):
        bits[i] = _in_order(bits[i])
    for shift in range(0, 64, 8):
        counts[:] = 0
        for i in range(size):
            counts[(bits[i] >> shift) & 255] += 1
        if counts[(bits[0] >> shift) & 255] == size:
            continue
        place = 0
        for byte in range(256):
            place += counts[byte]
            counts[byte] = place - counts[byte]
        for i in range(size):
            byte = (bits[i] >> shift) & 255
            place = counts[byte]
            counts[byte] += 1
            space.spare_bits[place], space.spare_keys[place] = bits[i], keys[i]
        for i in range(size):
            bits[i], keys[i] = space.spare_bits[i], space.spare_keys[i]
    for i in range(size):
        bits[i] = _in_order(bits[i])


@kernel
def _in_order(bits: int) -> Any:
    """Turn a float's bits into a number that is, without sign, the higher the lower the float.

    And back. Floats below 0, but for their sign, have this order already.
    """
    return bits if bits < 0 else bits ^ LARGEST_WHOLE


@kernel
def _enter_judged(documents: int, n: int, types: Types, space: Space) -> bool:
    """Enter a query's judged documents in the table; tell whether all are as they should be."""
    slots, judged, hashes, last_slot = space.slots, space.judged, space.hashes, _slots_for(n) - 1
    is_list, pairs = word_at(documents + TYPE) == types.list, 0
    if not is_list:
        pairs = pairs_of(documents, n, types, space.room, space.room_at)
    if pairs == ODD:
        return False
    slots[: last_slot + 1] = -1
    for d in range(n):
        judged[d] = list_item(documents, d) if is_list else word_at(pairs + 16 * d)
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

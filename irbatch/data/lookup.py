"""Finding judged documents in rankings, and documents that a ranking has twice.

Documents are looked up in a table of one query's, which stays in the nearest cache. Text is found
by a hash of its bytes and then compared; whole numbers are what they are, and hashed to slots.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes, Ints, Ints2, NDArray
from irbatch.data.ids import NO_TEXTS, IdColumn, Lengths, TextColumn
from irbatch.runtime.kernels import as_input, inlined_kernel, kernel, prefetch
from irbatch.runtime.ragged import PLACES, load_word, offsets_of
from irbatch.runtime.threads import map_ranges

SEEDS: Ints = np.frombuffer(os.urandom(24), np.int64) | 1  # of this process
LOW = (1 << 32) - 1
MASKS = np.array([(1 << (8 * i)) - 1 for i in range(8)] + [-1])  # of so many bytes of a word


@kernel
def slot_of(number: int, factor: int, shift: int, slots: int) -> int:
    """Choose a slot by the bits of the number times an odd seed; see `shift_for`.

    The highest bits alone would crowd numbers that follow each other, by some seeds.
    """
    product = number * factor
    return ((product >> shift) ^ (product >> 29)) & ((slots - 1) & PLACES)


@kernel
def shift_for(slots: int) -> int:
    """Return how many of 64 bits are left beside those that tell so many slots apart."""
    shift = 64
    while slots > 1:
        slots >>= 1
        shift -= 1
    return shift


@inlined_kernel
def hash_text(text: Bytes, start: int, length: int, first: int, low: int, high: int) -> int:
    """Hash a text to 31 bits, with the three seeds."""
    at = start
    left = int(length)
    value = left
    while left > 8:
        value = _mix(value, load_word(text, at), first, low, high)
        at += 8
        left -= 8
    word = 0
    if at + 8 <= text.size:
        word = load_word(text, at) & int(MASKS[left & 15])
    else:  # at the end of the text
        for i in range(left):
            word |= int(text[at + i]) << (8 * i)
    return _mix(value, word, first, low, high)


@kernel
def _mix(value: int, word: int, first: int, low: int, high: int) -> int:
    """Return the hash of one and eight bytes more."""
    total = value * first + (word & LOW) * low + ((word >> 32) & LOW) * high
    return (total >> 33) & 0x7FFFFFFF


# Slots per document: where most of those looked for are not there, a miss should end at once.
TIGHT, DENSE, SPARSE = 2, 3, 8
NEAR_SLOTS = 1 << 12  # that leave others room in the nearest cache; 4 a document looked for do


class KeyedIds(NamedTuple):
    """Documents of queries, as kernels compare them."""

    text: Bytes  # see `TextColumn`; empty if ids are whole numbers, as the next two
    starts: Ints
    lengths: Lengths
    keys: Annotated[NDArray[Any], "i4 i8"]  # (rows,): whole numbers, or hashes of texts
    # The same array where kernels write it; whole numbers may be read-only, which Numba compiles
    # no writing for, even where none is done.
    hashes: NDArray[np.int32]
    begins: Ints  # (queries,): the first row of each
    ends: Ints  # the one after its last
    seeds: Ints = SEEDS  # of hashes

    @classmethod
    def of(cls, ids: IdColumn, begins: Ints, ends: Ints) -> KeyedIds:
        """Make them of a column; hashes are still to be written."""
        if isinstance(ids, TextColumn):
            keys = np.empty(len(ids), np.int32)
            return cls(ids.text, ids.starts, ids.lengths, keys, keys, begins, ends)
        keys, none = as_input(ids), np.empty(0, np.int32)  # of 32 or 64 bits
        return cls(NO_TEXTS.text, NO_TEXTS.starts, NO_TEXTS.lengths, keys, none, begins, ends)

    def most_slots(self, first: int, last: int, per_document: int) -> int:
        """Return how many slots one of some queries needs at most."""
        sizes = self.ends[first:last] - self.begins[first:last]
        return int(_slots_for(per_document * int(sizes.max(initial=1))))


def find_repeats(documents: KeyedIds, most: int) -> Ints2:
    """Return the first rows whose document its query has before them, at most so many, ascending.

    It is int64 ``(2, rows)``: they, and the first rows of their documents. All hashes are written
    unless there are more.
    """
    blocks = [np.empty((2, 0), np.int64)]
    work = 4 * documents.keys.size + int(documents.lengths.sum())

    def look(first: int, last: int) -> None:
        slots = np.empty(documents.most_slots(first, last, DENSE), np.int32)
        repeats = np.empty((2, most), np.int64)
        count = _enter_rows.run(work, documents, first, last, DENSE, slots, repeats)
        blocks.append(repeats[:, :count].copy())

    map_ranges(look, documents.begins.size, cells=work)
    repeats = np.concatenate(blocks, axis=1)
    return repeats[:, np.argsort(repeats[0])][:, :most]


def _alike(some: KeyedIds, others: KeyedIds) -> tuple[KeyedIds, KeyedIds]:
    """Return ids of 32 and of 64 bits as of the same number, that of the first if it can be."""
    keys = others.keys.astype(some.keys.dtype, copy=False)
    if (keys is not others.keys) and (keys != others.keys).any():
        return some._replace(keys=some.keys.astype(np.int64)), others
    return some, others._replace(keys=keys)


def find_rows(retrieved: KeyedIds, judged: KeyedIds, places: Ints) -> Ints:
    """Find judged documents in their queries' rankings, of the same kind, whose hashes are written.

    `places`, int64 ``(queries,)``, has the place of each judged query among the rankings, or -1.
    Returns int64 ``(documents,)``, the row of each, -1 where it was not retrieved.
    """
    retrieved, judged = _alike(retrieved, judged)
    rows = np.full(judged.keys.size, -1, np.int64)
    present = places[places >= 0]
    sizes = retrieved.ends[present] - retrieved.begins[present]
    work = 4 * int(sizes.sum()) + 8 * rows.size
    longest = int(sizes.max(initial=0))

    def look(first: int, last: int) -> None:
        slots = np.empty(max(judged.most_slots(first, last, SPARSE), NEAR_SLOTS), np.int32)
        likely = np.empty(longest + 1, np.int64)
        repeats = np.empty((2, 1), np.int64)  # there are none
        args = retrieved, judged, places, first, last, slots, likely, repeats, rows
        _look_up.run(work, *args)

    map_ranges(look, places.size, cells=work)
    return rows


def match_rankings(
    one: KeyedIds, rows: Ints, starts: Ints, other: KeyedIds, other_rows: Ints, other_starts: Ints
) -> tuple[Ints, Ints]:
    """Find the documents that two rankings of a query both have, of queries one after the other.

    Rankings are `rows`, in rank order, of ids of the same kind whose hashes are written; each
    begins and ends at `starts`. Returns the rank, from 0, of each document in the other ranking,
    int64 ``(rows,)`` and ``(other_rows,)``; -1 where it isn't there.
    """
    one, other = _alike(one, other)
    ranks, other_ranks = np.empty(rows.size, np.int64), np.empty(other_rows.size, np.int64)
    work = 8 * (rows.size + other_rows.size)
    longest = int(np.diff(other_starts).max(initial=1))

    def match(first: int, last: int) -> None:
        slots = np.empty(int(_slots_for(SPARSE * longest)), np.int32)
        sides = one, rows, starts, ranks, other, other_rows, other_starts, other_ranks
        _match.run(work, *sides, first, last, slots)

    map_ranges(match, starts.size - 1, cells=work)
    return ranks, other_ranks


class IdLookup:
    """A table of ids, in which documents of any number of queries are looked up.

    Attributes:
        repeats: int64 ``(2, n)``, the rows of ids that came before, and the first rows of these.
    """

    def __init__(self, ids: IdColumn) -> None:
        every = np.zeros(1, np.int64), np.array([len(ids)], np.int64)
        self._table = KeyedIds.of(ids, *every)
        self._slots = np.empty(self._table.most_slots(0, 1, TIGHT), np.int32)
        work = 4 * len(ids) + int(self._table.lengths.sum())
        repeats = np.empty((2, len(ids) + 1), np.int64)
        count = _enter_rows.run(work, self._table, 0, 1, TIGHT, self._slots, repeats)
        self.repeats = repeats[:, :count]

    def find(self, ids: IdColumn) -> Ints:
        """Return where each id, of the same kind, stands: int64 ``(ids,)``, -1 of others."""
        rows = np.empty(len(ids), np.int64)
        starts = np.zeros(1, np.int64)
        ids = ids if isinstance(ids, TextColumn) else ids.astype(np.int64, copy=False)
        # The table may come from another process, whose seeds are others.
        keyed = KeyedIds.of(ids, starts, starts)._replace(seeds=self._table.seeds)
        work = 8 * len(ids) + int(keyed.lengths.sum())

        def look(first: int, last: int) -> None:
            _find_each.run(work, self._table, self._slots, keyed, first, last, rows)

        map_ranges(look, len(ids), cells=work)
        return rows


def find_ids(ids: IdColumn, others: IdColumn) -> Ints:
    """Return where ids stand among others of their kind: int64 ``(ids,)``, -1 of those missing."""
    if (
        isinstance(ids, np.ndarray)
        and isinstance(others, np.ndarray)
        and np.array_equal(ids, others)
    ):
        return np.arange(len(ids))
    return IdLookup(others).find(ids)


@inlined_kernel
def _find(
    table: KeyedIds, slots: Lengths, begin: int, n_slots: int, shift: int, ids: KeyedIds, row: int
) -> Any:
    """Return the row of a table of a query's documents that one of some ids is.

    Without one, the slot where it would be: from -1 on downwards.
    """
    key = ids.keys[row]
    slot = slot_of(int(key), int(table.seeds[0]), shift, n_slots)
    at = -1
    while at < 0 and slots[slot] >= 0:
        other = begin + slots[slot]
        if table.keys[other] == key and (table.starts.size == 0 or _same(table, other, ids, row)):
            at = other
        else:
            slot = (slot + 1) & (n_slots - 1)
    return at if at >= 0 else -1 - slot


@kernel
def _find_each(
    table: KeyedIds, slots: Lengths, ids: KeyedIds, first: int, last: int, rows: Ints
) -> None:
    """Write where some ids stand in a table that `_enter_rows` has filled."""
    shift = shift_for(slots.size)
    if table.starts.size > 0:
        _write_hashes(ids, first, last)
    for row in range(first, last):
        rows[row] = max(_find(table, slots, 0, slots.size, shift, ids, row), -1)


@kernel
def _enter_rows(
    documents: KeyedIds, first: int, last: int, density: int, slots: Lengths, repeats: Ints2
) -> int:
    """Write the keys of some queries' documents, and enter the last query's in slots.

    Returns how many repeats were written, and is done as soon as there is no room for more.
    """
    found = 0
    for q in range(first, last):
        if found < repeats.shape[1]:
            n_slots = _slots_for(density * (documents.ends[q] - documents.begins[q]))
            found = _enter_query(documents, q, n_slots, slots, repeats, found)
    return found


@kernel
def _enter_query(
    documents: KeyedIds, q: int, n_slots: int, slots: Lengths, repeats: Ints2, found: int
) -> int:
    """Write the keys of a query's documents, and enter them in slots.

    Rows whose document came before are written to `repeats`, with the first row of this.
    """
    begin, end = documents.begins[q], documents.ends[q]
    if documents.starts.size > 0:
        _write_hashes(documents, begin, end)
    shift = shift_for(n_slots)
    slots[:n_slots] = -1
    for row in range(begin & PLACES, end):
        other = _find(documents, slots, begin, n_slots, shift, documents, row)
        if other < 0:
            slots[-1 - other] = row - begin
        else:
            repeats[0, found] = row
            repeats[1, found] = other
            found += 1
            if found == repeats.shape[1]:
                return found
    return found


@kernel
def _look_up(
    retrieved: KeyedIds,
    judged: KeyedIds,
    places: Ints,
    first: int,
    last: int,
    slots: Lengths,
    likely: Ints,
    repeats: Ints2,
    rows: Ints,
) -> None:
    """Write the row of each judged document of some queries."""
    keys, begins, ends = retrieved.keys, retrieved.begins, retrieved.ends
    factor = int(judged.seeds[0])
    for q in range(first, last):
        begin = judged.begins[q]
        if places[q] < 0 or begin == judged.ends[q]:
            continue
        n_judged, first_row, end_row = judged.ends[q] - begin, begins[places[q]], ends[places[q]]
        n_slots = _slots_for(max(SPARSE * n_judged, min(4 * (end_row - first_row), NEAR_SLOTS)))
        _enter_query(judged, q, n_slots, slots, repeats, 0)
        shift, n_likely = shift_for(n_slots), 0
        if n_judged == 1:
            n_likely = _collect_same(keys, first_row, end_row, int(judged.keys[begin]), likely)
            first_row = end_row
        # Most documents are not judged. Which may be is written down without a branch, that the
        # processor would guess wrong, and then looked at: this takes a half less time.
        for row in range(first_row & PLACES, end_row):
            likely[n_likely & PLACES] = row
            n_likely += slots[slot_of(int(keys[row]), factor, shift, n_slots)] >= 0
        n_texts = n_likely if retrieved.starts.size > 0 else 0
        for i in range(n_texts):
            prefetch(retrieved.lengths, likely[i])
            prefetch(retrieved.starts, likely[i])
        for i in range(n_texts):
            prefetch(retrieved.text, retrieved.starts[likely[i]])
        for i in range(n_likely):
            d = _find(judged, slots, begin, n_slots, shift, retrieved, likely[i])
            if d >= 0:
                rows[d] = likely[i]


@kernel
def _collect_same(keys: NDArray[Any], begin: int, end: int, key: int, likely: Ints) -> int:
    """Write down the rows of a ranking that have a key, many at once; return their number."""
    row, n_likely = begin & PLACES, 0
    while row < end:
        stop, same = min(row + 128, end), 0
        for i in range(row, stop):
            same += keys[i] == key
        for i in range(row, stop if same > 0 else row):
            likely[n_likely] = i
            n_likely += keys[i] == key
        row = stop
    return n_likely


@kernel
def _match(
    one: KeyedIds,
    rows: Ints,
    starts: Ints,
    ranks: Ints,
    other: KeyedIds,
    other_rows: Ints,
    other_starts: Ints,
    other_ranks: Ints,
    first: int,
    last: int,
    slots: Lengths,
) -> None:
    """Write the rank of each document of some queries in the other ranking, where no id repeats."""
    factor = int(one.seeds[0])
    for q in range(first, last):
        begin, other_begin = starts[q], other_starts[q]
        n_slots = _slots_for(SPARSE * (other_starts[q + 1] - other_begin))
        shift = shift_for(n_slots)
        slots[:n_slots] = -1
        for i in range(other_begin, other_starts[q + 1]):
            slot = slot_of(int(other.keys[other_rows[i]]), factor, shift, n_slots)
            while slots[slot] >= 0:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = i - other_begin
            other_ranks[i] = -1
        for i in range(begin, starts[q + 1]):
            key = one.keys[rows[i]]
            slot = slot_of(int(key), factor, shift, n_slots)
            rank = -1
            while rank < 0 and slots[slot] >= 0:
                row = other_rows[other_begin + slots[slot]]
                if other.keys[row] == key and (
                    other.starts.size == 0 or _same(other, row, one, rows[i])
                ):
                    rank = int(slots[slot])
                    other_ranks[other_begin + rank] = i - begin
                slot = (slot + 1) & (n_slots - 1)
            ranks[i] = rank


@kernel
def _slots_for(least: int) -> int:
    """Return a number of slots, a power of two."""
    slots = 64
    while slots < least:
        slots *= 2
    return slots


@kernel
def _same(some: KeyedIds, row: int, others: KeyedIds, other: int) -> bool:
    """Tell whether two texts are the same."""
    length = int(some.lengths[row])
    if length != others.lengths[other]:
        return False
    return _same_bytes(some.text, some.starts[row], others.text, others.starts[other], length)


@kernel
def _same_bytes(text: Bytes, at: int, other_text: Bytes, other_at: int, length: int) -> bool:
    """Tell whether so many bytes of two texts are the same."""
    left, differ = length, 0
    while differ == 0 and left > 0:
        if at + 8 <= text.size and other_at + 8 <= other_text.size:
            word = load_word(text, at) ^ load_word(other_text, other_at)
            differ = word & int(MASKS[min(left, 8)])
        else:  # at the end of one text
            for i in range(min(left, 8)):
                differ |= int(text[at + i]) ^ int(other_text[other_at + i])
        at += 8
        other_at += 8
        left -= 8
    return differ == 0


@kernel
def _write_hashes(documents: KeyedIds, begin: int, end: int) -> None:
    """Hash texts."""
    text, starts, lengths, hashes, seeds = (
        documents.text, documents.starts, documents.lengths, documents.hashes, documents.seeds
    )  # fmt: skip
    first, low, high = int(seeds[0]), int(seeds[1]), int(seeds[2])
    for row in range(begin & PLACES, end):
        hashes[row] = hash_text(text, starts[row], lengths[row], first, low, high)


def number_ids(ids: IdColumn) -> tuple[Ints, Ints]:
    """Return each id's number, in order of appearance, and the first row of each number."""
    if not isinstance(ids, TextColumn) and (ids[1:] > ids[:-1]).all():
        every = np.arange(len(ids))
        return every, every
    return number_repeats(IdLookup(ids).repeats, len(ids))


def number_repeats(repeats: Ints2, size: int) -> tuple[Ints, Ints]:
    """Do the same with ids whose repeats were found, see `find_repeats`."""
    rows, others = repeats
    is_first = np.ones(size, bool)
    is_first[rows] = False
    numbers = np.cumsum(is_first) - 1
    numbers[rows] = numbers[others]
    return numbers, np.flatnonzero(is_first)


def group_runs(ids: IdColumn, firsts: Ints, rows: int) -> tuple[Ints, Ints, Ints | None]:
    """Find the rows of each id: of runs of rows, each has an id and a first row, see `first_rows`.

    Returns int64 ``(ids,)``, the first run of each different id, ascending; ``(ids + 1,)``, where
    its rows begin and end when ordered by id; and that order ``(rows,)``, None if they stand in it.
    """
    groups, picks = number_ids(ids)
    if picks.size == groups.size:  # each id's rows stand together
        return picks, np.append(firsts, rows), None
    sizes = np.diff(firsts, append=rows)
    starts = offsets_of(np.bincount(groups, sizes, picks.size).astype(np.int64))
    if (np.diff(groups) >= 0).all():
        return picks, starts, None
    return picks, starts, order_groups(np.repeat(groups, sizes), starts)


def order_groups(groups: Ints, starts: Ints) -> Ints:
    """Return the order of rows by group, those of a group ascending, where each's `starts`."""
    order = np.empty(groups.size, np.int64)
    _spread.run(groups.size, groups, starts[:-1].copy(), order)
    return order


def first_rows(ids: IdColumn) -> Ints:
    """Return the rows that have another id than the one before, int64."""
    if not len(ids):
        return np.empty(0, np.int64)
    changes = np.ones(len(ids), bool)
    if isinstance(ids, TextColumn):
        work = 4 * len(ids)

        def mark(first: int, last: int) -> None:
            _mark_changes.run(work, ids.text, ids.starts, ids.lengths, first + 1, last + 1, changes)

        map_ranges(mark, len(ids) - 1, cells=work)
    else:
        np.not_equal(ids[1:], ids[:-1], out=changes[1:])
    return np.flatnonzero(changes)


@kernel
def _mark_changes(
    text: Bytes, starts: Ints, lengths: Lengths, first: int, last: int, changes: Bools
) -> None:
    """Tell of some texts whether each is another than the one before it."""
    for row in range(first, last):
        length, at, before = int(lengths[row]), starts[row], starts[row - 1]
        # Of a dictionary, equal texts are mostly the same bytes.
        changes[row] = length != lengths[row - 1] or not (
            at == before or _same_bytes(text, at, text, before, length)
        )


@kernel
def _spread(groups: Ints, next_places: Ints, order: Ints) -> None:
    """Write the rows of each group, ascending, to where its place is; places move on."""
    for row in range(groups.size):
        place = next_places[groups[row]]
        order[place] = row
        next_places[groups[row]] = place + 1

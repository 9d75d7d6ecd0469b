"""Finding judged documents in rankings, and documents that a ranking has twice.

Documents are looked up in a table of one query's, which stays in the nearest cache. Text is found
by a hash of its bytes and then compared; whole numbers are what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Ints
from irbatch.data.text_column import NO_TEXTS, IdColumn, TextColumn
from irbatch.runtime.jit import kernel
from irbatch.runtime.threads import map_ranges

if TYPE_CHECKING:
    from irbatch.data.query_table import QueryTable

__all__ = ["find_rows", "mark_rows"]

Lengths = npt.NDArray[np.int32]
Marks = npt.NDArray[Any]  # int32 of text, int64 of whole numbers

# Slots per document: where most of those looked for are not there, a miss should end at once.
DENSE, SPARSE = 3, 8


def mark_rows(
    documents: IdColumn, begins: Ints, ends: Ints, threads: int | None = None
) -> tuple[Marks, int]:
    """Hash documents that are text, and look for some that a query has twice.

    Args:
        documents: `TextColumn` or int64 ``(rows,)``.
        begins, ends: int64 ``(queries,)``, the first row of each query and the one after its last.
        threads: how many look; default: as many as it is worth.

    Returns:
        int32 ``(rows,)`` of text, else the documents; and a row whose document its query has
        before it, -1 when there is none.
    """
    texts = documents if isinstance(documents, TextColumn) else NO_TEXTS
    marks: Marks = (
        np.empty(len(texts), np.int32) if isinstance(documents, TextColumn) else documents
    )
    exact = not isinstance(documents, TextColumn)
    found: list[int] = []
    work = 4 * marks.size + int(texts.lengths.sum())

    def look(first: int, last: int) -> None:
        slots = np.empty(_most_slots(ends[first:last] - begins[first:last]), np.int32)
        columns = texts.text, texts.starts, texts.lengths, begins, ends
        row = _enter_rows.run(work, *columns, marks, exact, first, last, slots)
        if row >= 0:
            found.append(int(row))

    map_ranges(look, begins.size, cells=work, threads=threads)
    return marks, min(found, default=-1)


def find_rows(table: QueryTable, places: Ints, judged: IdColumn, owners_start: Ints) -> Ints:
    """Find judged documents in their queries' rankings.

    Args:
        table: the rankings.
        places: int64 ``(queries,)``, each query's place in them, or -1.
        judged: the judged documents, one query after the other, of the same kind.
        owners_start: int64 ``(queries + 1,)``, where each query's judged documents begin and end.

    Returns:
        int64 ``(documents,)``: the row of each, -1 where it was not retrieved.
    """
    exact = not isinstance(judged, TextColumn)
    ours = table.documents if isinstance(table.documents, TextColumn) else NO_TEXTS
    theirs = judged if isinstance(judged, TextColumn) else NO_TEXTS
    wanted: Marks = np.empty(len(judged), np.int32) if isinstance(judged, TextColumn) else judged
    rows = np.full(wanted.size, -1, np.int64)
    retrieved = places[places >= 0]
    sizes = table.ends[retrieved] - table.begins[retrieved]
    work = 4 * int(sizes.sum()) + 8 * wanted.size
    longest = int(sizes.max(initial=0))

    def look(first: int, last: int) -> None:
        slots = np.empty(_most_slots(np.diff(owners_start[first : last + 1])), np.int32)
        likely = np.empty(longest + 1, np.int64)
        _look_up.run(
            work, ours.text, ours.starts, ours.lengths, table.marks, table.begins, table.ends,
            places, theirs.text, theirs.starts, theirs.lengths, wanted, owners_start,
            exact, first, last, slots, likely, rows,
        )  # fmt: skip

    map_ranges(look, places.size, cells=work)
    return rows


def _most_slots(sizes: Ints) -> int:
    """Return how many slots the largest query needs at most."""
    return int(_slots_for(SPARSE * int(sizes.max(initial=1))))


@kernel
def _enter_rows(
    text: Bytes, starts: Ints, lengths: Lengths, begins: Ints, ends: Ints, keys: Marks,
    exact: bool, first: int, last: int, slots: Lengths,
) -> int:  # fmt: skip
    """Write the keys of some queries' documents; return a row whose document came before, or -1."""
    for q in range(first, last):
        begin = begins[q]
        n_slots = _slots_for(DENSE * (ends[q] - begin))
        slots[:n_slots] = -1
        for row in range(begin, ends[q]):
            if not exact:
                keys[row] = _hash(text, starts[row], lengths[row])
            slot = _slot_of(keys[row], n_slots)
            while slots[slot] >= 0:
                other = begin + slots[slot]
                if keys[other] == keys[row] and (
                    exact
                    or _equal(text, starts[other], lengths[other], text, starts[row], lengths[row])
                ):
                    return row
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = row - begin
    return -1


@kernel
def _look_up(
    text: Bytes, starts: Ints, lengths: Lengths, keys: Marks, begins: Ints, ends: Ints,
    places: Ints, judged: Bytes, judged_starts: Ints, judged_lengths: Lengths, wanted: Marks,
    owners_start: Ints, exact: bool, first: int, last: int, slots: Lengths, likely: Ints,
    rows: Ints,
) -> None:  # fmt: skip
    """Write the row of each judged document of some queries."""
    for q in range(first, last):
        begin = owners_start[q]
        if places[q] < 0 or begin == owners_start[q + 1]:
            continue
        n_slots = _slots_for(SPARSE * (owners_start[q + 1] - begin))
        slots[:n_slots] = -1
        for d in range(begin, owners_start[q + 1]):
            if not exact:
                wanted[d] = _hash(judged, judged_starts[d], judged_lengths[d])
            slot = _slot_of(wanted[d], n_slots)
            while slots[slot] >= 0:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = d - begin
        # Most documents are not judged. Which may be is written down without a branch, that the
        # processor would guess wrong, and then looked at: this takes a half less time.
        n_likely = 0
        for row in range(begins[places[q]], ends[places[q]]):
            likely[n_likely] = row
            n_likely += slots[_slot_of(keys[row], n_slots)] >= 0
        for i in range(n_likely):
            row = likely[i]
            slot = _slot_of(keys[row], n_slots)
            while slots[slot] >= 0:
                d = begin + slots[slot]
                if wanted[d] == keys[row] and (
                    exact
                    or _equal(
                        text, starts[row], lengths[row],
                        judged, judged_starts[d], judged_lengths[d],
                    )
                ):  # fmt: skip
                    rows[d] = row
                    break
                slot = (slot + 1) & (n_slots - 1)


@kernel
def _slots_for(least: int) -> int:
    """Return a number of slots, a power of two."""
    slots = 64
    while slots < least:
        slots *= 2
    return slots


@kernel
def _slot_of(key: int, slots: int) -> int:
    """Choose a slot: 31 bits of the key, times a number that spreads them."""
    folded = (int(key) ^ (int(key) >> 31)) & 0x7FFFFFFF
    return ((folded * 0x5E3779B1) >> 24) & (slots - 1)


@kernel
def _equal(
    text: Bytes, start: int, length: int, other: Bytes, other_start: int, other_length: int
) -> bool:
    """Tell whether two slices hold the same bytes."""
    if length != other_length:
        return False
    for i in range(length):  # noqa: SIM110 - kernels have no generators
        if text[start + i] != other[other_start + i]:
            return False
    return True


@kernel
def _hash(text: Bytes, start: int, length: int) -> int:
    """Hash some bytes, four at a step: to 31 bits, by way of 52, so that int64 never overflows."""
    at = start
    stop = start + length
    value = stop - start
    while at + 3 < stop:
        word = int(text[at]) | (int(text[at + 1]) << 8)
        word |= (int(text[at + 2]) << 16) | (int(text[at + 3]) << 24)
        value = (value * 961 + word) & 0xFFFFFFFFFFFFF
        at += 4
    while at < stop:
        value = (value * 31 + int(text[at])) & 0xFFFFFFFFFFFFF
        at += 1
    return (value ^ (value >> 26)) & 0x7FFFFFFF

"""Finding the rows that have the same id."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Bytes, Ints
from irbatch.data.hashing import SEEDS, hash_text, shift_for, slot_of
from irbatch.data.short_texts import ShortTexts
from irbatch.data.text_column import NO_TEXTS, IdColumn, TextColumn
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import map_ranges

Lengths = npt.NDArray[np.int32]

NO_NUMBERS = np.empty(0, np.int64)


def group_runs(ids: IdColumn, firsts: Ints, rows: int) -> tuple[Ints, Ints, Ints | None]:
    """Find the rows of each id: of runs of rows, each has an id and a first row, see `first_rows`.

    Returns int64 ``(ids,)``, the first run of each different id, ascending; ``(ids + 1,)``, where
    its rows begin and end when ordered by id; and that order ``(rows,)``, None if they stand in it.
    """
    sizes = np.diff(firsts, append=rows)
    groups, found = _number(ids)
    starts = offsets_of(np.bincount(groups, sizes, found.size).astype(np.int64))
    if (np.diff(groups) >= 0).all():
        return found, starts, None
    order = np.empty(rows, np.int64)
    _spread.run(rows, np.repeat(groups, sizes), starts[:-1].copy(), order)
    return found, starts, order


def first_rows(ids: IdColumn) -> Ints:
    """Return the rows that have another id than the one before, int64."""
    if not len(ids):
        return np.empty(0, np.int64)
    changes = np.ones(len(ids), bool)
    if isinstance(ids, ShortTexts):
        ids.mark_changes(changes)
    elif isinstance(ids, TextColumn):
        work = 4 * len(ids)

        def mark(first: int, last: int) -> None:
            _mark_changes.run(work, ids.text, ids.starts, ids.lengths, first + 1, last + 1, changes)

        map_ranges(mark, len(ids) - 1, cells=work)
    else:
        np.not_equal(ids[1:], ids[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def _number(ids: IdColumn) -> tuple[Ints, Ints]:
    """Return each id's number, in order of appearance, and the first row of each number."""
    texts = ids if isinstance(ids, TextColumn) else NO_TEXTS
    numbers = NO_NUMBERS if isinstance(ids, TextColumn) else as_input(ids)
    slots = np.zeros(1 << (2 * len(ids)).bit_length(), np.int32)
    groups = np.empty(len(ids), np.int64)
    firsts = np.empty(len(ids), np.int64)
    work = 8 * len(ids)
    columns = texts.text, texts.starts, texts.lengths, numbers
    are_texts = isinstance(ids, TextColumn)
    count = _number_ids.run(work, *columns, are_texts, SEEDS, slots, groups, firsts)
    return groups, firsts[:count]


@kernel
def _mark_changes(
    text: Bytes, starts: Ints, lengths: Lengths, first: int, last: int, changes: Bools
) -> None:
    """Tell of some texts whether each is another than the one before it."""
    for row in range(first, last):
        same = lengths[row] == lengths[row - 1]
        # Of a dictionary, equal texts are mostly the same bytes.
        i = lengths[row] if starts[row] == starts[row - 1] else 0
        while same and i < lengths[row]:
            same = text[starts[row] + i] == text[starts[row - 1] + i]
            i += 1
        changes[row] = not same


@kernel
def _number_ids(
    text: Bytes,
    starts: Ints,
    lengths: Lengths,
    numbers: Ints,
    are_texts: bool,
    seeds: Ints,
    slots: Lengths,
    groups: Ints,
    firsts: Ints,
) -> int:
    """Write the number of each id and the first row of each number; return how many there are."""
    first, low, high = int(seeds[0]), int(seeds[1]), int(seeds[2])
    shift = shift_for(slots.size)
    count = 0
    for row in range(groups.size):
        if are_texts:
            key = hash_text(text, starts[row], lengths[row], first, low, high)
        else:
            key = int(numbers[row])
        slot = slot_of(key, first, shift, slots.size)
        while slots[slot] > 0:  # numbers are one more there: 0 is a free slot
            other = firsts[slots[slot] - 1]
            if are_texts:
                same = lengths[row] == lengths[other]
                i = 0
                while same and i < lengths[row]:
                    same = text[starts[row] + i] == text[starts[other] + i]
                    i += 1
            else:
                same = numbers[row] == numbers[other]
            if same:
                break
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] == 0:
            firsts[count] = row
            count += 1
            slots[slot] = count
        groups[row] = slots[slot] - 1
    return count


@kernel
def _spread(groups: Ints, next_places: Ints, order: Ints) -> None:
    """Write the rows of each group, ascending, to where its place is; places move on."""
    for row in range(groups.size):
        place = next_places[groups[row]]
        order[place] = row
        next_places[groups[row]] = place + 1

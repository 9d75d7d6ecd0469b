"""Texts of at most 12 bytes as Arrow's views hold them: nothing is made of a row.

A view is 16 bytes: the length, the text and zeros. So texts are the same if two words of 8 bytes
are, and are read, grouped and looked up without an array that says where each begins: in two thirds
of the time once they are read (benchmarks/test_frames.py), and sooner than that array is made.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Bytes, Ints
from irbatch.data.ids import Lengths, TextColumn
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.threads import map_ranges

LONGEST = 12  # bytes
LOW = (1 << 32) - 1
HIGHEST_BITS = -0x7F7F7F7F7F7F7F80  # of the bytes of a word: set in what is not ASCII
# Of each length, which bits of both words may be set.
FILLED = np.array([[n + 4 > i for i in range(16)] for n in range(LONGEST + 1)], np.uint8) * 255
ALLOWED = FILLED.view(np.int64)

# Of hashes: chosen anew in each process, so that ids that clash cannot be chosen.
FACTORS = np.frombuffer(os.urandom(32), np.int64) & 0x7FFFFFFF | 1

# Slots per document: where most of those looked for are not there, a miss should end at once.
DENSE, SPARSE = 3, 8


class ShortTexts(TextColumn):
    """A column of texts: `words` int64 ``(n, 2)``, the views; the rest is made when asked for.

    Bytes of another's are still `unchecked` where they are not ASCII: they may be no UTF-8.
    """

    def __init__(self, words: Ints, unchecked: bool = False) -> None:
        self.words: Ints = as_input(words)
        self.unchecked = unchecked

    def __getattr__(self, name: str) -> npt.NDArray[np.generic]:
        if name == "text":
            self.text = self.words.reshape(-1).view(np.uint8)
        elif name == "starts":
            self.starts = np.arange(4, 4 + self.words.nbytes, 16)
        elif name == "lengths":
            self.lengths = self.words.view(np.int32)[:, 0].copy()
        else:
            raise AttributeError(name)
        return self.__dict__[name]

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of_views(cls, views: npt.NDArray[np.int32]) -> tuple[ShortTexts | None, bool]:
        """Return texts that all stand in their views ``(n, 4)``, None if some do not.

        Also tell whether those that do are still unchecked.
        """
        words: Ints = as_input(views.view(np.int64))
        if sys.byteorder == "big" or words.ctypes.data % 8:
            return None, True
        long, high = [], []

        def look(first: int, last: int) -> None:
            is_long, bits = _look_at_views.run(2 * len(words), words, ALLOWED, first, last)
            long.append(is_long)
            high.append(bits)

        map_ranges(look, len(words), cells=2 * len(words))
        unchecked = any(high)
        return None if any(long) else cls(words, unchecked), unchecked

    @classmethod
    def of_column(cls, column: TextColumn) -> ShortTexts:
        """Return texts of any column; long ones, for which there is no room, are like no others."""
        if isinstance(column, ShortTexts):
            return column
        words = np.zeros((len(column), 2), np.int64)
        places = column.text, column.starts, column.lengths
        _fill.run(8 * words.size, *places, words.view(np.uint8), words)
        return cls(words)

    def take(self, rows: npt.NDArray[np.integer] | slice) -> ShortTexts:
        """Return some of them."""
        return ShortTexts(self.words[rows], self.unchecked)

    def mark_changes(self, changes: Bools) -> None:
        """Tell of all texts but the first whether each is another than the one before it."""

        def mark(first: int, last: int) -> None:
            _mark_changes.run(2 * len(self), self.words, first + 1, last + 1, changes)

        map_ranges(mark, len(self) - 1, cells=2 * len(self))


class ShortIds(NamedTuple):
    """Documents of queries: `words` of texts, the first row of each query, and the last's next."""

    words: Ints
    begins: Ints
    ends: Ints
    factors: Ints = FACTORS

    def most_slots(self, first: int, last: int, per_document: int) -> int:
        """Return how many slots one of some queries needs at most."""
        sizes = self.ends[first:last] - self.begins[first:last]
        return int(_slots_for(per_document * int(sizes.max(initial=1))))


def find_repeated(documents: ShortIds, threads: int | None = None) -> int:
    """Return a row whose document its query has before it, or -1."""
    found: list[int] = []
    work = 4 * len(documents.words)

    def look(first: int, last: int) -> None:
        found.extend(find_repeats(documents, 1, first, last).tolist())

    map_ranges(look, documents.begins.size, cells=work, threads=threads)
    return min(found, default=-1)


def find_repeats(documents: ShortIds, most: int, first: int = 0, last: int | None = None) -> Ints:
    """Return the first rows of some queries whose document came before, at most so many."""
    last = documents.begins.size if last is None else last
    work = 4 * len(documents.words)
    slots = np.empty(documents.most_slots(first, last, DENSE), np.int32)
    repeats = np.empty(most, np.int64)
    return repeats[: _enter_rows.run(work, documents, first, last, slots, repeats)]


def find_rows(retrieved: ShortIds, judged: ShortIds, places: Ints) -> Ints:
    """Find judged documents in their queries' rankings, as `irbatch.data.lookup.find_rows`."""
    rows = np.full(len(judged.words), -1, np.int64)
    there = places[places >= 0]
    sizes = retrieved.ends[there] - retrieved.begins[there]
    work = 4 * int(sizes.sum()) + 8 * rows.size
    longest = int(sizes.max(initial=0))

    def look(first: int, last: int) -> None:
        slots = np.empty(judged.most_slots(first, last, SPARSE), np.int32)
        likely = np.empty(longest + 1, np.int64)
        _look_up.run(work, retrieved, judged, places, first, last, slots, likely, rows)

    map_ranges(look, places.size, cells=work)
    return rows


@kernel
def _look_at_views(words: Ints, allowed: Ints, first: int, last: int) -> tuple[bool, int]:
    """Tell whether a text is long, or has something behind it; and of others, what isn't ASCII."""
    is_long, bits = False, 0
    for row in range(first, last):
        length = words[row, 0] & LOW
        if length > LONGEST:
            is_long = True
            continue
        low, high = words[row, 0], words[row, 1]
        is_long |= ((low & ~allowed[length, 0]) | (high & ~allowed[length, 1])) != 0
        bits |= low | high
    return is_long, bits & HIGHEST_BITS


@kernel
def _fill(text: Bytes, starts: Ints, lengths: Lengths, found: Bytes, words: Ints) -> None:
    """Write texts as views: `found` are the bytes of `words`."""
    for row in range(starts.size):
        if lengths[row] > LONGEST:
            words[row, 0] = -1
            continue
        words[row, 0] = lengths[row]
        for i in range(lengths[row]):
            found[row, 4 + i] = text[starts[row] + i]


@kernel
def _mark_changes(words: Ints, first: int, last: int, changes: Bools) -> None:
    """Tell of some texts whether each is another than the one before it."""
    for row in range(first, last):
        other = (words[row, 0] ^ words[row - 1, 0]) | (words[row, 1] ^ words[row - 1, 1])
        changes[row] = other != 0


@kernel
def _enter_rows(documents: ShortIds, first: int, last: int, slots: Lengths, repeats: Ints) -> int:
    """Write rows of some queries whose document came before, as many as there is room for."""
    words, begins, ends, factors = documents
    found = 0
    for q in range(first, last):
        begin = begins[q]
        n_slots = _slots_for(DENSE * (ends[q] - begin))
        slots[:n_slots] = -1
        for row in range(begin, ends[q]):
            slot = _slot_of(words, row, factors, n_slots)
            while slots[slot] >= 0:
                other = begin + slots[slot]
                if words[other, 0] == words[row, 0] and words[other, 1] == words[row, 1]:
                    repeats[found] = row
                    found += 1
                    break
                slot = (slot + 1) & (n_slots - 1)
            if found == repeats.size:
                return found
            slots[slot] = row - begin
    return found


@kernel
def _look_up(
    retrieved: ShortIds,
    judged: ShortIds,
    places: Ints,
    first: int,
    last: int,
    slots: Lengths,
    likely: Ints,
    rows: Ints,
) -> None:
    """Write the row of each judged document of some queries."""
    words, begins, ends, factors = retrieved
    wanted, firsts, stops, _ = judged
    for q in range(first, last):
        begin = firsts[q]
        if places[q] < 0 or begin == stops[q]:
            continue
        n_slots = _slots_for(SPARSE * (stops[q] - begin))
        slots[:n_slots] = -1
        for d in range(begin, stops[q]):
            slot = _slot_of(wanted, d, factors, n_slots)
            while slots[slot] >= 0:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = d - begin
        # Most documents are not judged. Which may be is written down without a branch, that the
        # processor would guess wrong, and then looked at.
        n_likely = 0
        for row in range(begins[places[q]], ends[places[q]]):
            likely[n_likely] = row
            n_likely += slots[_slot_of(words, row, factors, n_slots)] >= 0
        for i in range(n_likely):
            row = likely[i]
            slot = _slot_of(words, row, factors, n_slots)
            while slots[slot] >= 0:
                d = begin + slots[slot]
                if wanted[d, 0] == words[row, 0] and wanted[d, 1] == words[row, 1]:
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
def _slot_of(words: Ints, row: int, factors: Ints, slots: int) -> int:
    """Choose a slot by the halves of both words, each times a factor: below 2^63."""
    first, second = int(words[row, 0]), int(words[row, 1])
    key = ((first & LOW) * int(factors[0])) ^ (((first >> 32) & LOW) * int(factors[1]))
    key ^= ((second & LOW) * int(factors[2])) ^ (((second >> 32) & LOW) * int(factors[3]))
    return ((key ^ (key >> 17)) >> 20) & (slots - 1)

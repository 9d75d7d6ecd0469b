"""Ragged arrays: rows, or texts, of different lengths, one after the other in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from irbatch.array_types import Bytes, Ints
from irbatch.runtime.kernels import kernel

# A mask of places in a text: what has gone through it is not negative, and compilers need not look
# whether it counts from the end (17 ns a line instead of 19).
PLACES = 0xFFFFFFFFFFF


def offsets_of(sizes: Ints | Iterable[int]) -> Ints:
    """Return where rows of some sizes begin and end: int64 ``(rows + 1,)``, from 0.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    sizes = np.asarray(sizes, np.int64)
    offsets = np.zeros(sizes.size + 1, np.int64)
    sizes.cumsum(out=offsets[1:])
    return offsets


def joined_ranges(begins: Ints, sizes: Ints) -> Ints:
    """Return the whole numbers of several ranges, one range after the other.

    >>> joined_ranges(np.array([7, 1]), np.array([2, 3])).tolist()
    [7, 8, 1, 2, 3]
    """
    offsets = offsets_of(sizes)
    shifts = begins - offsets[:-1]
    if shifts.size and (shifts == shifts[0]).all():  # one range, as those of all queries are
        return np.arange(shifts[0], shifts[0] + offsets[-1])
    return np.arange(offsets[-1]) + np.repeat(shifts, sizes)


def row_index_of(offsets: Ints) -> Ints:
    """Return the row of each item of rows that begin and end at `offsets`.

    >>> row_index_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


@kernel
def load_word(text: Bytes, at: int) -> int:
    """Return eight bytes as a whole number; compilers make one instruction of this."""
    at &= PLACES
    low = int(text[at]) | int(text[at + 1]) << 8 | int(text[at + 2]) << 16 | int(text[at + 3]) << 24
    high = int(text[at + 4]) | int(text[at + 5]) << 8 | int(text[at + 6]) << 16
    # With its sign: plain Python has no end of bits.
    return low | (high | ((int(text[at + 7]) ^ 128) - 128) << 24) << 32

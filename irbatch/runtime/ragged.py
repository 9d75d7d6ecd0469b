"""Ragged arrays: rows of different lengths, one after the other in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from irbatch.array_types import Ints


def offsets_of(sizes: Ints | Iterable[int]) -> Ints:
    """Return where rows of some sizes begin and end: int64 ``(rows + 1,)``, from 0.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    sizes = np.asarray(sizes, np.int64)
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def joined_ranges(begins: Ints, sizes: Ints) -> Ints:
    """Return the whole numbers of several ranges, one range after the other.

    >>> joined_ranges(np.array([7, 1]), np.array([2, 3])).tolist()
    [7, 8, 1, 2, 3]
    """
    offsets = offsets_of(sizes)
    return np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], sizes)


def row_index_of(offsets: Ints) -> Ints:
    """Return the row of each item of rows that begin and end at `offsets`.

    >>> row_index_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))

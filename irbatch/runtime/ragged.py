"""Ragged arrays: rows of different lengths, one after the other in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from irbatch.array_types import Ints

__all__ = ["ends_of", "row_index_of", "row_numbers"]


def ends_of(sizes: Ints | Iterable[int]) -> Ints:
    """Return where rows of some sizes begin and end, one after the other: int64 ``(rows + 1,)``."""
    sizes = np.asarray(sizes, np.int64)
    ends = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    return ends


def row_numbers(begins: Ints, sizes: Ints) -> Ints:
    """List the places of things that begin at some places, one thing's after the other's."""
    starts = ends_of(sizes)
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)


def row_index_of(starts: Ints) -> Ints:
    """Return the row that each element is of: int64 ``(elements,)``, ascending from 0.

    Args:
        starts: int64 ``(rows + 1,)``, where each row begins and ends.
    """
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))

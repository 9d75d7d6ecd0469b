"""Pairs of documents that a ranking has in the order of other values, of a block of rankings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.runtime.jit import kernel


class Concordance(NamedTuple):
    """For each document of rankings, how others compare with it by some values.

    Each is int64 ``(documents,)``.
    """

    above: Ints  # documents that stand above it
    higher: Ints  # those of them whose value is higher: in the same order by both
    equal: Ints  # those of them whose value is the same
    all_higher: Ints  # documents of its ranking whose value is higher


def compare_pairs(starts: Ints, values: Floats) -> Concordance:
    """Count, for each document, those above it that values place above it, too, or tie with it.

    Args:
        starts: where rankings begin and end, int64 ``(rankings + 1,)``.
        values: of each document, ranking after ranking, best first; float64 ``(documents,)``.
    """
    kinds, order = np.unique(values, return_inverse=True)
    order = order.reshape(-1).astype(np.int64)
    sizes = np.diff(starts)
    above = np.arange(values.size) - np.repeat(starts[:-1], sizes)
    found = np.empty((3, values.size), np.int64)
    tree = np.zeros(kinds.size + 1, np.int64)
    _compare_above.run(20 * values.size + starts.size, starts, order, tree, found)
    higher, equal, all_higher = found
    return Concordance(above, higher, equal, all_higher)


@kernel
def _compare_above(starts: Ints, order: Ints, tree: Ints, found: Ints) -> None:
    """Write documents above of a higher value and of the same, and all of a higher value.

    The tree (Fenwick's) counts documents seen by the place of their value in ascending order,
    `order`; it is empty at the beginning and at the end.
    """
    for q in range(starts.size - 1):
        first = starts[q]
        last = starts[q + 1]
        for i in range(first, last):
            found[0, i] = i - first - _count(tree, order[i] + 1)
            found[1, i] = i - first - _count(tree, order[i]) - found[0, i]
            _add(tree, order[i] + 1, 1)
        for i in range(first, last):
            found[2, i] = last - first - _count(tree, order[i] + 1)
        for i in range(first, last):
            _add(tree, order[i] + 1, -1)


@kernel
def _count(tree: Ints, place: int) -> int:
    """Count the documents seen whose value is among the lowest `place`."""
    count = 0
    while place > 0:
        count += tree[place]
        place -= place & -place
    return count


@kernel
def _add(tree: Ints, place: int, number: int) -> None:
    """Add a number of documents of the value at a place, from 1."""
    while place < tree.size:
        tree[place] += number
        place += place & -place

"""The orders that documents with equal scores could stand in, one by one.

For measures whose expected value is not a function of expected statistics: each order becomes a
row of a relevance matrix, and the measure's mean over them is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from irbatch.matrix import BLOCK_BYTES, RelevanceMatrix

__all__ = ["DRAWS", "MOST_ORDERS", "OrdersOfRow", "orders_of"]

MOST_ORDERS = math.factorial(7)  # of a query: so many are all tried
DRAWS = 1000  # of a query with more
SEED = 20081  # the same draws for a query wherever it stands

Codes = npt.NDArray[np.signedinteger]


class OrdersOfRow:
    """The orders of one query.

    Args:
        row: its row in the block.
        matrices: relevance matrices whose rows are its orders, each as likely as any other.
    """

    def __init__(self, row: int, matrices: Iterator[RelevanceMatrix]) -> None:
        self.row, self.matrices = row, matrices


def orders_of(matrix: RelevanceMatrix) -> Iterator[OrdersOfRow]:
    """Give every query with ties its orders: all that differ, or a thousand drawn from them.

    Args:
        matrix: a block of queries.
    """
    if matrix.ties is None:
        return
    rows, starts = np.unique(matrix.ties.rows, return_index=True)
    bounds = [*starts.tolist(), matrix.ties.rows.size]
    for row, first, last in zip(rows.tolist(), bounds, bounds[1:], strict=False):
        spans = [
            slice(int(begin), int(end))
            for begin, end in zip(
                matrix.ties.begins[first:last], matrix.ties.ends[first:last], strict=True
            )
        ]
        yield OrdersOfRow(row, _matrices(matrix, row, spans))


def _matrices(
    matrix: RelevanceMatrix, row: int, spans: Sequence[slice]
) -> Iterator[RelevanceMatrix]:
    """Write a query's orders into matrices of bounded size."""
    codes = matrix.codes[row]
    # Sorted, so that the draws don't depend on the order that the block happens to have.
    tied = [np.sort(codes[span]) for span in spans]
    many = math.prod(map(_count_orders, tied))
    orders = _all_orders(tied) if many <= MOST_ORDERS else _draw_orders(tied)
    at_once = max(8 * BLOCK_BYTES // max(codes.nbytes, 1), 1)
    while some := list(itertools.islice(orders, at_once)):
        written = np.repeat(codes[None], len(some), axis=0)
        for i, order in enumerate(some):
            for span, part in zip(spans, order, strict=True):
                written[i, span] = part
        retrieved = np.repeat(matrix.retrieved[row], len(some))
        judged = np.repeat(matrix.judged[row : row + 1], len(some), axis=0)
        yield RelevanceMatrix(written, matrix.levels, retrieved, judged, matrix.complete)


def _count_orders(codes: Codes) -> int:
    """Count the orders of a tie that differ."""
    _, counts = np.unique(codes, return_counts=True)
    free = codes.size
    orders = 1
    for count in counts.tolist():
        orders *= math.comb(free, count)
        free -= count
    return orders


def _all_orders(tied: Sequence[Codes]) -> Iterator[tuple[Codes, ...]]:
    """List every order of every tie with every order of the others."""
    return itertools.product(*(list(_arrange(codes)) for codes in tied))


def _arrange(codes: Codes) -> Iterator[Codes]:
    """List the orders of a tie that differ: its most frequent code goes where no other stands."""
    found, counts = np.unique(codes, return_counts=True)
    most = int(counts.argmax())
    rest = [(found[i], int(counts[i])) for i in range(found.size) if i != most]

    def fill(order: Codes, free: list[int], left: list[tuple[Codes, int]]) -> Iterator[Codes]:
        if not left:
            yield order
            return
        code, count = left[0]
        for places in itertools.combinations(free, count):
            filled = order.copy()
            filled[list(places)] = code
            yield from fill(filled, [i for i in free if i not in places], left[1:])

    return fill(np.full_like(codes, found[most]), list(range(codes.size)), rest)


def _draw_orders(tied: Sequence[Codes]) -> Iterator[tuple[Codes, ...]]:
    """Draw orders, the same ones whenever the ties are the same."""
    random = np.random.default_rng(SEED)
    for _ in range(DRAWS):
        yield tuple(random.permutation(codes) for codes in tied)

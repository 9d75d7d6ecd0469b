"""The orders that documents with equal scores could stand in, one by one.

For measures whose expected value is not a function of expected statistics: each order becomes a
row of a relevance matrix, and the measure's mean over them is taken.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator

import numpy as np

from irbatch.array_types import Codes
from irbatch.engine.matrix import BLOCK_BYTES, NEGATIVE, UNJUDGED, RelevanceMatrix
from irbatch.runtime.numbers import distinct

MOST_ORDERS = math.factorial(7)  # of a query: so many are all tried
DRAWS = 1000  # or a few more, of a query that has more orders
SEED = 20081  # the same draws for a query wherever it stands, and others for others


def orders_of(matrix: RelevanceMatrix) -> Iterator[tuple[int, Iterator[RelevanceMatrix]]]:
    """Give every query with ties its orders: all that differ, or a thousand drawn from them.

    Yields its row in the block, and matrices whose rows are its orders, all equally likely.
    """
    if (ties := matrix.ties) is None:
        return
    for row in distinct(ties.rows).tolist():
        _, begins, ends = ties.of_rows(row, row + 1)
        yield row, _matrices(matrix, row, list(map(slice, begins.tolist(), ends.tolist())))


def _matrices(matrix: RelevanceMatrix, row: int, spans: list[slice]) -> Iterator[RelevanceMatrix]:
    """Write a query's orders into matrices of bounded size."""
    codes = matrix.codes[row]
    # Sorted, so that the draws don't depend on the order that the block happens to have.
    tied = [np.sort(codes[span]) for span in spans]
    counts = []  # of the orders of each tie that differ
    for tie in tied:
        _, times = np.unique(tie, return_counts=True)
        counts.append(math.prod(map(math.comb, np.cumsum(times).tolist(), times.tolist())))
    if math.prod(counts) <= MOST_ORDERS:
        number = math.prod(counts)
        arranged = [_arrange(tie) for tie in tied]
        picks = np.unravel_index(np.arange(number), counts)
    else:
        largest = max(tie.size for tie in tied)
        number = -(-DRAWS // largest) * largest if largest <= DRAWS else DRAWS
        # Of grades, not of codes: those are places among the grades of all queries of the block.
        grades = np.append(matrix.levels + 0.0, [NEGATIVE, UNJUDGED])
        own = [
            zlib.crc32(grades[tie].data, span.start) for tie, span in zip(tied, spans, strict=True)
        ]
        random = np.random.default_rng([SEED, *own])
        arranged = [_draw(tie, number, random) for tie in tied]
        picks = (np.arange(number),) * len(tied)
    at_once = max(8 * BLOCK_BYTES // max(codes.nbytes, 1), 1)
    for start in range(0, number, at_once):
        stop = min(start + at_once, number)
        written = np.repeat(codes[None], stop - start, axis=0)
        for span, orders, pick in zip(spans, arranged, picks, strict=True):
            written[:, span] = orders[pick[start:stop]]
        retrieved = np.repeat(matrix.retrieved[row], stop - start)
        judged = np.repeat(matrix.judged[row : row + 1], stop - start, axis=0)
        yield RelevanceMatrix(written, matrix.levels, retrieved, judged, matrix.complete)


def _draw(codes: Codes, number: int, random: np.random.Generator) -> Codes:
    """Draw orders of a tie, ``(number, documents)``.

    Random ones and their rotations: in as many of these as there are documents, each stands once
    at each rank, so that what is a sum over ranks comes out exactly.
    """
    turns = codes.size if codes.size <= number else max(number // 10, 1)
    bases = random.permuted(np.tile(codes, (-(-number // turns), 1)), axis=1)
    draws = random.permutation(number)  # so that ties of one size don't turn in step
    turned = draws % turns * codes.size // turns
    places = (np.arange(codes.size) + turned[:, None]) % codes.size
    return np.take_along_axis(bases[draws // turns], places, axis=1)


def _arrange(codes: Codes) -> Codes:
    """List a tie's different orders, ``(orders, documents)``; the most frequent code fills gaps."""
    kinds, counts = np.unique(codes, return_counts=True)
    most = int(counts.argmax())
    orders = [(np.full_like(codes, kinds[most]), tuple(range(codes.size)))]
    others = [i for i in range(kinds.size) if i != most]
    for code, count in zip(kinds[others].tolist(), counts[others].tolist(), strict=True):
        longer = []
        for order, free in orders:
            for places in itertools.combinations(free, count):
                filled = order.copy()
                filled[list(places)] = code
                left = () if code == kinds[others[-1]] else set(free).difference(places)
                longer.append((filled, tuple(sorted(left))))
        orders = longer
    return np.stack([order for order, _ in orders])

"""The relevance matrix: what was retrieved, seen as relevance only.

Every entrance packs its input into blocks of this one form (queries x ranks), and every measure
is computed from it. Ids, scores and containers are gone; what stands at each rank is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Codes, Floats, Ints, NDArray, Positions
from irbatch.engine.ties import OpenTies
from irbatch.errors import many
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import row_index_of
from irbatch.runtime.threads import cached_property

UNJUDGED = -1  # no judgment for this document
NEGATIVE = -2  # judged with a grade below 0: judged, never relevant, gain 0
PAD = -3  # past the end of the ranking

WORD = 8  # bytes; rows are padded to whole words
BYTE_LEVELS = 127  # as many levels as an int8 code tells apart
# Codes and level counts of one block. With the 8 bytes a score they were packed from, about a
# core's share of the last cache (python -m benchmarks --only dicts).
BLOCK_BYTES = 2 << 20


class Costs(NamedTuple):
    """What the documents of a block's rankings cost."""

    of_ranks: Floats  # (queries, depth), NaN where it is not known
    lowest: float  # of documents whose cost is not known, and past the end
    highest: float

    def of_rows(self, first: int, last: int) -> Costs:
        """View those of some rankings."""
        return self._replace(of_ranks=self.of_ranks[first:last])

    def condensed(self, kept: Bools, retrieved: Ints) -> Costs:
        """Keep those of some cells, bool ``(queries, depth)``, and close the gaps."""
        of_ranks = np.full_like(self.of_ranks, np.nan)
        of_ranks[np.arange(kept.shape[1]) < retrieved[:, None]] = self.of_ranks[kept]
        return self._replace(of_ranks=of_ranks)


class RelevanceMatrix:
    """A padded block of ranked relevance, one query a row.

    Args:
        codes: int8, int16 or int32 ``(queries, depth)``, C-contiguous with rows of whole 8-byte
            words. At rank ``i + 1``: an index into `levels`, or `UNJUDGED`, `NEGATIVE`, `PAD`.
        levels: float64 ``(levels,)``, the distinct grades >= 0, ascending.
        retrieved: int64 ``(queries,)``, how many ranks of each row are documents.
        judged: int64 ``(queries, levels)``, how many documents were judged at each level,
            retrieved or not: the source of every denominator and of the ideal ranking.
        complete: whether every retrieved document is judged, as labels given for all are.
        ties: where the order was not decided; `codes` has one of those possible.
        costs: what the documents cost; None: 1 each.
    """

    def __init__(
        self,
        codes: Codes,
        levels: Floats,
        retrieved: Ints,
        judged: Ints,
        complete: bool = False,
        ties: OpenTies | None = None,
        costs: Costs | None = None,
    ) -> None:
        self.codes, self.levels, self.retrieved, self.judged = codes, levels, retrieved, judged
        self.complete, self.ties, self.costs = complete, ties, costs

    def __repr__(self) -> str:
        return f"<RelevanceMatrix: {many(len(self.retrieved), 'query')}, {self.depth} ranks>"

    @classmethod
    def unjudged(cls, retrieved: Ints, levels: Floats, judged: Ints) -> RelevanceMatrix:
        """Make a block in which every retrieved document is still unjudged."""
        dtype = code_dtype(levels.size)
        deepest = int(retrieved.max(initial=0))
        codes = np.full((retrieved.size, padded_depth(deepest, dtype)), UNJUDGED, dtype)
        _pad(codes, retrieved)
        return cls(codes, levels, retrieved, judged)

    @property
    def depth(self) -> int:
        """Columns of `codes`, padding included."""
        return int(self.codes.shape[1])

    def of_rows(self, first: int, last: int) -> RelevanceMatrix:
        """View some of the queries."""
        ties = None if self.ties is None else self.ties.of_rows(first, last)
        codes, retrieved, judged = (
            array[first:last] for array in (self.codes, self.retrieved, self.judged)
        )
        costs = None if self.costs is None else self.costs.of_rows(first, last)
        return RelevanceMatrix(codes, self.levels, retrieved, judged, self.complete, ties, costs)

    def has_judged(self) -> bool:
        """Tell whether any document retrieved is judged; looks no further than to the first."""
        for row in range(0, self.codes.shape[0], 64):
            part = self.codes[row : row + 64]
            if part.max() > UNJUDGED or (part == NEGATIVE).any():
                return True
        return False

    def truncated(self, depth: int) -> RelevanceMatrix:
        """Forget what was retrieved beyond a rank (trec_eval's ``-M``)."""
        if not self.retrieved.size or self.retrieved.max() <= depth:
            return self
        retrieved = np.minimum(self.retrieved, depth)
        codes = self.codes[:, : padded_depth(depth, self.codes.dtype)].copy()
        codes[:, depth:] = PAD
        costs = self.costs
        if costs is not None:
            costs = costs._replace(of_ranks=costs.of_ranks[:, :depth])
        return RelevanceMatrix(
            codes, self.levels, retrieved, self.judged, self.complete, costs=costs
        )

    def condensed(self) -> RelevanceMatrix:
        """Remove documents without a grade >= 0 and close the gaps (trec_eval's ``-J``)."""
        kept = self.codes >= 0
        retrieved = kept.sum(axis=1)
        codes = np.full_like(self.codes, PAD)
        codes[np.arange(self.depth) < retrieved[:, None]] = self.codes[kept]
        ties = None if self.ties is None else self.ties.condensed(kept, codes)
        costs = None if self.costs is None else self.costs.condensed(kept, retrieved)
        return RelevanceMatrix(codes, self.levels, retrieved, self.judged, True, ties, costs)

    def regraded(self, grades: Floats) -> RelevanceMatrix:
        """Give the documents of each level another grade, float64 ``(levels,)``."""
        levels = distinct(grades[grades >= 0])
        places = np.where(grades >= 0, np.searchsorted(levels, grades), NEGATIVE)
        others = np.arange(PAD, 0)
        codes = np.concatenate([places, others]).astype(self.codes.dtype)[self.codes]
        judged = np.zeros((self.retrieved.size, levels.size), np.int64)
        np.add.at(judged.T, places[places >= 0], self.judged.T[places >= 0])
        ties = None if self.ties is None else self.ties.regraded(codes)
        return RelevanceMatrix(codes, levels, self.retrieved, judged, self.complete, ties)


class Entries(NamedTuple):
    """Cells of a relevance matrix, row after row."""

    starts: Ints  # (queries + 1,): where each query's begin and end
    ranks: Ints  # from 1, ascending within a query
    codes: Ints  # as in `RelevanceMatrix`


class SparseMatrix(RelevanceMatrix):
    """A block in which every document is judged, most with grade 0, which is the lowest level.

    Where every candidate of a query is scored and few are relevant, a row would be zeros but for
    a handful of cells: only these are written down, as `entries`.
    """

    entries: Entries

    def __init__(
        self,
        levels: Floats,
        retrieved: Ints,
        judged: Ints,
        entries: Entries,
        ties: OpenTies | None = None,
    ) -> None:
        self.levels, self.retrieved, self.judged = levels, retrieved, judged
        self.entries, self.ties, self.complete, self.costs = entries, ties, True, None

    @cached_property
    def codes(self) -> Codes:  # type: ignore[override]
        """The matrix itself, for what reads all of its cells."""
        codes = np.zeros((self.retrieved.size, self.depth), code_dtype(self.levels.size))
        _pad(codes, self.retrieved)
        codes[row_index_of(self.entries.starts), self.entries.ranks - 1] = self.entries.codes
        return codes

    @property
    def depth(self) -> int:
        """Columns of `codes`, padding included."""
        return padded_depth(int(self.retrieved.max(initial=0)), code_dtype(self.levels.size))

    def of_rows(self, first: int, last: int) -> SparseMatrix:
        """View some of the queries."""
        ties = None if self.ties is None else self.ties.of_rows(first, last)
        starts, ranks, codes = self.entries
        part = slice(int(starts[first]), int(starts[last]))
        entries = Entries(starts[first : last + 1] - part.start, ranks[part], codes[part])
        retrieved, judged = self.retrieved[first:last], self.judged[first:last]
        return SparseMatrix(self.levels, retrieved, judged, entries, ties)

    def has_judged(self) -> bool:
        """Tell whether there is any document: all are judged."""
        return bool(self.retrieved.any())


def _pad(codes: Codes, retrieved: Ints) -> None:
    """Mark what is past the end of each ranking."""
    shortest = int(retrieved.min(initial=codes.shape[1]))
    if shortest < codes.shape[1]:
        codes[:, shortest:][np.arange(shortest, codes.shape[1]) >= retrieved[:, None]] = PAD


def code_dtype(n_levels: int) -> np.dtype[np.signedinteger]:
    """Return the narrowest integer type whose non-negative values number `n_levels`."""
    if n_levels <= BYTE_LEVELS:
        return np.dtype(np.int8)
    return np.dtype(np.int16 if n_levels < 1 << 15 else np.int32)


def count_levels(row_index: Ints, codes: NDArray[Any], shape: tuple[int, int]) -> Ints:
    """Count the codes that are levels, of each row: int64 of shape ``(rows, levels)``."""
    kept = codes >= 0
    cells = row_index[kept] * shape[1] + codes[kept]
    return np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape)


def padded_depth(depth: int, dtype: np.dtype[np.signedinteger]) -> int:
    """Round a depth up to whole 8-byte words of codes; at least one word."""
    cells = WORD // dtype.itemsize
    return max(-(-depth // cells), 1) * cells


def plan_blocks(depths: Ints, n_levels: int) -> Iterator[Positions]:
    """Group rankings of depths ``(queries,)`` into blocks: positions in `depths`.

    Padding never more than doubles what the rankings need, and a block, whose rows have `n_levels`
    counts each, stays within 2 MiB unless one query alone exceeds it. With rankings of one length
    the blocks keep the queries' order.
    """
    order = np.argsort(depths, kind="stable")
    ascending = depths[order]
    fixed = 8 * n_levels + 64
    start = 0
    while start < order.size:
        widest = 2 * int(ascending[start]) + 64
        stop = int(np.searchsorted(ascending, widest, side="right"))
        stop = min(stop, start + BLOCK_BYTES // fixed + 1)  # more never fit
        row_bytes = ascending[start:stop] + fixed
        fits = np.arange(1, row_bytes.size + 1) * row_bytes <= BLOCK_BYTES
        rows = max(int(np.count_nonzero(fits)), 1)
        yield order[start : start + rows]
        start += rows

"""Where judged documents stand in their rankings, for measures that read them one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.engine.matrix import NEGATIVE, PAD, UNJUDGED, WORD, RelevanceMatrix
from irbatch.runtime.cached import cached_property


class Judged(NamedTuple):
    """The judged documents that a block of queries retrieved, in rank order, query after query."""

    row_index: Ints  # ascending
    ranks: Ints  # from 1
    codes: Ints  # indices into the matrix's levels, or NEGATIVE


def collect_judged(matrix: RelevanceMatrix) -> Judged:
    """Collect a block's judged documents; words without any are skipped: a fifth of the time."""
    words = matrix.codes.view(np.int64)
    rows, places = np.nonzero(
        (words != _word_of(UNJUDGED, matrix)) & (words != _word_of(PAD, matrix))
    )
    cells = matrix.codes.reshape(*words.shape, WORD // matrix.codes.itemsize)[rows, places]
    picks, offsets = np.nonzero((cells >= 0) | (cells == NEGATIVE))
    ranks = places[picks] * cells.shape[1] + offsets + 1
    return Judged(rows[picks], ranks, cells[picks, offsets].astype(np.int64))


@dataclass(eq=False)
class JudgedRanks:
    """What a measure reads of a block's judged documents, which are attributes, too."""

    matrix: RelevanceMatrix  # already cut where a measure has a cutoff
    judged: Judged
    threshold: float  # the least relevant grade
    gains: Floats  # (levels,)
    divisors: Floats  # the discount of ranks 1 … depth or more

    def __post_init__(self) -> None:
        self.row_index, self.ranks, self.codes = self.judged
        matrix = self.matrix
        _freeze(self.gains, *self.judged)
        _freeze(matrix.codes, matrix.levels, matrix.retrieved, matrix.judged)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return self.matrix.retrieved.size

    @property
    def retrieved(self) -> Ints:
        """Documents retrieved, int64 ``(queries,)``."""
        return self.matrix.retrieved

    @cached_property
    def starts(self) -> Ints:
        """Where each query's documents begin and end, int64 ``(queries + 1,)``."""
        return _freeze(np.searchsorted(self.row_index, np.arange(self.queries + 1)))

    @cached_property
    def lowest(self) -> int:
        """The lowest relevant level."""
        return int(np.searchsorted(self.matrix.levels, self.threshold))

    @cached_property
    def relevant(self) -> Floats:
        """Relevant documents in the judgments, float64 ``(queries,)``."""
        counts: Floats = self.matrix.judged[:, self.lowest :].sum(axis=1).astype(np.float64)
        return counts

    @cached_property
    def nonrelevant(self) -> Floats:
        """Documents judged with a grade of 0 or more that is not relevant, ``(queries,)``."""
        counts: Floats = self.matrix.judged[:, : self.lowest].sum(axis=1).astype(np.float64)
        return counts

    @cached_property
    def hits(self) -> Positions:
        """Which of the documents are relevant: intp, positions in `ranks`."""
        return _freeze(np.flatnonzero(self.codes >= self.lowest))

    @cached_property
    def hit_rows(self) -> Ints:
        """The query of each hit, int64 ``(hits,)``."""
        return _freeze(self.row_index[self.hits])

    @cached_property
    def hit_ranks(self) -> Ints:
        """The rank of each hit, int64 ``(hits,)``."""
        return _freeze(self.ranks[self.hits])

    @cached_property
    def hit_starts(self) -> Ints:
        """Where each query's hits begin and end among `hits`, int64 ``(queries + 1,)``."""
        return _freeze(np.searchsorted(self.hit_rows, np.arange(self.queries + 1)))

    @cached_property
    def hit_numbers(self) -> Ints:
        """The number of each hit among those of its query, from 1: int64 ``(hits,)``."""
        return _freeze(np.arange(1, self.hits.size + 1) - self.hit_starts[self.hit_rows])

    @cached_property
    def hit_precisions(self) -> Floats:
        """The precision at the rank of each hit, and a 0 behind them: float64 ``(hits + 1,)``."""
        return _freeze(np.append(self.hit_numbers / self.hit_ranks, 0.0))

    @cached_property
    def gained(self) -> Floats:
        """The gain of each of the documents, float64 ``(documents,)``."""
        return _freeze(np.append(self.gains, 0.0)[np.maximum(self.codes, -1)])

    @cached_property
    def ideal(self) -> tuple[Floats, Ints]:
        """Gains of the ideal rankings, from the highest down, query after query; and `starts`."""
        order = np.argsort(-self.gains, kind="stable")
        order = order[self.gains[order] > 0]
        counts = self.matrix.judged[:, order]
        gains = np.repeat(np.tile(self.gains[order], self.queries), counts.ravel())
        starts = np.concatenate(([0], np.cumsum(counts.sum(axis=1))))
        return gains, starts

    def count_above(self, which: Bools) -> Ints:
        """Count for each hit how many of some documents, bool ``(documents,)``, stand above it."""
        before = np.concatenate(([0], np.cumsum(which)))
        above: Ints = before[self.hits] - before[self.starts[self.hit_rows]]
        return above

    def sum_over_hits(self, terms: Floats) -> Floats:
        """Add up one term a hit, in rank order: float64 ``(hits,)`` to ``(queries,)``."""
        return np.bincount(self.hit_rows, terms, self.queries).astype(np.float64)


def _freeze(*arrays: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make arrays read-only, as the measures of a call share them; return the first."""
    for array in arrays:
        array.flags.writeable = False
    return arrays[0]


def _word_of(code: int, matrix: RelevanceMatrix) -> np.int64:
    """Return a word of nothing but one code."""
    cells = np.full(WORD // matrix.codes.itemsize, code, matrix.codes.dtype)
    word: np.int64 = cells.view(np.int64)[0]
    return word

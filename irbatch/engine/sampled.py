"""Rankings of documents of which some were sampled to be judged, each with a known probability."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.engine.judged import collect_judged
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.ranked_gains import RankedGains
from irbatch.runtime.cached import cached_property

Found = tuple[Ints, Ints, Ints]
"""Documents of rankings, row after row in rank order: their row, rank from 1, kind of judgment."""


def collect_kinds(matrix: RelevanceMatrix) -> Found:
    """Collect documents of a block whose grades are kinds of judgments, from 1 on."""
    judged = collect_judged(matrix)
    kinds = matrix.levels.astype(np.int64)[np.maximum(judged.codes, 0)]
    some = (kinds > 0) & (judged.codes >= 0)
    return judged.row_index[some], judged.ranks[some], kinds[some]


@dataclass(eq=False)
class SampledRanks:
    """Documents of rankings whose kinds of judgments are known, up to a cutoff.

    Args:
        queries: int64 ``(rows,)``, which of the judgments' queries each ranking is of.
        retrieved: int64 ``(rows,)``, how many documents each has, down to the cutoff.
        row_index, ranks, kinds: see `Found`; all, also those beyond the cutoff.
        cutoff: infinite at full depth.
    """

    queries: Ints
    retrieved: Ints
    row_index: Ints
    ranks: Ints
    kinds: Ints
    cutoff: float = math.inf

    def at(self, cutoff: int | None) -> Self:
        """Return the same up to a cutoff (None: none); what does not depend on it is shared."""
        self.prepare()
        cut = copy.copy(self)
        if cutoff is not None:
            cut.cutoff = float(cutoff)
            deepest = int(self.retrieved.max(initial=0))  # the cutoff may be beyond int64
            cut.retrieved = np.minimum(self.retrieved, min(cutoff, deepest))
        return cut

    def prepare(self) -> None:
        """Compute what does not depend on the cutoff."""

    @property
    def rows(self) -> int:
        """The number of rankings."""
        return self.queries.size

    @cached_property
    def depth(self) -> Floats:
        """The k of a cutoff, or at full depth how many were retrieved: float64 ``(rows,)``."""
        retrieved = self.retrieved.astype(np.float64)
        return retrieved if math.isinf(self.cutoff) else np.full(self.rows, self.cutoff)

    @cached_property
    def within(self) -> Bools:
        """Which documents stand no deeper than the cutoff, bool ``(documents,)``."""
        return self.ranks <= self.cutoff

    @cached_property
    def starts(self) -> Ints:
        """Where each ranking's documents begin and end, int64 ``(rows + 1,)``."""
        return np.searchsorted(self.row_index, np.arange(self.rows + 1))

    def before(self, running: Floats) -> Floats:
        """Return what running values of documents were before each, 0 before the first."""
        values = np.concatenate(([0.0], running[:-1]))
        values[self.starts[:-1][np.diff(self.starts) > 0]] = 0.0
        return values

    def add_up(self, terms: Floats, which: Bools) -> Floats:
        """Add up a term a document, in rank order, of some: float64 ``(rows,)``."""
        return np.bincount(self.row_index[which], terms[which], self.rows).astype(np.float64)


@dataclass(eq=False)
class Probabilities:
    """What judgments say of chances to be sampled, from a least relevant grade on.

    Args:
        grades, weights: float64 ``(kinds,)``, the grade of each kind of judgment and 1 over the
            chance that it was sampled with.
        rel: the least relevant grade.
        relevant: float64 ``(queries,)``, how many documents are estimated to be relevant.
    """

    grades: Floats
    weights: Floats
    rel: float
    relevant: Floats

    @property
    def no_relevant(self) -> Bools:
        """Which queries have no relevant document, bool ``(queries,)``."""
        return self.relevant == 0

    def ranks(self, queries: Positions, matrix: RelevanceMatrix) -> ProbabilityRanks:
        """Return what measures read of a block whose grades are kinds of judgments."""
        row_index, ranks, kinds = collect_kinds(matrix)
        some = self.grades[kinds] >= self.rel
        found = row_index[some], ranks[some], kinds[some]
        own = queries.astype(np.int64)
        return ProbabilityRanks(own, matrix.retrieved, *found, judgments=self)


@dataclass(eq=False)
class ProbabilityRanks(SampledRanks):
    """What measures of chances read: the sampled relevant documents that were retrieved."""

    judgments: Probabilities = field(kw_only=True)

    @cached_property
    def weights(self) -> Floats:
        """How many documents each stands for."""
        return self.judgments.weights[self.kinds]

    @cached_property
    def estimates(self) -> Floats:
        """How many documents are estimated to be relevant of those down to each."""
        gains = self.row_index, self.ranks, self.kinds, self.judgments.weights, self.rows
        return RankedGains(*gains).running_sums

    @cached_property
    def expected(self) -> Floats:
        """How many relevant documents there are estimated to be at all, ``(rows,)``."""
        return self.judgments.relevant[self.queries]

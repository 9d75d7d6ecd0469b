"""Rankings of documents of which some were sampled to be judged, each with a known probability."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from irbatch.array_types import Bools, Floats, Positions
from irbatch.engine.kinds import KindRanks, collect_kinds
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.ranked_gains import RankedGains
from irbatch.runtime.cached import cached_property


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
class ProbabilityRanks(KindRanks):
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

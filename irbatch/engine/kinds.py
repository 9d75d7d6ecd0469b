"""Rankings of documents of which a kind of judgment is known, which says more than a grade."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.engine.judged import collect_judged
from irbatch.engine.matrix import RelevanceMatrix
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
class KindRanks:
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

    def add_up(self, terms: Floats, which: Bools | None = None) -> Floats:
        """Add up a term a document, in rank order: float64 ``(rows,)``.

        Those `which` are said to count, by default those up to the cutoff.
        """
        which = self.within if which is None else which
        return np.bincount(self.row_index[which], terms[which], self.rows).astype(np.float64)

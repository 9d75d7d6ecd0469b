"""Documents that share a score: who stands before whom, and where that is open."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.ties.open_ties import OpenTies

__all__ = ["TieGroups"]


class TieGroups:
    """Judged documents that share their score with others, grouped by query and score.

    Args:
        row_index: int64 ``(listed,)``, the row of each.
        grades: float64 ``(listed,)``; documents that are not listed stand between those below 0
            and the others.
        above, equal: int64 ``(listed,)``, how many documents of the query score higher, and the
            same.

    Attributes:
        order: int64 ``(listed,)``, their positions, group after group from the highest score,
            lower grades first.
        mixed: bool ``(listed,)``, in that order: whether the group's documents are not all alike.
        matters: bool ``(listed,)``, in that order: whether some are also of a grade above 0.
    """

    def __init__(self, row_index: Ints, grades: Floats, above: Ints, equal: Ints) -> None:
        self.order = np.lexsort((grades, above, row_index))
        self.row_index, self.above, self.equal = (
            each[self.order] for each in (row_index, above, equal)
        )
        mine = grades[self.order]
        new = np.ones(row_index.size + 1, bool)
        new[1:-1] = (self.row_index[1:] != self.row_index[:-1]) | (
            self.above[1:] != self.above[:-1]
        )
        begins = np.flatnonzero(new)  # of the groups, and the end of the last
        self.firsts = begins[:-1]
        self.numbers = np.cumsum(new[:-1]) - 1  # the group of each
        self.listed = np.diff(begins)
        self._within = np.arange(row_index.size) - self.firsts[self.numbers]
        alike = (mine[self.firsts] == mine[begins[1:] - 1]) & (
            self.listed == self.equal[self.firsts]
        )
        self.mixed = ~alike[self.numbers]
        self.matters = self.mixed & (mine[begins[1:] - 1] > 0)[self.numbers]
        self.below = np.bincount(self.numbers, mine < 0, self.listed.size).astype(np.int64)

    def places(self, ties: str) -> Ints:
        """Return how many of its group stand before each: int64 ``(listed,)``.

        Args:
            ties: ``"optimistic"``, higher grades first, or any other, lower grades first.
        """
        return self._best_first() if ties == "optimistic" else self._worst_first()

    def _worst_first(self) -> Ints:
        after = self._within >= self.below[self.numbers]
        return self._unsorted(self._within + self._others() * after)

    def _best_first(self) -> Ints:
        backwards = self.listed[self.numbers] - 1 - self._within
        after = self._within < self.below[self.numbers]
        return self._unsorted(backwards + self._others() * after)

    def open_ties(self) -> OpenTies:
        """Return the groups in which the order matters."""
        firsts = self.firsts[self.mixed[self.firsts]]
        above = self.above[firsts]
        return OpenTies(self.row_index[firsts], above, above + self.equal[firsts])

    def tied_queries(self) -> Ints:
        """Return the queries that have a group in which the order matters to a grade above 0."""
        return np.unique(self.row_index[self.matters])

    def count_constant(self, sizes: Ints) -> int:
        """Count the queries all of whose candidates share a score, though not a grade.

        Args:
            sizes: int64 ``(queries,)``, the number of candidates of each.
        """
        same = self.matters & (self.equal == sizes[self.row_index])
        return int(np.unique(self.row_index[same]).size)

    def _others(self) -> Ints:
        """Return for each the number of those not listed in its group."""
        others: Ints = self.equal - self.listed[self.numbers]
        return others

    def _unsorted(self, places: Ints) -> Ints:
        unsorted = np.empty(places.size, np.int64)
        unsorted[self.order] = places
        return unsorted

"""Documents that share a score: who stands before whom, and where that is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Codes, Floats, Ints
from irbatch.engine.ties.policy import TiePolicy


class OpenTies(NamedTuple):
    """Ranks whose documents, of one score and several codes, could stand in any order."""

    rows: Ints  # the query of each; ascending
    begins: Ints  # its first rank less one; ascending within a row
    ends: Ints  # its last rank

    def of_rows(self, first: int, last: int) -> OpenTies:
        """Return those of rows `first` to `last`, which are counted from 0 then."""
        mine = slice(*np.searchsorted(self.rows, [first, last]).tolist())
        return OpenTies(self.rows[mine] - first, self.begins[mine], self.ends[mine])

    def condensed(self, kept: Bools, codes: Codes) -> OpenTies:
        """Return what is left of them in a matrix of `codes`, to which some cells were `kept`."""
        kept_before = np.cumsum(kept, axis=1, dtype=np.int64)
        begins = np.where(self.begins > 0, kept_before[self.rows, self.begins - 1], 0)
        ends = kept_before[self.rows, self.ends - 1]
        return OpenTies(self.rows, begins, ends).regraded(codes)

    def regraded(self, codes: Codes) -> OpenTies:
        """Return those that are mixed in a matrix of other `codes`."""
        spans = zip(self.rows.tolist(), self.begins.tolist(), self.ends.tolist(), strict=True)
        mixed = [len(set(codes[row, first:last].tolist())) > 1 for row, first, last in spans]
        picks = np.flatnonzero(mixed)
        return OpenTies(self.rows[picks], self.begins[picks], self.ends[picks])


class TieGroups:
    """Judged documents that share their score with others, grouped by query and score.

    Documents that are not among them stand between those graded below 0 and the others. Of each
    are given its row and grade, and how many of the query score higher, and the same.
    """

    def __init__(
        self, policy: TiePolicy, row_index: Ints, grades: Floats, above: Ints, equal: Ints
    ) -> None:
        self.policy = policy
        # Group after group from the highest score, lower grades first.
        order = self._order = np.lexsort((grades, above, row_index))
        self._rows, self._above, self._equal = row_index[order], above[order], equal[order]
        grades = grades[order]
        new = np.ones(order.size + 1, bool)
        new[1:-1] = (self._rows[1:] != self._rows[:-1]) | (self._above[1:] != self._above[:-1])
        begins = np.flatnonzero(new)  # of the groups, and the end of the last
        self._firsts, lasts = begins[:-1], begins[1:] - 1
        self._group = np.cumsum(new[:-1]) - 1
        self._judged = np.diff(begins)  # in each group
        all_judged = self._judged == self._equal[self._firsts]
        mixed = ~((grades[self._firsts] == grades[lasts]) & all_judged)
        self._negative = np.bincount(self._group, grades < 0, mixed.size).astype(np.int64)
        self._mixed = mixed
        self._matters = (mixed & (grades[lasts] > 0))[self._group]

    def __iter__(self) -> Iterator[Ints]:
        """Yield the positions of each group's documents."""
        return iter(np.split(self._order, self._firsts[1:]))

    def count_before(self, by_key: Callable[[], Ints]) -> Ints:
        """Count how many of its group stand before each: `by_key` if ids or positions decide."""
        if self.policy.by_key:
            return by_key()
        group = self._group
        within = np.arange(group.size) - self._firsts[group]
        after = within >= self._negative[group]  # behind those that are not judged
        if self.policy == TiePolicy.OPTIMISTIC:
            within, after = self._judged[group] - 1 - within, ~after
        before = np.empty(group.size, np.int64)
        before[self._order] = within + (self._equal - self._judged[group]) * after
        return before

    def find_refused(self) -> int | None:
        """Return the position of a document in a tie that the policy refuses, None without any."""
        if self.policy != TiePolicy.ERROR or not self._matters.any():
            return None
        return int(self._order[np.argmax(self._matters)])

    def list_open(self) -> OpenTies | None:
        """Return the ties whose order matters, if the policy leaves it open."""
        if self.policy != TiePolicy.EXPECTED:
            return None
        firsts = self._firsts[self._mixed]
        above = self._above[firsts]
        return OpenTies(self._rows[firsts], above, above + self._equal[firsts])

    def mark_rows(self, rows: int) -> Bools:
        """Tell which rows have a tie whose order matters to a grade above 0; none by ids."""
        marked = np.zeros(rows, bool)
        if not self.policy.by_id:
            marked[self._rows[self._matters]] = True
        return marked

    def count_constant(self, sizes: Ints) -> int:
        """Count the queries all of whose `sizes` candidates share a score, though not a grade."""
        same = self._matters & (self._equal == sizes[self._rows])
        return int(np.unique(self._rows[same]).size)

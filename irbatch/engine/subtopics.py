"""Rankings of documents that are relevant to several subtopics: what measures of diversity read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.engine.kinds import KindRanks
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError
from irbatch.runtime.kernels import kernel
from irbatch.runtime.ragged import joined_ranges, row_index_of
from irbatch.runtime.threads import cached_property

LARGEST_CUTOFF = 10**7  # of what is divided by sums over all ranks up to it


class Groups(NamedTuple):
    """Relevant documents of queries by their sets of subtopics."""

    starts: Ints  # (queries + 1,): where each query's groups begin
    sets: Ints  # (groups,)
    begins: Ints  # (groups + 1,): where the places of each begin
    places: Ints  # of documents among all, ascending within a group


@dataclass(eq=False)
class Subtopics:
    """What judgments say of subtopics; those of a query are numbered from 0.

    Args:
        set_starts, members: the distinct sets of subtopics: int64 ``(sets + 1,)`` and the subtopics
            of one set after the other, ascending. Set 0 is empty.
        counts: int64 ``(queries,)``, how many subtopics have relevant documents.
        relevant_starts, relevant: int64 ``(queries + 1,)`` and, of each query's subtopics, how many
            relevant documents there are.
        judged_starts, judged_sets: int64 ``(queries + 1,)`` and the sets of each query's relevant
            documents, in descending order of their ids.
    """

    set_starts: Ints
    members: Ints
    counts: Ints
    relevant_starts: Ints
    relevant: Ints
    judged_starts: Ints
    judged_sets: Ints
    _ideals: dict[float, Floats] = field(default_factory=dict)

    def ideal_gains(self, alpha: float) -> Floats:
        """Return the gains of each query's ideal ranking, float64 ``(relevant documents,)``.

        One document after the other, each of the largest gain; of several, the one whose id is the
        largest, as in ndeval.
        """
        if alpha not in self._ideals:
            gains = np.empty(self.judged_sets.size)
            worth = np.empty(int(self.counts.max(initial=0)))
            groups = self._groups
            left = groups.begins[:-1].copy()
            choices = np.diff(self.judged_starts) * np.diff(groups.starts)
            work = 20 * int(choices.sum())
            sets = self.set_starts, self.members
            _order_greedily.run(
                work, self.judged_starts, groups, *sets, 1.0 - alpha, worth, left, gains
            )
            self._ideals[alpha] = gains
        return self._ideals[alpha]

    @property
    def no_relevant(self) -> Bools:
        """Which queries have no relevant document, bool ``(queries,)``."""
        return self.counts == 0

    def ranks(self, queries: Positions, matrix: RelevanceMatrix) -> SubtopicRanks:
        """Return what measures read of a block whose grades are sets of subtopics."""
        return SubtopicRanks(self, queries, matrix)

    @cached_property
    def _groups(self) -> Groups:
        """Each query's relevant documents by their sets."""
        keys = row_index_of(self.judged_starts) * (self.set_starts.size - 1) + self.judged_sets
        places = np.argsort(keys, kind="stable")
        group_keys, begins = np.unique(keys[places], return_index=True)
        rows, sets = np.divmod(group_keys, max(self.set_starts.size - 1, 1))
        starts = np.searchsorted(rows, np.arange(self.judged_starts.size))
        return Groups(starts, sets, np.append(begins, places.size), places)


@kernel
def _order_greedily(
    starts: Ints,
    groups: Groups,
    set_starts: Ints,
    members: Ints,
    kept: float,
    worth: Floats,
    left: Ints,
    gains: Floats,
) -> None:
    """Rank documents by what they add; `worth` is memory to work in, `left` where groups begin.

    Documents of one set add the same: only the first that is left of each is looked at.
    """
    for query in range(starts.size - 1):
        worth[:] = 1.0
        for rank in range(starts[query], starts[query + 1]):
            best, chosen, place = -1.0, 0, 0
            for group in range(groups.starts[query], groups.starts[query + 1]):
                if left[group] == groups.begins[group + 1]:
                    continue
                gain = 0.0
                which = groups.sets[group]
                for m in range(set_starts[which], set_starts[which + 1]):
                    gain += worth[members[m]]
                head = groups.places[left[group]]
                if gain > best or (gain == best and head < place):
                    best, chosen, place = gain, group, head
            gains[rank] = best
            left[chosen] += 1
            which = groups.sets[chosen]
            for m in range(set_starts[which], set_starts[which + 1]):
                worth[members[m]] *= kept


class SubtopicRanks(KindRanks):
    """What a measure of diversity reads: documents retrieved that are relevant to any subtopic."""

    judgments: Subtopics

    def __init__(
        self, judgments: Subtopics, query_rows: Positions, matrix: RelevanceMatrix
    ) -> None:
        super().__init__(judgments, query_rows, matrix)
        self._gains: dict[float, Floats] = {}

    def prepare(self) -> None:
        """Count once for all cutoffs."""
        _ = self.pairs

    @property
    def sets(self) -> Ints:
        """The set of subtopics of each document, int64 ``(documents,)``."""
        return self.codes

    @cached_property
    def counts(self) -> Floats:
        """Subtopics that have relevant documents, float64 ``(queries,)``."""
        return self.judgments.counts[self.query_rows].astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """Each document's subtopics: its place, the subtopic, and the number of documents of it.

        That number counts from 1 down the ranking. int64 ``(pairs,)`` each, document after
        document.
        """
        begins = self.judgments.set_starts[self.sets]
        sizes = self.judgments.set_starts[self.sets + 1] - begins
        document = np.repeat(np.arange(self.sets.size), sizes)
        member = self.judgments.members[joined_ranges(begins, sizes)]
        width = int(self.judgments.counts.max(initial=0))
        keys = self.row_index[document] * width + member
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        new = np.ones(ordered.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        firsts = np.flatnonzero(new)
        number = np.empty(ordered.size, np.int64)
        number[order] = np.arange(1, ordered.size + 1) - firsts[np.cumsum(new) - 1]
        return document, member, number

    def gains(self, alpha: float) -> Floats:
        """Return what each document adds, float64 ``(documents,)``.

        A subtopic adds 1, times 1 - alpha for each document of it above.
        """
        if alpha not in self._gains:
            document, _, number = self.pairs
            worth = powers(1.0 - alpha, int(number.max(initial=1)))[number - 1]
            self._gains[alpha] = np.bincount(document, worth, self.sets.size).astype(np.float64)
        return self._gains[alpha]

    def ideal(self, alpha: float, weights: Floats) -> Floats:
        """Add up gains times `weights` of ranks of ideal rankings: float64 ``(queries,)``."""
        starts = self.judgments.judged_starts
        row_index = row_index_of(starts)
        ranks = np.arange(row_index.size) - starts[row_index]
        some = ranks < self.cutoff
        terms = self.judgments.ideal_gains(alpha)[some] * weights[ranks[some]]
        sums = np.bincount(row_index[some], terms, starts.size - 1).astype(np.float64)
        return sums[self.query_rows]

    @cached_property
    def longest(self) -> int:
        """The deepest rank of a relevant document, here or in an ideal ranking; at least 1."""
        ideal = int(np.diff(self.judgments.judged_starts).max(initial=1))
        return max(int(self.ranks.max(initial=1)), ideal)

    def most(self, alpha: float, divisors: Floats) -> Floats:
        """Add up what documents relevant to every subtopic would add: float64 ``(queries,)``."""
        terms = powers(1.0 - alpha, divisors.size) / divisors
        sums = np.concatenate(([0.0], np.cumsum(terms)))
        return self.counts * sums[self.depth.astype(np.int64)]

    def ranks_to_sum(self) -> int:
        """Return up to which rank `most` adds up; InputError if that is beyond reason."""
        deepest = int(self.depth.max(initial=1))
        if deepest > LARGEST_CUTOFF:
            problem = (
                f"cutoff {self.cutoff:.0f} is beyond {LARGEST_CUTOFF:,}: all ranks up to it count"
            )
            raise InputError(problem, source="measures", value=self.cutoff)
        return max(deepest, self.longest)


def powers(base: float, count: int) -> Floats:
    """Tabulate base^0 … base^(count - 1) by repeated multiplication."""
    factors = np.full(count, base)
    factors[:1] = 1.0
    return np.multiply.accumulate(factors)

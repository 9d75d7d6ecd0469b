"""Rankings of documents of which a kind of judgment is known, which says more than a grade.

Some were sampled to be judged, each with a known probability, or so many of each stratum of a pool
(Yilmaz, Kanoulas & Aslam 2008; the estimates are those of TREC's sample_eval). Some are relevant to
several subtopics of a query.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from irbatch.array_types import Bools, Floats, Floats2, Ints, Positions
from irbatch.engine.judged import Ranked, RankedGains, collect_judged
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import powers
from irbatch.runtime.ragged import joined_ranges, row_index_of
from irbatch.runtime.threads import cached_property


class KindRanks(Ranked):
    """Documents of rankings whose kinds of judgments are known, their `codes`, from 1 on.

    Those beyond the cutoff are there, too.

    Args:
        judgments: what they say of kinds.
        query_rows: int64 ``(queries,)``, which of the judgments' queries each ranking is of.
        matrix: a block whose grades are kinds, or 0.

    Attributes:
        cutoff: infinite at full depth.
        retrieved: int64 ``(queries,)``, how many documents each has, down to the cutoff.
    """

    of_all_cutoffs: ClassVar[tuple[str, ...]] = ()  # what is computed once

    def __init__(self, judgments: Any, query_rows: Positions, matrix: RelevanceMatrix) -> None:
        self.judgments, self.query_rows = judgments, query_rows.astype(np.int64)
        self.retrieved, self.cutoff = matrix.retrieved, math.inf
        self._kept: dict[float, Floats] = {}
        judged = collect_judged(matrix)
        kinds = matrix.levels.astype(np.int64)[np.maximum(judged.codes, 0)]
        read = (judged.codes >= 0) & self.are_read(kinds)
        super().__init__(judged.row_index[read], judged.ranks[read], kinds[read], judged.queries)

    def are_read(self, kinds: Ints) -> Bools:
        """Tell which kinds of judgments matter."""
        return kinds > 0

    def at(self, cutoff: int | None) -> Self:
        """Return the same up to a cutoff (None: none); what does not depend on it is shared."""
        for name in self.of_all_cutoffs:
            getattr(self, name)
        cut = copy.copy(self)
        if cutoff is not None:
            cut.cutoff = float(cutoff)
            deepest = int(self.retrieved.max(initial=0))  # the cutoff may be beyond int64
            cut.retrieved = np.minimum(self.retrieved, min(cutoff, deepest))
        return cut

    @cached_property
    def depth(self) -> Floats:
        """The k of a cutoff, or at full depth how many were retrieved: float64 ``(queries,)``."""
        retrieved = self.retrieved.astype(np.float64)
        return retrieved if math.isinf(self.cutoff) else np.full(self.queries, self.cutoff)

    @cached_property
    def is_within(self) -> Bools:
        """Which documents stand no deeper than the cutoff, bool ``(documents,)``."""
        return self.ranks <= self.cutoff

    def add_up(self, terms: Floats, which: Bools | None = None) -> Floats:
        """Add up a term a document, in rank order: float64 ``(queries,)``.

        Those `which` are said to count, by default those up to the cutoff.
        """
        which = self.is_within if which is None else which
        return np.bincount(self.row_index[which], terms[which], self.queries).astype(np.float64)


@dataclass(eq=False)
class Sample:
    """What judgments say of a sample, from a least relevant grade on.

    Args:
        grades: float64 ``(kinds,)``, the grade of each kind of judgment; negative of documents of
            a pool that were not sampled.
        weights: how many documents a sampled one stands for: float64, of each kind 1 over the
            chance that it was sampled with, or of each query's strata, 0 where none was sampled.
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


class Probabilities(Sample):
    """What judgments say of chances to be sampled."""


class SampleRanks(KindRanks):
    """What measures of sampled judgments, a `Sample`, read."""

    @cached_property
    def expected(self) -> Floats:
        """How many relevant documents there are estimated to be at all, ``(queries,)``."""
        return self.judgments.relevant[self.query_rows]


class ProbabilityRanks(SampleRanks):
    """What measures of chances read: the sampled relevant documents that were retrieved."""

    def are_read(self, kinds: Ints) -> Bools:
        """Tell which kinds of judgments matter."""
        return (kinds > 0) & (self.judgments.grades[kinds] >= self.judgments.rel)

    @cached_property
    def weights(self) -> Floats:
        """How many documents each stands for."""
        return self.judgments.weights[self.codes]

    @cached_property
    def estimates(self) -> Floats:
        """How many documents are estimated to be relevant of those down to each."""
        return RankedGains(self, self.judgments.weights).running_sums


EPSILON = 1e-5  # smooths shares: r of s documents are taken for (r + EPSILON) of (s + 3 EPSILON)


@dataclass(eq=False)
class Strata(Sample):
    """What judgments say of strata; a query's are counted from 0.

    Args:
        strata: int64 ``(kinds,)``, of each kind of judgment from 1 on.
        starts: int64 ``(queries + 1,)``, where the weights of each query's strata begin.
        graded: of each query, the grades relevant, from the highest down, and how many documents
            are estimated to have them.
    """

    strata: Ints
    starts: Ints
    graded: list[list[tuple[float, float]]]
    _ideals: dict[tuple[float, bool], Floats] = field(default_factory=dict)

    def ideals(self, cutoff: float, *, whole: bool) -> Floats:
        """Return the DCG of ideal rankings, float64 ``(queries,)``.

        Each grade takes as many ranks as documents are estimated to have it: rounded, if `whole`;
        else ranks after the first may lie between whole numbers. A grade that begins beyond the
        cutoff still takes a rank, as in sample_eval.
        """
        if (cutoff, whole) not in self._ideals:
            sums = [_ideal_dcg(grades, cutoff, whole=whole) for grades in self.graded]
            self._ideals[cutoff, whole] = np.array(sums, np.float64)
        return self._ideals[cutoff, whole]


def _ideal_dcg(graded: list[tuple[float, float]], cutoff: float, *, whole: bool) -> float:
    total = start = 0.0
    for grade, estimate in graded:
        count = math.floor(estimate + 0.5) if whole else estimate
        rank = start + 1.0
        while rank <= start + count:
            total += grade / math.log2(rank + 1.0)
            if rank >= cutoff:
                break
            rank += 1.0
        start += count
    return total


class StratumRanks(SampleRanks):
    """What measures of strata read: pooled documents that were retrieved, sampled or not."""

    of_all_cutoffs = ("estimates",)

    @cached_property
    def strata(self) -> Ints:
        """The stratum of each document, int64 ``(documents,)``."""
        return self.judgments.strata[self.codes]

    @cached_property
    def grades(self) -> Floats:
        """The grade of each document, negative where it was not sampled."""
        return self.judgments.grades[self.codes]

    @cached_property
    def relevant(self) -> Bools:
        """Which documents are relevant, bool ``(documents,)``."""
        return self.grades >= self.judgments.rel

    @cached_property
    def weights(self) -> Floats:
        """How many pooled documents of its stratum each stands for."""
        starts = self.judgments.starts[self.query_rows[self.row_index]]
        return self.judgments.weights[starts + self.strata]

    @cached_property
    def estimates(self) -> Floats:
        """How many documents are estimated to be relevant of those down to each."""
        counts = np.diff(self.judgments.starts)[self.query_rows]
        estimates = np.empty(self.codes.size)
        space = np.zeros((3, int(counts.max(initial=0))))
        work = int((np.diff(self.starts) * (counts + 2)).sum())
        judged = self.strata, self.grades >= 0, self.relevant
        _estimate.run(work, self.starts, counts, *judged, space, estimates)
        return estimates

    @cached_property
    def ends(self) -> Ints:
        """Where each ranking's documents down to the cutoff end, int64 ``(queries,)``."""
        sizes = np.bincount(self.row_index[self.is_within], minlength=self.queries)
        return self.starts[:-1] + sizes

    @cached_property
    def estimated_hits(self) -> Floats:
        """How many documents are estimated to be relevant of those retrieved, ``(queries,)``."""
        starts = self.starts[:-1]
        return self.value_at(self.estimates, starts, self.ends - starts)

    def dcg(self, divisors: Floats) -> Floats:
        """Estimate the DCG, float64 ``(queries,)``: of each stratum from those of it sampled."""
        strata = int(np.diff(self.judgments.starts).max(initial=1))
        some = self.is_within
        keys = self.row_index[some] * strata + self.strata[some]
        cells = self.queries * strata
        gains = np.where(self.relevant, self.grades, 0.0)[some] / divisors[self.ranks[some] - 1]
        retrieved = np.bincount(keys, minlength=cells)
        sampled = np.bincount(keys, self.grades[some] >= 0, cells)
        terms = retrieved * np.bincount(keys, gains, cells) / np.maximum(sampled, 1.0)
        return terms.reshape(self.queries, strata).sum(axis=1)

    def interpolated(self, points: Floats) -> Floats:
        """Walk rankings up as sample_eval does, float64 ``(queries,)``: the last point's precision.

        `points` of recall are met in descending order, at most one a rank, where less than it was
        found, with the best precision from there on.
        """
        values = np.zeros(self.queries)
        work = int(self.retrieved.sum()) + self.queries
        rankings = self.starts, self.ends, self.ranks, self.estimates, self.retrieved
        _interpolate.run(work, *rankings, self.expected, points, values)
        return values


@kernel
def _estimate(
    starts: Ints,
    counts: Ints,
    strata: Ints,
    sampled: Bools,
    relevant: Bools,
    space: Floats2,
    estimates: Floats,
) -> None:
    """Write estimates; `space` counts documents of each stratum, those sampled, those relevant."""
    for q in range(starts.size - 1):
        space[:, : counts[q]] = 0.0
        for i in range(starts[q], starts[q + 1]):
            own = strata[i]
            space[0, own] += 1.0
            space[1, own] += sampled[i]
            space[2, own] += relevant[i]
            total = 0.0
            for stratum in range(counts[q]):
                if space[0, stratum] > 0:
                    share = (space[2, stratum] + EPSILON) / (space[1, stratum] + 3 * EPSILON)
                    total += space[0, stratum] * share
            estimates[i] = total


@kernel
def _interpolate(
    starts: Ints,
    ends: Ints,
    ranks: Ints,
    estimates: Floats,
    retrieved: Ints,
    expected: Floats,
    points: Floats,
    values: Floats,
) -> None:
    """Write the precision that the last of some descending points of recall gets."""
    last = points.size - 1
    for q in range(starts.size - 1):
        place = ends[q]
        estimate = estimates[place - 1] if place > starts[q] else 0.0
        point = 0
        while point <= last and points[point] * expected[q] > estimate:
            point += 1
        best = 0.0
        rank = retrieved[q]
        while rank > 0 and point <= last:
            while place > starts[q] and ranks[place - 1] > rank:
                place -= 1
            estimate = estimates[place - 1] if place > starts[q] else 0.0
            best = max(best, estimate / rank)
            if points[point] * expected[q] > estimate:
                if point == last:
                    break
                point += 1
            rank -= 1
        if point <= last:
            values[q] = best


MOST_SUMMED = 10**7  # ranks


def check_summed(cutoff: float) -> None:
    """Reject a cutoff, unless infinite, up to which there are too many ranks to sum over."""
    if MOST_SUMMED < cutoff < math.inf:
        problem = f"cutoff {cutoff:.0f} is beyond {MOST_SUMMED:,}: all ranks up to it count"
        raise InputError(problem, source="measures", value=cutoff)


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
            gains, groups = np.empty(self.judged_sets.size), self._groups
            space = np.empty(int(self.counts.max(initial=0))), groups.begins[:-1].copy()
            work = 20 * int((np.diff(self.judged_starts) * np.diff(groups.starts)).sum())
            ranked = self.judged_starts, groups, self.set_starts, self.members
            _order_greedily.run(work, *ranked, 1.0 - alpha, *space, gains)
            self._ideals[alpha] = gains
        return self._ideals[alpha]

    @property
    def no_relevant(self) -> Bools:
        """Which queries have no relevant document, bool ``(queries,)``."""
        return self.counts == 0

    @cached_property
    def _groups(self) -> Groups:
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
    """What a measure of diversity reads: documents retrieved that are relevant to any subtopic.

    Their `codes` are their sets of subtopics.
    """

    judgments: Subtopics
    of_all_cutoffs = ("pairs",)

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
        begins = self.judgments.set_starts[self.codes]
        sizes = self.judgments.set_starts[self.codes + 1] - begins
        document = np.repeat(np.arange(self.codes.size), sizes)
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
        if alpha not in self._kept:
            document, _, number = self.pairs
            worth = powers(1.0 - alpha, int(number.max(initial=1)))[number - 1]
            self._kept[alpha] = np.bincount(document, worth, self.codes.size).astype(np.float64)
        return self._kept[alpha]

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
        check_summed(self.cutoff)
        return max(int(self.depth.max(initial=1)), self.longest)


RANKS_OF: dict[type[Any], type[KindRanks]] = {
    Probabilities: ProbabilityRanks,
    Strata: StratumRanks,
    Subtopics: SubtopicRanks,
}
"""What measures read of a block whose grades are kinds of judgments, by what these say."""

"""Rankings of documents of which a kind of judgment is known, which says more than a grade.

Some were sampled to be judged, each with a known probability, or so many of each stratum of a pool
(Yilmaz, Kanoulas & Aslam 2008; the estimates are those of TREC's sample_eval).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from irbatch.array_types import Bools, Floats, Floats2, Ints, Positions
from irbatch.engine.judged import Ranked, RankedGains, collect_judged
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.runtime.kernels import kernel
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

    def __init__(self, judgments: Any, query_rows: Positions, matrix: RelevanceMatrix) -> None:
        self.judgments, self.query_rows = judgments, query_rows.astype(np.int64)
        self.retrieved, self.cutoff = matrix.retrieved, math.inf
        judged = collect_judged(matrix)
        kinds = matrix.levels.astype(np.int64)[np.maximum(judged.codes, 0)]
        read = (judged.codes >= 0) & self.are_read(kinds)
        super().__init__(judged.row_index[read], judged.ranks[read], kinds[read], judged.queries)

    def are_read(self, kinds: Ints) -> Bools:
        """Tell which kinds of judgments matter."""
        return kinds > 0

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

    @cached_property
    def depth(self) -> Floats:
        """The k of a cutoff, or at full depth how many were retrieved: float64 ``(queries,)``."""
        retrieved = self.retrieved.astype(np.float64)
        return retrieved if math.isinf(self.cutoff) else np.full(self.queries, self.cutoff)

    @cached_property
    def is_within(self) -> Bools:
        """Which documents stand no deeper than the cutoff, bool ``(documents,)``."""
        return self.ranks <= self.cutoff

    def before(self, running: Floats) -> Floats:
        """Return what running values of documents were before each, 0 before the first."""
        values = np.concatenate(([0.0], running[:-1]))
        values[self.starts[:-1][np.diff(self.starts) > 0]] = 0.0
        return values

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

    def ranks(self, queries: Positions, matrix: RelevanceMatrix) -> ProbabilityRanks:
        """Return what measures read of a block whose grades are kinds of judgments."""
        return ProbabilityRanks(self, queries, matrix)


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

    def ranks(self, queries: Positions, matrix: RelevanceMatrix) -> StratumRanks:
        """Return what measures read of a block whose grades are kinds of judgments."""
        return StratumRanks(self, queries, matrix)

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
    """Add up grades over log2(rank + 1), grade after grade."""
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

    def prepare(self) -> None:
        """Estimate once for all cutoffs."""
        _ = self.estimates

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
        return self.starts[:-1] + np.bincount(
            self.row_index[self.is_within], minlength=self.queries
        )

    @cached_property
    def estimated_hits(self) -> Floats:
        """How many documents are estimated to be relevant of those retrieved, ``(queries,)``."""
        estimates = np.concatenate(([0.0], self.estimates))
        return np.where(self.ends > self.starts[:-1], estimates[self.ends], 0.0)

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

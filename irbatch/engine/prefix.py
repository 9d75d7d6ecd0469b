"""What a scan is asked for and what it returns: the statistics of every prefix of a ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.errors import many
from irbatch.runtime.cached import cached_property

Counts = npt.NDArray[Any]  # int32 or int64; float64 where they are expected

FULL_DEPTH = math.inf  # the cutoff that stands for "no cutoff"


@dataclass(frozen=True)
class Weighting:
    """What a document contributes to a gain measure: its gain, divided by its rank's discount."""

    gain: Callable[[Floats], Floats]  # grades to gains, each finite and >= 0
    discount: Callable[[int], Floats]  # n to the divisors of ranks 1 … n or more, each > 0


@dataclass(frozen=True)
class ScanRequest:
    """What a scan is to collect."""

    cutoffs: Sequence[float]  # whole, from 1, ascending; `FULL_DEPTH` last if wanted
    thresholds: Sequence[float]  # grades from which a document counts as relevant
    weightings: Sequence[Weighting]


class PrefixSums(NamedTuple):
    """What a scan counts and adds up: ``(thresholds or weightings, queries, cutoffs)``.

    `judged` and `negative` lack the first axis; `first_hit`, `hits_at_relevant` and `relevant`
    the last.
    """

    judged: Counts
    negative: Counts
    hits: Counts
    precision_sum: Floats
    first_hit: Ints
    hits_at_relevant: Counts
    relevant: Ints
    gain: Floats
    discounted_gain: Floats
    ideal_gain: Floats
    ideal_discounted_gain: Floats

    @staticmethod
    def bytes_of_cell(request: ScanRequest) -> int:
        """Return how much the answers take of a query at a cutoff, with counts of 4 bytes."""
        return 8 + 12 * len(request.thresholds) + 32 * len(request.weightings)

    @classmethod
    def empty(cls, request: ScanRequest, queries: int, counts: npt.DTypeLike) -> PrefixSums:
        """Make room for the answers to a request; `counts` is the type of those counted."""
        binary, graded = len(request.thresholds), len(request.weightings)
        # In two pieces: large ones come in large pages, of which few have to be fetched.
        counted = np.empty((2 + binary, queries, len(request.cutoffs)), counts)
        summed = np.empty((binary + 4 * graded, queries, len(request.cutoffs)))
        of_gains = summed[binary:].reshape(4, graded, *counted.shape[1:])
        return cls(
            judged=counted[0],
            negative=counted[1],
            hits=counted[2:],
            precision_sum=summed[:binary],
            first_hit=np.empty((binary, queries), np.int64),
            hits_at_relevant=np.empty((binary, queries), counts),
            relevant=np.empty((binary, queries), np.int64),
            gain=of_gains[0],
            discounted_gain=of_gains[1],
            ideal_gain=of_gains[2],
            ideal_discounted_gain=of_gains[3],
        )


@dataclass(frozen=True, eq=False)
class Scan:
    """Everything one pass collected; `select` gives a measure its view of it."""

    cutoffs: Floats  # (cutoffs,)
    retrieved: Ints  # (queries,)
    sums: PrefixSums

    def of_rows(self, rows: slice) -> Scan:
        """View the statistics of some queries."""
        parts = (each[rows] if i < 2 else each[:, rows] for i, each in enumerate(self.sums))
        return Scan(self.cutoffs, self.retrieved[rows], PrefixSums(*parts))

    def select(self, threshold: int, weighting: int, columns: Sequence[int]) -> PrefixStatistics:
        """View some statistics, given their threshold's, weighting's and cutoffs' positions."""
        return PrefixStatistics(self, threshold, weighting, columns)


class PrefixStatistics:
    """What is known of the first k documents of each ranking: what every measure is a function of.

    Arrays are ``(queries, cutoffs)`` or, where a value doesn't depend on the cutoff,
    ``(queries, 1)``; float64, so that they divide and broadcast without care.

    Each is computed when it is first asked for, and read-only: measures share them.
    """

    def __init__(self, scan: Scan, threshold: int, weighting: int, columns: Sequence[int]) -> None:
        self._scan, self._sums = scan, scan.sums
        self._threshold, self._weighting = threshold, weighting
        self._columns = as_slice(columns)

    def __repr__(self) -> str:
        return f"<PrefixStatistics: {many(len(self.retrieved), 'query')}>"

    @cached_property
    def retrieved(self) -> Floats:
        """Documents retrieved, ``(queries, 1)``."""
        return _frozen(self._scan.retrieved.astype(np.float64)[:, None])

    @cached_property
    def cutoff(self) -> Floats:
        """The cutoffs k; at full depth the number of documents retrieved."""
        cutoffs = self._scan.cutoffs[self._columns][None, :]
        return _frozen(np.where(cutoffs == FULL_DEPTH, self.retrieved, cutoffs))

    @cached_property
    def relevant(self) -> Floats:
        """Relevant documents in the judgments, ``(queries, 1)``."""
        return self._of_queries(self._sums.relevant)

    @cached_property
    def hits(self) -> Floats:
        """Relevant documents among the first k."""
        return self._at(self._sums.hits[self._threshold])

    @cached_property
    def first_hit(self) -> Floats:
        """Rank of the first relevant document, 0 if none is among the first k."""
        first_hit = self._of_queries(self._sums.first_hit)
        return _frozen(np.where(first_hit <= self.cutoff, first_hit, 0.0))

    @cached_property
    def any_hit(self) -> Floats:
        """1 where there is a hit, else 0."""
        return _frozen((self.hits > 0).astype(np.float64))

    @cached_property
    def reciprocal_rank(self) -> Floats:
        """1 over `first_hit`, 0 if there is no hit."""
        nothing = np.zeros_like(self.first_hit)
        return _frozen(np.divide(1.0, self.first_hit, out=nothing, where=self.first_hit > 0))

    @cached_property
    def hits_at_relevant(self) -> Floats:
        """Hits among the first min(k, `relevant`) documents."""
        of_all = self._of_queries(self._sums.hits_at_relevant)
        return _frozen(np.where(self.cutoff < self.relevant, self.hits, of_all))

    @cached_property
    def precision_sum(self) -> Floats:
        """Sum of the precisions at the ranks of the hits."""
        return self._at(self._sums.precision_sum[self._threshold])

    @cached_property
    def judged(self) -> Floats:
        """Judged documents among the first k, whatever their grade."""
        return self._at(self._sums.judged)

    @cached_property
    def negative(self) -> Floats:
        """Those of the judged ones with a grade below 0."""
        return self._at(self._sums.negative)

    @cached_property
    def gain(self) -> Floats:
        """Sum of the gains of the first k documents."""
        return self._at(self._sums.gain[self._weighting])

    @cached_property
    def discounted_gain(self) -> Floats:
        """Sum of their gains, each divided by its rank's discount."""
        return self._at(self._sums.discounted_gain[self._weighting])

    @cached_property
    def ideal_gain(self) -> Floats:
        """The same as `gain` for the ideal ranking of all judged documents."""
        return self._at(self._sums.ideal_gain[self._weighting])

    @cached_property
    def ideal_discounted_gain(self) -> Floats:
        """The same as `discounted_gain` for that ranking."""
        return self._at(self._sums.ideal_discounted_gain[self._weighting])

    def _at(self, values: npt.NDArray[Any]) -> Floats:
        """Return the columns of the cutoffs."""
        return _frozen(values[:, self._columns].astype(np.float64, copy=False))

    def _of_queries(self, values: Ints) -> Floats:
        return _frozen(values[self._threshold].astype(np.float64)[:, None])


def as_slice(columns: Sequence[int]) -> slice | list[int]:
    """Return the same columns as a slice if they are consecutive: a slice is not copied."""
    first, last = min(columns, default=0), max(columns, default=0)
    return slice(first, last + 1) if [*columns] == [*range(first, last + 1)] else list(columns)


def _frozen(values: Floats) -> Floats:
    values = values.view()  # what it may be a part of stays as it is
    values.flags.writeable = False
    return values

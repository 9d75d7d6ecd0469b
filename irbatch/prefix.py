"""What a scan is asked for and what it returns: the statistics of every prefix of a ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["FULL_DEPTH", "PrefixStatistics", "Scan", "ScanRequest", "Weighting"]

FULL_DEPTH = math.inf  # the cutoff that stands for "no cutoff"

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Weighting:
    """What a document contributes to a gain measure: its gain, divided by its rank's discount.

    Args:
        gain: grades float64 ``(levels,)`` to gains float64 ``(levels,)``, each finite and >= 0.
        discount: ``n`` to the divisors of ranks 1 … n or more, float64, each > 0.
    """

    gain: Callable[[Array], Array]
    discount: Callable[[int], Array]


@dataclass(frozen=True)
class ScanRequest:
    """What a scan is to collect.

    Args:
        cutoffs: ascending, each at least 1; `FULL_DEPTH` last when full depth is wanted.
            Whole numbers of any size.
        thresholds: grades from which a document counts as relevant.
        weightings: the gains and discounts.
    """

    cutoffs: Sequence[float]
    thresholds: Sequence[float]
    weightings: Sequence[Weighting]


@dataclass(frozen=True, eq=False)
class PrefixStatistics:
    """What is known of the first k documents of each ranking: what every measure is a function of.

    Arrays are ``(queries, cutoffs)`` or, where a value doesn't depend on the cutoff,
    ``(queries, 1)``; float64, so that they divide and broadcast without care.

    Attributes:
        cutoff: k; at full depth the number of documents retrieved.
        retrieved: documents retrieved, ``(queries, 1)``.
        relevant: relevant documents in the judgments, ``(queries, 1)``.
        hits: relevant documents among the first k.
        first_hit: rank of the first relevant document, 0 if none is among the first k.
        hits_at_relevant: hits among the first min(k, `relevant`) documents.
        precision_sum: sum of the precisions at the ranks of the hits.
        judged: judged documents among the first k, whatever their grade.
        negative: those of them with a grade below 0.
        gain, discounted_gain: sums over the first k documents.
        ideal_gain, ideal_discounted_gain: the same for the ideal ranking of all judged documents.
    """

    cutoff: Array
    retrieved: Array
    relevant: Array
    hits: Array
    first_hit: Array
    hits_at_relevant: Array
    precision_sum: Array
    judged: Array
    negative: Array
    gain: Array
    discounted_gain: Array
    ideal_gain: Array
    ideal_discounted_gain: Array


@dataclass(frozen=True, eq=False)
class Scan:
    """Everything one pass collected; `select` gives a measure its view of it.

    Arrays are ``(thresholds or weightings, queries, cutoffs)``, without the last axis for
    `first_hit`, `hits_at_relevant` and `relevant`; `judged` and `negative` are
    ``(queries, cutoffs)``.
    """

    cutoffs: Array
    retrieved: Ints
    judged: npt.NDArray[np.int32]
    negative: npt.NDArray[np.int32]
    hits: npt.NDArray[np.int32]
    precision_sum: Array
    first_hit: Ints
    hits_at_relevant: Ints
    relevant: Ints
    gain: Array
    discounted_gain: Array
    ideal_gain: Array
    ideal_discounted_gain: Array

    def select(self, threshold: int, weighting: int, columns: Sequence[int]) -> PrefixStatistics:
        """View the statistics of one threshold and one weighting at some of the cutoffs.

        Args:
            threshold: position among the request's thresholds.
            weighting: position among its weightings.
            columns: positions of the cutoffs in the request.
        """
        at = list(columns)
        retrieved = self.retrieved.astype(np.float64)[:, None]
        cutoffs = self.cutoffs[at][None, :]
        cutoff = np.where(cutoffs == FULL_DEPTH, retrieved, cutoffs)
        hits = self.hits[threshold][:, at].astype(np.float64)

        def column(values: Ints) -> Array:
            of_queries: Array = values[threshold].astype(np.float64)[:, None]
            return of_queries

        first_hit, relevant = column(self.first_hit), column(self.relevant)
        return PrefixStatistics(
            cutoff=cutoff,
            retrieved=retrieved,
            relevant=relevant,
            hits=hits,
            first_hit=np.where(first_hit <= cutoff, first_hit, 0.0),
            hits_at_relevant=np.where(cutoff < relevant, hits, column(self.hits_at_relevant)),
            precision_sum=self.precision_sum[threshold][:, at],
            judged=self.judged[:, at].astype(np.float64),
            negative=self.negative[:, at].astype(np.float64),
            gain=self.gain[weighting][:, at],
            discounted_gain=self.discounted_gain[weighting][:, at],
            ideal_gain=self.ideal_gain[weighting][:, at],
            ideal_discounted_gain=self.ideal_discounted_gain[weighting][:, at],
        )

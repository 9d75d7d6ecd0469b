"""What is kept where single queries are not: sums, exact, so that their order doesn't show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.means import Means
from irbatch.runtime.exact_sums import LIMBS, add_up, round_sum

__all__ = ["Sums"]


class Sums:
    """Sums of values: arrays of whole numbers that add up over batches and processes.

    Args:
        aggregates: how each measure's values are averaged, see `irbatch.evaluation.means.Column`.
    """

    def __init__(self, aggregates: Sequence[str]) -> None:
        self._aggregates = list(aggregates)
        self._sums = np.zeros((len(aggregates), LIMBS), np.int64)
        self._counted = np.zeros(len(aggregates), np.int64)
        self._zeros = np.zeros(len(aggregates), np.int64)
        self._counts = np.zeros(len(fields(Counts)), np.int64)

    def __len__(self) -> int:
        return int(self._counts[0])

    def add(self, values: Floats, counts: Counts) -> None:
        """Add the values of some queries: float64 ``(queries, measures)``."""
        there = ~np.isnan(values)
        zeros = np.zeros(values.shape[1], np.int64)
        terms = values
        geometric = [i for i, each in enumerate(self._aggregates) if each == "geometric"]
        if geometric:
            terms = values.copy()
            for column in geometric:
                some = values[:, column]
                zeros[column] = (some <= 0).sum()
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in some.tolist()]
        self._sums += add_up(terms)
        self._counted += there.sum(axis=0)
        self._zeros += zeros
        self._counts += np.array(counts.numbers(), np.int64)

    def means(self, measures: Sequence[Any], settings: Mapping[str, str]) -> Means:
        """Return the means; the same bits as those of `irbatch.Results`."""
        means = [self._mean(column) for column in range(len(self._aggregates))]
        return Means(means, measures, Counts(*self._counts.tolist()), settings)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        return {
            "sums": self._sums.copy(),
            "counted": self._counted.copy(),
            "zeros": self._zeros.copy(),
            "counts": self._counts.copy(),
        }

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has summed."""
        self._sums += np.asarray(state["sums"], np.int64)
        self._counted += np.asarray(state["counted"], np.int64)
        self._zeros += np.asarray(state["zeros"], np.int64)
        self._counts += np.asarray(state["counts"], np.int64)

    def _mean(self, column: int) -> float:
        how, n = self._aggregates[column], int(self._counted[column])
        total = round_sum(self._sums[column])
        if how == "sum":
            return total
        if not n:
            return math.nan
        if how == "geometric":
            return 0.0 if self._zeros[column] else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(self._sums[column], n)

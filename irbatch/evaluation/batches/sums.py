"""What is kept where single queries are not: sums, exact, so that their order doesn't show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.means import Means
from irbatch.evaluation.results import Results
from irbatch.measures import Measure
from irbatch.runtime.exact_sums import LIMBS, add_up, round_sum


class Sums:
    """Sums of values: arrays of whole numbers that add up over batches and processes.

    Args:
        measures: those evaluated.
    """

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self.repeats = 0  # none is noticed
        self._sums = np.zeros((len(measures), LIMBS), np.int64)
        self._counted = np.zeros(len(measures), np.int64)
        self._zeros = np.zeros(len(measures), np.int64)
        self._counts = np.zeros(len(fields(Counts)), np.int64)

    def __len__(self) -> int:
        return int(self._counts[0])

    def add(self, results: Results, ids: object = None) -> None:
        """Add the values of some queries; their ids are not kept."""
        values = results.values
        there = ~np.isnan(values)
        zeros = np.zeros(values.shape[1], np.int64)
        terms = values
        geometric = [i for i, each in enumerate(self._measures) if each.aggregate == "geometric"]
        if geometric:
            terms = values.copy()
            for column in geometric:
                some = values[:, column]
                zeros[column] = (some <= 0).sum()
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in some.tolist()]
        self._sums += add_up(terms)
        self._counted += there.sum(axis=0)
        self._zeros += zeros
        self._counts += np.array(results.counts.numbers(), np.int64)

    def results(self, settings: Mapping[str, str]) -> Means:
        """Return the means; the same bits as those of `irbatch.Results`."""
        means = [self._mean(column) for column in range(len(self._measures))]
        return Means(means, self._measures, Counts(*self._counts.tolist()), settings)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has summed."""
        for name, array in self._arrays().items():
            array += np.asarray(state[name], np.int64)

    def _arrays(self) -> dict[str, Ints]:
        arrays = self._sums, self._counted, self._zeros, self._counts
        return dict(zip(("sums", "counted", "zeros", "counts"), arrays, strict=True))

    def _mean(self, column: int) -> float:
        how, n = self._measures[column].aggregate, int(self._counted[column])
        total = round_sum(self._sums[column])
        if how == "sum":
            return total
        if not n:
            return math.nan
        if how == "geometric":
            return 0.0 if self._zeros[column] else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(self._sums[column], n)

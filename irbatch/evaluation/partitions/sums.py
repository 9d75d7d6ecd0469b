"""Exact sums of queries' values: their order doesn't show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from irbatch.engine.items import Items
from irbatch.errors import InputError
from irbatch.evaluation.counts import Counts, count_queries
from irbatch.evaluation.means import Means, weight_column, with_weights
from irbatch.evaluation.partitions.item_state import count_items, cutoffs_of_run
from irbatch.evaluation.partitions.kept import QueryValues
from irbatch.evaluation.partitions.rows import Addition, join_rows
from irbatch.evaluation.run_items import value_of
from irbatch.measures import Measure
from irbatch.runtime.numbers import LIMBS, add_up, round_sum

MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits


class Sums:
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    have_ids = False
    repeats = 0  # none is noticed

    def __init__(self, measures: Sequence[Measure], known: Items | None = None) -> None:
        self._measures, self.known = measures, known
        self._cutoffs = cutoffs_of_run(measures)
        self._items = {} if known is None else count_items(known, self._cutoffs, [])
        columns = len(self._columns)
        sizes: dict[str, Any] = {"sums": (columns, LIMBS), "counted": columns, "zeros": columns}
        sizes["counts"] = len(fields(Counts))
        self._arrays = {name: np.zeros(size, np.int64) for name, size in sizes.items()}

    @property
    def _columns(self) -> list[Measure]:
        return with_weights(self._measures)

    def __len__(self) -> int:
        return int(self._arrays["counts"][0])

    def added(self, additions: Sequence[Addition]) -> Sums:
        """Return these with additions, at least one; their ids are not kept."""
        values, _, items = join_rows(additions)
        terms = values.copy()
        zeros = np.zeros(len(self._columns), np.int64)
        for column, measure in enumerate(self._measures):
            if measure.aggregate == "geometric":
                factors = terms[:, column].tolist()
                zeros[column] = sum(each <= 0 for each in factors)
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in factors]
            if measure.aggregate == "weighted":
                terms[:, column] *= values[:, weight_column(self._measures, column)]
        counted = (~np.isnan(values)).sum(axis=0)
        marks = [each.batch.marks for each in additions if each.counts is None]
        counts = [each.counts for each in additions if each.counts is not None]
        counts.append(count_queries(np.concatenate([np.empty(0, np.uint8), *marks])))
        more: dict[str, Any] = {"sums": add_up(terms), "counted": counted, "zeros": zeros}
        if self.known is not None and items is not None:
            more["items"] = count_items(self.known, self._cutoffs, items.lists)
        return self.with_state({**more, "counts": np.sum(list(map(astuple, counts)), axis=0)})

    def with_state(self, state: Mapping[str, Any]) -> Sums:
        """Return these with what another has summed, see `reading`."""
        more = copy(self)
        more._arrays = {name: array + state[name] for name, array in self._arrays.items()}
        more._items = {
            cutoff: each + state["items"][cutoff] for cutoff, each in self._items.items()
        }
        if max(int(abs(array).max()) for array in more._arrays.values()) > MOST:
            problem = "'sums' and 'counts' of so many queries don't add up in 64 bits"
            raise InputError(problem, source="state")
        return more

    def results(self, settings: Mapping[str, str]) -> Means:
        """Return the means; the same bits as those of `irbatch.Results`."""
        means = [self._mean(column) for column in range(len(self._measures))]
        return Means(means, self._measures, Counts(*self._arrays["counts"].tolist()), settings)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        state: dict[str, Any] = {name: array.copy() for name, array in self._arrays.items()}
        return state if self.known is None else {**state, "items": dict(self._items)}

    def _mean(self, column: int) -> float:
        if (measure := self._measures[column]).aggregate == "run":
            return value_of(measure, self._items[measure.cutoff])
        sums, counted, zeros = (self._arrays[name][column] for name in ("sums", "counted", "zeros"))
        how, n, total = self._measures[column].aggregate, int(counted), round_sum(sums)
        if how == "sum":
            return total
        if how == "weighted":
            weights = round_sum(self._arrays["sums"][weight_column(self._measures, column)])
            return total / weights if weights else math.nan
        if not n:
            return math.nan
        if how == "geometric":
            return 0.0 if zeros else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(sums, n)


def empty_kept(
    keep: str, measures: Sequence[Measure], known: Items | None, repeated: str = "error"
) -> QueryValues | Sums:
    """Return what is kept of no query: its values, or sums; see there for `known`, `repeated`."""
    return Sums(measures, known) if keep == "sums" else QueryValues(measures, repeated, known)

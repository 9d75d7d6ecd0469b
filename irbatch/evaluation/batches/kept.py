"""What is kept of queries: their values and marks, or exact sums, whose order doesn't show."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from irbatch.array_types import Bytes, Floats
from irbatch.errors import InputError
from irbatch.evaluation.counts import Counts, count_queries
from irbatch.evaluation.means import Means
from irbatch.evaluation.results import Results
from irbatch.measures import Measure
from irbatch.runtime.exact_sums import LIMBS, add_up, round_sum

REPEATED = ("error", "first", "last")  # what becomes of a query that comes again, with other values


class QueryValues:
    """Values of queries, each counted once if it has an id; `repeated` is one of `REPEATED`."""

    def __init__(self, measures: Sequence[Measure], repeated: str) -> None:
        self._measures, self._repeated = measures, repeated
        self._values = np.empty((0, len(measures)))
        self._marks = np.empty(0, np.uint8)
        self._size = 0
        self._row_of: dict[Hashable, int] | None = None  # None: no query has an id
        self.repeats = 0  # how often a query came again
        self.extra = 0

    def __len__(self) -> int:
        return self._size

    def add(self, results: Results, ids: Sequence[Any] | None) -> None:
        """Keep the values of some queries; if one is refused, nothing has changed."""
        self._add(results.values, results.marks, ids)
        self.extra += results.counts.extra

    def _add(self, values: Floats, marks: Bytes, ids: Sequence[Any] | None) -> None:
        if self._size and (ids is None) != (self._row_of is None):
            problem = "give ids in every update or in none"
            reason = "queries without ids cannot be told from those with"
            raise InputError(f"{problem}: {reason}", source="query_ids")
        if ids is None:
            self._append(values, marks)
            return
        within = 0  # how often a query comes again in this very call
        if len(set(ids)) < len(ids):
            once = QueryValues(self._measures, self._repeated)
            for i, each in enumerate(ids):
                once._add(values[i : i + 1], marks[i : i + 1], [each])
            ids, values, marks = list(once._row_of or ()), once._values, once._marks
            values, marks, within = values[: once._size], marks[: once._size], once.repeats
        row_of: dict[Hashable, int] = {} if self._row_of is None else self._row_of
        known = np.fromiter((row_of.get(each, -1) for each in ids), np.int64, len(ids))
        again = np.flatnonzero(known >= 0)
        before = self._values[known[again]]
        same = (before == values[again]) | (np.isnan(before) & np.isnan(values[again]))
        other = again[~same.all(axis=1)]
        if other.size and self._repeated == "error":
            first = int(other[0])
            self._refuse(ids[first], self._values[known[first]], values[first])
        if self._repeated == "last":
            self._values[known[other]] = values[other]
            self._marks[known[other]] = marks[other]
        fresh = np.flatnonzero(known < 0)
        row_of.update((ids[i], self._size + j) for j, i in enumerate(fresh.tolist()))
        self._row_of = row_of
        self._append(values[fresh], marks[fresh])
        self.repeats += again.size + within

    def results(self, settings: Mapping[str, str]) -> Results:
        """Return everything kept as results."""
        n = self._size
        marks = self._marks[:n].copy()
        counts = count_queries(marks, extra=self.extra)
        ids = range(n) if self._row_of is None else list(self._row_of)
        return Results(self._values[:n].copy(), ids, self._measures, counts, settings, marks=marks)

    def state(self) -> dict[str, Any]:
        """Return what is kept, in arrays and lists of its own."""
        return {
            "query_ids": None if self._row_of is None else list(self._row_of),
            "values": self._values[: self._size].copy(),
            "marks": self._marks[: self._size].copy(),
            "repeats": self.repeats,
            "extra": self.extra,
        }

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has kept, as `add` does."""
        marks = np.asarray(state["marks"], np.uint8)
        values = np.asarray(state["values"], np.float64).reshape(marks.size, len(self._measures))
        if len(values):
            self._add(values, marks, state["query_ids"])
        self.extra += state["extra"]
        self.repeats += state["repeats"]

    def _append(self, values: Floats, marks: Bytes) -> None:
        """Write rows behind the others; the memory doubles when it is full."""
        end = self._size + len(values)
        if end > len(self._values):
            more = max(end, 2 * len(self._values), 256) - len(self._values)
            self._values = np.concatenate([self._values, np.empty((more, len(self._measures)))])
            self._marks = np.concatenate([self._marks, np.empty(more, np.uint8)])
        self._values[self._size : end], self._marks[self._size : end] = values, marks
        self._size = end

    def _refuse(self, query: Any, before: Floats, now: Floats) -> None:
        column = int(np.argmax(before != now))
        raise InputError(
            f"it came before, and {self._measures[column]} was {before[column]:g}, not "
            f"{now[column]:g}; are these ids the queries' own, not places in a batch? "
            "repeated='first' or 'last' keeps one of the two",
            source="query_ids",
            query=query,
            value=float(now[column]),
        )


class Sums:
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self.repeats = 0  # none is noticed
        sizes = {"sums": (len(measures), LIMBS), "counted": len(measures), "zeros": len(measures)}
        sizes["counts"] = len(fields(Counts))
        self._arrays = {name: np.zeros(size, np.int64) for name, size in sizes.items()}

    def __len__(self) -> int:
        return int(self._arrays["counts"][0])

    def add(self, results: Results, ids: object = None) -> None:
        """Add the values of some queries; their ids are not kept."""
        terms = results.values.copy()
        zeros = np.zeros(len(self._measures), np.int64)
        for column, measure in enumerate(self._measures):
            if measure.aggregate == "geometric":
                values = terms[:, column].tolist()
                zeros[column] = sum(each <= 0 for each in values)
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in values]
        counted = (~np.isnan(results.values)).sum(axis=0)
        more = {"sums": add_up(terms), "counted": counted, "zeros": zeros}
        self.add_state({**more, "counts": astuple(results.counts)})

    def results(self, settings: Mapping[str, str]) -> Means:
        """Return the means; the same bits as those of `irbatch.Results`."""
        means = [self._mean(column) for column in range(len(self._measures))]
        return Means(means, self._measures, Counts(*self._arrays["counts"].tolist()), settings)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        return {name: array.copy() for name, array in self._arrays.items()}

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has summed."""
        for name, array in self._arrays.items():
            array += np.asarray(state[name], np.int64)

    def _mean(self, column: int) -> float:
        sums, counted, zeros = (self._arrays[name][column] for name in ("sums", "counted", "zeros"))
        how, n, total = self._measures[column].aggregate, int(counted), round_sum(sums)
        if how == "sum":
            return total
        if not n:
            return math.nan
        if how == "geometric":
            return 0.0 if zeros else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(sums, n)

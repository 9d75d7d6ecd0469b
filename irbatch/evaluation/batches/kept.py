"""What is kept of queries: their values and marks, or exact sums, whose order doesn't show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import astuple, fields
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bytes, Floats, Positions
from irbatch.engine.items import ItemRows, Items
from irbatch.errors import InputError
from irbatch.evaluation.batches.columns import plain
from irbatch.evaluation.batches.item_state import count_items, cutoffs_of_run
from irbatch.evaluation.counts import Counts, count_queries
from irbatch.evaluation.means import Means, weight_column, with_weights
from irbatch.evaluation.results import Results
from irbatch.evaluation.run_items import RunItems, value_of
from irbatch.evaluation.score_evaluator import ScoreBatch
from irbatch.measures import Measure
from irbatch.runtime.exact_sums import LIMBS, add_up, round_sum

MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits
REPEATED = ("error", "first", "last")  # what becomes of a query that comes again, with other values


class Rows(NamedTuple):
    """Values and marks of queries; values may have columns of weights, see `with_weights`."""

    values: Floats
    marks: Bytes
    items_of_queries: RunItems | None = None


class Addition(NamedTuple):
    """Queries to be added to what is kept; nothing of them is refused any more."""

    ids: Sequence[Hashable] | None  # different ones
    batch: Results | ScoreBatch | Rows  # their values and marks
    counts: Counts | None = None  # None: as they are marked
    fresh: int = 0  # how many of the queries are new
    repeats: int = 0  # how often a query came again


def join_rows(additions: Sequence[Addition]) -> Rows:
    """Put the values and marks of additions, at least one, one after the other."""
    batches = [each.batch for each in additions]
    ScoreBatch.compute_together([each for each in batches if isinstance(each, ScoreBatch)])
    values = np.concatenate([values_of(each) for each in batches])
    return Rows(values, np.concatenate([each.marks for each in batches]), _join_items(batches))


def _join_items(batches: Sequence[Results | ScoreBatch | Rows]) -> RunItems | None:
    """Put the items of batches one after the other."""
    parts = [each.items_of_queries for each in batches if each.items_of_queries is not None]
    if not parts:
        return None
    return RunItems(parts[0].known, [each for part in parts for each in part.lists])


def values_of(batch: Results | ScoreBatch | Rows) -> Floats:
    """Return values, and weights if there are any."""
    return batch.weighted_values if isinstance(batch, Results) else batch.values


class QueryValues:
    """Values of queries, each counted once if it has an id; `repeated` is one of `REPEATED`.

    What is added makes another of these, which shares the memory. The one before stays as it was:
    it doesn't look beyond its size. Whoever goes on with that one, because something went wrong,
    adds first what was added then.
    """

    def __init__(
        self, measures: Sequence[Measure], repeated: str, known: Items | None = None
    ) -> None:
        self._measures, self._repeated = measures, repeated
        self._known = known  # items, where measures of the whole run read them
        self._lists: list[ItemRows] = []
        self._columns = with_weights(measures)
        self._values = np.empty((0, len(self._columns)))
        self._marks = np.empty(0, np.uint8)
        self._size = 0
        self._row_of: dict[Hashable, int] | None = None  # None: no query has an id
        self.repeats = 0  # how often a query came again
        self.extra = 0

    def __len__(self) -> int:
        return self._size

    @property
    def have_ids(self) -> bool:
        """Whether queries have ids, if there are any."""
        return self._row_of is not None

    def may_have(self, ids: Sequence[Hashable]) -> bool:
        """Tell whether one of some queries may have come before."""
        return self._row_of is not None and not self._row_of.keys().isdisjoint(ids)

    def settle(self, ids: Sequence[Hashable], rows: Rows) -> Addition:
        """Settle what is to be added of queries that perhaps came before.

        Raises:
            InputError: if values differ that are not to.
        """
        if len(set(ids)) < len(ids):
            return self._settle_one_by_one(ids, rows)
        values, marks, items = rows
        known = self._rows(ids)
        again = np.flatnonzero(known >= 0)
        before = self._values[known[again]]
        same = (before == values[again]) | (np.isnan(before) & np.isnan(values[again]))
        alike = same.all(axis=1)
        if items is not None:
            pairs = zip(known[again].tolist(), again.tolist(), strict=True)
            lists = items.lists
            alike &= [np.array_equal(self._lists[mine], lists[new]) for mine, new in pairs]
        other = again[~alike]
        if other.size and self._repeated == "error":
            first = int(other[0])
            self._refuse(ids[first], self._values[known[first]], values[first])
        taken = known < 0
        fresh = int(np.count_nonzero(taken))
        taken[other] = self._repeated == "last"
        picks = np.flatnonzero(taken)
        listed = None if items is None else items.take(picks.tolist())
        kept = Rows(values[picks], marks[picks], listed)
        return Addition([ids[i] for i in picks.tolist()], kept, None, fresh, again.size)

    def added(self, additions: Sequence[Addition]) -> QueryValues:
        """Return this with additions, at least one: all with ids or all without."""
        values, marks, items = join_rows(additions)
        lists = [] if items is None else list(items.lists)
        more = copy(self)
        more.repeats += sum(each.repeats for each in additions)
        more.extra += sum(each.counts.extra for each in additions if each.counts is not None)
        ids = [each for addition in additions for each in addition.ids or ()]
        if ids:
            more._row_of = {} if self._row_of is None else self._row_of
            known = more._rows(ids)
            other, fresh = np.flatnonzero(known >= 0), np.flatnonzero(known < 0)
            places = range(self._size, self._size + fresh.size)
            more._row_of.update(zip([ids[i] for i in fresh.tolist()], places, strict=True))
            more._values[known[other]], more._marks[known[other]] = values[other], marks[other]
            values, marks = values[fresh], marks[fresh]
            if lists:
                for i in other.tolist():
                    more._lists[known[i]] = lists[i]
                lists = [lists[i] for i in fresh.tolist()]
        more._lists[self._size :] = lists
        more._append(values, marks)
        return more

    def with_state(self, state: Mapping[str, Any]) -> QueryValues:
        """Return this with what another has kept, see `reading`."""
        items = None if self._known is None else RunItems(self._known, state["items"])
        rows = Rows(state["values"], state["marks"], items)
        ids, more = state["query_ids"], copy(self)
        if len(rows.values):
            check_mixture(len(self), self.have_ids, ids)
            more = self.added([Addition(None, rows) if ids is None else self.settle(ids, rows)])
        more.extra += state["extra"]
        more.repeats += state["repeats"]
        return more

    def results(self, settings: Mapping[str, str]) -> Results:
        """Return everything kept as results."""
        n, ids = self._size, self._ids()
        marks = self._marks[:n].copy()
        counts = count_queries(marks, extra=self.extra)
        values, queries = self._values[:n].copy(), range(n) if ids is None else ids
        items = None if self._known is None else RunItems(self._known, self._lists[:n])
        return Results(values, queries, self._measures, counts, settings, None, marks, items)

    def state(self) -> dict[str, Any]:
        """Return what is kept, in arrays and lists of its own."""
        state: dict[str, Any] = {
            "query_ids": None if (ids := self._ids()) is None else plain(ids),
            "values": self._values[: self._size].copy(),
            "marks": self._marks[: self._size].copy(),
            "repeats": self.repeats,
            "extra": self.extra,
        }
        return state if self._known is None else {**state, "items": self._lists[: self._size]}

    def _ids(self) -> list[Hashable] | None:
        """List the ids in the order of their rows."""
        return None if self._row_of is None else list(itertools.islice(self._row_of, self._size))

    def _rows(self, ids: Sequence[Hashable]) -> Positions:
        """Return the rows of queries, -1 of those that have none."""
        row_of: dict[Hashable, int] = {} if self._row_of is None else self._row_of
        rows = np.fromiter((row_of.get(each, -1) for each in ids), np.int64, len(ids))
        rows[rows >= self._size] = -1
        return rows

    def _settle_one_by_one(self, ids: Sequence[Hashable], rows: Rows) -> Addition:
        """Settle first what stays of queries that come several times in this very call."""
        once, items = QueryValues(self._measures, self._repeated), rows.items_of_queries
        for i, each in enumerate(ids):
            listed = None if items is None else items.take([i])
            row = Rows(rows.values[i : i + 1], rows.marks[i : i + 1], listed)
            once = once.added([once.settle([each], row)])
        listed = None if items is None else RunItems(items.known, once._lists[: len(once)])
        stay = Rows(once._values[: len(once)], once._marks[: len(once)], listed)
        addition = self.settle(once._ids() or (), stay)
        return addition._replace(repeats=addition.repeats + once.repeats)

    def _append(self, values: Floats, marks: Bytes) -> None:
        """Write rows behind the others; the memory doubles when it is full."""
        end = self._size + len(values)
        if end > len(self._values):
            more = max(end, 2 * len(self._values), 256) - len(self._values)
            self._values = np.concatenate([self._values, np.empty((more, len(self._columns)))])
            self._marks = np.concatenate([self._marks, np.empty(more, np.uint8)])
        self._values[self._size : end], self._marks[self._size : end] = values, marks
        self._size = end

    def _refuse(self, query: Any, before: Floats, now: Floats) -> None:
        other = (before != now) & ~(np.isnan(before) & np.isnan(now))
        if not other.any():
            problem = "it came before with other items; are these ids the queries' own?"
            raise InputError(problem, source="query_ids", query=query)
        column = int(np.argmax(other))
        raise InputError(
            f"it came before, and {self._columns[column]} was {before[column]:g}, not "
            f"{now[column]:g}; are these ids the queries' own, not places in a batch? "
            "repeated='first' or 'last' keeps one of the two",
            source="query_ids",
            query=query,
            value=float(now[column]),
        )


class Sums:
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    have_ids = False
    repeats = 0  # none is noticed

    def __init__(self, measures: Sequence[Measure], known: Items | None = None) -> None:
        self._measures, self._known = measures, known
        self._columns = with_weights(measures)
        self._cutoffs = cutoffs_of_run(measures)
        self._items = {} if known is None else count_items(known, self._cutoffs, [])
        columns = len(self._columns)
        sizes: dict[str, Any] = {"sums": (columns, LIMBS), "counted": columns, "zeros": columns}
        sizes["counts"] = len(fields(Counts))
        self._arrays = {name: np.zeros(size, np.int64) for name, size in sizes.items()}

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
        if self._known is not None and items is not None:
            more["items"] = count_items(self._known, self._cutoffs, items.lists)
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
        return state if self._known is None else {**state, "items": dict(self._items)}

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


def check_mixture(queries: int, have_ids: bool, ids: Sequence[Hashable] | None) -> None:
    """Refuse queries without ids beside some with, and the other way round."""
    if queries and (ids is not None) != have_ids:
        problem = "give ids in every update or in none"
        reason = "queries without ids cannot be told from those with"
        raise InputError(f"{problem}: {reason}", source="query_ids")

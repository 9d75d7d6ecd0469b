"""What is kept of evaluated queries: values and marks of each, or exact sums of them.

Both add up over batches, partitions and processes, whatever the order, and are written in one form.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Positions
from irbatch.data.ids import check_id, first_repeated, kinds_of
from irbatch.engine.items import OUTSIDE, ItemCounts, ItemRows, Items
from irbatch.errors import InputError, did_you_mean, kind_of, many, shown
from irbatch.evaluation.queries import Counts, QueryMark, count_queries
from irbatch.evaluation.results import (
    Results,
    RunItems,
    join_items,
    value_of,
    weight_column,
    with_weights,
)
from irbatch.evaluation.scores import ScoreBatch
from irbatch.measures import Measure
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LIMBS, add_up, is_whole, round_sum

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

KEEPS = {
    "queries": ("query_ids", "values", "marks"),
    "sums": ("sums", "counted", "zeros", "counts"),
}
"""What may be kept, and the keys of a state that hold it."""
REPEATED = ("error", "first", "last")  # what becomes of a query that comes again, with other values
# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192
MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits
ROUNDING = 1e-9  # by which values may be beyond their range

reject = functools.partial(InputError, source="state")


@dataclass(eq=False)
class Rows:
    """Values and marks of queries; values may have columns of weights, see `with_weights`."""

    values: Floats
    marks: Bytes
    items_of_queries: RunItems | None = None

    def __len__(self) -> int:
        return len(self.marks)

    def take(self, rows: Sequence[int]) -> Rows:
        """Return those of some queries."""
        items = self.items_of_queries
        listed = None if items is None else items.take(rows)
        return Rows(self.values[list(rows)], self.marks[list(rows)], listed)

    def are_alike(self, one: int, other: int) -> bool:
        """Tell whether two queries have the same values and items."""
        lists = None if self.items_of_queries is None else self.items_of_queries.lists
        same = np.array_equal(self.values[one], self.values[other], equal_nan=True)
        return same and (lists is None or np.array_equal(lists[one], lists[other]))


Batch = Results | ScoreBatch | Rows


def join_batches(batches: Sequence[Batch]) -> Rows:
    """Put the values and marks of batches, at least one, one after the other."""
    ScoreBatch.compute_together([each for each in batches if isinstance(each, ScoreBatch)])
    values = np.concatenate(
        [each.weighted_values if isinstance(each, Results) else each.values for each in batches]
    )
    marks = np.concatenate([each.marks for each in batches])
    return Rows(values, marks, join_items(each.items_of_queries for each in batches))


def size_of(batch: Batch) -> int:
    """Return the number of a batch's queries."""
    return len(batch.query_ids) if isinstance(batch, Results) else len(batch)


class Kept:
    """Queries of which some wait to be evaluated together.

    Args:
        measures: what their values are of.
        known: items, where measures of the whole run read them.
    """

    keep = ""

    def __init__(self, measures: Sequence[Measure], known: Items | None = None) -> None:
        self.measures, self.known = measures, known
        self.repeats = 0  # how often a query came again, of those with ids
        self.extra = 0
        self._size = 0
        self._waiting: list[Batch] = []
        self._load = 0

    def __len__(self) -> int:
        return self._size

    @property
    def columns(self) -> list[Measure]:
        """What the columns of values are of: the measures, and weights behind them."""
        return with_weights(self.measures)

    def settle(self) -> None:
        """Evaluate what waits."""
        if self._waiting:
            self._append(join_batches(self._waiting), self._waiting)
            self._waiting, self._load = [], 0

    def _wait(self, batch: Batch) -> None:
        self._waiting.append(batch)
        self._size += size_of(batch)
        self._load += batch.size if isinstance(batch, ScoreBatch) else size_of(batch)

    def _append(self, rows: Rows, batches: Sequence[Batch]) -> None:
        raise NotImplementedError


class QueryValues(Kept):
    """Values of queries, each counted once if it has an id; `repeated` is one of `REPEATED`."""

    keep = "queries"

    def __init__(
        self, measures: Sequence[Measure], known: Items | None = None, repeated: str = "error"
    ) -> None:
        super().__init__(measures, known)
        self._repeated = repeated
        self._row_of: dict[Hashable, int] = {}  # of queries that have ids: all or none
        self._values = np.empty((0, len(self.columns)))
        self._marks = np.empty(0, np.uint8)
        self._lists: list[ItemRows] = []
        self._stored = 0  # rows that don't wait

    def add(self, batch: Batch, ids: Sequence[Hashable] | None = None) -> None:
        """Add queries.

        Raises:
            InputError: if only some queries have ids, or one that came before has other values;
                nothing has changed then.
        """
        if len(self) and (ids is not None) != bool(self._row_of):
            problem = "give ids in every update or in none"
            reason = "queries without ids cannot be told from those with"
            raise InputError(f"{problem}: {reason}", source="query_ids")
        if self._load >= MOST_WAITING:
            self.settle()
        if ids and (len(set(ids)) < len(ids) or not self._row_of.keys().isdisjoint(ids)):
            self._add_repeated(join_batches([batch]), ids)
        else:
            self._row_of.update((each, row) for row, each in enumerate(ids or (), len(self)))
            self._wait(batch)
        if isinstance(batch, Results):
            self.extra += batch.counts.extra

    def _add_repeated(self, rows: Rows, ids: Sequence[Hashable]) -> None:
        """Add queries of which some came before, or come several times."""
        self.settle()
        again = [each for each in dict.fromkeys(ids) if each in self._row_of]
        places = [self._row_of[each] for each in again]
        both = join_batches([self.rows().take(places), rows])
        row_of = {each: row for row, each in enumerate(again)}
        repeats = 0
        for row, each in enumerate(ids, len(again)):
            if (before := row_of.setdefault(each, row)) == row:
                continue
            repeats += 1
            if not both.are_alike(before, row):
                if self._repeated == "error":
                    raise self._differing(each, both.values[before], both.values[row])
                if self._repeated == "last":
                    row_of[each] = row
        changed = both.take([row_of[each] for each in again])
        fresh = [each for each in row_of if each not in self._row_of]
        added = both.take([row_of[each] for each in fresh])
        self._values[places], self._marks[places] = changed.values, changed.marks
        if self.known is not None and changed.items_of_queries is not None:
            for place, listed in zip(places, changed.items_of_queries.lists, strict=True):
                self._lists[place] = listed
        self._row_of.update(zip(fresh, range(len(self), len(self) + len(fresh)), strict=True))
        self._append(added, ())
        self._size += len(fresh)
        self.repeats += repeats

    def _append(self, rows: Rows, batches: Sequence[Batch]) -> None:
        """Write rows behind the others; the memory doubles when it is full."""
        end = self._stored + len(rows)
        if end > len(self._values):
            more = max(end, 2 * len(self._values), 256) - len(self._values)
            self._values = np.concatenate([self._values, np.empty((more, len(self.columns)))])
            self._marks = np.concatenate([self._marks, np.empty(more, np.uint8)])
        self._values[self._stored : end] = rows.values
        self._marks[self._stored : end] = rows.marks
        if self.known is not None and rows.items_of_queries is not None:
            self._lists[self._stored :] = rows.items_of_queries.lists
        self._stored = end

    def rows(self) -> Rows:
        """Return what is kept of all queries, in memory that goes on changing."""
        self.settle()
        items = None if self.known is None else RunItems(self.known, list(self._lists))
        return Rows(self._values[: self._stored], self._marks[: self._stored], items)

    @property
    def ids(self) -> list[Hashable]:
        """The ids of queries that have them, in the order of their rows."""
        return list(self._row_of)

    def rows_of(self, ids: Sequence[Hashable]) -> Positions:
        """Return the rows of queries, -1 of those that there are not."""
        return np.fromiter((self._row_of.get(each, -1) for each in ids), np.int64, len(ids))

    def copy(self) -> QueryValues:
        """Return the same in memory of its own."""
        return self._made_of(self.rows(), self.ids)

    def without(self, queries: Collection[Hashable]) -> QueryValues:
        """Return what is kept of other queries than these."""
        ids = [each for each in self._row_of if each not in queries]
        return self._made_of(self.rows().take([self._row_of[each] for each in ids]), ids)

    def _made_of(self, rows: Rows, ids: Sequence[Hashable]) -> QueryValues:
        made = QueryValues(self.measures, self.known, self._repeated)
        made.repeats, made.extra = self.repeats, self.extra
        made._row_of = dict(zip(ids, range(len(ids)), strict=True))
        made._append(rows, ())
        made._size = made._stored
        return made

    def results(self, settings: Mapping[str, str]) -> Results:
        """Return everything kept as results."""
        rows = self.rows()
        marks = rows.marks.copy()
        counts = count_queries(marks, extra=self.extra)
        queries = self.ids if self._row_of else range(len(self))
        more = None, marks, rows.items_of_queries
        return Results(rows.values.copy(), queries, self.measures, counts, settings, *more)

    def state(self) -> dict[str, Any]:
        """Return what is kept, in arrays and lists of its own."""
        rows = self.rows()
        ids = plain(self._row_of) if self._row_of else None
        state = {"query_ids": ids, "values": rows.values.copy(), "marks": rows.marks.copy()}
        if rows.items_of_queries is None or self.known is None:
            return state
        lists = [each.tolist() for each in rows.items_of_queries.lists]
        return {**state, "items": {"catalogue": self.known.fingerprint, "lists": lists}}

    def add_state(self, state: Mapping[str, Any], *, skips: bool) -> None:
        """Add what another has kept, where NaN stands for queries that are `skips`."""
        marks = _read_numbers("marks", state["marks"], (None,), np.int64)
        values = _read_numbers("values", state["values"], (marks.size, len(self.columns)))
        ids = None if state["query_ids"] is None else list(state["query_ids"])
        if marks.size and not 0 <= marks.min() <= marks.max() <= sum(QueryMark):
            raise reject("'marks' are not those of queries", value=state["marks"])
        if ids is not None:
            for each in ids if None in kinds_of(ids) else ():
                check_id(each, "query", "state query_ids")
            if len(ids) != marks.size:
                problem = f"'query_ids' are {len(ids)}, 'marks' of {many(marks.size, 'query')}"
                raise reject(problem, value=ids)
            if (twice := first_repeated(ids)) is not None:
                raise reject(f"'query_ids' have {shown(twice)} twice", value=twice)
        called = range(marks.size) if ids is None else ids
        check_values(values, self.measures, called, "state", skips=skips)
        items = None
        if self.known is not None:
            lists = _check_catalogue(state["items"], self.known)["lists"]
            read = [_read_numbers("items", each, (None,), np.int64) for each in lists]
            whole = np.concatenate([np.empty(0, np.int64), *read])
            in_catalogue = ((whole >= OUTSIDE) & (whole < self.known.size)).all()
            if len(read) != marks.size or not in_catalogue:
                raise reject("'items' are not those of the queries")
            items = RunItems(self.known, [each.astype(np.int32) for each in read])
        if marks.size:
            self.add(Rows(values, marks.astype(np.uint8), items), ids)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.copy())

    def _differing(self, query: Any, before: Floats, now: Floats) -> InputError:
        other = (before != now) & ~(np.isnan(before) & np.isnan(now))
        if not other.any():
            problem = "it came before with other items; are these ids the queries' own?"
            return InputError(problem, source="query_ids", query=query)
        column = int(np.argmax(other))
        return InputError(
            f"it came before, and {self.columns[column]} was {before[column]:g}, not "
            f"{now[column]:g}; are these ids the queries' own, not places in a batch? "
            "repeated='first' or 'last' keeps one of the two",
            source="query_ids",
            query=query,
            value=float(now[column]),
        )


class Sums(Kept):
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    keep = "sums"

    def __init__(self, measures: Sequence[Measure], known: Items | None = None) -> None:
        super().__init__(measures, known)
        self._cutoffs = list(
            dict.fromkeys(each.cutoff for each in measures if each.aggregate == "run")
        )
        self._items = self._count_items([])
        columns = len(self.columns)
        self._shapes = {"sums": (columns, LIMBS), "counted": (columns,), "zeros": (columns,)}
        self._shapes["counts"] = (len(fields(Counts)),)
        self._arrays = {key: np.zeros(shape, np.int64) for key, shape in self._shapes.items()}

    def _count_items(self, lists: Sequence[ItemRows]) -> dict[int | None, ItemCounts]:
        """Count the items of lists up to each cutoff."""
        if self.known is None:
            return {}
        return {
            cutoff: ItemCounts.of(self.known, lists, math.inf if cutoff is None else cutoff)
            for cutoff in self._cutoffs
        }

    def add(self, batch: Batch, ids: object = None) -> None:
        """Add queries; their ids are not kept."""
        if self._load >= MOST_WAITING:
            self.settle()
        self._wait(batch)

    def _append(self, rows: Rows, batches: Sequence[Batch]) -> None:
        values, terms = rows.values, rows.values.copy()
        zeros = np.zeros(len(self.columns), np.int64)
        for column, measure in enumerate(self.measures):
            if measure.aggregate == "geometric":
                factors = terms[:, column].tolist()
                zeros[column] = sum(each <= 0 for each in factors)
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in factors]
            if measure.aggregate == "weighted":
                terms[:, column] *= values[:, weight_column(self.measures, column)]
        counts = [
            each.counts if isinstance(each, Results) else count_queries(each.marks)
            for each in batches
        ]
        more = {"sums": add_up(terms), "counted": (~np.isnan(values)).sum(axis=0), "zeros": zeros}
        more["counts"] = np.sum(list(map(astuple, counts)), axis=0)
        lists = [] if rows.items_of_queries is None else rows.items_of_queries.lists
        self._add_arrays(more, self._count_items(lists))

    def _add_arrays(
        self, arrays: Mapping[str, npt.NDArray[Any]], items: Mapping[int | None, ItemCounts]
    ) -> None:
        added = {key: array + arrays[key] for key, array in self._arrays.items()}
        if max(int(abs(array).max()) for array in added.values()) > MOST:
            raise reject("'sums' and 'counts' of so many queries don't add up in 64 bits")
        counted = {cutoff: each + items[cutoff] for cutoff, each in self._items.items()}
        self._arrays, self._items = added, counted

    def copy(self) -> Sums:
        """Return the same, which is added to apart."""
        self.settle()
        more = copy(self)
        more._waiting = []
        return more

    def results(self, settings: Mapping[str, str]) -> Results:
        """Return the means; the same bits as those of `irbatch.Results`."""
        self.settle()
        means = [self._mean(column) for column in range(len(self.measures))]
        counts = Counts(*self._arrays["counts"].tolist())
        return Results(None, (), self.measures, counts, settings, means=means)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        self.settle()
        state: dict[str, Any] = {key: array.copy() for key, array in self._arrays.items()}
        if self.known is None:
            return state
        counts = [
            [cutoff, each.keys.tolist(), each.numbers.tolist(), each.lists.tolist()]
            for cutoff, each in self._items.items()
        ]
        return {**state, "items": {"catalogue": self.known.fingerprint, "counts": counts}}

    def add_state(self, state: Mapping[str, Any], *, skips: bool) -> None:
        """Add what another has summed."""
        read = {
            key: _read_numbers(key, state[key], shape, np.int64)
            for key, shape in self._shapes.items()
        }
        if min(int(read[key].min(initial=0)) for key in ("counted", "zeros", "counts")) < 0:
            raise reject("'counted', 'zeros' and 'counts' are not below 0")
        items: dict[int | None, ItemCounts] = {}
        if self.known is not None:
            for cutoff, *parts in _check_catalogue(state["items"], self.known)["counts"]:
                keys, numbers, lists = (_read_numbers("items", each, (None,), np.int64)
                                        for each in parts)  # fmt: skip
                listed = keys // max(self.known.size, 1)
                if keys.size != numbers.size or not ((listed >= 0) & (listed < lists.size)).all():
                    raise reject(f"'items' at cutoff {cutoff} are not counts")
                items[cutoff] = ItemCounts(self.known, keys, numbers, lists)
        self._add_arrays(read, items)
        self._size += int(read["counts"][0])

    def _mean(self, column: int) -> float:
        if (measure := self.measures[column]).aggregate == "run":
            return value_of(measure, self._items[measure.cutoff])
        sums, counted, zeros = (self._arrays[name][column] for name in ("sums", "counted", "zeros"))
        n, total = int(counted), round_sum(sums)
        if measure.aggregate == "sum":
            return total
        if measure.aggregate == "weighted":
            weights = round_sum(self._arrays["sums"][weight_column(self.measures, column)])
            return total / weights if weights else math.nan
        if not n:
            return math.nan
        if measure.aggregate == "geometric":
            return 0.0 if zeros else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(sums, n)


def keep_nothing(
    keep: str, measures: Sequence[Measure], items: ItemStatistics | None, repeated: str = "error"
) -> QueryValues | Sums:
    """Return what is kept of no query yet: values, or sums, one of `KEEPS`."""
    of_run = any(each.aggregate == "run" for each in measures)
    known = items.arrays if of_run and items is not None else None
    return Sums(measures, known) if keep == "sums" else QueryValues(measures, known, repeated)


def may_skip(settings: Mapping[str, str]) -> bool:
    """Tell whether settings may have left queries out of some measures' means."""
    return settings.get("queries without relevant documents") != "score 0"


def check_values(
    values: Floats, measures: Sequence[Measure], ids: Sequence[Any], source: str, *, skips: bool
) -> None:
    """Reject values, and weights behind them, that are not ones of these measures.

    NaN stands for a query that is not averaged, where some are `skips`. Users' formulas are not
    held to their range.
    """
    for measure, column in zip(with_weights(measures), values.T, strict=True):
        low, high = measure.range if measure.declaration.builtin else (-math.inf, math.inf)
        fits = np.isfinite(column) & (column >= low - ROUNDING) & (column <= high + ROUNDING)
        if skips or measure.aggregate == "run":
            fits |= np.isnan(column)
        if not fits.all():
            row = int(np.argmin(fits))
            value = float(column[row])
            problem = f"'values': {value:g} is not a value of {measure}"
            raise InputError(problem, source=source, query=ids[row], value=value)


def check_state(
    state: Any, what: str, keys: Sequence[str], same: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a state that has these keys, some of them with the same values as here.

    Raises:
        InputError: if it is the state of something else.
    """
    if not isinstance(state, Mapping):
        raise reject(f"{kind_of(state)} is not the state of a {what}", value=state)
    for key in [*same, *keys]:
        if key not in state:
            raise reject(f"{key!r} is missing: this is not the state of a {what}")
        if key in same and (type(state[key]) is not type(same[key]) or state[key] != same[key]):
            problem = f"{key!r} is {shown(state[key])}, not {shown(same[key])}"
            raise reject(problem, value=state[key])
    for key in state:
        if key not in keys:
            raise reject(f"{shown(key)} is not a key{did_you_mean(key, keys)}", value=key)
    return state


@contextmanager
def reading_state(what: str) -> Iterator[None]:
    """Reject a state in which something is of another kind than was written."""
    try:
        yield
    except InputError as problem:
        raise problem if problem.source else problem.with_fields(source="state") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as problem:
        said = f"not the state of a {what}, or a damaged one: {problem}"
        raise reject(said) from problem


def _read_numbers(
    key: str, given: Any, shape: tuple[int | None, ...], dtype: type = np.float64
) -> npt.NDArray[Any]:
    """Return numbers of a shape, whose first size may be None, any."""
    array = to_numpy(given, "state")
    if not array.size and shape[0] in (0, None):
        array = np.empty((0, *(size or 0 for size in shape[1:])), dtype)
    sizes = array.shape[1:] if shape[0] is None else array.shape
    if array.ndim != len(shape) or sizes != shape[len(shape) - len(sizes) :]:
        raise reject(f"{key!r} are of shape {array.shape}, not {shape}", value=given)
    whole = dtype is np.int64
    fits = array.dtype.kind in ("iu" if whole else "iuf")
    if not fits or (whole and max(array.max(initial=0), -array.min(initial=0)) > MOST):
        raise reject(f"{key!r} are not numbers below 2^62: {shown(given)}", value=given)
    return array.astype(dtype)


def _check_catalogue(state: Mapping[str, Any], known: Items) -> Mapping[str, Any]:
    if state["catalogue"] != known.fingerprint:
        theirs = shown(state["catalogue"])
        problem = f"'items' are of the catalogue {theirs}, not {known.fingerprint!r}"
        raise reject(problem, value=theirs)
    return state


def plain(values: Iterable[Any]) -> list[Any]:
    """List ids and numbers as Python's own texts and numbers, which any reader takes."""
    listed = list(values)
    if set(map(type, listed)) <= {str, int, float}:
        return listed
    return [
        str.__str__(each) if isinstance(each, str) else int(each) if is_whole(each) else float(each)
        for each in listed
    ]


def in_lists(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state's arrays as lists, which JSON and safe unpicklers take."""
    return {key: each.tolist() if hasattr(each, "tolist") else each for key, each in state.items()}

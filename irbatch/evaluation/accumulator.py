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
from irbatch.engine.items import OUTSIDE, ItemArrays, ItemCounts, ItemRows
from irbatch.errors import InputError, kind_of, many, shown
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
from irbatch.runtime.numbers import LIMBS, add_up, check_whole, is_whole, round_sum

if TYPE_CHECKING:
    from irbatch.data.items import Items

FORMAT = 3
KEEPS = ("queries", "sums")  # what may be kept
REPEATED = ("error", "first", "last")  # what becomes of a query that comes again, with other values
# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192
MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits
COUNTED = [each.name for each in fields(Counts)]

IDS_IN_ALL = (
    "give ids in every update or in none: queries without ids cannot be told from those with"
)

reject = functools.partial(InputError, source="state")


@dataclass(eq=False)
class Rows:
    """Values and marks of queries; values may have columns of weights, see `with_weights`."""

    values: Floats
    marks: Bytes
    items_of_queries: RunItems | None = None

    @classmethod
    def of(cls, results: Results) -> Rows:
        """Return those of results."""
        return cls(results.weighted_values, results.marks, results.items_of_queries)

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Rows:
        """Put those of batches, at least one, one after the other."""
        ScoreBatch.compute_together([each for each in batches if isinstance(each, ScoreBatch)])
        values = np.concatenate([each.values for each in batches])
        marks = np.concatenate([each.marks for each in batches])
        return cls(values, marks, join_items(each.items_of_queries for each in batches))

    def __len__(self) -> int:
        return len(self.marks)

    size = property(__len__)

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


Batch = ScoreBatch | Rows


class Accumulator:
    """Queries that add up, of which some wait to be evaluated together.

    Args:
        measures: what their values are of.
        known: items, where measures of the whole run read them.

    Attributes:
        repeats: how often a query came again, of those with ids.
    """

    keep = ""

    def __init__(self, measures: Sequence[Measure], known: ItemArrays | None = None) -> None:
        self.measures, self.known = measures, known
        self.repeats = 0
        self._size = 0
        self._waiting: list[Batch] = []
        self._load = 0

    @staticmethod
    def of(
        keep: str,
        measures: Sequence[Measure],
        items: Items | None,
        repeated: str = "error",
    ) -> QueryValues | Sums:
        """Return one without queries that keeps values or sums, one of `KEEPS`."""
        of_run = any(each.aggregate == "run" for each in measures)
        known = items.arrays if of_run and items is not None else None
        return Sums(measures, known) if keep == "sums" else QueryValues(measures, known, repeated)

    @property
    def columns(self) -> list[Measure]:
        """What the columns of values are of: the measures, and weights behind them."""
        return with_weights(self.measures)

    def __len__(self) -> int:
        return self._size

    def _wait(self, batch: Batch) -> None:
        if self._load >= MOST_WAITING:
            self._settle()
        self._waiting.append(batch)
        self._size += len(batch)
        self._load += batch.size

    def _settle(self) -> None:
        """Evaluate what waits."""
        if self._waiting:
            self._append(Rows.join(self._waiting))
            self._waiting, self._load = [], 0

    def _append(self, rows: Rows) -> None:
        raise NotImplementedError

    def _items_of(self, state: Mapping[str, Any], key: str) -> Any:
        """Return what a state has of items under a key, None where none are read."""
        items = state["items"]
        if self.known is None and items is None:
            return None
        if self.known is None or items["catalogue"] != self.known.fingerprint:
            mine = None if self.known is None else self.known.fingerprint
            raise reject(f"'items' are {shown(items)}, not of catalogue {mine!r}", value=items)
        return items[key]


class QueryValues(Accumulator):
    """Values of queries, each counted once if it has an id; `repeated` is one of `REPEATED`."""

    keep = "queries"

    def __init__(
        self, measures: Sequence[Measure], known: ItemArrays | None = None, repeated: str = "error"
    ) -> None:
        super().__init__(measures, known)
        self._repeated = repeated
        self._extra = 0
        self._row_of: dict[Hashable, int] = {}  # of queries that have ids: all or none
        self._values = np.empty((0, len(self.columns)))
        self._marks = np.empty(0, np.uint8)
        self._lists: list[ItemRows] = []
        self._stored = 0  # rows that don't wait

    def add(self, batch: Batch, ids: Sequence[Hashable] | None = None, extra: int = 0) -> None:
        """Add queries; `extra` are how many more were only in the run.

        Raises:
            InputError: if only some queries have ids, or one that came before has other values;
                nothing has changed then.
        """
        self.check_ids(ids is not None)
        if ids and (len(set(ids)) < len(ids) or not self._row_of.keys().isdisjoint(ids)):
            self._add_repeated(Rows.join([batch]), ids)
        else:
            first = len(self)
            self._wait(batch)
            self._row_of.update((each, row) for row, each in enumerate(ids or (), first))
        self._extra += extra

    def check_ids(self, given: bool) -> None:
        """Reject queries with ids beside those without, and the other way round."""
        if len(self) and given != bool(self._row_of):
            raise InputError(IDS_IN_ALL, source="query_ids")

    def _add_repeated(self, rows: Rows, ids: Sequence[Hashable]) -> None:
        """Add queries of which some came before, or come several times."""
        again = [each for each in dict.fromkeys(ids) if each in self._row_of]
        places = [self._row_of[each] for each in again]
        both = Rows.join([self.rows().take(places), rows])
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
        self._append(added)
        self._size += len(fresh)
        self.repeats += repeats

    def _append(self, rows: Rows) -> None:
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
        self._settle()
        items = None if self.known is None else RunItems(self.known, list(self._lists))
        return Rows(self._values[: self._stored], self._marks[: self._stored], items)

    @property
    def ids(self) -> list[Hashable]:
        """The ids of queries that have them, in the order of their rows."""
        return list(self._row_of)

    def __contains__(self, query: Hashable) -> bool:
        return query in self._row_of

    def rows_of(self, ids: Sequence[Hashable]) -> Positions:
        """Return the rows of queries, -1 of those that there are not."""
        return np.fromiter((self._row_of.get(each, -1) for each in ids), np.int64, len(ids))

    def copy(self, without: Collection[Hashable] = ()) -> QueryValues:
        """Return the same in memory of its own, perhaps without some queries."""
        made, rows = QueryValues(self.measures, self.known, self._repeated), self.rows()
        made.repeats = self.repeats
        if without:
            ids = [each for each in self._row_of if each not in without]
            made.add(rows.take([self._row_of[each] for each in ids]), ids)
        elif len(self):
            made.add(Rows.join([rows]), self.ids or None)
        made._extra = self._extra
        return made

    def merge(self, other: QueryValues) -> None:
        """Add what another has kept."""
        if len(other):
            self.add(Rows.join([other.rows()]), other.ids or None)
        self._extra += other._extra
        self.repeats += other.repeats

    def results(
        self, settings: Mapping[str, str], order: Sequence[Hashable] | None = None
    ) -> Results:
        """Return results of all queries; `order` names them, and perhaps others, in an order."""
        queries: Sequence[Any] = self.ids if self._row_of else range(len(self))
        if order is None:
            rows = Rows.join([self.rows()])
        else:
            queries = [each for each in order if each in self._row_of]
            rows = self.rows().take([self._row_of[each] for each in queries])
        counts = count_queries(rows.marks, extra=self._extra)
        more = None, rows.marks, rows.items_of_queries
        return Results(rows.values, queries, self.measures, counts, settings, *more)

    def state(self) -> dict[str, Any]:
        """Return what is kept, in arrays and lists of its own; None stands for NaN."""
        rows = Rows.join([self.rows()])
        ids = plain(self._row_of) if self._row_of else None
        values = rows.values.astype(object)
        values[np.isnan(rows.values)] = None  # as in JSON
        state: dict[str, Any] = {"query_ids": ids, "values": values, "marks": rows.marks}
        state |= {"repeats": self.repeats, "extra": self._extra, "items": None}
        if rows.items_of_queries is not None and self.known is not None:
            lists = [each.tolist() for each in rows.items_of_queries.lists]
            state["items"] = {"catalogue": self.known.fingerprint, "lists": lists}
        return state

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has kept."""
        marks = _read_numbers("marks", state["marks"], [None])
        shape = marks.size, len(self.columns)
        values = _read_numbers("values", state["values"], shape, np.float64)
        ids = None if state["query_ids"] is None else list(state["query_ids"])
        if ((marks < 0) | (marks > sum(QueryMark))).any():
            raise reject("'marks' are not those of queries", value=state["marks"])
        for each in ids if ids is not None and None in kinds_of(ids) else ():
            check_id(each, "query", "state query_ids")
        if ids is not None and (len(ids) != marks.size or first_repeated(ids) is not None):
            raise reject(f"'query_ids' are not {many(marks.size, 'id')}, each once", value=ids)
        repeats, extra = (check_whole(key, state[key], 0) for key in ("repeats", "extra"))
        items, lists = None, self._items_of(state, "lists")
        if self.known is not None:
            read = [_read_numbers("items", each, [None]) for each in lists]
            whole = np.concatenate([np.empty(0, np.int64), *read])
            in_catalogue = ((whole >= OUTSIDE) & (whole < self.known.size)).all()
            if len(read) != marks.size or not in_catalogue:
                raise reject("'items' are not those of the queries")
            items = RunItems(self.known, [each.astype(np.int32) for each in read])
        if marks.size:
            self.add(Rows(values, marks.astype(np.uint8), items), ids)
        self.repeats += repeats
        self._extra += extra

    def _differing(self, query: Any, before: Floats, now: Floats) -> InputError:
        other = np.flatnonzero((before != now) & ~(np.isnan(before) & np.isnan(now)))
        column = int(other[0]) if other.size else 0
        values = f"{self.columns[column]} was {before[column]:g}, not {now[column]:g}"
        return InputError(
            f"it came before, and {values if other.size else 'had other items'}; are these ids the "
            "queries' own, not places in a batch? repeated='first' or 'last' keeps one of the two",
            source="query_ids",
            query=query,
            value=float(now[column]),
        )


class Sums(Accumulator):
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    keep = "sums"

    def __init__(self, measures: Sequence[Measure], known: ItemArrays | None = None) -> None:
        super().__init__(measures, known)
        of_run = (each.cutoff for each in measures if each.aggregate == "run")
        self._cutoffs = [] if known is None else list(dict.fromkeys(of_run))
        self._items = self._count_items([])
        columns = len(self.columns)
        self._arrays = {
            "sums": np.zeros((columns, LIMBS), np.int64),
            "counted": np.zeros(columns, np.int64),  # queries that are averaged
            "zeros": np.zeros(columns, np.int64),  # factors of geometric means that are none
            "counts": np.zeros(len(COUNTED), np.int64),
        }

    def _count_items(self, lists: Sequence[ItemRows]) -> dict[int | None, ItemCounts]:
        """Count the items of lists up to each cutoff."""
        known: Any = self.known
        return {
            cutoff: ItemCounts.of(known, lists, math.inf if cutoff is None else cutoff)
            for cutoff in self._cutoffs
        }

    def add(self, batch: Batch, ids: object = None, extra: int = 0) -> None:
        """Add queries, and how many more were only in the run; ids are not kept."""
        self._wait(batch)
        self._arrays["counts"][COUNTED.index("extra")] += extra

    def check_ids(self, given: bool) -> None:
        """Take queries with and without ids."""

    def __contains__(self, query: Hashable) -> bool:
        return False

    def _append(self, rows: Rows) -> None:
        values, terms = rows.values, rows.values.copy()
        zeros = np.zeros(len(self.columns), np.int64)
        for column, measure in enumerate(self.measures):
            if measure.aggregate == "geometric":
                factors = terms[:, column].tolist()
                zeros[column] = sum(each <= 0 for each in factors)
                terms[:, column] = [math.log(each) if each > 0 else 0.0 for each in factors]
            if measure.aggregate == "weighted":
                terms[:, column] *= values[:, weight_column(self.measures, column)]
        more = {"sums": add_up(terms), "counted": (~np.isnan(values)).sum(axis=0), "zeros": zeros}
        more["counts"] = np.array(astuple(count_queries(rows.marks)))
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
        self._settle()
        more = copy(self)
        more._waiting = []
        more._arrays = {key: array.copy() for key, array in self._arrays.items()}
        return more

    def merge(self, other: Sums) -> None:
        """Add what another has summed."""
        other._settle()
        self._add_arrays(other._arrays, other._items)
        self._size += len(other)

    def results(self, settings: Mapping[str, str], order: object = None) -> Results:
        """Return the means; the same bits as those of `irbatch.Results`."""
        self._settle()
        means = [self._mean(column) for column in range(len(self.measures))]
        counts = Counts(*self._arrays["counts"].tolist())
        return Results(None, (), self.measures, counts, settings, means=means)

    def state(self) -> dict[str, Any]:
        """Return the sums, in arrays of their own."""
        self._settle()
        state: dict[str, Any] = {key: array.copy() for key, array in self._arrays.items()}
        state["items"] = None
        if self.known is not None:
            counts = [
                [cutoff, each.keys.tolist(), each.numbers.tolist(), each.lists.tolist()]
                for cutoff, each in self._items.items()
            ]
            state["items"] = {"catalogue": self.known.fingerprint, "counts": counts}
        return state

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add what another has summed."""
        read = {
            key: _read_numbers(key, state[key], array.shape) for key, array in self._arrays.items()
        }
        if min(int(read[key].min(initial=0)) for key in ("counted", "zeros", "counts")) < 0:
            raise reject("'counted', 'zeros' and 'counts' are not below 0")
        items: dict[int | None, ItemCounts] = {}
        for cutoff, *parts in self._items_of(state, "counts") or ():
            if self.known is not None:
                keys, numbers, lists = (_read_numbers("items", each, [None]) for each in parts)
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


def write_state(
    kept: QueryValues | Sums, settings: Mapping[str, str], **more: Any
) -> dict[str, Any]:
    """Return a state in numbers, texts and lists, which JSON and safe unpicklers take."""
    head = {"format": FORMAT, "measures": list(map(str, kept.measures)), "keep": kept.keep}
    state = {**head, "settings": dict(settings), **more, **kept.state()}
    return {key: each.tolist() if isinstance(each, np.ndarray) else each
            for key, each in state.items()}  # fmt: skip


def check_state(state: Any, what: str, like: Mapping[str, Any], same: Sequence[str]) -> None:
    """Reject a state that has not the keys of another, and the same values of some of them."""
    if not isinstance(state, Mapping):
        raise reject(f"{kind_of(state)} is not the state of a {what}")
    for key in (*like, *state):
        if key not in state:
            raise reject(f"{key!r} is missing: this is not the state of a {what}")
        if key not in like:
            raise reject(f"{shown(key)} is not a key of the state of a {what}", value=key)
        mine, theirs = like[key], state[key]
        if key in same and (type(mine) is not type(theirs) or mine != theirs):
            raise reject(f"{key!r} is {shown(theirs)}, not {shown(mine)}", value=theirs)


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
        raise reject(f"not the state of a {what}, or a damaged one: {problem}") from problem


def _read_numbers(
    key: str, given: Any, shape: Sequence[int | None], kind: type = np.int64
) -> npt.NDArray[Any]:
    """Return numbers of a shape, of which a size may be None, any; None stands for NaN."""
    array = np.asarray(given, None if kind is np.int64 else kind)
    read = array.reshape([-1 if size is None else size for size in shape])
    limit = MOST if kind is np.int64 else np.finfo(kind).max
    fits = array.shape == read.shape and array.dtype.kind in "iuf"[: 2 if kind is np.int64 else 3]
    if array.size and (not fits or ((read > limit) | (read < -limit)).any()):
        raise reject(f"{key!r} are not numbers of shape {tuple(shape)}: {shown(given)}")
    return read.astype(kind)


def by_id(each: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(each, str), each


def plain(values: Iterable[Any]) -> list[Any]:
    """List ids and numbers as Python's own texts and numbers, which any reader takes."""
    listed = list(values)
    if set(map(type, listed)) <= {str, int, float}:
        return listed
    return [
        str.__str__(each) if isinstance(each, str) else int(each) if is_whole(each) else float(each)
        for each in listed
    ]

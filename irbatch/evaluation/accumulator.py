"""What is kept of evaluated queries: values and marks of each, or exact sums of them.

Both add up over batches, partitions and processes, whatever the order, and are written in one form.
"""

from __future__ import annotations

import copy
import functools
import math
import sys
from base64 import b64decode, b64encode
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from irbatch.data.ids import check_id, first_repeated, kinds_of
from irbatch.engine.items import OUTSIDE, ItemArrays, ItemCounts
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.evaluation.queries import Counts, QueryMark, count_queries
from irbatch.evaluation.results import Results
from irbatch.evaluation.rows import Rows, RunItems, value_of, weight_column, with_weights
from irbatch.evaluation.scores import ScoreBatch
from irbatch.measures import Measure
from irbatch.runtime.numbers import add_up, check_whole, is_whole, round_sum

if TYPE_CHECKING:
    from irbatch.data.items import Items

FORMAT = 5
KEEPS = ("queries", "sums")  # what may be kept
REPEATED = ("error", "first")  # what becomes of a query that comes again, with other values
# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192
MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits
ANY, COUNTS = (-MOST, MOST), (0, MOST)
FINITE = -sys.float_info.max, sys.float_info.max

reject = functools.partial(InputError, source="state")


Batch = ScoreBatch | Rows


def join_batches(batches: Sequence[Batch]) -> Rows:
    """Put what is known of batches' queries one after the other, computed together."""
    ScoreBatch.compute_together([some for some in batches if isinstance(some, ScoreBatch)])
    return Rows.join([some if isinstance(some, Rows) else some.rows() for some in batches])


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    measures: Sequence[Measure]
    arrays: Mapping[str, npt.NDArray[Any]]
    items: Mapping[int | None, ItemCounts]  # by cutoff, where measures of the whole run read them

    @classmethod
    def of(cls, measures: Sequence[Measure], rows: Rows) -> Sums:
        """Return those of queries."""
        values, terms = rows.values, rows.values.copy()
        zeros = np.zeros(values.shape[1], np.int64)  # factors of geometric means that are none
        for column, measure in enumerate(measures):
            if measure.aggregate == "geometric":
                factors = terms[:, column].tolist()
                zeros[column] = sum(factor <= 0 for factor in factors)
                terms[:, column] = [math.log(factor) if factor > 0 else 0.0 for factor in factors]
            if measure.aggregate == "weighted":
                terms[:, column] *= values[:, weight_column(measures, column)]
        arrays = {"sums": add_up(terms), "counted": (~np.isnan(values)).sum(axis=0)}
        arrays |= {"zeros": zeros, "counts": np.array(count_queries(rows.marks))}
        items: dict[int | None, ItemCounts] = {}
        if (of_queries := rows.items) is not None:
            for cutoff in (measure.cutoff for measure in measures if measure.aggregate == "run"):
                items[cutoff] = of_queries.counted(cutoff)
        return cls(measures, arrays, items)

    def __add__(self, other: Sums) -> Sums:
        arrays = {key: array + other.arrays[key] for key, array in self.arrays.items()}
        if max(int(abs(array).max()) for array in arrays.values()) > MOST:
            raise reject("'sums' and 'counts' of so many queries don't add up in 64 bits")
        items = {cutoff: counts + other.items[cutoff] for cutoff, counts in self.items.items()}
        return Sums(self.measures, arrays, items)

    def mean(self, column: int) -> float:
        """Return a measure's mean: the same bits as that of `irbatch.Results`."""
        if (measure := self.measures[column]).aggregate == "run":
            return value_of(measure, self.items[measure.cutoff])
        sums, counted, zeros = (self.arrays[name][column] for name in ("sums", "counted", "zeros"))
        n, total = int(counted), round_sum(sums)
        if measure.aggregate == "sum":
            return total
        if measure.aggregate == "weighted":
            weights = round_sum(self.arrays["sums"][weight_column(self.measures, column)])
            return total / weights if weights else math.nan
        if not n:
            return math.nan
        if measure.aggregate == "geometric":
            return 0.0 if zeros else math.exp(total / n)
        return total / n if math.isfinite(total) else round_sum(sums, n)


class Accumulator:
    """Queries that add up, those with ids once; some wait to be evaluated together."""

    def __init__(
        self,
        keep: str,
        measures: Sequence[Measure],
        items: Items | None = None,
        repeated: str = "error",
    ) -> None:
        self.keep, self.measures, self._options = keep, measures, (items, repeated)
        of_run = any(measure.aggregate == "run" for measure in measures)
        self.known: ItemArrays | None = items.arrays if of_run and items is not None else None
        self.repeats = 0  # how often a query came again, of those with ids
        self.extra = 0  # queries that were only in the run
        self._size = 0
        self._row_of: dict[Hashable, int] = {}  # of queries that have ids: all or none
        nothing = RunItems(self.known, []) if self.known is not None else None
        none = Rows(np.empty((0, len(self.columns))), np.empty(0, np.uint8), None, nothing)
        self._stored = [none]  # with keep="queries": what doesn't wait
        self._sums = Sums.of(measures, none) if keep == "sums" else None
        self._waiting: list[Batch] = []
        self._load = 0

    @property
    def columns(self) -> list[Measure]:
        """What the columns of values are of: the measures, and weights, which don't pickle."""
        return with_weights(self.measures)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, query: Hashable) -> bool:
        return query in self._row_of

    @property
    def ids(self) -> list[Hashable]:
        """The ids of queries that have them, in the order of their rows."""
        return list(self._row_of)

    def empty(self) -> Accumulator:
        """Return one of the same measures, without queries."""
        return Accumulator(self.keep, self.measures, *self._options)

    def add(self, batch: Batch, ids: Sequence[Hashable] | None = None, extra: int = 0) -> None:
        """Add queries; `extra` are how many more were only in the run.

        Raises:
            InputError: if only some queries have ids, or one that came before has other values;
                nothing has changed then.
        """
        repeats = 0
        if self._sums is not None:
            ids = None
        self.check_ids(ids is not None)
        if ids and (len(set(ids)) < len(ids) or not self._row_of.keys().isdisjoint(ids)):
            rows = join_batches([batch])
            fresh = self._fresh(rows, ids)
            repeats = len(ids) - len(fresh)
            batch, ids = rows.take([*fresh.values()]), [*fresh]
        if self._load >= MOST_WAITING:
            self._settle()
        self._waiting.append(batch)
        self._load += batch.size if isinstance(batch, ScoreBatch) else len(batch)
        self._row_of.update((query, row) for row, query in enumerate(ids or (), self._size))
        self._size += len(batch)
        self.repeats += repeats
        self.extra += extra

    def check_ids(self, are_there: bool, *, others: bool = False) -> None:
        """Reject queries with ids beside those without, and the other way round.

        `others` tells whether there are queries with ids elsewhere.
        """
        have = bool(self._row_of) or others
        if self._sums is None and (self._size or others) and are_there != have:
            problem = (
                "give ids in every update or in none: queries without ids cannot be told from "
                "those with"
            )
            raise InputError(problem, source="query_ids")

    def _fresh(self, rows: Rows, ids: Sequence[Hashable]) -> dict[Hashable, int]:
        """Return the queries that did not come before, with their rows, each once."""
        kept, fresh = self.rows(), dict[Hashable, int]()
        for row, query in enumerate(ids):
            if query in self._row_of:
                before, at = kept, self._row_of[query]
            elif fresh.setdefault(query, row) != row:
                before, at = rows, fresh[query]
            else:
                continue
            if self._options[1] == "error":
                self._check_alike(query, before, at, rows, row)
        return fresh

    def _check_alike(self, query: Any, before: Rows, at: int, rows: Rows, row: int) -> None:
        old, new = before.values[at], rows.values[row]
        problem = ""
        other = np.flatnonzero((old != new) & ~(np.isnan(old) & np.isnan(new)))
        if other.size:
            column = int(other[0])
            problem = f"{self.columns[column]} was {old[column]:g}, not {new[column]:g}"
        elif before.items is not None and rows.items is not None:
            lists = before.items.lists[at], rows.items.lists[row]
            problem = "" if np.array_equal(*lists) else "had other items"
        if problem:
            advice = "are these ids the queries' own, not places in a batch?"
            message = f"it came before, and {problem}; {advice} repeated='first' keeps the first"
            raise InputError(message, source="query_ids", query=query)

    def _settle(self) -> None:
        """Evaluate what waits."""
        if self._waiting:
            rows = join_batches(self._waiting)
            if self._sums is None:
                self._stored.append(rows)
            else:
                self._sums += Sums.of(self.measures, rows)
            self._waiting, self._load = [], 0

    def rows(self) -> Rows:
        """Return what is kept of each query."""
        self._settle()
        if len(self._stored) > 1:
            self._stored = [Rows.join(self._stored)]
        return self._stored[0]

    def copy(self, without: Collection[Hashable] = ()) -> Accumulator:
        """Return the same, which is added to apart, perhaps without some queries that have ids."""
        rows = self.rows()
        made = copy.copy(self)
        made._stored, made._waiting, made._row_of = [rows], [], dict(self._row_of)
        if without:
            kept = [query for query in self._row_of if query not in without]
            made._stored = [rows.take([self._row_of[query] for query in kept])]
            made._row_of = {query: row for row, query in enumerate(kept)}
            made._size = len(kept)
        return made

    def merge(self, other: Accumulator) -> None:
        """Add what another of the same measures has kept."""
        rows = other.rows()
        if self._sums is not None and other._sums is not None:
            self._sums += other._sums
            self._size += len(other)
        elif len(other):
            self.add(rows, other.ids or None)
        self.repeats += other.repeats
        self.extra += other.extra

    def results(
        self, settings: Mapping[str, str], order: Sequence[Hashable] | None = None
    ) -> Results:
        """Return results of all queries; `order` names them, and perhaps others, in an order."""
        rows, queries = self.rows(), self.ids if self._row_of else range(self._size)
        if self._sums is not None:
            means = [self._sums.mean(column) for column in range(len(self.measures))]
            counts = Counts(*self._sums.arrays["counts"].tolist())._replace(extra=self.extra)
            return Results(None, (), self.measures, counts, settings, means=means)
        if order is not None:
            queries = [query for query in order if query in self._row_of]
            rows = rows.take([self._row_of[query] for query in queries])
        counts = count_queries(rows.marks, extra=self.extra)
        return Results(rows, queries, self.measures, counts, settings)

    def state(self, settings: Mapping[str, str], **more: Any) -> dict[str, Any]:
        """Return what is kept in numbers, texts and lists; values are their bytes to base 64."""
        state: dict[str, Any] = {"format": FORMAT, "measures": list(map(str, self.measures))}
        state |= {"keep": self.keep, "settings": dict(settings), **more}
        rows, items = self.rows(), None
        if self._sums is not None:
            state |= {key: array.tolist() for key, array in self._sums.arrays.items()}
            items = [
                [cutoff, counts.keys.tolist(), counts.numbers.tolist(), counts.lists.tolist()]
                for cutoff, counts in self._sums.items.items()
            ]
        else:
            judged = rows.judgment_counts if len(rows) else None
            state |= {
                "query_ids": plain(self._row_of) if self._row_of else None,
                "values": write_array(rows.values),
                "marks": rows.marks.tolist(),
                "judgment_counts": None if judged is None else judged.tolist(),
            }
            if rows.items is not None:
                items = [listed.tolist() for listed in rows.items.lists]
        catalogue = None if self.known is None else self.known.fingerprint
        stated = None if catalogue is None else {"catalogue": catalogue, "lists": items}
        return state | {"repeats": self.repeats, "extra": self.extra, "items": stated}

    def read(self, state: Mapping[str, Any]) -> Accumulator:
        """Return what a state holds that was written of the same measures."""
        made, items = self.empty(), state["items"] or {"catalogue": None, "lists": []}
        mine = None if self.known is None else self.known.fingerprint
        if items["catalogue"] != mine:
            raise reject(f"'items' are of catalogue {shown(items['catalogue'])}, not of {mine!r}")
        if made._sums is None:
            rows, ids = self._read_rows(state, items["lists"])
            if len(rows):
                made.add(rows, ids)
        else:
            arrays = {
                key: read_array(key, state[key], like.shape, ANY if key == "sums" else COUNTS)
                for key, like in made._sums.arrays.items()
            }
            counted = {
                cutoff: _read_counts(self.known, *parts) for cutoff, *parts in items["lists"]
            }
            made._sums += Sums(self.measures, arrays, counted)
            made._size = int(arrays["counts"][0])
        made.repeats, made.extra = (check_whole(key, state[key], 0) for key in ("repeats", "extra"))
        return made

    def _read_rows(
        self, state: Mapping[str, Any], lists: Sequence[Any]
    ) -> tuple[Rows, list[Any] | None]:
        """Return what a state holds of each query, and the queries' ids."""
        marks = read_array("marks", state["marks"], [-1], (0, sum(QueryMark)), np.uint8)
        shape = marks.size, len(self.columns)
        values = read_array("values", state["values"], shape, FINITE, np.float64)
        ids = None if state["query_ids"] is None else list(state["query_ids"])
        for query in ids if ids is not None and None in kinds_of(ids) else ():
            check_id(query, "query", "state query_ids")
        if ids is not None and (len(ids) != marks.size or first_repeated(ids) is not None):
            raise reject(f"'query_ids' are not {many(marks.size, 'id')}, each once", value=ids)
        judgments, items = state["judgment_counts"], None
        if judgments is not None:
            within = 0, 2**31 - 1
            judgments = read_array("judgment_counts", judgments, [marks.size, 2], within, np.int32)
        if self.known is not None:
            within = OUTSIDE, self.known.size - 1
            ranked = [read_array("items", rows, [-1], within, np.int32) for rows in lists]
            if len(ranked) != marks.size:
                raise reject("'items' are not those of the queries")
            items = RunItems(self.known, ranked)
        return Rows(values, marks, judgments, items), ids


@contextmanager
def reading_state(
    state: Any, what: str, like: Mapping[str, Any], same: Sequence[str]
) -> Iterator[None]:
    """Reject a state that has not the keys of another, and the same values of some of them.

    In the block, what is of another kind than was written is rejected, too.
    """
    try:
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


def read_array(
    key: str, stored: Any, shape: Sequence[int], within: tuple[float, float], kind: type = np.int64
) -> npt.NDArray[Any]:
    """Return numbers of a shape, in which -1 is any size: lists, an array, or bytes to base 64."""
    if isinstance(stored, str):
        stored = np.frombuffer(b64decode(stored, validate=True), np.dtype(kind).newbyteorder("<"))
    read = np.asarray(stored).reshape(shape)
    are_numbers = read.dtype.kind in ("iuf" if kind is np.float64 else "iu")
    if read.size and (not are_numbers or ((read < within[0]) | (read > within[1])).any()):
        bounds = "{:.3g} to {:.3g}".format(*within)
        raise reject(f"{key!r} are not numbers from {bounds}: {shown(stored)}")
    return read.astype(kind)


def write_array(numbers: npt.NDArray[Any]) -> str:
    """Write the bytes of numbers of 64 bits to base 64, the lowest first."""
    return b64encode(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()).decode()


def _read_counts(arrays: Any, *parts: Any) -> ItemCounts:
    keys, numbers, lists = (read_array("items", part, [-1], COUNTS) for part in parts)
    if keys.size != numbers.size or (keys // max(arrays.size, 1) >= lists.size).any():
        raise reject("'items' are not counts")
    return ItemCounts(arrays, keys, numbers, lists)


def by_id(query: Any) -> tuple[bool, Any]:
    """Order ids, whole numbers before texts."""
    return isinstance(query, str), query


def plain(values: Iterable[Any]) -> list[Any]:
    """List ids and numbers as Python's own texts and numbers, which any reader takes."""
    listed = list(values)
    if set(map(type, listed)) <= {str, int, float}:
        return listed
    return [str.__str__(value) if isinstance(value, str) else _number(value) for value in listed]


def _number(value: Any) -> int | float:
    return int(value) if is_whole(value) else float(value)

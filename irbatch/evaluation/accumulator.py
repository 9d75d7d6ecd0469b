"""What is kept of evaluated queries: values and marks of each, or exact sums of them.

Both add up over batches, partitions and processes, whatever the order, and are written in one form.
"""

from __future__ import annotations

import math
import sys
from base64 import b64decode, b64encode
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import NDArray
from irbatch.data.ids import kinds_of, same_kind
from irbatch.engine.items import OUTSIDE, ItemArrays, ItemCounts
from irbatch.errors import InputError, many, shown
from irbatch.evaluation.queries import (
    Counts,
    QueryMark,
    Rows,
    RunItems,
    count_queries,
    value_of,
    weight_column,
    with_weights,
)
from irbatch.evaluation.results import DAMAGED, Results
from irbatch.evaluation.scores import ScoreBatch, join_batches
from irbatch.measures import Measure
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import check_choice, check_whole, read_numbers
from irbatch.runtime.sums import add_up, round_sum

if TYPE_CHECKING:
    from irbatch.data.items import Items

FORMAT = 8
KEEPS = ("queries", "sums")  # what may be kept
REPEATED = ("error", "first")  # what becomes of a query that comes again, with other values
COLUMNS = ("query_ids", "document_ids", "scores", "grades")  # of documents
# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192
MOST = 2**62 - 1  # of a sum or a count: two of them add up in 64 bits
FINITE = -sys.float_info.max, sys.float_info.max


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of measures' values: whole numbers that add up over batches and processes."""

    measures: Sequence[Measure]
    arrays: Mapping[str, NDArray[Any]]
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
        cutoffs = {measure.cutoff for measure in measures if measure.aggregate == "run"}
        listed = rows.items  # there are some if there is a cutoff
        items = {cutoff: listed.counted(cutoff) for cutoff in cutoffs} if listed else {}
        return cls(measures, arrays, items)

    def __len__(self) -> int:
        return int(self.arrays["counts"][0])

    def __add__(self, other: Sums) -> Sums:
        arrays = {key: array + other.arrays[key] for key, array in self.arrays.items()}
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
    """Queries that add up, those with ids once.

    Batches may wait to be evaluated together; documents in columns wait, as their query may go on.
    States of the same measures, `options` and items add up.
    """

    def __init__(
        self,
        keep: str,
        measures: Sequence[Measure],
        options: Mapping[str, Any],
        items: Items | None = None,
        repeated: str = "first",
    ) -> None:
        check_choice("keep", keep, KEEPS)
        check_choice("repeated", repeated, REPEATED)
        self._made_of = keep, measures, options, items, repeated
        self.keep, self.measures, self._repeated = keep, measures, repeated
        of_run = any(measure.aggregate == "run" for measure in measures)
        self.known: ItemArrays | None = items.arrays if of_run and items is not None else None
        catalogue = None if self.known is None else self.known.fingerprint
        self._shared = {  # by states that add up
            "format": FORMAT, "measures": list(map(str, measures)), "keep": keep,
            "options": dict(options), "items": catalogue,
        }  # fmt: skip
        self.settings: Mapping[str, str] = {}  # that shaped the numbers, all of those that differ
        self.extra = 0  # queries that were only in the run
        # Of queries that may go on: query to document to score, and to grade.
        self.run: dict[Any, dict[Any, float]] = {}
        self.judgments: dict[Any, dict[Any, float]] = {}
        self._size = 0  # without these
        self._row_of: dict[Hashable, int] = {}  # of queries that have ids: all or none
        nothing = RunItems(self.known, []) if self.known is not None else None
        none = Rows(np.empty((0, len(with_weights(measures)))), None, None, nothing)
        self._stored = [none]  # with keep="queries": what doesn't wait
        self._sums = Sums.of(measures, none) if keep == "sums" else None
        self._waiting: list[ScoreBatch | Rows] = []
        self._load = 0

    def __len__(self) -> int:
        return self._size + len(self.run)

    @property
    def ids(self) -> Collection[Any]:
        """The ids of queries that have them, in the order of their rows."""
        return self._row_of.keys()

    def add(
        self,
        batch: ScoreBatch | Rows | Sums,
        ids: Sequence[Hashable] | None = None,
        settings: Mapping[str, str] | None = None,
        extra: int = 0,
    ) -> None:
        """Add whole queries, or their sums, unless ids lack or one that came has other values.

        Both of `settings` that differ are noted; `extra` queries were only in the run.
        """
        if self._sums is not None:
            ids = None
        elif len(batch):
            self._check_named(ids is not None)
        if isinstance(batch, Sums):
            self._sums = batch if self._sums is None else self._sums + batch
        else:
            if ids is not None:
                batch, ids = self._fresh(batch, ids)
            if self._load >= MOST_WAITING:
                self._settle()
            self._waiting.append(batch)
            graded = batch.counted.grades.size if isinstance(batch, ScoreBatch) else 0
            self._load += len(batch) + graded
        self._row_of.update((query, row) for row, query in enumerate(ids or (), self._size))
        self._size += len(batch)
        self.extra += extra
        if settings and self.settings != settings:
            joined = dict(self.settings)
            for name, value in settings.items():
                present = joined.get(name, value)
                joined[name] = present if value in present.split("; ") else f"{present}; {value}"
            self.settings = joined

    def add_documents(self, columns: Sequence[Any]) -> None:
        """Add documents of queries that are not whole yet, each once, unless one is rejected."""
        lists = [
            column
            if isinstance(column, list | tuple)
            else np.atleast_1d(to_numpy(column, name)).tolist()
            for column, name in zip(columns, COLUMNS, strict=True)
        ]
        lengths = dict(zip(COLUMNS, map(len, lists), strict=True))
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns differ in length: {lengths}", source="update_columns")
        queries, documents, scores, grades = lists
        if not queries:
            return
        self._check_named(True)
        of_first = next(iter(self.run.values()), {})
        same_kind([*islice(self.run, 1), *queries], "query", "query_ids")
        same_kind([*islice(of_first, 1), *documents], "document", "document_ids")
        names = [*zip(queries, documents, strict=True)]
        scores = read_numbers("score", scores, names, source="scores").tolist()
        grades = read_numbers("grade", grades, names, source="grades").tolist()
        fresh: dict[tuple[Any, Any], tuple[float, float]] = {}
        for name, now in zip(names, zip(scores, grades, strict=True), strict=True):
            query, document = name
            before = fresh.setdefault(name, now)
            if document in self.run.get(query, ()):
                before = self.run[query][document], self.judgments[query][document]
            problem = "its query came whole before" if query in self._row_of else ""
            if before != now:
                problem = "it came before with score {} and grade {}, now with {} and {}"
                problem = problem.format(*before, *now)
            if problem:
                fields = {"query": query, "document": document, "value": now[0]}
                raise InputError(problem, source="update_columns", **fields)
        for (query, document), (score, grade) in fresh.items():
            self.run.setdefault(query, {})[document] = score
            self.judgments.setdefault(query, {})[document] = grade

    def _check_named(self, are_named: bool) -> None:
        """Reject queries with ids beside those without, and the other way round."""
        if self._sums is None and len(self) and bool(self._row_of or self.run) != are_named:
            problem = (
                "give ids in every update or in none: queries without ids cannot be told from "
                "those with"
            )
            raise InputError(problem, source="query_ids")

    def _fresh(
        self, batch: ScoreBatch | Rows, ids: Sequence[Hashable]
    ) -> tuple[ScoreBatch | Rows, Sequence[Hashable]]:
        """Return the queries that did not come before, each once; reject those that differ."""
        if len(ids) != len(batch):
            problem = f"{many(len(ids), 'id')} for {many(len(batch), 'query')}"
            raise InputError(problem, source="query_ids")
        if not self.run.keys().isdisjoint(ids):
            query = next(filter(self.run.__contains__, ids))
            raise InputError("it came in columns before", source="query_ids", query=query)
        if len(set(ids)) == len(ids) and self._row_of.keys().isdisjoint(ids):
            return batch, ids
        rows, row_of = Rows.join([self.rows(), join_batches([batch])]), dict(self._row_of)
        for row, query in enumerate(ids, self._size):
            first = row_of.setdefault(query, row)
            if first == row or self._repeated == "first":
                continue
            old, new = rows.values[[first, row]]
            items = rows.items
            same_items = items is None or np.array_equal(items.lists[first], items.lists[row])
            if not (np.array_equal(old, new, equal_nan=True) and same_items):
                values = f"with values {shown(old.tolist())}, now with {shown(new.tolist())}"
                advice = "are these ids the queries' own, not places in a batch?"
                message = f"it came before {values}; {advice} repeated='first' keeps the first"
                raise InputError(message, source="query_ids", query=query)
        ids = [*row_of][self._size :]
        return rows.take([row_of[query] for query in ids]), ids

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
        self._stored = [Rows.join(self._stored)]
        return self._stored[0]

    def merged(self, *others: Accumulator) -> Accumulator:
        """Return what this one, and others of the same measures, have kept of whole queries."""
        made = Accumulator(*self._made_of)
        for part in (self, *others):
            rows = part.rows()
            made.add(part._sums or rows, [*part.ids] or None, part.settings, part.extra)
        return made

    def results(self, order: Iterable[Hashable] | None = None) -> Results:
        """Return results of whole queries; `order` names them, and perhaps others, in an order."""
        rows = self.rows()
        if self._sums is not None:
            means = {column: self._sums.mean(column) for column in range(len(self.measures))}
            counts = Counts(*self._sums.arrays["counts"].tolist())._replace(extra=self.extra)
            return Results(None, (), self.measures, counts, self.settings, means=means)
        queries: Sequence[Hashable] = [*self._row_of] or range(self._size)
        if order is not None:
            queries = [query for query in order if query in self._row_of]
            rows = rows.take([self._row_of[query] for query in queries])
        counts = count_queries(rows.marks, extra=self.extra)
        return Results(rows, queries, self.measures, counts, self.settings)

    def state(self, **more: Any) -> dict[str, Any]:
        """Return what is kept in numbers, texts and lists; values are their bytes to base 64."""
        rows, lists = self.rows(), list[Any]()
        state = {**self._shared, "settings": dict(self.settings), "extra": self.extra, **more}
        if self._sums is not None:
            state |= {key: array.tolist() for key, array in self._sums.arrays.items()}
            for cutoff, counts in self._sums.items.items():
                parts = counts.keys, counts.numbers, counts.lists
                lists.append([cutoff, *(part.tolist() for part in parts)])
        else:
            judged = rows.judgment_counts if len(rows) else None
            state |= {
                "query_ids": plain(self._row_of) if self._row_of else None,
                "values": write_array(rows.values),
                "marks": rows.marks.tolist(),
                "judgment_counts": None if judged is None else judged.tolist(),
            }
            lists += [] if rows.items is None else [listed.tolist() for listed in rows.items.lists]
        names = [(query, document) for query, scores in self.run.items() for document in scores]
        columns = [plain(query for query, _ in names), plain(document for _, document in names)]
        columns += [[of[q][d] for q, d in names] for of in (self.run, self.judgments)]
        return state | {"lists": lists, "columns": dict(zip(COLUMNS, columns, strict=True))}

    def read_anew(self, *states: Mapping[str, Any]) -> Accumulator:
        """Return what states hold together, and nothing of this one."""
        made = Accumulator(*self._made_of)
        for state in states:
            made.read(state)
        return made

    def read(self, state: Mapping[str, Any]) -> None:
        """Add what a state holds, unless it is of other measures, options or items."""
        with reading_state():
            for key, value in self._shared.items():
                if not state[key] == value:
                    raise reject(key, state[key], shown(value))
            settings = {str(key): str(value) for key, value in state["settings"].items()}
            extra, ids = check_whole("extra", state["extra"], 0), None
            if self._sums is not None:
                batch: Sums | Rows = self._read_sums(state, self._sums)
            else:
                batch, ids = self._read_rows(state)
            self.add(batch, ids, settings, extra)
            self.add_documents([state["columns"][name] for name in COLUMNS])

    def _read_sums(self, state: Mapping[str, Any], like: Sums) -> Sums:
        arrays = {
            key: read_array(key, state[key], array.shape, (-MOST if key == "sums" else 0, MOST))
            for key, array in like.arrays.items()
        }
        items = {}
        for cutoff, *parts in state["lists"]:
            keys, numbers, lists = (read_array("lists", part, [-1], (0, MOST)) for part in parts)
            known: Any = self.known
            if keys.size != numbers.size or (keys // max(known.size, 1) >= lists.size).any():
                raise reject("lists", parts, "counts")
            items[cutoff] = ItemCounts(known, keys, numbers, lists)
        return Sums(self.measures, arrays, items)

    def _read_rows(self, state: Mapping[str, Any]) -> tuple[Rows, list[Any] | None]:
        """Return what a state holds of each query, and the queries' ids."""
        marks = read_array("marks", state["marks"], [-1], (0, sum(QueryMark)), np.uint8)
        shape = marks.size, len(with_weights(self.measures))
        values = read_array("values", state["values"], shape, FINITE, np.float64)
        ids = None if state["query_ids"] is None else list(state["query_ids"])
        if ids is not None and None in kinds_of(ids):
            raise reject("query_ids", ids, "texts and whole numbers")
        judgments, lists, items = state["judgment_counts"], state["lists"], None
        if judgments is not None:
            within = 0, 2**31 - 1
            judgments = read_array("judgment_counts", judgments, [marks.size, 2], within, np.int32)
        if self.known is not None:
            within = OUTSIDE, self.known.size - 1
            ranked = [read_array("lists", rows, [-1], within, np.int32) for rows in lists]
            if len(ranked) != marks.size:
                raise reject("lists", lists, f"of {many(marks.size, 'query')}")
            items = RunItems(self.known, ranked)
        return Rows(values, marks, judgments, items), ids


def reject(key: str, value: object, expected: str) -> InputError:
    """Return the error of a state that has another value under a key."""
    return InputError(f"{key!r} is {shown(value)}, not {expected}", source="state", value=value)


@contextmanager
def reading_state() -> Iterator[None]:
    """Reject what is of another kind than is written in states, in a block that reads one."""
    try:
        yield
    except InputError as problem:
        first = problem.problems[0]
        raise first if first.source else first.with_fields(source="state") from None
    except DAMAGED as problem:
        text = f"not a state of this kind, or a damaged one: {problem}"
        raise InputError(text, source="state") from problem


def read_array(
    key: str, stored: Any, shape: Sequence[int], within: tuple[float, float], kind: type = np.int64
) -> NDArray[Any]:
    """Return numbers of a shape, in which -1 is any size: lists, an array, or bytes to base 64."""
    if isinstance(stored, str):
        stored = np.frombuffer(b64decode(stored, validate=True), np.dtype(kind).newbyteorder("<"))
    read = np.asarray(stored).reshape(shape)
    are_numbers = read.dtype.kind in ("iuf" if kind is np.float64 else "iu")
    if read.size and (not are_numbers or ((read < within[0]) | (read > within[1])).any()):
        raise reject(key, stored, "numbers from {:.3g} to {:.3g}".format(*within))
    return read.astype(kind)


def write_array(numbers: NDArray[Any]) -> str:
    """Write the bytes of numbers of 64 bits to base 64, the lowest first."""
    return b64encode(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()).decode()


def plain(ids: Iterable[Any]) -> list[Any]:
    """List ids as Python's own texts and numbers, which any reader takes."""
    listed = [*ids]
    if set(map(type, listed)) <= {str, int}:
        return listed
    return [str.__str__(item) if isinstance(item, str) else int(item) for item in listed]

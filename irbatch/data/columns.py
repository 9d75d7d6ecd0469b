"""Judgments or rankings in columns, read from sequences and matrices, and grouped by query."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, NDArray
from irbatch.data.column_names import VALUE
from irbatch.data.ids import (
    NO_TEXTS,
    REPEATS,
    Column,
    IdColumn,
    TextColumn,
    column_kind,
    id_kind,
    id_problem,
    item_of,
    kind_of_documents,
    kinds_of,
    same_kind,
)
from irbatch.data.lookup import KeyedIds, find_repeats, first_rows, group_runs
from irbatch.engine.ties import DESCENDING, check_order, order_rows
from irbatch.errors import ErrorsIn, InputError, keyword, kind_of, shown, warn
from irbatch.runtime.arrays import mask_of
from irbatch.runtime.kernels import as_input
from irbatch.runtime.numbers import (
    LARGEST_WHOLE,
    NUMBER_ERRORS,
    as_floats,
    check_choice,
    missed_limit,
    read_numbers,
)
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import cached_property


class QueryTable(Mapping[Any, dict[Any, float]]):
    """Query to document to value, kept as columns; reads like a mapping of mappings.

    Rows ``starts[place]`` to ``starts[place + 1]`` are those of ``queries[place]``: `documents`,
    and float64 `numbers`, which are grades or scores, by default 1.
    """

    def __init__(
        self, queries: IdColumn, starts: Ints, documents: IdColumn, values: Floats | None = None
    ) -> None:
        self.queries, self.starts = queries, starts
        self.numbers = np.broadcast_to(1.0, len(documents)) if values is None else values
        self.begins, self.ends = starts[:-1], starts[1:]
        self.documents = documents if isinstance(documents, TextColumn) else as_input(documents)
        self.keyed = KeyedIds.of(self.documents, self.begins, self.ends)
        # A row whose document its query has before it; -1 if no query has one twice.
        self.repeated = next(iter(find_repeats(self.keyed, 1)[0].tolist()), -1)

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes are by numbers of this process.
        return type(self), (self.queries, self.starts, self.documents, self.numbers)

    @classmethod
    def from_runs(
        cls, queries: IdColumn, firsts: Ints, documents: IdColumn, values: Floats
    ) -> QueryTable:
        """Make a table of runs of rows: each's query, which may come back, and its first row.

        Documents that a query has twice are the caller's to reject.
        """
        picks, starts, order = group_runs(queries, firsts, values.size)
        if order is not None:
            documents, values = documents.take(order), values[order]
        return cls(queries.take(picks).copy(), starts, documents, values)

    @property
    def document_kind(self) -> str:
        """What document ids are, ``"str"`` or ``"int"``."""
        return column_kind(self.documents)

    @cached_property
    def is_ordered(self) -> bool:
        """Whether each query's numbers descend, as scores mostly do."""
        return bool((check_order(self.numbers, self.begins, self.ends) == DESCENDING).all())

    @property
    def row_index(self) -> Ints:
        """The place of each row's query."""
        return row_index_of(self.starts)

    def ordered(self) -> QueryTable:
        """Return the table with each query's rows by number, descending; equal ones stay."""
        if self.is_ordered:
            return self
        rows = order_rows(self.numbers, self.starts)
        return QueryTable(self.queries, self.starts, self.documents.take(rows), self.numbers[rows])

    @cached_property
    def places(self) -> dict[Any, int]:
        """Map the queries to their places."""
        return dict(zip(self.queries.tolist(), range(len(self)), strict=True))

    def find(self, queries: Sequence[Any]) -> Ints:
        """Return the places of queries, -1 of those that are not here: int64 ``(queries,)``."""
        positions = map(self.places.get, queries, itertools.repeat(-1))
        return np.fromiter(positions, np.int64, len(queries))

    def __getitem__(self, query: Any) -> dict[Any, float]:
        """Return a query's documents and their values as a dictionary, made anew."""
        place = self.places[query]
        rows = slice(*self.starts[place : place + 2].tolist())
        return dict(zip(self.ids(rows), self.numbers[rows].tolist(), strict=True))

    def __contains__(self, query: object) -> bool:
        return query in self.places  # Mapping's own would make the dictionary

    def __iter__(self) -> Iterator[Any]:
        return iter(self.queries.tolist())

    def __len__(self) -> int:
        return len(self.queries)

    def ids(self, rows: NDArray[np.integer] | slice) -> list[Any]:
        """Return the document ids of some rows."""
        documents = self.documents
        some = documents.take(rows) if isinstance(documents, TextColumn) else documents[rows]
        return some.tolist()

    def repeats(self, most: int) -> list[tuple[Any, Any]]:
        """List documents that queries have more than once: query and document, at most some."""
        rows, _ = find_repeats(self.keyed, most)
        of = np.searchsorted(self.ends, rows, side="right")
        pairs = zip(self.queries.take(of).tolist(), self.ids(rows), strict=True)
        return list(dict.fromkeys(pairs))

    def merged(self, repeats: str) -> QueryTable:
        """Return a table in which no query has a document twice.

        `repeats` says what its value is: the ``"first"`` one, their ``"max"`` or their ``"sum"``.
        """
        if self.repeated < 0:
            return self
        again, firsts = find_repeats(self.keyed, len(self.documents))
        values = self.numbers.copy()
        if repeats != "first":
            (np.maximum if repeats == "max" else np.add).at(values, firsts, values[again])
        return self.without(again, values)

    def without(self, rows: Ints, values: Floats | None = None) -> QueryTable:
        """Return the table without some rows, perhaps with other values."""
        kept = np.ones(len(self.documents), bool)
        kept[rows] = False
        starts, rows = offsets_of(kept.astype(np.int64))[self.starts], np.flatnonzero(kept)
        values = self.numbers if values is None else values
        return QueryTable(self.queries, starts, self.documents.take(rows), values[rows])

    def where(self, row: int) -> dict[str, Any]:
        """Return the query and the document of a row, as the fields of an error."""
        place = int(np.searchsorted(self.ends, row, side="right"))
        query, document = item_of(self.queries, place), item_of(self.documents, row)
        return {"query": query, "document": document}


class DocumentLists(Sequence[list[Any]]):
    """The document ids of each query of a table, made when asked for."""

    def __init__(self, table: QueryTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, row: Any) -> Any:
        """Return the ids of the query at `row`."""
        return self._table.ids(slice(int(self._table.begins[row]), int(self._table.ends[row])))


MANY_ROWS = 1 << 16  # of polars, for which pyarrow is worth importing
MOST_IN_VIEW = 12  # bytes of a text that stand in Arrow's view of it, behind their number


def check_repeats(repeats: str, marks: str | None) -> None:
    """Reject what cannot be done about repeated judgments, as nothing can where they have marks."""
    check_choice("repeats", repeats, REPEATS)
    if marks is not None and repeats != "error":
        problem = f"{keyword('repeats', repeats)} is for judgments of grades, not of {marks}"
        raise InputError(problem, source="qrels")


class RowError(InputError):
    """A row of a column that cannot be read, and why."""

    def __init__(self, row: int, problem: str, **fields: Any) -> None:
        super().__init__(f"row {row}: {problem}", **fields)
        self.row, self.problem = row, problem

    def with_fields(self, **fields: Any) -> InputError:
        """Return an error of the whole input: the row is in its text."""
        return InputError(self.message, **{**self._fields(), **fields})

    def __reduce__(self) -> tuple[Any, ...]:
        return self.with_fields().__reduce__()


def read_columns(
    queries: Any,
    documents: Any,
    values: Any,
    source: str,
    name: str | None = None,
    repeats: str = "error",
    ranks: Any = None,
) -> QueryTable:
    """Group columns by query, see `irbatch.Qrels.from_columns`; ids may also be a `TextColumn`.

    `ranks` are those that a run has beside its scores, if any.
    """
    with ErrorsIn(path=name):
        query_ids, document_ids, numbers, _ = read_rows(queries, documents, values, source)
        firsts = first_rows(query_ids)
        table = QueryTable.from_runs(query_ids.take(firsts), firsts, document_ids, numbers)
        if ranks is not None:
            compare_ranks(query_ids, as_column(ranks, "rank", "run"), numbers, name)
        if repeats != "error":
            return table.merged(repeats)
        if table.repeated >= 0:
            cell = table.where(table.repeated)
            pairs = enumerate(zip(query_ids.tolist(), document_ids.tolist(), strict=True))
            rows = [row for row, row_pair in pairs if row_pair == tuple(cell.values())]
            problem = f"this document stands in rows {rows[0]} and {rows[1]}"
            if source == "qrels":
                problem += f"; {keyword('repeats', 'max')}, or 'sum' or 'first', makes them one"
            raise InputError(problem, source=source, **cell)
    return table


def read_rows(
    queries: Any,
    documents: Any,
    values: Any,
    source: str,
    read_marks: Callable[[], list[Any]] | None = None,
) -> tuple[IdColumn, IdColumn, Floats, list[Any]]:
    """Read columns of one length: ids of queries, of documents, grades or scores; and any marks."""
    ids: dict[str, IdColumn] = {}
    try:
        ids["query"] = as_ids(queries, "query", source)
        ids["document"] = as_ids(documents, "document", source)
        numbers = as_numbers(values, source)
        marks = [] if read_marks is None else read_marks()
    except RowError as error:
        row = error.row
        of_row = {what: item_of(column, row) for what, column in ids.items() if row < len(column)}
        raise error.with_fields(**of_row) from error.__cause__
    sizes = {"queries": len(ids["query"]), "documents": len(ids["document"])}
    sizes[f"{VALUE[source]}s"] = numbers.size
    if read_marks is not None:
        sizes["marks"] = len(marks)
    if len({*sizes.values()}) > 1:
        counts = ", ".join(f"{size} {column}" for column, size in sizes.items())
        raise InputError(f"columns differ in length: {counts}", source=source)
    return ids["query"], ids["document"], numbers, marks


def check_numbers(
    name: str,
    values: Any,
    place: Callable[[int], dict[str, Any]],
    source: str,
    limits: Mapping[str, float],
) -> Floats:
    """Return numbers, in an array or a list, as float64; reject those beyond limits.

    `place` makes the fields of an error of a row; `limits` are those of
    `runtime.numbers.missed_limit`.
    """
    try:
        numbers = as_floats(values) if isinstance(values, list) else values.astype(np.float64)
        wrong = ~np.isfinite(numbers) | (numbers <= limits.get("above", -np.inf))
        wrong |= numbers < limits.get("least", -np.inf)
        wrong |= numbers > limits.get("most", np.inf)
    except NUMBER_ERRORS:
        numbers, wrong = np.empty(0), np.ones(len(values), bool)
    for row in np.flatnonzero(wrong).tolist():
        value = values[row] if isinstance(values, list) else float(values[row])
        if (limit := missed_limit(value, **limits)) is not None:
            problem = f"{name} {shown(value)} must be {limit}"
            raise InputError(problem, source=source, value=value, **place(row))
    return numbers


def read_ragged(
    queries: IdColumn,
    rows: Sequence[Collection[Any]],
    values: Sequence[Any] | None,
    source: str,
    path: str | None = None,
) -> QueryTable:
    """Make a table of each query's documents, and of all their values: of 1 without any."""
    starts, names = offsets_of(list(map(len, rows))), queries.tolist()
    try:
        documents = as_ids(list(itertools.chain.from_iterable(rows)), "document", source)
    except InputError:
        kind_of_documents(names, rows, source)
        raise
    if values is None:
        return QueryTable(queries, starts, documents)
    pairs = ((query, id) for query, row in zip(names, rows, strict=True) for id in row)
    what = VALUE.get(source, "grade")
    numbers = read_numbers(what, values, pairs, source=source, path=path)
    return QueryTable(queries, starts, documents, numbers)


def as_ids(column: Any, what: str, source: str) -> IdColumn:
    """Return ids as `TextColumn` or int64, whatever sequence they come in."""
    array = as_column(column, f"{what} id", source)
    if isinstance(array, TextColumn):
        return array
    kind = array.dtype.kind
    if not array.size:  # whatever type a library gives what is empty
        return NO_TEXTS
    if kind == "i" or (kind == "u" and array.max(initial=0) < 2**63):
        return array.astype(np.int64, copy=False)
    if kind == "f" and np.isnan(array).any():  # what readers make of whole numbers and a gap
        row = int(np.argmax(np.isnan(array)))
        raise RowError(row, f"the {what} id is missing", source=source)
    if kind not in "uOTU":
        hint = "; decode them first" if kind == "S" else ""
        problem = f"{what} ids are text or whole numbers, not {array.dtype}{hint}"
        raise InputError(problem, source=source)
    if kind == "U" and (texts := _ascii(array)) is not None:
        return texts
    ids: list[Any] = array.tolist()
    if None in kinds_of(ids):
        row, value = next((i, x) for i, x in enumerate(ids) if id_kind(type(x)) is None)
        raise RowError(row, id_problem(value, what), source=source, value=value)
    if same_kind(ids, what, source) != "int":
        return TextColumn.encode(ids)
    try:
        return np.array(ids, np.int64)
    except OverflowError:
        row = next(i for i, value in enumerate(ids) if not -(2**63) <= value < 2**63)
        problem = f"{what} id {shown(ids[row])} does not fit int64"
        raise RowError(row, problem, source=source) from None


def as_scores(column: Any, source: str) -> Floats:
    """Return ranks, whole numbers from 0, as scores that fall with them."""
    ranks = as_numbers(column, source)
    for row in np.flatnonzero((ranks < 0) | (ranks % 1 != 0))[:1].tolist():
        rank = ranks[row].item()
        problem = f"rank {rank:g} is not a whole number from 0"
        raise RowError(row, problem, source=source, value=rank)
    return -ranks


def compare_ranks(queries: IdColumn, ranks: Column, scores: Floats, name: str | None) -> None:
    """Warn of the ranks beside a run's scores, where they contradict these."""
    if isinstance(ranks, TextColumn) or ranks.dtype.kind not in "iuf" or not ranks.size:
        return
    wrong = (ranks[1:] > ranks[:-1]) & (scores[1:] > scores[:-1])
    wrong |= (ranks[1:] < ranks[:-1]) & (scores[1:] < scores[:-1])
    wrong[first_rows(queries)[1:] - 1] = False
    for row in np.flatnonzero(wrong)[:1].tolist():
        whose = "run" if name is None else f"run {name!r}"
        problem = f"in query {item_of(queries, row)!r} ranks and scores contradict each other"
        warn(f"{whose}: {problem}; scores decide, or ranks with {keyword('order_by', 'rank')}")


def as_numbers(column: Any, source: str) -> Floats:
    """Return the grades of judgments or the scores of a run as float64."""
    what = VALUE[source]
    array = as_column(column, what, source)
    if isinstance(array, TextColumn):
        sample = f" such as {item_of(array, 0)!r}" if len(array) else ""
        raise InputError(f"{what}s are text{sample}, not numbers: cast them", source=source)
    if not array.size:
        return np.empty(0)
    if array.dtype.kind == "O":
        rows = zip(itertools.count(), itertools.repeat(None))  # in place of query and document
        try:
            array = read_numbers(what, array.tolist(), rows)
        except InputError as error:
            place = {"source": source, "value": error.value}
            raise RowError(int(str(error.query)), error.message, **place) from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what}s are real numbers, not {array.dtype}", source=source)
    # Larger grades than 2^53 are judgments' own to reject, but integers are rounded before.
    is_grade = array.dtype.kind in "iu" and source == "qrels"
    bad = (array > LARGEST_WHOLE) | (array < -LARGEST_WHOLE) if is_grade else np.isnan(array)
    if bad.any():
        row = int(np.argmax(bad))
        why = "beyond 2^53, where grades are inexact" if is_grade else "not a number"
        problem, value = f"{what} {array[row]} is {why}", array[row].item()
        raise RowError(row, problem, source=source, value=value)
    return array.astype(np.float64, copy=False)


def _ascii(array: NDArray[np.str_]) -> TextColumn | None:
    """Return texts of fixed width whose characters are bytes; None for others."""
    array = np.ascontiguousarray(array)
    characters = array.view(np.uint32)  # in another byte order none of them is small
    if not array.size or characters.max(initial=0) >= 128:
        return None
    width = characters.size // array.size
    starts = np.arange(array.size) * width
    lengths = np.char.str_len(array).astype(np.int32)
    return TextColumn(characters.astype(np.uint8), starts, lengths)


def as_column(column: Any, what: str, source: str) -> Column:
    """Return a column of any library as text or a 1-D array; `what` names one of its values.

    Text of Arrow's columns, and of others that can become these, becomes no objects of Python.
    """
    if isinstance(column, TextColumn):
        return column
    with ErrorsIn(source=source):
        given, column = column, _of_frame(column)
    if type(column).__module__.startswith("pyarrow") and hasattr(column, "null_count"):
        by_polars = column is not given and type(given).__module__.startswith("polars")
        return _of_arrow(column, what, source, is_sound=by_polars)
    unordered = isinstance(column, str | bytes | Mapping | AbstractSet)
    is_array = hasattr(column, "__array__") or hasattr(column, "to_numpy")
    if unordered or not (is_array or isinstance(column, Iterable)):
        raise InputError(f"{what}s are a sequence, not {kind_of(column)}", source=source)
    if (mask := mask_of(column)) is not None and mask.any():
        raise RowError(int(np.argmax(mask)), f"the {what} is missing (masked)", source=source)
    try:
        with ErrorsIn(source=source):
            # Items of a sequence as they are: NumPy would make text of numbers beside text.
            own: Any = column if is_array else np.fromiter(column, object)
            array = np.asarray(own if hasattr(own, "__array__") else own.to_numpy())
    except (InputError, MemoryError):
        raise
    except Exception as problem:  # each library has its own
        raise InputError(f"a column cannot be read: {problem}", source=source) from problem
    if array.ndim != 1:
        raise InputError(f"{what}s are one column, not of shape {array.shape}", source=source)
    return array


def _of_frame(column: Any) -> Any:
    """Return text of pandas and polars as Arrow's, where pyarrow reads it sooner; or as it was."""
    library, dtype = type(column).__module__.partition(".")[0], getattr(column, "dtype", None)
    if library == "polars" and str(dtype).startswith(("String", "Categorical", "Enum")):
        if len(column) >= MANY_ROWS:
            newest = getattr(sys.modules["polars"], "CompatLevel", None)
            level = {} if newest is None else {"compat_level": newest.newest()}  # without a copy
            with suppress(ImportError):  # what takes a third of the time, but 60 ms to import
                return column.to_arrow(**level)
        return column.to_list()
    pa = sys.modules.get("pyarrow")  # pandas imports it where it is installed
    if library == "pandas" and pa is not None and getattr(dtype, "kind", "") == "O":
        with suppress(Exception):  # of objects that Arrow has no type for
            return pa.array(column, from_pandas=True)
    return column


def _of_arrow(column: Any, what: str, source: str, *, is_sound: bool = True) -> Column:
    """Return a column of pyarrow, over its memory where that is in one piece."""
    pa = sys.modules["pyarrow"]
    try:
        column.validate(full=not is_sound)  # of offsets, places in dictionaries, and UTF-8
    except pa.ArrowInvalid as problem:
        raise InputError(f"an array of Arrow is not sound: {problem}", source=source) from problem
    array = _one_array(column, pa)
    if array.null_count:
        row = int(array.is_null().to_numpy(zero_copy_only=False).argmax())
        raise RowError(row, f"the {what} is missing", source=source)
    if hasattr(array, "indices"):
        return _of_arrow(array.dictionary, what, source).take(array.indices.to_numpy())
    if pa.types.is_string_view(array.type):
        views = np.frombuffer(array.buffers()[1] or b"", np.int32)[4 * array.offset :]
        lengths = views[: 4 * len(array) : 4].copy()
        if lengths.max(initial=0) <= MOST_IN_VIEW:
            return TextColumn(views.view(np.uint8), np.arange(4, 16 * len(array), 16), lengths)
        array = array.cast(pa.large_string())
    if not pa.types.is_large_string(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    _, offsets, text = array.buffers()
    bounds = np.frombuffer(offsets or bytes(8), np.int64)[array.offset :][: len(array) + 1]
    lengths = np.diff(bounds).astype(np.int32)
    return TextColumn(np.frombuffer(text or b"", np.uint8), bounds[:-1], lengths)


def _one_array(column: Any, pa: Any) -> Any:
    """Put a column's chunks together; text has offsets of 64 bits, and missing values no number."""
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if hasattr(column, "indices") and (column.dictionary.null_count or not len(column.dictionary)):
        return _one_array(column.dictionary_decode(), pa)
    return column


def read_sparse(
    matrix: Any,
    source: str,
    query_ids: Any = None,
    document_ids: Any = None,
    name: str | None = None,
    *,
    every_row: bool = True,
) -> QueryTable:
    """Read a matrix, see `irbatch.Run.from_sparse`; rows without entries may be left out."""
    with ErrorsIn(source=source, path=name):
        rows = read_compressed(matrix, source)
        bounds = np.asarray(rows.indptr, np.int64)
        query_ids = _ids_of_lines(query_ids, rows.shape[0], "query", source)
        document_ids = _ids_of_lines(document_ids, rows.shape[1], "document", source)
        documents = document_ids.take(rows.indices[: bounds[-1]])
        picks = np.flatnonzero((np.diff(bounds) > 0) | every_row)
        queries, starts = query_ids.take(picks), np.append(bounds[picks], bounds[-1])
        try:
            values = as_numbers(rows.data[: bounds[-1]], source)
        except RowError as error:
            row = int(np.searchsorted(starts[1:], error.row, side="right"))
            cell = {"query": item_of(queries, row), "document": item_of(documents, error.row)}
            raise InputError(error.problem, value=error.value, **cell) from None
        return QueryTable(queries, starts, documents, values)


def read_compressed(matrix: Any, source: str) -> Any:
    """Return a sparse matrix as compressed rows with each cell once; reject cells outside it."""
    with ErrorsIn(source=source):
        if not hasattr(matrix, "tocsr"):
            raise InputError(f"{kind_of(matrix)} is not a sparse matrix of SciPy's")
        if len(matrix.shape) != 2:
            raise InputError(f"a matrix is 2-D, queries x documents, not of shape {matrix.shape}")
        try:  # SciPy checks places only when it makes a matrix, and then not always
            if matrix.format == "coo":
                matrix = type(matrix)((matrix.data, (matrix.row, matrix.col)), matrix.shape)
            elif matrix.format in ("csr", "csc"):
                parts = matrix.data, matrix.indices, matrix.indptr
                matrix = type(matrix)(parts, matrix.shape)
                matrix.check_format()
        except ValueError as problem:
            raise InputError(f"a matrix of shape {matrix.shape} is not sound: {problem}") from None
        rows = matrix.tocsr()
    if not rows.has_canonical_format:  # a cell twice stands for the sum of both
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _ids_of_lines(ids: Any, n: int, what: str, source: str) -> IdColumn:
    """Return the ids of a matrix's rows or columns, checked; by default their numbers."""
    if ids is None:
        return np.arange(n)
    checked = as_ids(ids, what, source)
    distinct = len(set(checked.tolist()))
    if len(checked) != n or distinct != n:
        lines = "rows" if what == "query" else "columns"
        raise InputError(f"{n} {lines} need {n} different {what} ids, not {distinct}")
    return checked

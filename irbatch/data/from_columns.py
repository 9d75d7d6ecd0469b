"""From columns as callers have them - lists, arrays, series - to a table by query."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.arguments.ids import id_kind, same_kind
from irbatch.data.column_names import VALUE
from irbatch.data.grouping import first_rows, group_runs
from irbatch.data.query_table import QueryTable
from irbatch.data.text_column import IdColumn, TextColumn
from irbatch.errors import ErrorsIn, InputError, kind_of, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, number_errors, read_numbers
from irbatch.runtime.ragged import offsets_of

# What to do with ids of other types, by the kind of array they come in.
HINTS = {"S": "; decode them first", "f": "; read them as text or as integers"}


FieldsOfRow = Callable[[int], dict[str, Any]]
"""Returns what errors say of a row besides its number."""


def _no_fields(row: int) -> dict[str, Any]:
    return {}


class IdOverflowError(InputError):
    """A whole number beyond int64."""


def read_columns(
    queries: Any, documents: Any, values: Any, source: str, name: str | None = None
) -> QueryTable:
    """Group columns by query, see `irbatch.Run.from_columns`; ids may also be a `TextColumn`."""
    with ErrorsIn(path=name):
        query_ids = as_ids(queries, "query", source)
        document_ids = as_ids(documents, "document", source)

        def ids_of(row: int) -> dict[str, Any]:
            if row >= min(len(query_ids), len(document_ids)):
                return {}
            return {"query": item_of(query_ids, row), "document": item_of(document_ids, row)}

        numbers = as_numbers(values, source, fields=ids_of)
        sizes = len(query_ids), len(document_ids), numbers.size
        if len(set(sizes)) > 1:
            counts = f"{sizes[0]} queries, {sizes[1]} documents, {sizes[2]} {VALUE[source]}s"
            raise InputError(f"columns differ in length: {counts}", source=source)
        firsts = first_rows(query_ids)
        table = group_columns(query_ids.take(firsts), firsts, document_ids, numbers)
        if table.repeated >= 0:
            _refuse_repeated(table, query_ids, document_ids, source)
    return table


def group_columns(
    queries: IdColumn, firsts: Ints, documents: IdColumn, values: Floats
) -> QueryTable:
    """Group rows by query; `queries` are those of runs of rows, which begin at `firsts`.

    Documents that a query has twice are the caller's to refuse.
    """
    found, starts, order = group_runs(queries, firsts, values.size)
    places = {query: place for place, query in enumerate(queries.take(found).tolist())}
    if order is not None:
        documents, values = documents.take(order), values[order]
    return QueryTable(places, starts[:-1], starts[1:], documents, values)


def read_rankings(rankings: Mapping[Any, Mapping[Any, Any]], name: str | None = None) -> QueryTable:
    """Make a table of a run's mappings: query to document to score."""
    rows = list(rankings.values())
    starts = offsets_of([len(row) for row in rows])
    places = dict(zip(rankings, range(len(rows)), strict=True))
    try:
        documents = as_ids(list(itertools.chain.from_iterable(rows)), "document", "run")
        scores = itertools.chain.from_iterable(row.values() for row in rows)
        numbers = as_numbers(list(scores), "run")
    except IdOverflowError:
        raise
    except InputError:
        for query, row in rankings.items():
            same_kind(list(row), "document", "run", query)
            triples = ((query, document, score) for document, score in row.items())
            for problem in number_errors("score", triples, source="run", path=name):
                raise problem from None
        raise
    return QueryTable(places, starts[:-1], starts[1:], documents, numbers)


def as_ids(column: Any, what: str, source: str, first: int = 0) -> IdColumn:
    """Return ids as `TextColumn` or int64, whatever sequence they come in; errors name the row.

    They count rows from `first`.
    """
    if isinstance(column, TextColumn):
        return column
    if (texts := _of_polars(column, f"{what} ids", source)) is not None:
        return texts
    array = _as_array(column, f"{what} ids", source)
    kind = array.dtype.kind
    if not array.size:  # whatever type a library gives what is empty
        return TextColumn.encode([])
    if kind == "i" or (kind == "u" and array.max(initial=0) < 2**63):
        return array.astype(np.int64, copy=False)
    if kind == "f" and np.isnan(array).any():  # what readers make of whole numbers and a gap
        problem = f"row {first + np.argmax(np.isnan(array))}: the {what} id is missing"
        raise InputError(problem, source=source)
    if kind not in "uOTU":
        problem = f"{what} ids are text or whole numbers, not {array.dtype}{HINTS.get(kind, '')}"
        raise InputError(problem, source=source)
    if kind == "U" and (texts := _ascii(array)) is not None:
        return texts
    ids: list[Any] = array.tolist()
    try:
        whole = same_kind(ids, what, source) == "int"
    except InputError as error:
        row = next((i for i, value in enumerate(ids) if id_kind(type(value)) is None), None)
        if row is None:
            raise
        problem = f"row {first + row}: {error.message}"
        raise InputError(problem, source=source, value=error.value) from None
    if not whole:
        return TextColumn.encode(ids)
    try:
        return np.array(ids, np.int64)
    except OverflowError:
        row = next(i for i, value in enumerate(ids) if not -(2**63) <= value < 2**63)
        problem = f"row {first + row}: {what} id {shown(ids[row])} does not fit int64"
        raise IdOverflowError(problem, source=source) from None


def item_of(ids: IdColumn, row: int) -> Any:
    """Return one of some ids."""
    return ids.take(np.array([row])).tolist()[0]


def as_numbers(
    column: Any, source: str, first: int = 0, fields: FieldsOfRow = _no_fields
) -> Floats:
    """Return the grades of judgments or the scores of a run as float64; errors name the row.

    They count rows from `first`, and have what `fields` returns for the place of one in `column`.
    """
    what = VALUE[source]
    if isinstance(column, TextColumn):
        sample = f" such as {column.take(slice(1)).tolist()[0]!r}" if len(column) else ""
        raise InputError(f"{what}s are text{sample}, not numbers: cast them", source=source)
    array = _as_array(column, f"{what}s", source)
    if not array.size:
        return np.empty(0)
    if array.dtype.kind == "O":
        rows = zip(itertools.count(), itertools.repeat(None))  # in place of query and document
        try:
            array = read_numbers(what, array.tolist(), rows)
        except InputError as error:
            row = int(str(error.query))
            problem = f"row {first + row}: {error.message}"
            raise InputError(problem, source=source, value=error.value, **fields(row)) from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what}s are real numbers, not {array.dtype}", source=source)
    row = first_bad_number(array, source)
    if row >= 0:
        why = "not a number" if np.isnan(array[row]) else "beyond 2^53, where grades are inexact"
        problem = f"row {first + row}: {what} {array[row]} is {why}"
        raise InputError(problem, source=source, value=array[row].item(), **fields(row))
    return array.astype(np.float64, copy=False)


def as_scores(column: Any, source: str, first: int = 0, fields: FieldsOfRow = _no_fields) -> Floats:
    """Return ranks, whole numbers from 0, as scores that fall with them; see `as_numbers`."""
    ranks = as_numbers(column, source, first, fields)
    if (bad := np.flatnonzero((ranks < 0) | (ranks % 1 != 0))).size:
        row, rank = int(bad[0]), ranks[bad[0]].item()
        problem = f"row {first + row}: rank {rank:g} is not a whole number from 0"
        raise InputError(problem, source=source, value=rank, **fields(row))
    return -ranks


def first_bad_number(values: npt.NDArray[Any], source: str) -> int:
    """Return the first of some real numbers that float64 cannot stand for; -1 if it can for all.

    Larger grades than 2^53 are judgments' own to refuse, but integers are rounded before.
    """
    if values.dtype.kind in "iu" and source == "qrels":
        bad = (values > LARGEST_WHOLE) | (values < -LARGEST_WHOLE)
    else:
        bad = np.isnan(values)
    return int(np.argmax(bad)) if bad.any() else -1


def _of_polars(column: Any, what: str, source: str) -> TextColumn | None:
    """Return the text of a series of polars; None for any other column.

    Asked for objects, polars panics at text that is not UTF-8, and may take the process with it.
    """
    if not hasattr(column, "__arrow_c_stream__") or not hasattr(column, "to_frame"):
        return None
    if hasattr(column, "iloc"):  # of pandas
        return None
    from irbatch.data.arrow import ArrowTable

    try:
        (found,) = ArrowTable(column.to_frame(what), source).read().values()
    except InputError as problem:
        if problem.message.endswith("is not UTF-8"):
            raise
        return None
    return found if isinstance(found, TextColumn) else None


def _ascii(array: npt.NDArray[np.str_]) -> TextColumn | None:
    """Return texts of fixed width whose characters are bytes; None for others."""
    array = np.ascontiguousarray(array)
    characters = array.view(np.uint32)  # in another byte order none of them is small
    if not array.size or characters.max(initial=0) >= 128:
        return None
    width = characters.size // array.size
    starts = np.arange(array.size) * width
    lengths = np.char.str_len(array).astype(np.int32)
    return TextColumn(characters.astype(np.uint8), starts, lengths)


def _as_array(column: Any, what: str, source: str) -> npt.NDArray[Any]:
    """Return a column as a 1-D array."""
    if isinstance(column, str | bytes | Mapping | AbstractSet):
        raise InputError(f"{what} are a sequence, not {kind_of(column)}", source=source)
    if isinstance(column, np.ma.MaskedArray) and np.ma.getmaskarray(column).any():
        row = int(np.argmax(np.ma.getmaskarray(column)))
        raise InputError(f"row {row}: a value of the {what} is missing (masked)", source=source)
    if hasattr(column, "__array__") or hasattr(column, "to_numpy"):
        array = _as_numpy(column, what, source)
    else:
        # Each item as it is: NumPy would make text of numbers beside text.
        try:
            items = list(column)
        except TypeError:
            kind = kind_of(column)
            raise InputError(f"{what} are a sequence, not {kind}", source=source) from None
        array = np.fromiter(items, object, len(items))
    if array.ndim != 1:
        raise InputError(f"{what} are one column, not of shape {array.shape}", source=source)
    return array


def _as_numpy(column: Any, what: str, source: str) -> npt.NDArray[Any]:
    """Return an array's or a series' items, one by one where a library cannot convert them."""
    with suppress(Exception), ErrorsIn():
        return np.asarray(column if hasattr(column, "__array__") else column.to_numpy())
    at = getattr(column, "iloc", column)
    items: list[Any] = []
    try:
        with ErrorsIn():
            for row in range(len(column)):
                item = at[row]
                items.append(item.as_py() if hasattr(item, "as_py") else item)
    except Exception as problem:
        where = f"row {len(items)} of the {what}"
        raise InputError(f"{where} cannot be read: {problem}", source=source) from problem
    return np.fromiter(items, object, len(items))


def _refuse_repeated(
    table: QueryTable, queries: IdColumn, documents: IdColumn, source: str
) -> None:
    """Name a document that stands twice in its query, and the rows of both."""
    query, document = table.where(table.repeated)
    rows = [
        row
        for row, pair in enumerate(zip(queries.tolist(), documents.tolist(), strict=True))
        if pair == (query, document)
    ]
    problem = f"this document stands in rows {rows[0]} and {rows[1]}"
    raise InputError(problem, source=source, query=query, document=document)

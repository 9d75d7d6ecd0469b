"""From columns as callers have them - lists, arrays, series - to a table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats
from irbatch.data.arguments.ids import check_id, same_kind
from irbatch.data.grouping import group_rows
from irbatch.data.query_table import QueryTable
from irbatch.data.text_column import IdColumn, TextColumn
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, number_problem
from irbatch.runtime.ragged import offsets_of

__all__ = [
    "IdOverflowError",
    "as_ids",
    "as_numbers",
    "bad_number",
    "make_table",
    "make_table_of",
]


# By the kind of array that ids come in.
HINTS = {
    "S": "; decode them first",
    "f": "; read them as text or as integers",
}


class IdOverflowError(InputError):
    """A whole number that is no int64."""


def make_table(
    queries: Any, documents: Any, values: Any, source: str, what: str, name: str | None = None
) -> QueryTable:
    """Group columns by query.

    Args:
        queries, documents: ids, text or whole numbers: sequences, 1-D arrays, or `TextColumn`.
        values: as many real numbers.
        source: ``"qrels"`` or ``"run"``, for errors.
        what: what the values are called, ``"grade"`` or ``"score"``.
        name: what errors call the table.

    Raises:
        InputError: naming the row, counted from 0, of what is no id or number, and both rows of
            a document that its query has twice.
    """
    try:
        query_ids = as_ids(queries, "query", source)
        document_ids = as_ids(documents, "document", source)
        numbers = as_numbers(values, what, source)
        sizes = len(query_ids), len(document_ids), numbers.size
        if len(set(sizes)) > 1:
            raise InputError(
                f"columns differ in length: {sizes[0]} queries, {sizes[1]} documents, "
                f"{sizes[2]} {what}s",
                source=source,
            )
        firsts, starts, order = group_rows(query_ids)
        places = {query: place for place, query in enumerate(query_ids.take(firsts).tolist())}
        grouped = document_ids, numbers
        if order is not None:
            grouped = document_ids.take(order), numbers[order]
        table = QueryTable(places, starts[:-1], starts[1:], *grouped)
        if table.repeated >= 0:
            _refuse_repeated(table, query_ids, document_ids, source)
    except InputError as problem:
        raise problem.placed(path=name) from None
    return table


def make_table_of(rankings: Mapping[Any, Mapping[Any, Any]], name: str | None = None) -> QueryTable:
    """Make columns of a run's mappings.

    Raises:
        InputError: naming the query and the document of what is no id or no score.
    """
    rows = list(rankings.values())
    starts = offsets_of([len(row) for row in rows])
    places = dict(zip(rankings, range(len(rows)), strict=True))
    try:
        documents = as_ids(list(itertools.chain.from_iterable(rows)), "document", "run")
        scores = itertools.chain.from_iterable(row.values() for row in rows)
        numbers = as_numbers(list(scores), "score", "run")
    except IdOverflowError:
        raise
    except InputError:
        for query, row in rankings.items():
            same_kind(list(row), "document", "run", query)
            for document, score in row.items():
                if problem := number_problem(score):
                    raise InputError(f"score {problem}", source="run", query=query, path=name,
                                     document=document, value=score) from None  # fmt: skip
        raise
    return QueryTable(places, starts[:-1], starts[1:], documents, numbers)


def as_ids(column: Any, what: str, source: str) -> IdColumn:
    """Return ids as `TextColumn` or int64, whatever sequence they come in.

    Raises:
        InputError: naming the row, counted from 0, of what is no id.
    """
    if isinstance(column, TextColumn):
        return column
    array = _as_array(column, f"{what} ids", source)
    kind = array.dtype.kind
    if kind in "iu":
        if kind == "u" and array.size and int(array.max()) >= 2**63:
            row = int(np.argmax(array))
            raise IdOverflowError(f"row {row}: {what} id {array[row]} does not fit int64",
                                  source=source)  # fmt: skip
        return array.astype(np.int64, copy=False)
    if kind == "f" and np.isnan(array).any():  # what readers make of whole numbers and a gap
        raise InputError(f"row {int(np.argmax(np.isnan(array)))}: the {what} id is missing",
                         source=source)  # fmt: skip
    if kind not in "OTU":
        raise InputError(
            f"{what} ids are text or whole numbers, not {array.dtype}{HINTS.get(kind, '')}",
            source=source,
        )
    if kind == "U" and (texts := _ascii(array)) is not None:
        return texts
    ids = array.tolist()
    try:
        whole = same_kind(ids, what, source) == "int"
    except InputError:
        for row, value in enumerate(ids):
            try:
                check_id(value, what, source)
            except InputError as problem:
                raise InputError(f"row {row}: {problem.message}", source=source,
                                 value=value) from None  # fmt: skip
        raise
    if not whole:
        return TextColumn.encode(ids)
    try:
        return np.array(ids, np.int64)
    except OverflowError:
        row = next(i for i, value in enumerate(ids) if not -(2**63) <= value < 2**63)
        raise IdOverflowError(f"row {row}: {what} id {shown(ids[row])} does not fit int64",
                              source=source) from None  # fmt: skip


def as_numbers(column: Any, what: str, source: str) -> Floats:
    """Return grades or scores as float64.

    Raises:
        InputError: naming the row, counted from 0, of what is no number.
    """
    if isinstance(column, TextColumn):
        sample = f" such as {column.take(slice(1)).tolist()[0]!r}" if len(column) else ""
        raise InputError(f"{what}s are text{sample}, not numbers: cast them", source=source)
    array = _as_array(column, f"{what}s", source)
    if array.dtype.kind == "O":
        values = array.tolist()
        try:
            array = as_floats(values)
        except NUMBER_ERRORS:
            problems = ((row, number_problem(value)) for row, value in enumerate(values))
            row, problem = next(each for each in problems if each[1])
            raise InputError(f"row {row}: {what} {problem}", source=source,
                             value=values[row]) from None  # fmt: skip
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what}s are real numbers, not {array.dtype}", source=source)
    row = bad_number(array, source)
    if row >= 0:
        why = "not a number" if np.isnan(array[row]) else "beyond 2^53, where grades are inexact"
        raise InputError(f"row {row}: {what} {array[row]} is {why}", source=source,
                         value=array[row].item())  # fmt: skip
    return array.astype(np.float64, copy=False)


def bad_number(values: npt.NDArray[Any], source: str) -> int:
    """Return the first of some real numbers that float64 cannot stand for; -1 when all are well.

    Larger grades than 2^53 are judgments' own to refuse, but integers are rounded before.
    """
    if values.dtype.kind in "iu" and source == "qrels":
        bad = (values > LARGEST_WHOLE) | (values < -LARGEST_WHOLE)
    else:
        bad = np.isnan(values)
    return int(np.argmax(bad)) if bad.any() else -1


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
        raise InputError(f"{what} are a sequence, not a {type(column).__name__}", source=source)
    if isinstance(column, np.ma.MaskedArray) and np.ma.getmaskarray(column).any():
        row = int(np.argmax(np.ma.getmaskarray(column)))
        raise InputError(f"row {row}: a value of the {what} is missing (masked)", source=source)
    if hasattr(column, "__array__"):
        array = np.asarray(column)
    elif hasattr(column, "to_numpy"):
        array = np.asarray(column.to_numpy())
    else:
        array = _listed(column, what, source)
    if array.ndim != 1:
        raise InputError(f"{what} are one column, not of shape {array.shape}", source=source)
    return array


def _listed(column: Any, what: str, source: str) -> npt.NDArray[Any]:
    """Return a sequence's items as they are: NumPy would make text of numbers beside text."""
    try:
        items = list(column)
    except TypeError:
        raise InputError(f"{what} are a sequence, not a {type(column).__name__}",
                         source=source) from None  # fmt: skip
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
    raise InputError(f"this document stands in rows {rows[0]} and {rows[1]}", source=source,
                     query=query, document=document)  # fmt: skip

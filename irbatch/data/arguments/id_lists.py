"""Reading lists of ids, one a query."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.arguments.ids import first_repeated, kind_of_documents, same_kind
from irbatch.data.from_columns import IdOverflowError, as_ids
from irbatch.data.query_table import QueryTable
from irbatch.data.text_column import IdColumn
from irbatch.errors import InputError
from irbatch.runtime.arrays import is_tensor
from irbatch.runtime.checks import read_numbers
from irbatch.runtime.ragged import offsets_of

__all__ = ["read_id_lists"]

Lists = Mapping[Any, Mapping[Any, float]]
Row = list[Any] | npt.NDArray[Any]

WHAT = {"run": "a ranking is", "qrels": "relevant documents are"}


def read_id_lists(ranked: Any, relevant: Any, pad: object = None) -> tuple[Lists, Lists]:
    """Read ranked and relevant documents of the same queries.

    Args:
        ranked: query id to ids, best first, or for queries 0, 1, … a sequence of ids or a matrix
            of whole numbers ``(queries, depth)``.
        relevant: as `ranked`; ids may be in sets, or in mappings to grades.
        pad: an id that stands for no document at the end of a row.

    Returns:
        Rankings: query to documents in order; and judgments: query to document to grade, 1 for
        those that were only listed. They are tables unless ids are beyond int64.

    Raises:
        InputError: if the two don't pair up, a row is not a list of ids, ids are not text or
            whole numbers of one kind, or a query has one twice.
    """
    _check_pair(ranked, relevant)
    try:
        judgments: Lists = _read_table(relevant, "qrels", pad)
        return _read_table(ranked, "run", pad), judgments
    except IdOverflowError:
        judgments = _read_large_ids(relevant, "qrels", pad)
        return _read_large_ids(ranked, "run", pad), judgments


def _check_pair(ranked: Any, relevant: Any) -> None:
    """Refuse two sides that are not both mappings, or both sequences of one length."""
    if isinstance(ranked, Mapping) != isinstance(relevant, Mapping):
        raise InputError("rankings and relevant documents are both mappings, or both sequences")
    if isinstance(ranked, Mapping):
        return
    for name, side in (("ranked", ranked), ("relevant", relevant)):
        scalar = getattr(side, "ndim", 2) == 0
        if is_tensor(side) and side.ndim == 1:
            problem = "a list of ids is needed for each query; of one each: [:, None]"
            raise InputError(problem, source=name)
        if isinstance(side, str | AbstractSet) or not hasattr(side, "__len__") or scalar:
            raise InputError(f"a {type(side).__name__} is no sequence of queries", source=name)
    if len(ranked) != len(relevant):
        problem = f"{len(ranked)} rankings, but relevant documents of {len(relevant)} queries"
        raise InputError(problem, source="ranked")


def _read_table(lists: Any, source: str, pad: object) -> QueryTable:
    queries = list(lists) if isinstance(lists, Mapping) else list(range(len(lists)))
    places = dict(zip(queries, range(len(queries)), strict=True))
    if _is_matrix(lists):
        documents = lists.astype(np.int64, order="C", copy=False)
        lengths = _lengths(lists, pad, source)
        begins = np.arange(len(queries)) * lists.shape[1]
        numbers = np.broadcast_to(1.0, documents.size)
        table = QueryTable(places, begins, begins + lengths, documents.reshape(-1), numbers)
    else:
        rows = lists.values() if isinstance(lists, Mapping) else lists
        table = _of_rows(places, list(rows), source, pad)
    if table.repeated >= 0:
        raise _repeated(*table.where(table.repeated), source)
    return table


def _read_large_ids(lists: Any, source: str, pad: object) -> dict[Any, dict[Any, float]]:
    """Read whole numbers of any size: documents to grades, or to scores that fall with the rank."""
    items = lists.items() if isinstance(lists, Mapping) else enumerate(lists)
    found: dict[Any, dict[Any, float]] = {}
    for query, each in items:
        row = list(_as_row(each, query, source, pad))
        same_kind(row, "document", source, query)
        if (twice := first_repeated(row)) is not None:
            raise _repeated(query, twice, source)
        values: Iterable[float] = range(0, -len(row), -1)
        if source == "qrels":
            values = _grades([query], [each], [row]).tolist()
        found[query] = dict(zip(row, values, strict=True))
    return found


def _is_matrix(lists: Any) -> bool:
    """Tell whether ids are a matrix that can be taken as it is."""
    plain = isinstance(lists, np.ndarray) and not isinstance(lists, np.ma.MaskedArray)
    return plain and lists.ndim == 2 and lists.dtype.kind in "iu" and lists.dtype != np.uint64


def _lengths(matrix: npt.NDArray[np.integer], pad: object, source: str) -> Ints:
    """Return how many documents each row has before its padding."""
    lengths = np.full(matrix.shape[0], matrix.shape[1], np.int64)
    if pad is None:
        return lengths
    padding = matrix == pad
    lengths -= padding.sum(axis=1)
    for row in np.flatnonzero(lengths < matrix.shape[1]):
        if not padding[row, lengths[row] :].all():
            raise _early_padding(int(row), pad, source)
    return lengths


def _of_rows(places: dict[Any, int], lists: list[Any], source: str, pad: object) -> QueryTable:
    queries = list(places)
    rows = [_as_row(each, query, source, pad) for query, each in zip(queries, lists, strict=True)]
    ends = offsets_of([len(row) for row in rows])
    try:
        documents = _join(rows, source)
    except InputError:
        for query, row in zip(queries, rows, strict=True):
            same_kind(list(row), "document", source, query)
        kind_of_documents(queries, [list(row) for row in rows])
        raise
    numbers = np.broadcast_to(1.0, len(documents))
    if any(isinstance(each, Mapping) for each in lists):
        numbers = _grades(queries, lists, rows)
    return QueryTable(places, ends[:-1], ends[1:], documents, numbers)


def _join(rows: list[Row], source: str) -> IdColumn:
    """Put the ids of all rows into one column."""
    if rows and all(isinstance(row, np.ndarray) for row in rows):
        return as_ids(np.concatenate(rows), "document", source)
    return as_ids(list(itertools.chain.from_iterable(rows)), "document", source)


def _as_row(ids: Any, query: Any, source: str, pad: object) -> Row:
    """Return a query's ids without the padding at the end."""
    unordered = isinstance(ids, AbstractSet | Mapping)
    if unordered and source == "run":
        problem = f"a ranking is a list of ids; a {type(ids).__name__} has no order"
        raise InputError(problem, source=source, query=query)
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        problem = f"{WHAT[source]} a list of ids, not a {type(ids).__name__}"
        raise InputError(problem, source=source, query=query)
    whole = type(ids) is np.ndarray and ids.ndim == 1 and ids.dtype.kind in "iu"
    if whole and pad is None:
        return np.asarray(ids)
    listed = list(ids.tolist() if hasattr(ids, "tolist") else ids)
    if pad is None or unordered or pad not in listed:
        return listed
    end = listed.index(pad)
    if any(each != pad for each in listed[end:]):
        raise _early_padding(query, pad, source)
    return listed[:end]


def _grades(queries: list[Any], lists: list[Any], rows: list[Row]) -> Floats:
    """Return the grades of all documents, 1 for those that were only listed."""
    values: list[Any] = []
    for each, row in zip(lists, rows, strict=True):
        values.extend(each.values() if isinstance(each, Mapping) else itertools.repeat(1, len(row)))
    names = ((query, each) for query, row in zip(queries, rows, strict=True) for each in row)
    return read_numbers("grade", values, names, source="qrels")


def _early_padding(query: Any, pad: object, source: str) -> InputError:
    problem = f"padding {pad!r} stands before other documents"
    return InputError(problem, source=source, query=query, value=pad)


def _repeated(query: Any, document: Any, source: str) -> InputError:
    message = "this relevant document is listed twice"
    if source == "run":
        hint = "; if it is padding, say so with pad=" if document == -1 else ""
        message = f"document {document!r} stands in the ranking twice{hint}"
    return InputError(message, source=source, query=query, document=document)

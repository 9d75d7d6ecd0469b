"""Sparse matrices, users by items, as judgments or rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.column_names import VALUE
from irbatch.data.from_columns import as_ids, as_numbers, first_bad_number
from irbatch.data.query_table import QueryTable
from irbatch.data.text_column import IdColumn
from irbatch.errors import ErrorsIn, InputError, kind_of


def read_sparse(
    matrix: Any,
    source: str,
    query_ids: Sequence[Any] | None,
    document_ids: Sequence[Any] | None,
    *,
    with_empty: bool,
    name: str | None = None,
) -> QueryTable:
    """Read a matrix, see `irbatch.Run.from_sparse`; `with_empty` keeps queries of no documents."""
    with ErrorsIn(source=source, path=name):
        rows = _as_rows(matrix)
        queries = _ids(query_ids, rows.shape[0], "query", source)
        documents = _ids(document_ids, rows.shape[1], "document", source)
        table = _table(rows, queries, documents, source, with_empty)
        if table.repeated >= 0:  # a cell twice stands for the sum of both
            rows = rows.copy()
            rows.sum_duplicates()
            table = _table(rows, queries, documents, source, with_empty)
    return table


def _as_rows(matrix: Any) -> Any:
    """Return a matrix as compressed rows."""
    if not hasattr(matrix, "tocsr"):
        raise InputError(f"{kind_of(matrix)} is no sparse matrix of SciPy's")
    if len(matrix.shape) != 2:
        raise InputError(f"a matrix is 2-D, queries x documents, not of shape {matrix.shape}")
    _check_places(matrix)
    rows = matrix.tocsr()
    if rows is not matrix:
        _check_places(rows)
    return rows


def _check_places(matrix: Any) -> None:
    """Refuse entries outside the shape, which SciPy lets through, or even writes elsewhere."""
    n, m = matrix.shape
    places: list[tuple[str, Any, int]] = []
    if matrix.format == "coo":
        places = [("row", matrix.row, n), ("column", matrix.col, m)]
    elif matrix.format in ("csr", "csc"):
        lines, size = ("column", m), n
        if matrix.format == "csc":
            lines, size = ("row", n), m
        ends, stored = np.asarray(matrix.indptr), min(len(matrix.indices), len(matrix.data))
        bounds = np.concatenate([[0], ends, [stored]])
        if ends.size != size + 1 or ends[0] or (np.diff(bounds) < 0).any():
            raise InputError(f"the indptr of a matrix of shape {matrix.shape} is not sound")
        places = [(lines[0], matrix.indices[: ends[-1]], lines[1])]
    for line, found, size in places:
        beyond = (found < 0) | (found >= size)
        if beyond.any():
            place = int(found[beyond.argmax()])
            problem = f"an entry is in {line} {place} of a matrix of shape {matrix.shape}"
            raise InputError(problem, value=place)


def _ids(ids: Sequence[Any] | None, n: int, what: str, source: str) -> IdColumn | None:
    """Return the ids of a matrix's rows or columns, checked."""
    if ids is None:
        return None
    checked = as_ids(ids, what, source)
    distinct = len(set(checked.tolist()))
    if len(checked) != n or distinct != n:
        lines = "rows" if what == "query" else "columns"
        raise InputError(f"{n} {lines} need {n} different {what} ids, not {distinct}")
    return checked


def _table(
    rows: Any, queries: IdColumn | None, documents: IdColumn | None, source: str, with_empty: bool
) -> QueryTable:
    ends = np.asarray(rows.indptr, np.int64)
    places: Ints = np.arange(ends.size - 1)
    if not with_empty:
        places = places[np.diff(ends) > 0]
    columns = rows.indices[: ends[-1]].astype(np.int64)
    values = rows.data[: ends[-1]]
    bad = first_bad_number(values, source) if values.dtype.kind in "biuf" else -1
    if bad >= 0:
        row = np.searchsorted(ends, bad, side="right") - 1
        raise InputError(
            f"{VALUE[source]} {values[bad]} is no {VALUE[source]}",
            query=_take(queries, np.array([row])).tolist()[0],
            document=_take(documents, columns[bad : bad + 1]).tolist()[0],
            value=values[bad].item(),
        )
    named = _take(queries, places).tolist()
    return QueryTable(
        dict(zip(named, range(len(named)), strict=True)),
        ends[:-1][places],
        ends[1:][places],
        _take(documents, columns),
        as_numbers(values, source),
    )


def _take(ids: IdColumn | None, chosen: Ints) -> IdColumn:
    """Return the ids of some rows or columns: their numbers unless they have others."""
    return chosen if ids is None else ids.take(chosen)

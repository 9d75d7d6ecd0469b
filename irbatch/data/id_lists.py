"""Reading lists of ids, one a query."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.columns import QueryTable, as_ids, read_cells, read_compressed
from irbatch.data.ids import (
    IdColumn,
    check_query_ids,
    item_of,
    kind_of_documents,
    read_query_ids,
)
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.runtime.arrays import is_masked, is_sparse, is_tensor
from irbatch.runtime.numbers import read_numbers
from irbatch.runtime.ragged import offsets_of


def read_id_lists(
    ranked: Any, relevant: Any, pad: object = None, query_ids: Any = None
) -> tuple[QueryTable, Qrels]:
    """Read ranked and relevant documents, see `irbatch.evaluate_ids`.

    Returns rankings and judgments, in which those that were only listed have grade 1.
    """
    _check_pair(ranked, relevant)
    if isinstance(ranked, Mapping):
        if query_ids is not None:
            raise InputError("a mapping has ids of its own", source="query_ids")
        queries = as_ids(list(ranked), "query", "run")
    elif query_ids is None:
        queries = np.arange(len(ranked))
    else:
        ids = check_query_ids(read_query_ids(query_ids), len(ranked), "run")
        queries = as_ids(list(ids), "query", "run")
    run = _read_side(ranked, queries, "run", pad)
    if isinstance(relevant, Qrels):
        return run, relevant
    if is_sparse(relevant):
        return run, Qrels(_read_sparse(relevant, queries))
    if isinstance(relevant, Mapping):
        queries = as_ids(list(relevant), "query", "qrels")
    return run, Qrels(_read_side(relevant, queries, "qrels", pad))


def _check_pair(ranked: Any, relevant: Any) -> None:
    """Reject two sides that are not both mappings, or both sequences of one length."""
    judged = isinstance(relevant, Qrels)
    for name, side in (("ranked", ranked), ("relevant", relevant)):
        if isinstance(side, Mapping) or (name == "relevant" and (judged or hasattr(side, "tocsr"))):
            continue
        is_column = getattr(side, "ndim", 2) < (2 if is_tensor(side) else 1)
        no_sequence = isinstance(side, str | AbstractSet) or not hasattr(side, "__len__")
        if no_sequence or is_column or is_sparse(side) or hasattr(side, "columns"):
            kind = kind_of(side)
            raise InputError(f"lists of ids are a sequence, one a query, not {kind}", source=name)
    if judged:
        return
    if isinstance(ranked, Mapping) != isinstance(relevant, Mapping):
        raise InputError("rankings and relevant documents are both mappings, or both sequences")
    n = relevant.shape[0] if is_sparse(relevant) else len(relevant)
    if not isinstance(ranked, Mapping) and len(ranked) != n:
        problem = f"{many(len(ranked), 'ranking')}, but relevant documents of {many(n, 'query')}"
        raise InputError(problem, source="ranked")


def _read_sparse(matrix: Any, queries: IdColumn) -> QueryTable:
    """Read queries by documents, whose ids are the columns' numbers."""
    rows = read_compressed(matrix, "qrels")
    grades, bounds = read_cells(rows, queries, None, "qrels"), np.asarray(rows.indptr, np.int64)
    documents = rows.indices[: bounds[-1]].astype(np.int64)
    return QueryTable(queries, bounds[:-1], bounds[1:], documents, grades)


def _read_side(lists: Any, queries: IdColumn, source: str, pad: object) -> QueryTable:
    """Read one side, ``"run"`` or ``"qrels"``, of ids that are text or fit int64."""
    rows = lists.values() if isinstance(lists, Mapping) else lists
    plain = isinstance(lists, np.ndarray) and not is_masked(lists) and lists.ndim == 2
    if plain and lists.dtype.kind in "iu" and lists.dtype != np.uint64:
        kind = np.int32 if lists.dtype == np.int32 else np.int64  # of 32 bits not copied
        documents: IdColumn = lists.astype(kind, order="C", copy=False).reshape(-1)
        begins = np.arange(len(lists)) * lists.shape[1]
        ends = begins + _count_unpadded(lists, queries, source, pad)
        grades = np.broadcast_to(1.0, len(documents))
    else:
        documents, sizes, grades = _join_rows(rows, queries, source, pad)
        offsets = offsets_of(sizes)
        begins, ends = offsets[:-1], offsets[1:]
    table = QueryTable(queries, begins, ends, documents, grades)
    if table.repeated >= 0:
        query, document = table.where(table.repeated)
        hint = "; if it is padding, say so with pad=" if document == -1 else ""
        problem = f"document {document!r} is listed twice{hint}"
        raise InputError(problem, source=source, query=query, document=document)
    if pad is None and isinstance(documents, np.ndarray):
        last = documents[ends[ends > begins] - 1]
        if (last == -1).any() and not any(map(_is_unordered, rows)):
            what = "rankings end" if source == "run" else "lists of relevant documents end"
            how = "which counts as a document; if it is padding, say so with pad=-1"
            warn(f"{what} in -1, {how}")
    return table


def _is_unordered(row: Any) -> bool:
    return isinstance(row, AbstractSet | Mapping)


def _count_unpadded(matrix: Any, queries: IdColumn, source: str, pad: object) -> Ints:
    """Return how many documents each row of a matrix has before its padding."""
    if pad is None:
        return np.full(len(matrix), matrix.shape[1], np.int64)
    padding = matrix == pad
    early = (padding[:, :-1] & ~padding[:, 1:]).any(axis=1)
    for row in np.flatnonzero(early)[:1].tolist():
        raise _early_padding(pad, source, item_of(queries, row))
    return (~padding).sum(axis=1, dtype=np.int64)


def _early_padding(pad: object, source: str, query: Any) -> InputError:
    problem = f"padding {pad!r} stands before other documents"
    return InputError(problem, source=source, query=query, value=pad)


def _join_rows(
    lists: Iterable[Any], queries: IdColumn, source: str, pad: object
) -> tuple[IdColumn, list[int], Any]:
    """Return the ids of all lists in one column, how many each list has, and their grades."""
    lists = list(lists)
    if pad is None and {(type(ids), np.ndim(ids)) for ids in lists} == {(np.ndarray, 1)}:
        joined = np.concatenate(lists)
        if joined.dtype.kind in "iu":
            column = as_ids(joined, "document", source)
            return column, list(map(len, lists)), np.broadcast_to(1.0, len(column))
    names = queries.tolist()
    rows = [_read_row(name, ids, source, pad) for name, ids in zip(names, lists, strict=True)]
    documents = list(itertools.chain.from_iterable(rows))
    try:
        column = as_ids(documents, "document", source)
    except InputError:
        kind_of_documents(names, rows, source)
        raise
    grades: Any = np.broadcast_to(1.0, len(documents))
    if any(isinstance(ids, Mapping) for ids in lists):
        values: list[Any] = []
        for ids, row in zip(lists, rows, strict=True):
            values.extend(ids.values() if isinstance(ids, Mapping) else [1] * len(row))
        pairs = ((query, id) for query, row in zip(names, rows, strict=True) for id in row)
        grades = read_numbers("grade", values, pairs, source=source)
    return column, list(map(len, rows)), grades


def _read_row(query: Any, ids: Any, source: str, pad: object) -> Sequence[Any]:
    """Return a query's ids without the padding at the end."""
    unordered = _is_unordered(ids)
    problem = None
    if unordered and source == "run":
        problem = f"a ranking is a list of ids; {kind_of(ids)} has no order"
    elif isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        what = "a ranking is" if source == "run" else "relevant documents are"
        one = "" if source == "run" else "; of one, too: [id]"
        problem = f"{what} a list of ids, not {kind_of(ids)}{one}"
    if problem is not None:
        raise InputError(problem, source=source, query=query)
    listed = list(ids.tolist() if hasattr(ids, "tolist") else ids)
    if pad is None or unordered or pad not in listed:
        return listed
    end = listed.index(pad)
    if any(id != pad for id in listed[end:]):
        raise _early_padding(pad, source, query)
    return listed[:end]

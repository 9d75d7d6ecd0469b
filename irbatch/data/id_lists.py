"""Reading lists of ids, one a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from irbatch.data.columns import QueryTable, as_ids, read_ragged, read_sparse
from irbatch.data.ids import IdColumn, check_query_ids, read_query_ids
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.runtime.arrays import is_masked, is_sparse, is_tensor
from irbatch.runtime.ragged import offsets_of

UNORDERED = (AbstractSet, Mapping)

# What errors call lists, by their source.
NOUNS = {"run": "a ranking is", "qrels": "relevant documents are"}


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
    run = _read_different(ranked, queries, "run", pad)
    if isinstance(relevant, Qrels):
        return run, relevant
    if is_sparse(relevant):
        return run, Qrels(read_sparse(relevant, "qrels", queries))
    if isinstance(relevant, Mapping):
        queries = as_ids(list(relevant), "query", "qrels")
    return run, Qrels(_read_different(relevant, queries, "qrels", pad))


def _check_pair(ranked: Any, relevant: Any) -> None:
    """Reject two sides that are not both mappings, or both sequences of one length."""
    is_judged = isinstance(relevant, Qrels)
    for name, side in (("ranked", ranked), ("relevant", relevant)):
        is_matrix = name == "relevant" and (is_judged or hasattr(side, "tocsr"))
        if isinstance(side, Mapping) or is_matrix:
            continue
        is_column = getattr(side, "ndim", 2) < (2 if is_tensor(side) else 1)
        no_sequence = isinstance(side, str | AbstractSet) or not hasattr(side, "__len__")
        if no_sequence or is_column or is_sparse(side) or hasattr(side, "columns"):
            kind = kind_of(side)
            raise InputError(f"lists of ids are a sequence, one a query, not {kind}", source=name)
    if is_judged:
        return
    if isinstance(ranked, Mapping) != isinstance(relevant, Mapping):
        raise InputError("rankings and relevant documents are both mappings, or both sequences")
    n = relevant.shape[0] if is_sparse(relevant) else len(relevant)
    if not isinstance(ranked, Mapping) and len(ranked) != n:
        problem = f"{many(len(ranked), 'ranking')}, but relevant documents of {many(n, 'query')}"
        raise InputError(problem, source="ranked")


def _read_different(lists: Any, queries: IdColumn, source: str, pad: object) -> QueryTable:
    table = read_lists(lists, queries, source, pad)
    if table.repeated >= 0:
        place = table.where(table.repeated)
        hint = "; if it is padding, say so with pad=" if place["document"] == -1 else ""
        problem = f"document {place['document']!r} is listed twice{hint}"
        raise InputError(problem, source=source, **place)
    if pad is None and isinstance(table.documents, np.ndarray):
        last = table.documents[table.ends[table.ends > table.begins] - 1]
        rows = lists.values() if isinstance(lists, Mapping) else lists
        if (last == -1).any() and not any(isinstance(row, UNORDERED) for row in rows):
            what = "rankings end" if source == "run" else "lists of relevant documents end"
            how = "which counts as a document; if it is padding, say so with pad=-1"
            warn(f"{what} in -1, {how}")
    return table


def read_lists(lists: Any, queries: IdColumn, source: str, pad: object = None) -> QueryTable:
    """Read ids that are text or fit int64: a list or a set of each query, with 1 for each id.

    Or mappings of ids to grades.
    """
    is_matrix = isinstance(lists, np.ndarray) and lists.ndim == 2 and not is_masked(lists)
    if is_matrix and lists.dtype.kind in "iu" and lists.dtype != np.uint64:
        kind = np.int32 if lists.dtype == np.int32 else np.int64  # of 32 bits not copied
        documents: Any = lists.astype(kind, order="C", copy=False).reshape(-1)
        if pad is None:
            sizes = np.full(len(lists), lists.shape[1])
            return QueryTable(queries, offsets_of(sizes), documents)
        is_id = lists != pad
        if not (is_id[:, 1:] > is_id[:, :-1]).any():  # padding stands at the end, as it should
            sizes, documents = is_id.sum(axis=1), documents[is_id.reshape(-1)]
            return QueryTable(queries, offsets_of(sizes), documents)
    rows = list(lists.values() if isinstance(lists, Mapping) else lists)
    are_arrays = set(map(type, rows)) == {np.ndarray} and {ids.ndim for ids in rows} == {1}
    if pad is None and are_arrays and (joined := np.concatenate(rows)).dtype.kind in "iu":
        documents, starts = as_ids(joined, "document", source), offsets_of(list(map(len, rows)))
        return QueryTable(queries, starts, documents)
    names = queries.tolist()
    values: list[Any] | None = None
    ids = [_read_row(name, row, source, pad) for name, row in zip(names, rows, strict=True)]
    if any(isinstance(row, Mapping) for row in rows):
        values = []
        for row, own_ids in zip(rows, ids, strict=True):
            values.extend(row.values() if isinstance(row, Mapping) else [1] * len(own_ids))
    return read_ragged(queries, ids, values, source)


def _read_row(query: Any, ids: Any, source: str, pad: object) -> Sequence[Any]:
    """Return a query's ids without the padding at the end."""
    problem = None
    if source == "run" and isinstance(ids, UNORDERED):
        problem = f"a ranking is a list of ids; {kind_of(ids)} has no order"
    elif isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        one = "" if source == "run" else "; of one, too: [id]"
        problem = f"{NOUNS.get(source, 'items are')} a list of ids, not {kind_of(ids)}{one}"
    if problem is not None:
        raise InputError(problem, source=source, query=query, value=ids)
    listed = list(ids.tolist() if hasattr(ids, "tolist") else ids)
    if pad is None or isinstance(ids, UNORDERED) or pad not in listed:
        return listed
    end = listed.index(pad)
    if any(id != pad for id in listed[end:]):
        problem = f"padding {pad!r} stands before other documents"
        raise InputError(problem, source=source, query=query, value=pad)
    return listed[:end]

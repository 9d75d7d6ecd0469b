"""Judgments and rankings a piece at a time, as columns of Python objects, for those who write."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.arguments.ids import kinds_of, same_kind
from irbatch.engine.ties.by_id import order_documents
from irbatch.errors import InputError, warn
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats, number_problem

__all__ = ["Rows", "join_rows", "pieces", "ranked"]


PIECE = 1 << 16  # rows


@dataclass(frozen=True)
class Rows:
    """Some queries with their documents.

    Args:
        queries: their ids.
        sizes: int64 ``(queries,)``, how many documents each has, at least one.
        documents: the documents' ids, one query after the other.
        values: float64 ``(documents,)``, their grades or scores.
    """

    queries: list[Any]
    sizes: Ints
    documents: list[Any]
    values: Floats

    @property
    def row_index(self) -> Ints:
        """The place of each document's query: int64 ``(documents,)``."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)


def pieces(
    queries: Iterable[tuple[Any, Collection[Any], Any]], source: str, name: str | None = None
) -> Iterator[Rows]:
    """Collect queries into pieces of some size; those without documents are left out.

    Args:
        queries: each with its documents' ids and their values: a collection of real numbers.
        source: ``"qrels"`` or ``"run"``, for errors.
        name: what errors call it.

    Raises:
        InputError: for values that are no numbers, ids that are none or of both kinds, and when
            nothing is left.
    """
    empty: list[Any] = []
    some = False
    batch: list[tuple[Any, Collection[Any], Any]] = []
    count = 0
    for each in queries:
        if not len(each[1]):
            empty.append(each[0])
            continue
        batch.append(each)
        count += len(each[1])
        if count >= PIECE:
            yield _rows(batch, source, name)
            some, batch, count = True, [], 0
    if batch:
        yield _rows(batch, source, name)
    elif not some:
        raise InputError("there are no documents to write", source=source, path=name)
    if empty:
        warn(
            f"{len(empty)} queries of the {source} have no documents, such as {empty[0]!r}, and "
            "are not in what is written"
        )


def _rows(batch: list[tuple[Any, Collection[Any], Any]], source: str, name: str | None) -> Rows:
    queries = [query for query, _, _ in batch]
    sizes = np.fromiter((len(documents) for _, documents, _ in batch), np.int64, len(batch))
    listed = list(itertools.chain.from_iterable(documents for _, documents, _ in batch))
    try:
        values = np.concatenate([_floats(values) for _, _, values in batch])
        fine = not np.isnan(values).any() and kinds_of(listed) in ({"str"}, {"int"})
    except NUMBER_ERRORS:
        fine = False
    if not fine:
        for each in batch:
            _refuse(*each, source, name)
        raise InputError(
            "document ids are text in some queries and numbers in others", source=source, path=name
        )
    return Rows(queries, sizes, listed, values)


def _floats(values: Any) -> Floats:
    return values if isinstance(values, np.ndarray) else as_floats(values)


def _refuse(
    query: Any, documents: Collection[Any], values: Any, source: str, name: str | None
) -> None:
    """Raise what is wrong with a query, if anything is."""
    try:
        same_kind(documents, "document", source, query)
    except InputError as problem:
        raise problem.placed(path=name) from None
    what = "grade" if source == "qrels" else "score"
    for document, value in zip(documents, values, strict=True):
        if reason := number_problem(value):
            raise InputError(f"{what} {reason}", source=source, query=query, document=document,
                             path=name, value=value)  # fmt: skip


def ranked(rows: Rows) -> Rows:
    """Order each query's documents as they are evaluated."""
    order = order_documents(rows.row_index, rows.values, rows.documents)
    documents = [rows.documents[i] for i in order.tolist()]
    return Rows(rows.queries, rows.sizes, documents, rows.values[order])


def join_rows(parts: Iterable[Rows]) -> Rows:
    """Put pieces one after the other."""
    listed = list(parts)
    return Rows(
        [query for part in listed for query in part.queries],
        np.concatenate([part.sizes for part in listed]),
        [document for part in listed for document in part.documents],
        np.concatenate([part.values for part in listed]),
    )

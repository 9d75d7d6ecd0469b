"""Judged and scored documents that come in columns, a query perhaps in several batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.data.arguments.ids import check_id, id_kind
from irbatch.errors import InputError
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats, number_problem

__all__ = ["Columns"]

Documents = dict[Any, tuple[float, float]]


class Columns:
    """Documents by query and id, with score and grade."""

    def __init__(self) -> None:
        self._queries: dict[Any, Documents] = {}
        self.repeats = 0

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, query: object) -> bool:
        return query in self._queries

    def add(self, query_ids: Any, document_ids: Any, scores: Any, grades: Any) -> None:
        """Keep some documents: sequences or arrays, all of one length.

        Raises:
            InputError: for lengths that differ, numbers that are none, or a document that comes
                again with another score or grade; nothing has changed then.
        """
        columns = {
            name: _as_list(column, name)
            for name, column in (("query_ids", query_ids), ("document_ids", document_ids),
                                 ("scores", scores), ("grades", grades))
        }  # fmt: skip
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns are of one length, not {lengths}", source="update_columns")
        _check(*columns.values())
        fresh: dict[Any, Documents] = {}
        repeats = 0
        nothing: Documents = {}
        for query, document, score, grade in zip(*columns.values(), strict=True):
            mine = fresh.get(query)
            if mine is None:
                mine = fresh[query] = {}
            known = mine.get(document) or self._queries.get(query, nothing).get(document)
            if known is None:
                mine[document] = (score, grade)
            elif known != (score, grade):
                raise InputError(
                    f"it came before with score {known[0]} and grade {known[1]}, now with {score} "
                    f"and {grade}",
                    source="update_columns",
                    query=query,
                    document=document,
                    value=score,
                )
            else:
                repeats += 1
        for query, documents in fresh.items():
            self._queries.setdefault(query, {}).update(documents)
        self.repeats += repeats

    def judgments(self) -> dict[Any, dict[Any, float]]:
        """Return query to document to grade."""
        return {query: {document: grade for document, (_, grade) in documents.items()}
                for query, documents in self._queries.items()}  # fmt: skip

    def run(self) -> dict[Any, dict[Any, float]]:
        """Return query to document to score."""
        return {query: {document: score for document, (score, _) in documents.items()}
                for query, documents in self._queries.items()}  # fmt: skip

    def state(self) -> dict[str, list[Any]]:
        """Return the columns, as `add` takes them."""
        rows = [
            (query, document, score, grade)
            for query, documents in self._queries.items()
            for document, (score, grade) in documents.items()
        ]
        names = ("query_ids", "document_ids", "scores", "grades")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add the columns of another."""
        self.add(*(state[name] for name in ("query_ids", "document_ids", "scores", "grades")))


def _as_list(column: Any, name: str) -> list[Any]:
    if isinstance(column, str) or not hasattr(column, "__len__"):
        raise InputError(f"a {type(column).__name__} is no column", source=name)
    if isinstance(column, list | tuple):
        return list(column)
    values = to_numpy(column, name)
    if values.ndim != 1:
        raise InputError(f"a column is 1-D, not of shape {values.shape}", source=name)
    listed: list[Any] = values.tolist()
    return listed


def _check(queries: list[Any], documents: list[Any], scores: list[Any], grades: list[Any]) -> None:
    """Refuse what are no ids or no numbers; entries are looked at one by one only to name one."""
    for what, ids in (("query", queries), ("document", documents)):
        wrong = {kind for kind in set(map(type, ids)) if id_kind(kind) is None}
        for each in ids if wrong else ():
            check_id(each, what, f"{what}_ids")
    for name, numbers in (("score", scores), ("grade", grades)):
        try:
            sound = not np.isnan(as_floats(numbers)).any()
        except NUMBER_ERRORS:
            sound = False
        for query, document, value in () if sound else zip(queries, documents, numbers,
                                                           strict=True):  # fmt: skip
            problem = number_problem(value)
            if problem is not None:
                raise InputError(f"{name} {problem}", source=f"{name}s", query=query,
                                 document=document, value=value)  # fmt: skip

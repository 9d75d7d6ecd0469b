"""Judged and scored documents that come in columns, a query perhaps in several batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.data.ids import same_kind
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.partitions.kept import plain
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, grade_problem, read_numbers

Documents = dict[Any, tuple[float, float]]

NAMES = ("query_ids", "document_ids", "scores", "grades")


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
        """Keep some documents, see `BatchEvaluator`; if one is refused, nothing has changed."""
        given = zip(NAMES, (query_ids, document_ids, scores, grades), strict=True)
        columns = {name: _as_list(column, name) for name, column in given}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(
                f"{many(length, 'entry')} in {each}" for each, length in lengths.items()
            )
            problem = f"columns are of one length, one entry a document, not {said}"
            raise InputError(problem, source="update_columns")
        _check(self._sample(), *columns.values())
        fresh: defaultdict[Any, Documents] = defaultdict(dict)
        repeats_before = repeats = self.repeats
        nothing: Documents = {}
        for query, document, score, grade in zip(*columns.values(), strict=True):
            mine = fresh[query]
            known = mine.get(document) or self._queries.get(query, nothing).get(document)
            if known is None:
                mine[document] = (score, grade)
            elif known != (score, grade):
                before = f"it came before with score {known[0]} and grade {known[1]}"
                fields = {"source": "update_columns", "query": query, "document": document}
                raise InputError(f"{before}, now with {score} and {grade}", **fields, value=score)
            else:
                repeats += 1
        try:
            for query, documents in fresh.items():
                self._queries.setdefault(query, {}).update(documents)
            self.repeats = repeats
        except BaseException:  # an interrupt, or too little memory
            self._remove(fresh)
            self.repeats = repeats_before
            raise

    def by_query(self, column: str) -> dict[Any, dict[Any, float]]:
        """Return query to document to one of ``"scores"`` and ``"grades"``."""
        place = ("scores", "grades").index(column)
        return {
            query: {document: both[place] for document, both in documents.items()}
            for query, documents in self._queries.items()
        }

    def state(self) -> dict[str, list[Any]]:
        """Return the columns, as `add` takes them."""
        rows = [
            (query, document, *both)
            for query, documents in self._queries.items()
            for document, both in documents.items()
        ]
        return {name: plain(row[i] for row in rows) for i, name in enumerate(NAMES)}

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add the columns of another."""
        try:
            self.add(*(state[name] for name in NAMES))
        except InputError as problem:
            raise problem.with_fields(source=f"state columns: {problem.source}") from None

    def _sample(self) -> tuple[Any, Any]:
        """Return a query and a document, if there are any."""
        query = next(iter(self._queries), None)
        return query, next(iter(self._queries.get(query, ())), None)

    def _remove(self, fresh: Mapping[Any, Documents]) -> None:
        """Take out what was being added, as far as it was."""
        for query, documents in fresh.items():
            mine = self._queries.get(query, {})
            for document in documents:
                mine.pop(document, None)
            if not mine:
                self._queries.pop(query, None)


def _as_list(column: Any, name: str) -> list[Any]:
    if isinstance(column, str) or not hasattr(column, "__len__"):
        raise InputError(f"{kind_of(column)} is no column", source=name)
    if isinstance(column, list | tuple):
        return list(column)
    values = to_numpy(column, name)
    if values.ndim != 1:
        raise InputError(f"a column is 1-D, not of shape {values.shape}", source=name)
    return values.tolist()


def _check(
    known: tuple[Any, Any],
    queries: list[Any],
    documents: list[Any],
    scores: list[Any],
    grades: list[Any],
) -> None:
    """Check ids, which are of one kind with those known, and numbers."""
    for what, ids, one in zip(("query", "document"), (queries, documents), known, strict=True):
        same_kind(ids if one is None else [one, *ids], what, f"{what}_ids")
    for name, numbers in (("score", scores), ("grade", grades)):
        names = zip(queries, documents, strict=True)
        read = read_numbers(name, numbers, names, source=f"{name}s")
        if name == "grade" and (wrong := np.flatnonzero(abs(read) > LARGEST_WHOLE)).size:
            row = int(wrong[0])
            problem = f"grade {grade_problem(numbers[row])}"
            fields = {"query": queries[row], "document": documents[row], "value": numbers[row]}
            raise InputError(problem, source="grades", **fields)

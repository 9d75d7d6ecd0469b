"""Reading judgments: a mapping's or a table's grades and documents, checked."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.query_table import QueryTable
from irbatch.errors import LISTED_PROBLEMS, InputError, raise_problems
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, number_problem
from irbatch.runtime.ragged import joined_ranges

__all__ = ["DocumentLists", "read_column", "read_documents", "read_grades"]

Judgments = Mapping[Any, Mapping[Any, Any]]


class DocumentLists(Sequence[list[Any]]):
    """The documents of each query of a table, made when asked for."""

    def __init__(self, table: QueryTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, row: Any) -> Any:
        """Return the ids of the query at `row`."""
        return self._table.ids(slice(int(self._table.begins[row]), int(self._table.ends[row])))


def read_documents(
    judgments: Judgments, name: str | None, borrowed: bool
) -> Sequence[Collection[Any]]:
    """List each query's documents, or borrow what holds them."""
    for query, documents in judgments.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"a query's judgments are a mapping of documents to grades, not a "
                f"{type(documents).__name__}; for columns see Qrels.from_table",
                source="qrels",
                query=query,
                path=name,
            )
    # Copying ids costs as much as looking them up: not done for judgments used only once.
    return [each if borrowed else list(each) for each in judgments.values()]


def read_column(table: QueryTable, counts: Ints, name: str | None) -> Floats:
    """Read a table's grades in the order of its queries, float64 ``(judgments,)``."""
    if table.repeated >= 0:
        query, document = table.where(table.repeated)
        raise InputError("this document was judged before", source="qrels", query=query,
                         document=document, path=name)  # fmt: skip
    grades = table.numbers[joined_ranges(table.begins, counts)]
    if not (np.abs(grades) < LARGEST_WHOLE).all():
        raise_problems(list(itertools.islice(_problems(table, name), LISTED_PROBLEMS)))
    return grades


def read_grades(judgments: Judgments, name: str | None) -> Floats:
    """Read all grades of a mapping, float64 ``(judgments,)``, in order."""
    values = itertools.chain.from_iterable(each.values() for each in judgments.values())
    try:
        grades = as_floats(list(values))
    except NUMBER_ERRORS:
        raise_problems(list(_problems(judgments, name)))
        raise
    if not (np.abs(grades) < LARGEST_WHOLE).all():  # the limit itself may have been rounded
        raise_problems(list(_problems(judgments, name)))
    return grades


def _problems(judgments: Judgments, name: str | None) -> Iterable[InputError]:
    for query, documents in judgments.items():
        for document, grade in documents.items():
            problem = number_problem(grade)
            if problem is None and abs(grade) <= LARGEST_WHOLE:
                continue
            too_large = f"{grade!r} is beyond 2^53, where grades are no longer exact"
            yield InputError(
                f"grade {problem or too_large}",
                source="qrels",
                query=query,
                document=document,
                path=name,
                value=grade,
            )

"""Reading judgments: the documents and the grades of a mapping or a table."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.dicts import are_dicts
from irbatch.data.query_table import DocumentLists, QueryTable
from irbatch.errors import LISTED_PROBLEMS, InputError, kind_of, raise_problems
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, grade_problem
from irbatch.runtime.ragged import joined_ranges

Judgments = Mapping[Any, Mapping[Any, Any]]


def read_documents(
    judgments: Judgments, name: str | None, borrowed: bool
) -> Sequence[Collection[Any]]:
    """List each query's documents, or borrow what holds them; refuse judgments of no query."""
    if not isinstance(judgments, Mapping):
        problem = f"a mapping of queries to documents to grades, not {kind_of(judgments)}"
        hint = "for tables see from_table, for records from_records"
        raise InputError(f"judgments are {problem}; {hint}", source="qrels")
    if not judgments:
        raise InputError("there are no queries", source="qrels", path=name)
    if isinstance(judgments, QueryTable):
        return DocumentLists(judgments)
    for query, documents in () if are_dicts(judgments) else judgments.items():
        if not isinstance(documents, Mapping):
            problem = f"a mapping of documents to grades, not {kind_of(documents)}"
            message = f"a query's judgments are {problem}; for columns see Qrels.from_table"
            raise InputError(message, source="qrels", query=query, path=name)
    # Copying ids costs as much as looking them up: not done for judgments used only once.
    return [each if borrowed else list(each) for each in judgments.values()]


def read_grades(judgments: Judgments, name: str | None, grades: Floats | None = None) -> Floats:
    """Read all grades, query after query, or check those already read: float64 ``(judgments,)``.

    Documents that a table repeats are refused, too.
    """
    most: int | None = None
    if isinstance(judgments, QueryTable):
        if judgments.repeated >= 0:
            query, document = judgments.where(judgments.repeated)
            problem = "this document was judged before"
            raise InputError(problem, source="qrels", query=query, document=document, path=name)
        sizes = judgments.ends - judgments.begins
        grades = judgments.numbers[joined_ranges(judgments.begins, sizes)]
        most = LISTED_PROBLEMS
    elif grades is None:
        values = itertools.chain.from_iterable(each.values() for each in judgments.values())
        try:
            grades = as_floats(list(values))
        except NUMBER_ERRORS:
            grades = np.array([np.nan])
    if not (np.abs(grades) < LARGEST_WHOLE).all():  # the limit itself may have been rounded
        raise_problems(list(itertools.islice(_grade_errors(judgments, name), most)))
    return grades


def _grade_errors(judgments: Judgments, name: str | None) -> Iterator[InputError]:
    for query, documents in judgments.items():
        for document, grade in documents.items():
            if problem := grade_problem(grade):
                place = {"query": query, "document": document, "path": name}
                yield InputError(f"grade {problem}", source="qrels", **place, value=grade)

"""Judgments of subtopics: for each query, which documents are relevant to which of its aspects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from irbatch.data.arguments.ids import check_id, same_kind
from irbatch.data.column_names import VALUE
from irbatch.data.qrels import Qrels
from irbatch.engine.subtopics import Subtopics
from irbatch.errors import InputError
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, grade_problem
from irbatch.runtime.ragged import offsets_of

SOURCE = "qrels"  # what errors call them

Graded = dict[Any, dict[Any, float]]
"""Document to subtopic to grade."""

Columns = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Queries, subtopics, documents and grades."""


class SubtopicQrels:
    """Judgments of subtopics, prepared once for any number of runs.

    Args:
        judgments: query id to subtopic to document id to grade. Ids are text or whole numbers, and
            so are subtopics; those of a query that have no relevant document don't count.
        name: what error messages call it, e.g. its path.

    Raises:
        InputError: naming query, document and value of what cannot be a judgment.

    >>> import irbatch
    >>> qrels = SubtopicQrels({"q1": {"price": {"d1": 1}, "taste": {"d1": 1, "d2": 1}}})
    >>> irbatch.evaluate(qrels, {"q1": {"d2": 2.0, "d1": 1.0}}, "StRecall@1 alpha_nDCG@2").mean()
    {'StRecall@1': 0.5, 'alpha_nDCG@2': 0.8406064155285841}
    """

    def __init__(
        self,
        judgments: Mapping[Any, Mapping[Any, Mapping[Any, Any]]],
        name: str | None = None,
    ) -> None:
        if not isinstance(judgments, Mapping):
            kind = type(judgments).__name__
            problem = f"a mapping of queries to subtopics to documents to grades, not a {kind}"
            raise InputError(f"judgments of subtopics are {problem}", source=SOURCE, path=name)
        if not judgments:
            raise InputError("there are no queries", source=SOURCE, path=name)
        self._fill(_columns_of(judgments, name), name, judgments)

    def _fill(self, columns: Columns, name: str | None, queries: Iterable[Any] = ()) -> None:
        """Keep judgments; refuse what cannot be one."""
        self.name = name
        self._graded: dict[Any, Graded] = {query: {} for query in queries}
        queries, subtopics, documents, grades = columns
        self._at: dict[float, tuple[Qrels, Subtopics]] = {}
        numbers = _as_grades(queries, documents, grades, name)
        graded = zip(queries, documents, numbers, strict=True)
        self._fraction = next((each for each in graded if each[2] % 1), None)
        for i, each in enumerate(zip(queries, subtopics, documents, numbers, strict=True)):
            query, subtopic, document, grade = each
            of_document = self._graded.setdefault(query, {}).setdefault(document, {})
            if subtopic in of_document:
                problem = f"this document was judged before for subtopic {subtopic!r}"
                place = {"query": query, "document": document, "path": name}
                raise InputError(problem, source=SOURCE, **place, value=grades[i])
            of_document[subtopic] = grade
        for query, of_query in self._graded.items():
            same_kind(
                {each for those in of_query.values() for each in those}, "subtopic", SOURCE, query
            )

    @classmethod
    def from_columns(
        cls,
        query_ids: Any,
        subtopics: Any,
        document_ids: Any,
        grades: Any,
        name: str | None = None,
    ) -> SubtopicQrels:
        """Make judgments of columns, one row a judgment, in any order.

        Args:
            query_ids, document_ids, grades: see `Qrels.from_columns`.
            subtopics: text or whole numbers ``(rows,)``.

        Raises:
            InputError: as the constructor, and if columns differ in length.

        >>> SubtopicQrels.from_columns([7, 7, 8], [1, 2, 1], ["a", "a", "b"], [1, 1, 1])
        <SubtopicQrels: 2 queries, 3 judgments>
        """
        from irbatch.data.from_columns import as_ids, as_numbers

        columns = [
            as_ids(query_ids, "query", SOURCE).tolist(),
            as_ids(subtopics, "subtopic", SOURCE).tolist(),
            as_ids(document_ids, "document", SOURCE).tolist(),
            as_numbers(grades, SOURCE).tolist(),
        ]
        if len(sizes := set(map(len, columns))) > 1:
            counts = ", ".join(map(str, sorted(sizes)))
            problem = f"columns differ in length: {counts}"
            raise InputError(problem, source=SOURCE, path=name)
        made = cls.__new__(cls)
        made._fill((columns[0], columns[1], columns[2], columns[3]), name)
        if not len(made):
            raise InputError("there are no queries", source=SOURCE, path=name)
        return made

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str | None = None,
        subtopic: str | None = None,
        document: str | None = None,
        grade: str | None = None,
        name: str | None = None,
    ) -> SubtopicQrels:
        """Make judgments of a table, one row a judgment, in any order.

        Args:
            table: see `Run.from_table`.
            query, subtopic, document, grade: what the columns are called; default: a known name,
                such as ``query_id``, ``subtopic`` or ``iteration``, ``doc_id``, ``relevance``.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> rows = {"qid": [1, 1], "subtopic": [1, 2], "docno": ["a", "b"], "label": [1, 1]}
        >>> SubtopicQrels.from_table(rows)
        <SubtopicQrels: 1 queries, 2 judgments>
        """
        from irbatch.data.from_table import read_named

        given = {"query": query, "subtopic": subtopic, "document": document, "grade": grade}
        queries, subtopics, documents, grades = read_named(table, "subtopics", given)
        return cls.from_columns(queries, subtopics, documents, grades, name)

    @property
    def queries(self) -> list[Any]:
        """The query ids, in the order given."""
        return list(self._graded)

    def __len__(self) -> int:
        return len(self._graded)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        count = sum(map(len, (each for some in self._graded.values() for each in some.values())))
        return f"<{type(self).__name__}{named}: {len(self)} queries, {count} judgments>"

    def at(self, rel: float | None = None) -> tuple[Qrels, Subtopics]:
        """Return who is relevant to what, at a least relevant grade (default 1).

        As `Qrels` whose grades are places in a table of sets of subtopics, 0 the empty one; and
        that table with all that measures read of judgments.

        Raises:
            InputError: if a grade is no whole number and `rel` is left open.
        """
        least = 1.0 if rel is None else float(rel)
        if rel is None:
            self._refuse_fraction()
        if least not in self._at:
            self._at[least] = _prepare(self._graded, least, self.name)
        return self._at[least]

    def _refuse_fraction(self) -> None:
        if self._fraction is None:
            return
        query, document, grade = self._fraction
        problem = f"grade {grade:g} is not a whole number: say from which grade on a document is"
        place = {"query": query, "document": document, "path": self.name}
        raise InputError(f"{problem} relevant, with rel=", source=SOURCE, **place, value=grade)


def _as_grades(
    queries: list[Any], documents: list[Any], grades: list[Any], name: str | None
) -> list[float]:
    """Return grades as floats; refuse the first that is none."""
    with suppress(*NUMBER_ERRORS):
        numbers = as_floats(grades)
        if (np.abs(numbers) < LARGEST_WHOLE).all():
            found: list[float] = numbers.tolist()
            return found
    for query, document, grade in zip(queries, documents, grades, strict=True):
        if problem := grade_problem(grade):
            place = {"query": query, "document": document, "path": name}
            raise InputError(f"grade {problem}", source=SOURCE, **place, value=grade)
    return [float(grade) for grade in grades]


def _columns_of(judgments: Mapping[Any, Any], name: str | None) -> Columns:
    """List the judgments of nested mappings."""
    columns: Columns = ([], [], [], [])
    for query, subtopics in judgments.items():
        check_id(query, "query", SOURCE)
        if not isinstance(subtopics, Mapping):
            kind = type(subtopics).__name__
            problem = f"a query's judgments are subtopics to documents to grades, not a {kind}"
            raise InputError(problem, source=SOURCE, query=query, path=name)
        for subtopic, documents in subtopics.items():
            check_id(subtopic, "subtopic", SOURCE, query)
            if not isinstance(documents, Mapping):
                kind = type(documents).__name__
                problem = f"a subtopic's judgments are documents to {VALUE[SOURCE]}s, not a {kind}"
                raise InputError(problem, source=SOURCE, query=query, path=name)
            for document, grade in documents.items():
                check_id(document, "document", SOURCE, query)
                for column, item in zip(columns, (query, subtopic, document, grade), strict=True):
                    column.append(item)
    return columns


def _prepare(
    graded: Mapping[Any, Graded], least: float, name: str | None
) -> tuple[Qrels, Subtopics]:
    """Give numbers to subtopics, by query, and to the sets of them that documents belong to."""
    sets: dict[tuple[int, ...], int] = {(): 0}
    judgments: dict[Any, dict[Any, int]] = {}
    sizes: list[list[int]] = []  # of each query's subtopics: how many relevant documents
    best_first: list[list[int]] = []  # of each query's relevant documents: their sets
    for query, documents in graded.items():
        relevant = {
            document: [subtopic for subtopic, grade in grades.items() if grade >= least]
            for document, grades in documents.items()
        }
        numbers = {
            each: i for i, each in enumerate(sorted({s for r in relevant.values() for s in r}))
        }
        places = {
            document: sets.setdefault(tuple(sorted(numbers[each] for each in those)), len(sets))
            for document, those in relevant.items()
        }
        judgments[query] = places
        counts = [0] * len(numbers)
        for those in relevant.values():
            for each in those:
                counts[numbers[each]] += 1
        sizes.append(counts)
        best_first.append([places[each] for each in sorted(places, reverse=True) if places[each]])
    members = list(sets)
    subtopics = Subtopics(
        set_starts=offsets_of(list(map(len, members))),
        members=np.array([each for some in members for each in some], np.int64),
        counts=np.array(list(map(len, sizes)), np.int64),
        relevant_starts=offsets_of(list(map(len, sizes))),
        relevant=np.array([each for some in sizes for each in some], np.int64),
        judged_starts=offsets_of(list(map(len, best_first))),
        judged_sets=np.array([each for some in best_first for each in some], np.int64),
    )
    return Qrels(judgments, name, borrowed=True), subtopics

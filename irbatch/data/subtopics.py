"""Judgments of subtopics: for each query, which documents are relevant to which of its aspects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.arguments.ids import same_kind
from irbatch.data.marked import (
    SOURCE,
    Columns,
    Joinable,
    MarkedQrels,
    View,
    as_lists,
    list_nested,
)
from irbatch.data.qrels import Qrels
from irbatch.engine.subtopics import Subtopics
from irbatch.runtime.ragged import offsets_of

Graded = dict[Any, dict[Any, float]]
"""Document to subtopic to grade."""

Sets = dict[Any, dict[Any, int]]
"""Query to document to the number of its set of subtopics."""


class SubtopicQrels(MarkedQrels):
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

    reads = "subtopics"
    nested = "a mapping of queries to subtopics to documents to grades"

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
        from irbatch.data.from_columns import as_ids

        subtopics = as_ids(subtopics, "subtopic", SOURCE).tolist()
        return cls._of_columns(query_ids, subtopics, document_ids, grades, name)

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
        queries, subtopics, documents, grades = read_named(table, cls.reads, given)
        return cls.from_columns(queries, subtopics, documents, grades, name)

    @classmethod
    def _columns_of(cls, judgments: Mapping[Any, Any], name: str | None) -> Columns:
        return as_lists(list_nested(judgments, "subtopic", "subtopics", name))

    def _fill(self, columns: Columns, name: str | None, queries: Iterable[Any] = ()) -> None:
        self.name = name
        self._graded: dict[Any, Graded] = {query: {} for query in queries}
        queries, subtopics, documents, grades = columns
        self._joinable: dict[tuple[float, ...], Joinable] = {}
        self._at: dict[float, tuple[Sets, Subtopics]] = {}
        numbers = self._as_grades(queries, documents, grades).tolist()
        graded = zip(queries, documents, numbers, strict=True)
        self._fraction = next((each for each in graded if each[2] % 1), None)
        for i, each in enumerate(zip(queries, subtopics, documents, numbers, strict=True)):
            query, subtopic, document, grade = each
            of_document = self._graded.setdefault(query, {}).setdefault(document, {})
            if subtopic in of_document:
                problem = f"this document was judged before for subtopic {subtopic!r}"
                raise self._refusal(problem, query, document, grades[i])
            of_document[subtopic] = grade
        for query, of_query in self._graded.items():
            same_kind(
                {each for those in of_query.values() for each in those}, "subtopic", SOURCE, query
            )

    @property
    def queries(self) -> list[Any]:
        """The query ids, in the order given."""
        return list(self._graded)

    @property
    def _judgments(self) -> int:
        return sum(map(len, (each for some in self._graded.values() for each in some.values())))

    def at(self, rels: Iterable[float | None]) -> Joinable:
        """Return them as `Qrels` whose grades number sets of subtopics, 0 the empty one.

        Of several least relevant grades a number stands for the document's sets at all of them.

        Raises:
            InputError: if a grade is no whole number and one of `rels` is None, left open.
        """
        rels = list(rels)
        if None in rels and self._fraction is not None:
            self._refuse_fraction(*self._fraction)
        least = {rel: 1.0 if rel is None else float(rel) for rel in rels}
        wanted = tuple(dict.fromkeys(least.values()))
        if wanted not in self._joinable:
            self._joinable[wanted] = self._join(wanted)
        joinable = self._joinable[wanted]
        return joinable._replace(views={rel: joinable.views[at] for rel, at in least.items()})

    def _join(self, wanted: tuple[float, ...]) -> Joinable:
        """Make what `at` returns, with views by the very grades."""
        for least in wanted:
            if least not in self._at:
                self._at[least] = _prepare(self._graded, least)
        if len(wanted) == 1:
            judgments, subtopics = self._at[wanted[0]]
            qrels = Qrels(judgments, self.name, borrowed=True)
            return Joinable(qrels, {wanted[0]: View(subtopics)})
        together: dict[tuple[int, ...], int] = {(0,) * len(wanted): 0}
        joined: Sets = {}
        for query in self._graded:
            at_each = zip(*(self._at[least][0][query].values() for least in wanted), strict=True)
            numbers = (together.setdefault(each, len(together)) for each in at_each)
            joined[query] = dict(zip(self._graded[query], numbers, strict=True))
        kinds: Floats = np.array(list(together), np.float64).T
        views: dict[float | None, View] = {
            least: View(self._at[least][1], kinds[i]) for i, least in enumerate(wanted)
        }
        return Joinable(Qrels(joined, self.name, borrowed=True), views)


def _prepare(graded: Mapping[Any, Graded], least: float) -> tuple[Sets, Subtopics]:
    """Give numbers to subtopics, by query, and to the sets of them that documents belong to."""
    sets: dict[tuple[int, ...], int] = {(): 0}
    judgments: Sets = {}
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
    return judgments, subtopics

"""Judgments of subtopics: for each query, which documents are relevant to which of its aspects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.ids import first_repeated, same_kind
from irbatch.data.marked import SOURCE, Columns, Joinable, MarkedQrels, View, read_nested
from irbatch.data.qrels import Qrels
from irbatch.engine.subtopics import Subtopics
from irbatch.errors import warn
from irbatch.runtime.ragged import offsets_of

AD_HOC = ({"0"}, {"Q0"}, {0})
"""What the second column of ad hoc judgments holds, in which others have subtopics."""

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
        cls, query_ids: Any, subtopics: Any, document_ids: Any, grades: Any, name: str | None = None
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
        from irbatch.data.columns import as_ids

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
        grade: str | float | None = None,
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
        <SubtopicQrels: 1 query, 2 judgments>
        """
        given = {"query": query, "subtopic": subtopic, "document": document, "grade": grade}
        return cls.of_table(table, given, name=name)

    def _read(self, judgments: Mapping[Any, Any]) -> None:
        self._keep(read_nested(judgments, "subtopic", "subtopics", self.name))

    def _fill(self, columns: Columns) -> None:
        graded: dict[Any, dict[Any, tuple[list[Any], list[Any]]]] = {}
        documents_of: dict[Any, dict[Any, None]] = {}
        at: tuple[Any, Any] = None, None
        ids: list[Any] = []
        values: list[Any] = []
        seen: dict[Any, None] = {}
        for query, subtopic, document, grade in zip(*columns, strict=True):
            if (query, subtopic) != at:
                at = query, subtopic
                ids, values = graded.setdefault(query, {}).setdefault(subtopic, ([], []))
                seen = documents_of.setdefault(query, {})
            ids.append(document)
            values.append(grade)
            seen[document] = None
        self._keep(graded, documents_of)
        if {subtopic for of_query in graded.values() for subtopic in of_query} in AD_HOC:
            said = "no query has two subtopics: are these judgments of subtopics?"
            warn(f"qrels: {said} They are told by the column `iteration`, the second of a file")
        for query, of_query in graded.items():
            same_kind(of_query, "subtopic", SOURCE, query)
            for subtopic, (ids, values) in of_query.items():
                if (twice := first_repeated(ids)) is not None:
                    problem = f"this document was judged before for subtopic {subtopic!r}"
                    grade = values[len(ids) - 1 - ids[::-1].index(twice)]
                    raise self._refusal(problem, query, twice, grade)

    def _keep(
        self,
        graded: dict[Any, dict[Any, tuple[list[Any], list[Any]]]],
        documents_of: dict[Any, dict[Any, None]] | None = None,
    ) -> None:
        """Keep query to subtopic to documents and grades; and query to documents in order."""
        self._at: dict[float, tuple[Sets, Subtopics]] = {}
        self._joinable = {}
        self._graded = graded
        if documents_of is None:
            documents_of = {
                query: dict.fromkeys(each for ids, _ in of_query.values() for each in ids)
                for query, of_query in graded.items()
            }
        self._documents = documents_of
        parts = [(query, *each) for query, some in graded.items() for each in some.values()]
        queries = itertools.chain.from_iterable([query] * len(ids) for query, ids, _ in parts)
        documents = itertools.chain.from_iterable(ids for _, ids, _ in parts)
        grades = list(itertools.chain.from_iterable(values for *_, values in parts))
        self._numbers = self._as_grades(queries, documents, grades)
        self._fraction = None
        if (fractional := self._numbers % 1 != 0).any():
            place = int(np.argmax(fractional))
            starts = offsets_of([len(ids) for _, ids, _ in parts])
            part = int(np.searchsorted(starts, place, side="right")) - 1
            query, ids, _ = parts[part]
            self._fraction = query, ids[place - int(starts[part])], float(self._numbers[place])

    @property
    def queries(self) -> list[Any]:
        """The query ids, in the order given."""
        return list(self._graded)

    @property
    def _judgments(self) -> int:
        return int(self._numbers.size)

    def columns(self) -> Columns:
        """Return the judgments in columns; queries without any are in none."""
        columns: Columns = ([], [], [], [])
        for query, of_query in self._graded.items():
            for subtopic, (ids, grades) in of_query.items():
                for column, each in zip(columns, (query, subtopic), strict=False):
                    column.extend([each] * len(ids))
                columns[2].extend(ids)
                columns[3].extend(grades)
        return columns

    def _join(self, wanted: tuple[float, ...]) -> Joinable:
        """Make what `at` returns: grades number sets of subtopics, 0 the empty one.

        Of several least relevant grades a number stands for the document's sets at all of them.
        """
        for least in wanted:
            if least not in self._at:
                self._at[least] = self._prepare(least)
        if len(wanted) == 1:
            judgments, subtopics = self._at[wanted[0]]
            qrels = Qrels(judgments, self.name, borrowed=True)
            return Joinable(qrels, {wanted[0]: View(subtopics)})
        together: dict[tuple[int, ...], int] = {(0,) * len(wanted): 0}
        joined: Sets = {}
        for query, documents in self._documents.items():
            at_each = zip(*(self._at[least][0][query].values() for least in wanted), strict=True)
            numbers = (together.setdefault(each, len(together)) for each in at_each)
            joined[query] = dict(zip(documents, numbers, strict=True))
        kinds: Floats = np.array(list(together), np.float64).T
        views: dict[float | None, View] = {
            least: View(self._at[least][1], kinds[i]) for i, least in enumerate(wanted)
        }
        return Joinable(Qrels(joined, self.name, borrowed=True), views)

    def _prepare(self, least: float) -> tuple[Sets, Subtopics]:
        """Give numbers to subtopics, by query, and to the sets of them that documents are of."""
        sets: dict[tuple[int, ...], int] = {(): 0}
        judgments: Sets = {}
        sizes: list[list[int]] = []  # of each query's subtopics: how many relevant documents
        best_first: list[list[int]] = []  # of each query's relevant documents: their sets
        relevant, start = (self._numbers >= least).tolist(), 0
        for query, of_query in self._graded.items():
            found: dict[Any, list[Any]] = {}  # subtopic to its relevant documents
            for subtopic, (ids, _) in of_query.items():
                some = relevant[start : start + len(ids)]
                start += len(ids)
                if True in some:
                    found[subtopic] = list(itertools.compress(ids, some))
            members: dict[Any, list[int]] = {}  # document to its subtopics
            for number, subtopic in enumerate(sorted(found)):
                for document in found[subtopic]:
                    members.setdefault(document, []).append(number)
            places = dict.fromkeys(self._documents[query], 0)
            for document in filter(members.__contains__, places):
                places[document] = sets.setdefault(tuple(members[document]), len(sets))
            judgments[query] = places
            sizes.append([len(found[subtopic]) for subtopic in sorted(found)])
            best_first.append([places[each] for each in sorted(members, reverse=True)])
        return judgments, _as_arrays(list(sets), sizes, best_first)


def _as_arrays(
    sets: list[tuple[int, ...]], sizes: list[list[int]], best_first: list[list[int]]
) -> Subtopics:
    """Put sets, and what is known of each query's subtopics and relevant documents, in a row."""
    return Subtopics(
        set_starts=offsets_of(list(map(len, sets))),
        members=np.array([each for some in sets for each in some], np.int64),
        counts=np.array(list(map(len, sizes)), np.int64),
        relevant_starts=offsets_of(list(map(len, sizes))),
        relevant=np.array([each for some in sizes for each in some], np.int64),
        judged_starts=offsets_of(list(map(len, best_first))),
        judged_sets=np.array([each for some in best_first for each in some], np.int64),
    )

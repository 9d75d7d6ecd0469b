"""Judgments of a sample: of documents that were drawn with known probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from irbatch.data.ids import check_id
from irbatch.data.marked import SOURCE, Columns, Joinable, MarkedQrels, View
from irbatch.data.qrels import Qrels
from irbatch.engine.kinds import Probabilities
from irbatch.errors import InputError, kind_of, shown
from irbatch.runtime.numbers import number_problem

Sampled = dict[Any, dict[Any, tuple[Any, float]]]
"""Query to document to its mark and its grade."""


class SampledQrels(MarkedQrels):
    """Judgments in which each document of a query stands once; kinds of them count from 1 on."""

    lowest = 0.0

    def _fill(self, columns: Columns, queries: Iterable[Any] = ()) -> None:
        self._sampled: Sampled = {query: {} for query in queries}
        self._joinable = {}
        queries, marks, documents, grades = columns
        numbers = self._as_grades(queries, documents, grades).tolist()
        graded = zip(queries, documents, numbers, strict=True)
        self._fraction = next((each for each in graded if each[2] % 1 and each[2] > 0), None)
        for i, query in enumerate(queries):
            of_query = self._sampled.setdefault(query, {})
            if documents[i] in of_query:
                problem = "this document was judged before"
                raise self._refusal(problem, query, documents[i], grades[i])
            of_query[documents[i]] = marks[i], numbers[i]

    @property
    def queries(self) -> list[Any]:
        """The query ids, in the order given."""
        return list(self._sampled)

    @property
    def _judgments(self) -> int:
        return sum(map(len, self._sampled.values()))

    def columns(self) -> Columns:
        """Return the judgments in columns; queries without any are in none."""
        columns: Columns = ([], [], [], [])
        for query, documents in self._sampled.items():
            for document, (mark, grade) in documents.items():
                for column, each in zip(columns, (query, mark, document, grade), strict=True):
                    column.append(each)
        return columns


class ProbabilityQrels(SampledQrels):
    """Judgments of documents that were sampled with known probabilities; prepared once.

    Args:
        judgments: query id to document id to its grade and the probability, above 0, that it was
            to be sampled with.
        name: what error messages call it, e.g. its path.

    Raises:
        InputError: naming query, document and value of what cannot be a judgment.

    >>> import irbatch
    >>> qrels = ProbabilityQrels({"q1": {"d1": (1, 1.0), "d2": (0, 0.5), "d3": (1, 0.25)}})
    >>> irbatch.evaluate(qrels, {"q1": {"d1": 2.0, "d3": 1.0}}, "StatAP StatP@2").mean()
    {'StatAP': 1.0, 'StatP@2': 2.5}
    """

    reads = "probabilities"
    nested = "a mapping of queries to documents to pairs of grade and probability"

    @classmethod
    def from_columns(
        cls,
        query_ids: Any,
        document_ids: Any,
        grades: Any,
        probabilities: Any,
        name: str | None = None,
    ) -> ProbabilityQrels:
        """Make judgments of columns, one row a document, in any order.

        Args:
            query_ids, document_ids, grades: see `Qrels.from_columns`.
            probabilities: numbers above 0, at most 1 ``(rows,)``.

        Raises:
            InputError: as the constructor, and if columns differ in length.

        >>> ProbabilityQrels.from_columns([7, 7], ["a", "b"], [1, 0], [1.0, 0.1])
        <ProbabilityQrels: 1 query, 2 judgments>
        """
        from irbatch.runtime.arrays import to_numpy

        marks = probabilities if isinstance(probabilities, list) else None
        if marks is None:
            marks = to_numpy(probabilities, "probabilities").tolist()
        return cls._of_columns(query_ids, marks, document_ids, grades, name)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str | None = None,
        document: str | None = None,
        grade: str | float | None = None,
        probability: str | None = None,
        name: str | None = None,
    ) -> ProbabilityQrels:
        """Make judgments of a table, one row a document, in any order.

        Args:
            table: see `Run.from_table`.
            query, document, grade, probability: what the columns are called; default: a known
                name, such as ``query_id``, ``doc_id``, ``relevance``, ``probability``.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> rows = {"qid": [1, 1], "docno": ["a", "b"], "grade": [1, 0], "probability": [1, 0.5]}
        >>> ProbabilityQrels.from_table(rows)
        <ProbabilityQrels: 1 query, 2 judgments>
        """
        given = {"query": query, "document": document, "grade": grade, "probability": probability}
        return cls.of_table(table, given, name=name)

    def _read(self, judgments: Mapping[Any, Any]) -> None:
        rows = list(_list_pairs(judgments, self.name))
        columns = [[row[place] for row in rows] for place in range(4)]
        self._fill((columns[0], columns[1], columns[2], columns[3]), judgments)

    def _fill(self, columns: Columns, queries: Iterable[Any] = ()) -> None:
        super()._fill(columns, queries)
        for query, probability, document, _ in zip(*columns, strict=True):
            problem = number_problem(probability)
            if problem is None and not 0 < probability <= 1:
                problem = f"{probability} is not above 0 and at most 1"
            if problem is not None:
                raise self._refusal(f"probability {problem}", query, document, probability)

    def _join(self, wanted: tuple[float, ...]) -> Joinable:
        lowest = min(wanted)
        counting = {
            query: {
                document: (grade, float(probability)) if grade >= lowest else None
                for document, (probability, grade) in documents.items()
            }
            for query, documents in self._sampled.items()
        }
        judgments, kinds = number_kinds(counting, (-1.0, 1.0))
        pairs = np.array(kinds)
        views: dict[float | None, View] = {}
        for rel in wanted:
            of_queries = [
                math.fsum(
                    1.0 / probability for probability, grade in those.values() if grade >= rel
                )
                for those in self._sampled.values()
            ]
            known = np.array(of_queries, np.float64)
            views[rel] = View(Probabilities(pairs[:, 0], 1.0 / pairs[:, 1], rel, known))
        return Joinable(Qrels(judgments, self.name, borrowed=True), views)


def _list_pairs(
    judgments: Mapping[Any, Any], name: str | None
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield query, probability, document and grade of mappings of documents to pairs."""
    for query, documents in judgments.items():
        check_id(query, "query", SOURCE)
        if not isinstance(documents, Mapping):
            kind = kind_of(documents)
            problem = "a query's judgments are documents to pairs of grade and probability"
            raise InputError(f"{problem}, not {kind}", source=SOURCE, query=query, path=name)
        for document, pair in documents.items():
            check_id(document, "document", SOURCE, query)
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                place = {"source": SOURCE, "query": query, "document": document, "path": name}
                problem = f"{shown(pair)} is no pair of grade and probability"
                raise InputError(problem, **place, value=pair)
            yield query, pair[1], document, pair[0]


def number_kinds(
    pairs: Mapping[Any, Mapping[Any, tuple[Any, float] | None]], none: tuple[Any, float]
) -> tuple[dict[Any, dict[Any, int]], list[tuple[Any, float]]]:
    """Give numbers to the kinds of judgments, from 1 on in their order, and 0 to None."""
    distinct = {each for of_query in pairs.values() for each in of_query.values() if each}
    kinds = [none, *sorted(distinct)]
    number: dict[tuple[Any, float] | None, int] = {None: 0}
    number |= {each: i for i, each in enumerate(kinds) if i}
    judgments = {
        query: {document: number[each] for document, each in of_query.items()}
        for query, of_query in pairs.items()
    }
    return judgments, kinds

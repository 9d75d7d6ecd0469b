"""The judgments: for each query, the documents that were judged and their grades."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Floats, Ints, NDArray, Positions
from irbatch.data.dicts import is_table, read_judgments
from irbatch.data.export import Container, check_nested
from irbatch.data.ids import (
    IdColumn,
    TextColumn,
    column_kind,
    hash_ids,
    kind_of_documents,
    same_kind,
)
from irbatch.engine.matrix import NEGATIVE, count_levels
from irbatch.errors import LISTED_PROBLEMS, ErrorsIn, InputError, join_words, many, raise_problems
from irbatch.runtime.numbers import (
    LARGEST_WHOLE,
    NUMBER_ERRORS,
    as_floats,
    check_choice,
    distinct,
    number_errors,
)
from irbatch.runtime.ragged import joined_ranges, offsets_of
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable
    from irbatch.data.marked import Marks


MOST_COUNTED = 1 << 10  # the highest of whole grades that are counted, and not sorted
MANY = 1 << 14  # queries of a table that are looked up as a column, not as keys of a dictionary


def _tell_levels(grades: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return the distinct grades >= 0, ascending, and the place of each grade among them."""
    whole = np.maximum(grades, -1.0).astype(np.int64) + 1
    highest = int(whole.max(initial=0))
    if highest <= MOST_COUNTED and (np.floor(grades) == grades).all():  # in a quarter of the time
        distinct_whole = np.bincount(whole, minlength=1)[1:].nonzero()[0]
        places = np.full(highest + 1, NEGATIVE, np.int32)
        places[distinct_whole + 1] = np.arange(distinct_whole.size)
        return distinct_whole.astype(np.float64), places.take(whole)
    levels = distinct(grades[grades >= 0]) + 0.0  # -0.0 is 0
    codes = np.searchsorted(levels, grades).astype(np.int32)
    return levels, np.where(grades < 0, np.int32(NEGATIVE), codes)


class Qrels(Container):
    """Judgments, prepared once for any number of runs.

    Some measures read marks beside the grades: the subtopics that a document is relevant to, the
    stratum of a pool that it was sampled from, or the probability that it was sampled with.

    Args:
        judgments: query id to document id to grade. Ids are text or whole numbers; grades are
            real numbers up to 2^53. A query without documents is a query without relevant ones.
            With ``marks="subtopics"`` or ``"strata"``, query to subtopic or stratum, text or whole
            numbers, to document to grade; with ``"probabilities"``, query to document to a pair of
            its grade and a probability above 0.
        name: what error messages call it, e.g. its path.
        marks: what the judgments have besides grades. Documents of a stratum that were not sampled
            have grades below 0; those of a stratum of which none was sampled count as not
            relevant, as for sample_eval. A subtopic without relevant documents doesn't count.

    Attributes:
        queries: the query ids, in the order given.
        documents: for each query, the ids of its judged documents, in order.
        levels: float64 ``(levels,)``, the distinct grades >= 0, ascending; a document of several
            subtopics has the highest of its grades.
        codes: int32 ``(judgments,)``, for each judgment, in order, its grade's place in `levels`;
            `NEGATIVE` for a grade below 0.
        starts: int64 ``(queries + 1,)``, where each query's judgments begin in `codes`.
        marks: what they have besides grades, None if nothing.

    Raises:
        InputError: naming query, document and value of what cannot be a judgment.

    >>> qrels = Qrels({"q1": {"d1": 2, "d2": 0}, "q2": {"d7": 1}})
    >>> len(qrels), qrels.levels.tolist()
    (2, [0.0, 1.0, 2.0])

    >>> import irbatch
    >>> subtopics = {"q1": {"price": {"d1": 1}, "taste": {"d1": 1, "d2": 1}}}
    >>> qrels, run = Qrels(subtopics, marks="subtopics"), {"q1": {"d2": 2.0, "d1": 1.0}}
    >>> irbatch.evaluate(qrels, run, "StRecall@1 alpha_nDCG@2").mean()
    {'StRecall@1': 0.5, 'alpha_nDCG@2': 0.8406064155285841}

    >>> strata = {"q1": {1: {"d1": 1, "d2": 0}, 2: {"d3": 1, "d4": -1}}}
    >>> qrels, run = Qrels(strata, marks="strata"), {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0}}
    >>> irbatch.evaluate(qrels, run, "InfNumRel xInfAP").mean()
    {'InfNumRel': 3.0, 'xInfAP': 0.7777766666833331}

    >>> drawn = {"q1": {"d1": (1, 1.0), "d2": (0, 0.5), "d3": (1, 0.25)}}
    >>> qrels, run = Qrels(drawn, marks="probabilities"), {"q1": {"d1": 2.0, "d3": 1.0}}
    >>> irbatch.evaluate(qrels, run, "StatAP StatP@2").mean()
    {'StatAP': 1.0, 'StatP@2': 2.5}
    """

    source = "qrels"

    def __init__(
        self, judgments: Mapping[Any, Any], name: str | None = None, *, marks: str | None = None
    ) -> None:
        if marks is None:
            self._fill(judgments, name)
        else:
            from irbatch.data.marked import read_nested

            own = read_nested(judgments, marks, name)
            self._fill(own.judgments, name, own, borrow=True)

    def _fill(
        self,
        judgments: Mapping[Any, Mapping[Any, Any]],
        name: str | None,
        marks: Marks | None = None,
        *,
        borrow: bool = False,
    ) -> None:
        if not is_table(judgments):
            check_nested(judgments, "qrels", name)
        if not judgments:
            raise InputError("there are no queries", source="qrels", path=name)
        self.name, self.marks = name, marks
        self.table: QueryTable | None = None
        self.documents: Sequence[Collection[Any]]
        self.query_kind: str | None
        self.document_kind: str | None
        if is_table(judgments):
            grades, most = self._fill_from_table(judgments), LISTED_PROBLEMS
        else:
            grades, most = self._fill_from_mappings(judgments, borrow=borrow), None
        if not (np.abs(grades) < LARGEST_WHOLE).all():  # the limit itself may have been rounded
            rows = (
                (query, document, grade)
                for query, documents in judgments.items()
                for document, grade in documents.items()
            )
            problems = number_errors("grade", rows, source="qrels", path=name)
            raise_problems(list(itertools.islice(problems, most)))
        self._grade(grades)

    def _fill_from_table(self, table: QueryTable) -> Floats:
        """Take all but the grades from a table; return these: float64 ``(judgments,)``."""
        from irbatch.data.columns import DocumentLists

        if table.repeated >= 0:
            problem, place = "this document was judged before", table.where(table.repeated)
            raise InputError(problem, source="qrels", path=self.name, **place)
        self.table, self.documents, self.starts = table, DocumentLists(table), table.starts
        self.document_kind = table.document_kind if len(table.documents) else None
        self.query_kind = column_kind(table.queries)
        return table.numbers

    def _fill_from_mappings(self, judgments: Mapping[Any, Any], *, borrow: bool) -> Floats:
        """Do the same with a mapping of mappings; NaN for grades that are not numbers."""
        mappings = list(judgments.values())
        self.documents = mappings if borrow else list(map(list, mappings))
        self.starts = offsets_of(np.fromiter(map(len, mappings), np.int64))
        self.queries = list(judgments)
        self.query_kind = same_kind(self.queries, "query", "qrels")
        grades = read_judgments(mappings, self.starts)
        if grades is not None:
            self.document_kind = "str" if grades.size else None
            return grades
        self.document_kind = kind_of_documents(self.queries, self.documents, "qrels")
        try:
            return as_floats([grade for documents in mappings for grade in documents.values()])
        except NUMBER_ERRORS:
            return np.array([np.nan])

    def _grade(self, grades: Floats) -> None:
        is_one = grades.strides == (0,)  # broadcast, as of documents that are only listed
        self.levels, codes = _tell_levels(grades[:1] if is_one else grades)
        self.levels.flags.writeable = False
        self.codes: NDArray[np.int32] = np.repeat(codes, grades.size) if is_one else codes
        self._negative = grades[grades < 0]  # what `codes` do not tell, in order

    @classmethod
    def borrow(
        cls, judgments: Mapping[Any, Any], name: str | None = None, marks: Marks | None = None
    ) -> Qrels:
        """Make judgments of mappings or arrays that will not change: ids are not copied.

        Copying them costs as much as looking them up, which is much for judgments used once.
        """
        qrels = cls.__new__(cls)
        qrels._fill(judgments, name, marks, borrow=True)
        return qrels

    def regraded(self, grades: Floats) -> Qrels:
        """Return the same documents with other grades, float64 ``(judgments,)``."""
        from copy import copy  # half a millisecond of importing irbatch

        other = copy(self)
        other.marks = None
        other._grade(grades)
        return other

    @classmethod
    def from_columns(
        cls,
        query_ids: Any,
        document_ids: Any,
        grades: Any,
        name: str | None = None,
        *,
        repeats: str = "error",
        subtopics: Any = None,
        strata: Any = None,
        probabilities: Any = None,
    ) -> Qrels:
        """Make judgments of columns, one row a judged document, in any order.

        Args:
            query_ids, document_ids: see `Run.from_columns`.
            grades: real numbers ``(rows,)`` up to 2^53.
            name: as above.
            repeats: what becomes of a document that a query has in several rows, as of repeated
                interactions: an ``"error"``, or one judgment, whose grade is the ``"first"``, the
                largest (``"max"``) or their ``"sum"``. Not beside marks.
            subtopics, strata, probabilities: marks ``(rows,)``, of one kind, see `Qrels`. Of
                subtopics there is a row for each of a document.

        Raises:
            InputError: as `Run.from_columns`, and if a grade is beyond 2^53.

        >>> Qrels.from_columns([7, 7, 8], [101, 102, 101], [2, 0, 1])
        <Qrels: 2 queries, 3 judgments>
        >>> Qrels.from_columns([7, 7, 8], ["a", "a", "b"], [1, 1, 1], subtopics=[1, 2, 1])
        <Qrels: 2 queries, 3 judgments of subtopics>
        """
        marks = {"subtopic": subtopics, "stratum": strata, "probability": probabilities}
        marks = {role: column for role, column in marks.items() if column is not None}
        if len(marks) > 1:
            problem = f"judgments have marks of one kind, not {join_words(list(marks))}"
            raise InputError(problem, source="qrels", path=name)
        columns = {"query": query_ids, "document": document_ids, "grade": grades, **marks}
        roles = {role: role for role in columns}
        return cls.from_table(columns, **roles, repeats=repeats, name=name)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str | None = None,
        document: str | None = None,
        grade: str | float | None = None,
        marks: str | None = None,
        subtopic: str | None = None,
        stratum: str | None = None,
        probability: str | None = None,
        repeats: str = "error",
        name: str | None = None,
    ) -> Qrels:
        """Make judgments of a table, one row a judged document, in any order.

        Args:
            table: see `Run.from_table`.
            query, document, grade: what the columns are called; default: a known name, as there,
                such as ``relevance``; in BEIR's tables the grades are called ``score``. Without
                a column of grades, a number is the grade of all; default 1, where no column is
                left that could be the grade.
            marks: as in the constructor; their column has a known name, such as ``subtopic_id``.
            subtopic, stratum, probability: what the column of marks is called, instead.
            repeats, name: as in `from_columns`.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> Qrels.from_table({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "label": [2, 0]})
        <Qrels: 1 query, 2 judgments>
        """
        from irbatch.data.column_names import MARK
        from irbatch.data.columns import check_repeats
        from irbatch.data.frames import read_roles, read_table

        role_columns = {
            "query": query, "document": document, "grade": grade,
            "subtopic": subtopic, "stratum": stratum, "probability": probability,
        }  # fmt: skip
        for reads, role in MARK.items():
            marks = marks if role_columns[role] is None else reads
        check_repeats(repeats, marks)
        if marks is None:
            return cls(read_table(table, "qrels", role_columns, name, repeats=repeats), name)
        from irbatch.data.marked import Marks

        check_choice("marks", marks, MARK)
        (*columns, column), _ = read_roles(table, marks, role_columns)
        with ErrorsIn(path=name):
            own = Marks(marks, column, *columns)
        return cls.borrow(own.judgments, name, own)

    @cached_property
    def queries(self) -> list[Any]:
        """The query ids, in the order given; those of a table are listed when asked for."""
        return list(self.as_table())

    def queries_at(self, rows: Positions) -> list[Any]:
        """Return the query ids at some positions."""
        if self.table is not None:
            return self.table.queries.take(rows).tolist()
        return list(map(self.queries.__getitem__, rows.tolist()))

    def __len__(self) -> int:
        return self.starts.size - 1

    def _counts(self) -> str:
        count = self.codes.size if self.marks is None else len(self.marks)
        of_marks = "" if self.marks is None else f" of {self.marks.reads}"
        return f"{super()._counts()}, {many(count, 'judgment')}{of_marks}"

    @property
    def grades(self) -> Floats:
        """The grades as they were given, in order: float64 ``(judgments,)``."""
        grades = np.empty(self.codes.size)
        negative = self.codes == NEGATIVE
        grades[~negative] = self.levels[self.codes[~negative]]
        grades[negative] = self._negative
        return grades

    def to_dict(self) -> dict[Any, dict[Any, int | float]]:
        """Return query to document to grade, made anew; whole grades are ints.

        >>> Qrels({"q1": {"d1": 2.0, "d2": -1, "d3": 0.5}}).to_dict()
        {'q1': {'d1': 2, 'd2': -1, 'd3': 0.5}}
        """
        documents: Iterable[Any] = itertools.chain.from_iterable(self.documents)
        if self.table is not None:  # whose texts are sooner made all at once
            documents = self.column.tolist()
        values, whole = self.grades, self.grades.astype(np.int64)
        grades: list[Any] = whole.tolist()
        if (values != whole).any():
            grades = [int(grade) if grade.is_integer() else grade for grade in values.tolist()]
        pairs = zip(documents, grades, strict=True)
        sizes = np.diff(self.starts).tolist()
        return {
            query: dict(itertools.islice(pairs, size))
            for query, size in zip(self.queries, sizes, strict=True)
        }

    def to_trec(self, path: str | os.PathLike[str]) -> None:
        """Write a TREC qrels file, ``query 0 document grade``, whole or not at all.

        Args:
            path: see `Run.to_trec`.

        Raises:
            InputError: naming an id that would be read as something else.
            OSError: as the system says.
        """
        self._write_lines(path)

    def as_table(self) -> QueryTable:  # noqa: D102 - inherits its docstring
        if self.table is not None:
            return self.table
        from irbatch.data.columns import QueryTable, as_ids

        queries = as_ids(self.queries, "query", "qrels")
        return QueryTable(queries, self.starts, self.column, self.grades)

    @cached_property
    def column(self) -> IdColumn:
        """All judged documents, query after query."""
        if self.table is not None:
            return self.table.documents
        ids = list(itertools.chain.from_iterable(self.documents))
        if self.document_kind == "str":
            return TextColumn.encode(ids)
        from irbatch.data.columns import as_ids

        return as_ids(ids, "document", "qrels")

    def places_in(self, table: QueryTable, rows: Positions | None = None) -> Ints:
        """Return where queries, or those at some rows, stand in a table; -1 for those missing."""
        count = len(self) if rows is None else rows.size
        ours = None if self.table is None or count < MANY else self.table.queries
        if ours is None or column_kind(ours) != column_kind(table.queries):
            return table.find(self.queries if rows is None else self.queries_at(rows))
        from irbatch.data.lookup import find_ids

        return find_ids(ours if rows is None else ours.take(rows), table.queries)

    @cached_property
    def row_of(self) -> dict[Any, int]:
        """Map the queries to their positions in `queries`."""
        return {query: row for row, query in enumerate(self.queries)}

    @cached_property
    def fingerprint(self) -> str:
        """Tells judgments apart: by their queries, in any order, and how often each grade is."""
        counts = np.bincount(np.maximum(self.codes, -1) + 1, minlength=self.levels.size + 1)
        facts = self.codes.size, self.levels.tolist(), counts.tolist()
        marks = () if self.marks is None else (self.marks.reads, len(self.marks))
        mixed = int(np.bitwise_xor.reduce(hash_ids(self.queries), initial=np.uint64(0)))
        return ", ".join([*map(str, (*facts, *marks)), f"{mixed:016x}"])

    def __getstate__(self) -> dict[str, Any]:
        made = ("row_of", "column", "fingerprint")  # again, where they are wanted
        return {name: value for name, value in vars(self).items() if name not in made}

    def level_counts(self, rows: Iterable[int]) -> Ints:
        """Count the documents judged at each level: int64 ``(queries, levels)``."""
        rows = np.asarray(rows, np.intp)
        codes, row_index = self.gather(rows)
        return count_levels(row_index, codes, (rows.size, self.levels.size))

    def gather(self, rows: Positions) -> tuple[NDArray[np.int32], Ints]:
        """Return the codes of some queries' judgments, and for each its query's place in `rows`."""
        counts = self.starts[rows + 1] - self.starts[rows]
        row_index = np.repeat(np.arange(rows.size), counts)
        return self.codes[joined_ranges(self.starts[rows], counts)], row_index

    def first_of(self, grade: float) -> tuple[Any, Any]:
        """Return the first query and document that were given a grade of `levels`."""
        place = int(np.argmax(self.codes == np.searchsorted(self.levels, grade)))
        row = int(np.searchsorted(self.starts, place, side="right")) - 1
        return self.queries[row], list(self.documents[row])[place - int(self.starts[row])]

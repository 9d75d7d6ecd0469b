"""Judgments that say more of a document than a grade: its subtopic, its stratum, its probability.

Rankings are joined with them as with any others: the kind of judgment, by number, takes the place
of the grade.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.column_names import KEYWORD, ROLES
from irbatch.data.columns import as_column, as_ids, as_numbers
from irbatch.data.ids import check_id, fingerprint, first_repeated, kinds_of, same_kind
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, kind_of, many, shown, warn
from irbatch.runtime.numbers import (
    LARGEST_WHOLE,
    NUMBER_ERRORS,
    as_floats,
    check_choice,
    check_keywords,
    grade_problem,
    number_problem,
)
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.engine.kinds import Probabilities, Strata
    from irbatch.engine.subtopics import Subtopics

Marks: TypeAlias = "Probabilities | Strata | Subtopics"

SOURCE = "qrels"  # what errors call them
AD_HOC = ({"0"}, {"Q0"}, {0})
"""What the second column of ad hoc judgments holds, in which others have subtopics."""

Rows = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Queries, marks, documents and grades."""


class View(NamedTuple):
    """Judgments from a least relevant grade on."""

    marks: Marks
    kinds: Floats | None = None  # (kinds,): what the kinds of judgments count as, if as others


class Joinable(NamedTuple):
    """Judgments in the form in which they are joined with a run."""

    qrels: Qrels  # whose grades are kinds of judgments, from 0 on
    views: dict[float | None, View]  # by least relevant grade; None: left open


class MarkedQrels:
    """Judgments with a mark beside the grade, prepared once for any number of runs.

    Each subclass is for one kind of mark.
    """

    mark: ClassVar[str]
    reads: ClassVar[str]  # the plural; also what measures that read them declare
    nested: ClassVar[str]  # what a mapping of them is
    lowest: ClassVar[float] = -math.inf  # of least relevant grades

    def __init__(self, judgments: Mapping[Any, Any], name: str | None = None) -> None:
        if not isinstance(judgments, Mapping):
            kind = kind_of(judgments)
            problem = f"judgments of {self.reads} are {self.nested}, not {kind}"
            raise InputError(problem, source=SOURCE, path=name)
        self.name = name
        self._keep(list(judgments), self._rows_of(judgments))

    @classmethod
    def from_columns(cls, *columns: Any, name: str | None = None, **options: Any) -> Self:
        """Make judgments of columns, one row a judgment, in any order.

        Args:
            columns: queries, subtopics or strata, documents and grades; or queries, documents,
                grades and probabilities: sequences, arrays or series of one length, ids and grades
                as `Qrels.from_columns` takes them.
            name, options: as in the constructor.

        Raises:
            InputError: as the constructor, and if columns differ in length.

        >>> SubtopicQrels.from_columns([7, 7, 8], [1, 2, 1], ["a", "a", "b"], [1, 1, 1])
        <SubtopicQrels: 2 queries, 3 judgments>
        >>> ProbabilityQrels.from_columns([7, 7], ["a", "b"], [1, 0], [1.0, 0.1])
        <ProbabilityQrels: 1 query, 2 judgments>
        """
        of_role = dict(zip(ROLES[cls.reads], columns, strict=True))
        marks = of_role[cls.mark]
        if cls.mark == "probability":
            listed = as_column(marks, cls.mark, SOURCE).tolist()
        else:
            listed = as_ids(marks, cls.mark, SOURCE).tolist()
        rows = (
            as_ids(of_role["query"], "query", SOURCE).tolist(),
            listed,
            as_ids(of_role["document"], "document", SOURCE).tolist(),
            as_numbers(of_role["grade"], SOURCE).tolist(),
        )
        if len(sizes := set(map(len, rows))) > 1:
            counts = ", ".join(map(str, sorted(sizes)))
            raise InputError(f"columns differ in length: {counts}", source=SOURCE, path=name)
        made = cls.__new__(cls)
        made._choose(**options)
        made.name = name
        made._keep(list(dict.fromkeys(rows[0])), rows)
        made._check_repeated()
        return made

    @classmethod
    def from_table(cls, table: Any, *, name: str | None = None, **options: Any) -> Self:
        """Make judgments of a table, one row a judgment, in any order.

        Args:
            table: see `Run.from_table`.
            name: as in the constructor.
            options: what the columns are called, by role: ``query``, ``document``, ``grade``, and
                ``subtopic``, ``stratum`` or ``probability``; default: a known name, such as
                ``query_id``, ``doc_id``, ``relevance``. Also options of the constructor.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> rows = {"qid": [1, 1], "subtopic": [1, 2], "docno": ["a", "b"], "label": [1, 1]}
        >>> SubtopicQrels.from_table(rows)
        <SubtopicQrels: 1 query, 2 judgments>
        """
        roles = ROLES[cls.reads]
        named = {role: options.pop(role) for role in roles if role in options}
        check_keywords(cls.from_table, options.keys() - {"unsampled"}, roles)
        return cls.of_table(table, named, name=name, **options)

    @classmethod
    def of_table(
        cls, table: Any, given: Mapping[str, Any], advice: str = KEYWORD, **options: Any
    ) -> Self:
        """Make judgments of a table; `given` and `advice` are as `choose_columns` takes them."""
        from irbatch.data.frames import read_named

        return cls.from_columns(*read_named(table, cls.reads, given, advice), **options)

    def _choose(self) -> None:
        """Take the options of a kind of mark, if it has any."""

    def _rows_of(self, judgments: Mapping[Any, Any]) -> Rows:
        """List query to mark to document to grade as rows; reject what cannot be an id."""
        rows: Rows = ([], [], [], [])
        for query, of_query in judgments.items():
            self._check_query(query, of_query, f"{self.reads} to documents to grades")
            same_kind(of_query, self.mark, SOURCE, query)
            for mark, documents in of_query.items():
                if not isinstance(documents, Mapping):
                    problem = f"a {self.mark}'s judgments are documents to grades"
                    hint = f"the measures read {self.reads}, see irbatch.{type(self).__name__}"
                    problem = f"{problem}, not {kind_of(documents)}; {hint}"
                    raise InputError(problem, source=SOURCE, query=query, path=self.name)
                rows[0].extend([query] * len(documents))
                rows[1].extend([mark] * len(documents))
                rows[2].extend(documents)
                rows[3].extend(documents.values())
        if None in kinds_of(rows[2]):
            for query, document in zip(rows[0], rows[2], strict=True):
                check_id(document, "document", SOURCE, query)
        return rows

    def _check_query(self, query: object, judgments: object, nested: str) -> None:
        check_id(query, "query", SOURCE)
        if not isinstance(judgments, Mapping):
            problem = f"a query's judgments are {nested}, not {kind_of(judgments)}"
            raise InputError(problem, source=SOURCE, query=query, path=self.name)

    def _keep(self, queries: list[Any], rows: Rows) -> None:
        """Keep rows, query after query; reject a grade that is not one."""
        if not queries:
            raise InputError("there are no queries", source=SOURCE, path=self.name)
        row_of = {query: row for row, query in enumerate(queries)}
        row_index = np.fromiter(map(row_of.__getitem__, rows[0]), np.int64, len(rows[0]))
        if (np.diff(row_index) < 0).any():
            order = np.argsort(row_index, kind="stable").tolist()
            rows = tuple([column[place] for place in order] for column in rows)  # type: ignore[assignment]
        bounds = offsets_of(np.bincount(row_index, minlength=len(queries))).tolist()
        self.queries = queries
        self._queries, self._marks, self._documents, grades = rows
        self._slices = list(map(slice, bounds[:-1], bounds[1:]))  # of each query
        self._grades = self._as_grades(grades)
        self._joinable: dict[tuple[float, ...], Joinable] = {}

    def _check_repeated(self) -> None:
        """Reject a document that is judged twice."""
        keys = self._keys()
        if (again := first_repeated(keys)) is not None:
            place = keys.index(again, keys.index(again) + 1)
            problem, grade = "this document was judged before", self._grades[place].item()
            raise self._row_error(problem, place, grade)

    def _keys(self) -> list[tuple[Any, ...]]:
        """Return what is judged by each row."""
        return list(zip(self._queries, self._documents, strict=True))

    def _as_grades(self, grades: list[Any]) -> Floats:
        with suppress(*NUMBER_ERRORS):
            numbers = as_floats(grades)
            if (np.abs(numbers) < LARGEST_WHOLE).all():
                return numbers
        for place, grade in enumerate(grades):
            if problem := grade_problem(grade):
                raise self._row_error(f"grade {problem}", place, grade)
        return np.array(grades, np.float64)

    def _row_error(self, problem: str, place: int, value: object) -> InputError:
        names = {"query": self._queries[place], "document": self._documents[place]}
        return InputError(problem, source=SOURCE, path=self.name, value=value, **names)

    @cached_property
    def fingerprint(self) -> str:
        """Tells judgments apart: by their queries and number."""
        return fingerprint(self.queries, self.reads, self._grades.size)

    def columns(self) -> Rows:
        """Return the judgments in columns; queries without any are in none."""
        return self._queries, self._marks, self._documents, self._grades.tolist()

    def at(self, rels: Iterable[float | None]) -> Joinable:
        """Return judgments to be joined, and how they look from some least relevant grades on.

        Raises:
            InputError: if a grade is no whole number and one of `rels` is None, left open.
        """
        rels = list(rels)
        fractions = (self._grades % 1 != 0) & (self._grades > 0)
        if None in rels and fractions.any():
            place = int(np.argmax(fractions))
            grade = float(self._grades[place])
            problem = f"grade {grade:g} is not a whole number: say from which grade on a document"
            raise self._row_error(f"{problem} is relevant, with rel=", place, grade)
        least = {rel: 1.0 if rel is None else max(float(rel), self.lowest) for rel in rels}
        wanted = tuple(dict.fromkeys(least.values()))
        if wanted not in self._joinable:
            self._joinable[wanted] = self._join(wanted)
        qrels, views = self._joinable[wanted]
        return Joinable(qrels, {rel: views[at] for rel, at in least.items()})

    def _join(self, rels: tuple[float, ...]) -> Joinable:
        """Make what `at` returns, with views by the very grades."""
        raise NotImplementedError

    def _numbered(
        self, kinds_of_rows: Sequence[tuple[Any, float] | None], none: tuple[Any, float]
    ) -> tuple[dict[Any, dict[Any, int]], list[tuple[Any, float]]]:
        """Give numbers to the kinds of judgments, from 1 on in their order, and 0 to None."""
        kinds = [none, *sorted({kind for kind in kinds_of_rows if kind is not None})]
        number: dict[Any, int] = {kind: i for i, kind in enumerate(kinds)} | {None: 0}
        judgments = {
            query: {
                document: number[kind]
                for document, kind in zip(self._documents[rows], kinds_of_rows[rows], strict=True)
            }
            for query, rows in zip(self.queries, self._slices, strict=True)
        }
        return judgments, kinds

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        counts = f"{many(len(self), 'query')}, {many(self._grades.size, 'judgment')}"
        return f"<{type(self).__name__}{named}: {counts}>"


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

    mark, reads = "subtopic", "subtopics"
    nested = "a mapping of queries to subtopics to documents to grades"

    @classmethod
    def from_columns(cls, *columns: Any, name: str | None = None, **options: Any) -> Self:
        """Make judgments of columns, see `MarkedQrels.from_columns`."""
        made = super().from_columns(*columns, name=name, **options)
        if {*made._marks} in AD_HOC:
            said = "no query has two subtopics: are these judgments of subtopics?"
            warn(f"qrels: {said} They are told by the column `iteration`, the second of a file")
        return made

    def _keys(self) -> list[tuple[Any, ...]]:
        return list(zip(self._queries, self._documents, self._marks, strict=True))

    def _join(self, rels: tuple[float, ...]) -> Joinable:
        """Make what `at` returns: grades number sets of subtopics, 0 the empty one.

        Of several least relevant grades a number stands for the document's sets at all of them.
        """
        sets, subtopics = zip(*map(self._number_sets, rels), strict=True)
        if len(rels) == 1:
            joined = Qrels(sets[0], self.name, borrowed=True)
            return Joinable(joined, {rels[0]: View(subtopics[0])})
        together: dict[tuple[int, ...], int] = {(0,) * len(rels): 0}
        judgments = {
            query: {
                document: together.setdefault(tuple(some[query][document] for some in sets),
                                              len(together))
                for document in sets[0][query]
            }
            for query in self.queries
        }  # fmt: skip
        kinds: Floats = np.array(list(together), np.float64).T
        views: dict[float | None, View] = {
            rel: View(subtopics[i], kinds[i]) for i, rel in enumerate(rels)
        }
        return Joinable(Qrels(judgments, self.name, borrowed=True), views)

    def _number_sets(self, least: float) -> tuple[dict[Any, dict[Any, int]], Subtopics]:
        """Give numbers to subtopics, by query, and to the sets of them that documents are of."""
        sets: dict[tuple[int, ...], int] = {(): 0}
        judgments: dict[Any, dict[Any, int]] = {}
        sizes: list[list[int]] = []  # of each query's subtopics: how many relevant documents
        best_first: list[list[int]] = []  # of each query's relevant documents: their sets
        is_relevant = (self._grades >= least).tolist()
        for query, rows in zip(self.queries, self._slices, strict=True):
            documents = self._documents[rows]
            judged = zip(documents, self._marks[rows], strict=True)
            of_subtopic: dict[Any, list[Any]] = {}
            for document, subtopic in itertools.compress(judged, is_relevant[rows]):
                of_subtopic.setdefault(subtopic, []).append(document)
            subtopics_of: dict[Any, list[int]] = {}  # of a document, ascending
            for number, subtopic in enumerate(sorted(of_subtopic)):
                for document in of_subtopic[subtopic]:
                    subtopics_of.setdefault(document, []).append(number)
            numbers = dict.fromkeys(documents, 0)
            for document in filter(subtopics_of.__contains__, numbers):
                numbers[document] = sets.setdefault(tuple(subtopics_of[document]), len(sets))
            judgments[query] = numbers
            sizes.append([len(of_subtopic[subtopic]) for subtopic in sorted(of_subtopic)])
            best_first.append([numbers[each] for each in sorted(subtopics_of, reverse=True)])
        return judgments, _as_subtopics(list(sets), sizes, best_first)


def _as_subtopics(
    sets: list[tuple[int, ...]], sizes: list[list[int]], best_first: list[list[int]]
) -> Subtopics:
    """Put sets, and what is known of each query's subtopics and relevant documents, in a row."""
    from irbatch.engine.subtopics import Subtopics

    return Subtopics(
        set_starts=offsets_of(list(map(len, sets))),
        members=np.array([number for some in sets for number in some], np.int64),
        counts=np.array(list(map(len, sizes)), np.int64),
        relevant_starts=offsets_of(list(map(len, sizes))),
        relevant=np.array([size for some in sizes for size in some], np.int64),
        judged_starts=offsets_of(list(map(len, best_first))),
        judged_sets=np.array([number for some in best_first for number in some], np.int64),
    )


class ProbabilityQrels(MarkedQrels):
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

    mark, reads, lowest = "probability", "probabilities", 0.0
    nested = "a mapping of queries to documents to pairs of grade and probability"

    def _rows_of(self, judgments: Mapping[Any, Any]) -> Rows:
        rows: Rows = ([], [], [], [])
        for query, documents in judgments.items():
            self._check_query(query, documents, "documents to pairs of grade and probability")
            for document, pair in documents.items():
                check_id(document, "document", SOURCE, query)
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    place = {"query": query, "document": document, "path": self.name}
                    problem = f"{shown(pair)} is not a pair of grade and probability"
                    raise InputError(problem, source=SOURCE, **place, value=pair)
                row = query, pair[1], document, pair[0]
                for column, cell in zip(rows, row, strict=True):
                    column.append(cell)
        return rows

    def _keep(self, queries: list[Any], rows: Rows) -> None:
        super()._keep(queries, rows)
        for place, probability in enumerate(self._marks):
            problem = number_problem(probability)
            if problem is None and not 0 < probability <= 1:
                problem = f"{probability} is not above 0 and at most 1"
            if problem is not None:
                raise self._row_error(f"probability {problem}", place, probability)

    def _join(self, rels: tuple[float, ...]) -> Joinable:
        from irbatch.engine.kinds import Probabilities

        graded = list(zip(self._grades.tolist(), map(float, self._marks), strict=True))
        counting = [pair if pair[0] >= min(rels) else None for pair in graded]
        judgments, kinds = self._numbered(counting, (-1.0, 1.0))
        grades, probabilities = np.array(kinds).T
        views: dict[float | None, View] = {}
        for rel in rels:
            relevant = [
                math.fsum(1.0 / probability for grade, probability in graded[rows] if grade >= rel)
                for rows in self._slices
            ]
            weights = 1.0 / probabilities
            views[rel] = View(Probabilities(grades, weights, rel, np.array(relevant, np.float64)))
        return Joinable(Qrels(judgments, self.name, borrowed=True), views)


UNSAMPLED = ("error", "ignore")  # what strata do of which no document was sampled


class StratumQrels(MarkedQrels):
    """Judgments of a pool whose documents were sampled by strata; prepared for any number of runs.

    Args:
        judgments: query id to stratum to document id to grade, below 0 for a pooled document that
            was not sampled. Ids are text or whole numbers, and so are strata.
        name: what error messages call it, e.g. its path.
        unsampled: what a stratum does of which no document was sampled: be an ``"error"``, as no
            sampling rate is known, or count as one without relevant documents (``"ignore"``), as
            for sample_eval.

    Raises:
        InputError: naming query, document and value of what cannot be a judgment.

    >>> import irbatch
    >>> qrels = StratumQrels({"q1": {1: {"d1": 1, "d2": 0}, 2: {"d3": 1, "d4": -1}}})
    >>> run = {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0}}
    >>> irbatch.evaluate(qrels, run, "InfNumRel xInfAP").mean()
    {'InfNumRel': 3.0, 'xInfAP': 0.7777766666833331}
    """

    mark, reads, lowest = "stratum", "strata", 0.0
    nested = "a mapping of queries to strata to documents to grades"

    def __init__(
        self, judgments: Mapping[Any, Any], name: str | None = None, unsampled: str = "error"
    ) -> None:
        self._choose(unsampled)
        super().__init__(judgments, name)

    def _choose(self, unsampled: str = "error") -> None:
        check_choice("unsampled", unsampled, UNSAMPLED)
        self._unsampled = unsampled

    def _keep(self, queries: list[Any], rows: Rows) -> None:
        super()._keep(queries, rows)
        self._check_repeated()  # also of nested ones: a document may be in two strata
        strata = list(zip(self._queries, self._marks, strict=True))
        sampled = {each for each, grade in zip(strata, self._grades, strict=True) if grade >= 0}
        for place, each in enumerate(strata) if self._unsampled == "error" else ():
            if each not in sampled:
                problem = f"no document of stratum {each[1]!r} was sampled: its relevant ones"
                hint = 'cannot be estimated; unsampled="ignore" counts none'
                raise self._row_error(f"{problem} {hint}", place, each[1])

    def _join(self, rels: tuple[float, ...]) -> Joinable:
        grades = np.maximum(self._grades, -1.0).tolist()
        kinds_of_rows: list[tuple[int, float]] = []
        for rows in self._slices:
            number = {stratum: i for i, stratum in enumerate(sorted(set(self._marks[rows])))}
            strata = map(number.__getitem__, self._marks[rows])
            kinds_of_rows += zip(strata, grades[rows], strict=True)
        judgments, kinds = self._numbered(kinds_of_rows, (0, -1.0))
        views: dict[float | None, View] = {
            rel: View(_count_strata(judgments.values(), kinds, rel)) for rel in rels
        }
        return Joinable(Qrels(judgments, self.name, borrowed=True), views)


def _count_strata(
    judgments: Iterable[Mapping[Any, int]], kinds: list[tuple[int, float]], rel: float
) -> Strata:
    """Count what is in the strata, and estimate how much is relevant."""
    weights, graded, relevant = [], [], []
    sizes = []
    for of_query in judgments:
        counts: dict[int, int] = {}
        for kind in of_query.values():
            counts[kind] = counts.get(kind, 0) + 1
        size = max((kinds[kind][0] + 1 for kind in counts), default=0)
        pooled, sampled = [0] * size, [0] * size
        for kind, count in counts.items():
            stratum, grade = kinds[kind]
            pooled[stratum] += count
            sampled[stratum] += count if grade >= 0 else 0
        own = [n / s if s else 0.0 for n, s in zip(pooled, sampled, strict=True)]
        by_grade: dict[float, float] = {}
        for kind in sorted(counts, key=kinds.__getitem__):
            stratum, grade = kinds[kind]
            if grade >= rel:
                estimate = counts[kind] * pooled[stratum] / sampled[stratum]
                by_grade[grade] = by_grade.get(grade, 0.0) + estimate
        sizes.append(size)
        weights += own
        graded.append(sorted(by_grade.items(), reverse=True))
        relevant.append(math.fsum(by_grade.values()))
    from irbatch.engine.kinds import Strata

    strata, grades = zip(*kinds, strict=True)
    return Strata(
        np.array(strata, np.int64), np.array(grades), rel, offsets_of(sizes),
        np.array(weights, np.float64), graded, np.array(relevant, np.float64),
    )  # fmt: skip

"""Marks beside the grades of judgments: of subtopics, of strata, of probabilities.

Rankings are joined with marked judgments as with any others: the kind of judgment, by number, takes
the place of the grade.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.column_names import MARK
from irbatch.data.columns import as_column, as_ids, as_numbers
from irbatch.data.ids import check_id, first_repeated, same_kind
from irbatch.errors import InputError, kind_of, shown, warn
from irbatch.runtime.numbers import check_choice, number_problem, read_numbers
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import cached_property

if TYPE_CHECKING:
    from irbatch.engine.kinds import Probabilities, Strata, Subtopics

MarkStatistics: TypeAlias = "Probabilities | Strata | Subtopics"

SOURCE = "qrels"  # what errors call them
AD_HOC = ({"0"}, {"Q0"}, {0})
"""What the second column of ad hoc judgments holds, in which others have subtopics."""

# What a query's judgments are, by what they have besides grades.
NESTED = {
    "subtopics": "subtopics to documents to grades",
    "strata": "strata to documents to grades",
    "probabilities": "documents to pairs of grade and probability",
}


class Rows(NamedTuple):
    """Judgments in columns, one row a mark."""

    queries: list[Any]
    documents: list[Any]
    grades: list[Any]
    marks: list[Any]

    def add(self, *columns: Iterable[Any]) -> None:
        """Add rows below."""
        for column, more in zip(self, columns, strict=False):
            column.extend(more)


class View(NamedTuple):
    """Judgments from a least relevant grade on."""

    statistics: MarkStatistics
    kinds: Floats | None = None  # (kinds,): what the kinds of judgments count as, if as others


def read_nested(judgments: Mapping[Any, Any], reads: str, name: str | None) -> Rows:
    """List nested judgments as rows; reject what is not nested so, and what cannot be an id."""
    check_choice("marks", reads, NESTED)
    if not isinstance(judgments, Mapping):
        problem = f"a mapping of queries to {NESTED[reads]}, not {kind_of(judgments)}"
        raise InputError(f"judgments of {reads} are {problem}", source=SOURCE, path=name)
    rows = Rows([], [], [], [])
    for query, of_query in judgments.items():
        check_id(query, "query", SOURCE)
        if not isinstance(of_query, Mapping):
            problem = f"a query's judgments are {NESTED[reads]}, not {kind_of(of_query)}"
            raise InputError(problem, source=SOURCE, query=query, path=name)
        if reads == "probabilities":
            pairs = of_query.items()
            for document, pair in pairs:
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    place = {"query": query, "document": document, "path": name}
                    problem = f"{shown(pair)} is not a pair of grade and probability"
                    raise InputError(problem, source=SOURCE, **place, value=pair)
            rows.add([query] * len(pairs), of_query, *zip(*of_query.values(), strict=True))
            continue
        same_kind(of_query, MARK[reads], SOURCE, query)
        for mark, documents in of_query.items():
            if not isinstance(documents, Mapping):
                problem = f"a {MARK[reads]}'s judgments are documents to grades"
                hint = f"the measures read {reads}, see irbatch.Qrels"
                problem = f"{problem}, not {kind_of(documents)}; {hint}"
                raise InputError(problem, source=SOURCE, query=query, path=name)
            size = len(documents)
            rows.add([query] * size, documents, documents.values(), [mark] * size)
    return rows


def read_rows(
    reads: str, marks: Any, queries: Any, documents: Any, grades: Any, *, name: str | None
) -> Rows:
    """Read columns of one length as rows."""
    read_mark = as_column if reads == "probabilities" else as_ids
    rows = Rows(
        as_ids(queries, "query", SOURCE).tolist(),
        as_ids(documents, "document", SOURCE).tolist(),
        as_numbers(grades, SOURCE).tolist(),
        read_mark(marks, MARK[reads], SOURCE).tolist(),
    )
    if len(sizes := set(map(len, rows))) > 1:
        counts = ", ".join(map(str, sorted(sizes)))
        raise InputError(f"columns differ in length: {counts}", source=SOURCE, path=name)
    if reads == "subtopics":
        keys = list(zip(rows.queries, rows.documents, rows.marks, strict=True))
        if (again := first_repeated(keys)) is not None:
            raise InputError("this document was judged before", source=SOURCE, path=name,
                             query=again[0], document=again[1])  # fmt: skip
    if reads == "subtopics" and {*rows.marks} in AD_HOC:
        problem = "no query has two subtopics: are these judgments of subtopics?"
        warn(f"qrels: {problem} They are told by the column `iteration`, the second of a file")
    return rows


class Marks:
    """The marks of judgments, a row each, query after query.

    Attributes:
        reads: ``"subtopics"``, ``"strata"`` or ``"probabilities"``; what measures declare.
        judgments: query to document to grade; of several subtopics, to the highest grade.
    """

    def __init__(self, reads: str, queries: Iterable[Any], rows: Rows, name: str | None) -> None:
        self.reads, self.name = reads, name
        row_of = {query: row for row, query in enumerate(queries)}
        self._query: Ints = np.fromiter(map(row_of.__getitem__, rows.queries), np.int64)
        if (self._query[1:] < self._query[:-1]).any():
            order = np.argsort(self._query, kind="stable")
            self._query = self._query[order]
            rows = Rows(*([column[row] for row in order.tolist()] for column in rows))
        self._documents, self._marks, self._queries = rows.documents, rows.marks, list(row_of)
        names = zip(rows.queries, rows.documents, strict=True)
        self._grades = read_numbers("grade", rows.grades, names, source=SOURCE, path=name)
        bounds = np.searchsorted(self._query, np.arange(len(row_of) + 1)).tolist()
        places: list[int] = []
        self._ids: list[Any] = []  # of judgments
        for first, last in itertools.pairwise(bounds):
            documents = rows.documents[first:last]
            distinct = dict.fromkeys(documents)
            place = dict(zip(distinct, itertools.count(len(self._ids)), strict=False))
            places += map(place.__getitem__, documents)
            self._ids += distinct
        self._judgment: Ints = np.array(places, np.int64)
        if reads != "subtopics" and len(self._ids) < len(places):
            again = int(np.argmax(self._judgment < np.arange(len(places))))
            value = self._grades[again].item()
            raise self._error("this document was judged before", again, value)
        grades = np.full(len(self._ids), -math.inf)
        np.maximum.at(grades, self._judgment, self._grades)
        query = np.zeros(len(self._ids), np.int64)
        query[self._judgment] = self._query
        self._starts: Ints = np.searchsorted(query, np.arange(len(row_of) + 1))
        listed = grades.tolist()
        self.judgments: dict[Any, dict[Any, float]] = {
            query: dict(zip(self._ids[first:last], listed[first:last], strict=True))
            for query, (first, last) in zip(
                row_of, itertools.pairwise(self._starts.tolist()), strict=True
            )
        }
        self._views: dict[tuple[float, ...], tuple[Any, dict[float, View]]] = {}
        if reads == "probabilities":
            self._check_probabilities()
        elif reads == "strata":
            self._warn_of_unsampled()

    def __len__(self) -> int:
        return len(self._marks)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_views": {}}

    @cached_property
    def _fractions(self) -> Ints:
        """The rows whose grades are positive and not whole."""
        return np.flatnonzero((self._grades % 1 != 0) & (self._grades > 0))

    def at(
        self, rels: Iterable[float | None], regraded: Callable[[Floats], Any]
    ) -> tuple[Any, dict[float | None, View]]:
        """Return judgments by kind, and how kinds look from some least relevant grades on.

        `regraded` makes judgments of kinds in place of grades; they are kept for the next call.
        """
        rels = list(rels)
        if None in rels and self._fractions.size:
            row = int(self._fractions[0])
            grade = float(self._grades[row])
            problem = f"grade {grade:g} is not a whole number: say from which grade on a document"
            raise self._error(f"{problem} is relevant, with rel=", row, grade)
        lowest = -math.inf if self.reads == "subtopics" else 0.0
        least = {rel: 1.0 if rel is None else max(float(rel), lowest) for rel in rels}
        distinct = tuple(dict.fromkeys(least.values()))
        if distinct not in self._views:
            kinds, views = self._join(distinct)
            self._views[distinct] = regraded(kinds.astype(np.float64)), views
        by_kind, views = self._views[distinct]
        return by_kind, {rel: views[at] for rel, at in least.items()}

    def _join(self, rels: tuple[float, ...]) -> tuple[Ints, dict[float, View]]:
        """Return each judgment's kind, which stands for its kinds at all `rels`, and the views."""
        view = {
            "subtopics": self._subtopics, "strata": self._strata,
            "probabilities": self._probabilities,
        }[self.reads]  # fmt: skip
        kinds, statistics = zip(*(view(rel, min(rels)) for rel in rels), strict=True)
        if all((numbers == kinds[0]).all() for numbers in kinds):
            return kinds[0], dict(zip(rels, map(View, statistics), strict=True))
        together: dict[tuple[int, ...], int] = {(0,) * len(rels): 0}
        columns = zip(*(numbers.tolist() for numbers in kinds), strict=True)
        joined = np.array(
            [together.setdefault(combination, len(together)) for combination in columns], np.int64
        )
        of_kinds: Floats = np.array(list(together), np.float64).T
        views = {rel: View(statistics[i], of_kinds[i]) for i, rel in enumerate(rels)}
        return joined, views

    def _subtopics(self, rel: float, _: float) -> tuple[Ints, Subtopics]:
        """Give numbers to the sets of subtopics that documents are relevant to, 0 the empty one."""
        from irbatch.engine.kinds import Subtopics

        some = self._grades >= rel
        judgment = self._judgment[some]
        number, counts, sizes = self._numbered(some)
        order = np.lexsort((number, judgment))
        members = number[order].tolist()
        documents, firsts = np.unique(judgment[order], return_index=True)
        ends = itertools.pairwise([*firsts.tolist(), len(members)])
        sets: dict[tuple[int, ...], int] = {(): 0}
        kinds = np.zeros(len(self._ids), np.int64)
        kinds[documents] = [
            sets.setdefault(tuple(members[first:end]), len(sets)) for first, end in ends
        ]
        best: list[int] = []  # of each query's relevant judgments, the largest id first
        relevant = documents.tolist()
        bounds = np.searchsorted(documents, self._starts).tolist()
        for first, last in itertools.pairwise(bounds):
            best += sorted(relevant[first:last], key=self._ids.__getitem__, reverse=True)
        return kinds, Subtopics(
            set_starts=offsets_of(list(map(len, sets))),
            members=np.array(list(itertools.chain.from_iterable(sets)), np.int64),
            counts=counts,
            relevant_starts=offsets_of(counts),
            relevant=sizes,
            judged_starts=np.array(bounds, np.int64),
            judged_sets=kinds[best],
        )

    def _numbered(self, some: Bools | slice = slice(None)) -> tuple[Ints, Ints, Ints]:
        """Give numbers to the marks of some rows from 0, in their order, in each query.

        Returns the number of each row, how many marks each query has, and how many rows each mark.
        """
        # Subtopics may be text in one query and numbers in another.
        order = sorted({*self._marks}, key=lambda mark: (isinstance(mark, str), mark))
        place = {mark: i for i, mark in enumerate(order)}
        of_row: Ints = np.fromiter(map(place.__getitem__, self._marks), np.int64)
        query = self._query[some]
        keys, number, sizes = np.unique(
            query * max(len(place), 1) + of_row[some], return_inverse=True, return_counts=True
        )
        counts = np.bincount(keys // max(len(place), 1), minlength=len(self._queries))
        return number - offsets_of(counts)[query], counts, sizes

    def _probabilities(self, rel: float, lowest: float) -> tuple[Ints, Probabilities]:
        """Give numbers to pairs of grade and probability from a `lowest` grade on, 0 to others."""
        from irbatch.engine.kinds import Probabilities

        counting = np.flatnonzero(self._grades >= lowest)
        chances = [float(self._marks[row]) for row in counting.tolist()]
        numbers = np.zeros(self._grades.size, np.int64)
        numbers[counting], kinds = _number_pairs(self._grades[counting], chances)
        grades, probabilities = np.array([(-1.0, 1.0), *kinds]).T
        weights: list[list[float]] = [[] for _ in self._queries]
        for row in np.flatnonzero(self._grades >= rel).tolist():
            weights[self._query[row]].append(1.0 / self._marks[row])
        estimates = np.array(list(map(math.fsum, weights)), np.float64)
        return numbers, Probabilities(grades, 1.0 / probabilities, rel, estimates)

    def _strata(self, rel: float, _: float) -> tuple[Ints, Strata]:
        """Give numbers to pairs of a stratum and a grade, and estimate how much is relevant."""
        from irbatch.engine.kinds import Strata

        of_query, counts, pooled = self._numbered()
        starts = offsets_of(counts)
        stratum = starts[self._query] + of_query
        sampled = np.bincount(stratum[self._grades >= 0], minlength=pooled.size)
        weights = np.divide(pooled, sampled, out=np.zeros(pooled.size), where=sampled > 0)
        number, kinds = _number_pairs(of_query, np.maximum(self._grades, -1.0).tolist())
        strata, grades = np.array([(0, -1.0), *kinds]).T
        cells, relevant = np.unique(
            np.stack([self._query, number])[:, self._grades >= rel], axis=1, return_counts=True
        )
        by_grade: list[dict[float, float]] = [{} for _ in self._queries]
        for query, kind, count in zip(*cells.tolist(), relevant.tolist(), strict=True):
            place, grade = starts[query] + int(strata[kind]), float(grades[kind])
            estimate = count * int(pooled[place]) / int(sampled[place])
            by_grade[query][grade] = by_grade[query].get(grade, 0.0) + estimate
        graded = [sorted(of_grade.items(), reverse=True) for of_grade in by_grade]
        estimates = np.array([math.fsum(of_grade.values()) for of_grade in by_grade], np.float64)
        counted = strata.astype(np.int64), starts, graded
        return number, Strata(grades, weights, rel, estimates, *counted)

    def _check_probabilities(self) -> None:
        for row, probability in enumerate(self._marks):
            problem = number_problem(probability)
            if problem is None and not 0 < probability <= 1:
                problem = f"{probability} is not above 0 and at most 1"
            if problem is not None:
                raise self._error(f"probability {problem}", row, probability)

    def _warn_of_unsampled(self) -> None:
        """Warn of strata whose sampling rate is not known."""
        strata = list(zip(self._query.tolist(), self._marks, strict=True))
        sampled = set(itertools.compress(strata, (self._grades >= 0).tolist()))
        for query, stratum in itertools.islice((s for s in strata if s not in sampled), 1):
            problem = f"no document of stratum {stratum!r} of query {self._queries[query]!r} was"
            warn(f"qrels: {problem} sampled: its relevant ones cannot be estimated, none count")

    def _error(self, problem: str, row: int, value: object) -> InputError:
        place = {"query": self._queries[self._query[row]], "document": self._documents[row]}
        return InputError(problem, source=SOURCE, path=self.name, value=value, **place)


def _number_pairs(
    firsts: Ints | Floats, seconds: Iterable[float]
) -> tuple[Ints, list[tuple[float, float]]]:
    """Give numbers to pairs, from 1 in their order; return each pair's, and the different pairs."""
    pairs = list(zip(firsts.tolist(), seconds, strict=True))
    kinds = sorted(set(pairs))
    number = {kind: i for i, kind in enumerate(kinds, 1)}
    return np.array(list(map(number.__getitem__, pairs)), np.int64), kinds

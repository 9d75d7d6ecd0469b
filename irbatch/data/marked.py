"""Marks beside the grades of judgments: of subtopics, of strata, of probabilities.

Rankings are joined with marked judgments as with any others: the kind of judgment, by number, takes
the place of the grade.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.column_names import MARK
from irbatch.data.columns import QueryTable, as_column, as_ids, check_numbers, read_rows
from irbatch.data.lookup import find_repeats, first_rows, number_repeats
from irbatch.engine.kinds import Probabilities, Strata, Subtopics
from irbatch.errors import ErrorsIn, InputError, kind_of, shown, warn
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.ragged import offsets_of

MarkStatistics = Probabilities | Strata | Subtopics
# Judgments from a least relevant grade on; and what their kinds count as, `(kinds,)`, if as others.
View = tuple[MarkStatistics, Floats | None]

SOURCE = "qrels"  # what errors call them
AD_HOC = (["0"], ["Q0"], [0])
"""What the second column of ad hoc judgments holds, in which others have subtopics."""

# What a query's judgments are, by what they have besides grades.
NESTED = {
    "subtopics": "subtopics to documents to grades",
    "strata": "strata to documents to grades",
    "probabilities": "documents to pairs of grade and probability",
}


def read_nested(judgments: Mapping[Any, Any], reads: str, name: str | None) -> Marks:
    """Read nested judgments, see `irbatch.Qrels`."""
    check_choice("marks", reads, NESTED)
    with ErrorsIn(source=SOURCE, path=name):
        if not isinstance(judgments, Mapping):
            problem = f"a mapping of queries to {NESTED[reads]}, not {kind_of(judgments)}"
            raise InputError(f"judgments of {reads} are {problem}")
        rows = [list(_list_rows(query, own, reads)) for query, own in judgments.items()]
        columns = ([row[i] for own in rows for row in own] for i in range(4))
        marks, queries, documents, grades = columns
        runs = as_ids(list(judgments), "query", SOURCE), offsets_of(list(map(len, rows)))[:-1]
        return Marks(reads, marks, queries, documents, grades, runs)


def _list_rows(query: Any, judgments: Any, reads: str) -> Iterator[tuple[Any, Any, Any, Any]]:
    """List a query's judgments: mark, query, document and grade."""
    if not isinstance(judgments, Mapping):
        problem = f"a query's judgments are {NESTED[reads]}, not {kind_of(judgments)}"
        raise InputError(problem, query=query)
    for key, value in judgments.items():
        if reads == "probabilities":
            if not isinstance(value, tuple | list) or len(value) != 2:
                problem = f"{shown(value)} is not a pair of grade and probability"
                raise InputError(problem, query=query, document=key, value=value)
            yield value[1], query, key, value[0]
        elif isinstance(value, Mapping):
            yield from ((key, query, document, grade) for document, grade in value.items())
        else:
            problem = f"a {MARK[reads]}'s judgments are documents to grades, not {kind_of(value)}"
            hint = f"the measures read {reads}, see irbatch.Qrels"
            raise InputError(f"{problem}; {hint}", query=query)


class Marks:
    """The marks of judgments, a row each, query after query.

    Args:
        marks, queries, documents, grades: columns of one length.
        runs: of consecutive rows with one query: the query, and the first row, perhaps of none.

    Attributes:
        reads: ``"subtopics"``, ``"strata"`` or ``"probabilities"``; what measures declare.
        judgments: query to document to grade; of several subtopics, to the highest grade.
    """

    def __init__(
        self,
        reads: str,
        marks: Any,
        queries: Any,
        documents: Any,
        grades: Any,
        runs: tuple[Any, Ints] | None = None,
    ) -> None:
        self.reads = reads
        read = as_column if reads == "probabilities" else as_ids
        query_ids, document_ids, numbers, listed = read_rows(
            queries, documents, grades, SOURCE, lambda: read(marks, MARK[reads], SOURCE).tolist()
        )
        firsts = first_rows(query_ids)
        queries, firsts = runs or (query_ids.take(firsts), firsts)
        rows = np.arange(numbers.size, dtype=np.float64)
        self._table = QueryTable.from_runs(queries, firsts, document_ids, rows)
        order = self._table.numbers.astype(np.int64)
        self._grades = numbers[order]
        listed = [listed[row] for row in order.tolist()]
        if reads == "probabilities":
            limits, where = {"above": 0.0, "most": 1.0}, self._table.where
            self._marks: Any = check_numbers("probability", listed, where, SOURCE, limits)
        else:
            names = sorted(set(listed))
            place = {mark: i for i, mark in enumerate(names)}
            self._marks = np.fromiter(map(place.__getitem__, listed), np.int64, len(listed))
            if reads == "subtopics" and runs is None and names in AD_HOC:
                problem = "no query has two subtopics: are these judgments of subtopics?"
                how = "They are told by the column `iteration`, the second of a file"
                warn(f"qrels: {problem} {how}")
        self._query = self._table.row_index
        repeats = find_repeats(self._table.keyed, order.size + 1)
        self._judgment, distinct = number_repeats(repeats, order.size)
        self._reject_repeats()
        highest = np.full(distinct.size, -math.inf)
        np.maximum.at(highest, self._judgment, self._grades)
        self._starts = np.searchsorted(self._query[distinct], np.arange(len(self._table) + 1))
        ids = self._table.documents.take(distinct)
        self._ids: list[Any] = ids.tolist()  # of judgments
        table = QueryTable(self._table.queries, self._starts, ids, highest)
        self.judgments: dict[Any, dict[Any, float]] = dict(table)
        self._views: dict[tuple[float, ...], tuple[Any, dict[float, View]]] = {}

    def __len__(self) -> int:
        return self._grades.size

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_views": {}}

    def _reject_repeats(self) -> None:
        """Reject a document that a query has twice, of subtopics one that has the same twice."""
        keys = self._judgment
        if self.reads == "subtopics":
            keys = keys * (int(self._marks.max(initial=0)) + 1) + self._marks
        firsts = np.unique(keys, return_index=True)[1]
        for row in np.setdiff1d(np.arange(keys.size), firsts)[:1].tolist():
            place = {**self._table.where(row), "value": self._grades[row].item()}
            raise InputError("this document was judged before", **place)

    def at(
        self, rels: Iterable[float | None], regraded: Callable[[Floats], Any]
    ) -> tuple[Any, dict[float | None, View]]:
        """Return judgments by kind, and how kinds look from some least relevant grades on.

        `regraded` makes judgments of kinds in place of grades; they are kept for the next call.
        """
        rels = list(rels)
        fractions = (self._grades % 1 != 0) & (self._grades > 0)
        for row in np.flatnonzero(fractions)[:1].tolist() if None in rels else ():
            grade = float(self._grades[row])
            problem = f"grade {grade:g} is not a whole number: say from which grade on a document"
            problem = f"{problem} is relevant, with rel="
            raise InputError(problem, source=SOURCE, value=grade, **self._table.where(row))
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
            return kinds[0], {rel: (own, None) for rel, own in zip(rels, statistics, strict=True)}
        # Each combination of kinds is one, and that of no kinds is the first.
        none = np.zeros((len(rels), 1), np.int64)
        combinations, joined = np.unique(
            np.concatenate([none, np.stack(kinds)], axis=1), axis=1, return_inverse=True
        )
        views = zip(statistics, combinations.astype(np.float64), strict=True)
        return joined.reshape(-1)[1:], dict(zip(rels, views, strict=True))

    def _subtopics(self, rel: float, _: float) -> tuple[Ints, Subtopics]:
        """Give numbers to the sets of subtopics that documents are relevant to, 0 the empty one."""
        some = self._grades >= rel
        judgment = self._judgment[some]
        number, counts, sizes = self._numbered(some)
        order = np.lexsort((number, judgment))
        members = number[order].tolist()
        documents, firsts = np.unique(judgment[order], return_index=True)
        ends = itertools.pairwise([*firsts.tolist(), len(members)])
        sets: dict[tuple[int, ...], int] = {(): 0}
        kinds = np.zeros(len(self._ids), np.int64)
        of_documents = (tuple(members[first:end]) for first, end in ends)
        kinds[documents] = [sets.setdefault(own, len(sets)) for own in of_documents]
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
        """Give some rows' marks numbers in each query; count a query's marks, and a mark's rows."""
        query, width = self._query[some], int(self._marks.max(initial=0)) + 1
        keys = query * width + self._marks[some]
        keys, number, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        counts = np.bincount(keys // width, minlength=len(self._table))
        return number - offsets_of(counts)[query], counts, sizes

    def _probabilities(self, rel: float, lowest: float) -> tuple[Ints, Probabilities]:
        """Give numbers to pairs of grade and probability from a `lowest` grade on, 0 to others."""
        counting = np.flatnonzero(self._grades >= lowest)
        numbers = np.zeros(self._grades.size, np.int64)
        numbers[counting], kinds = _number_pairs(self._grades[counting], self._marks[counting])
        grades, probabilities = np.column_stack([(-1.0, 1.0), kinds])
        weights: list[list[float]] = [[] for _ in range(len(self._table))]
        for row in np.flatnonzero(self._grades >= rel).tolist():
            weights[self._query[row]].append(1.0 / self._marks[row])
        estimates = np.array(list(map(math.fsum, weights)), np.float64)
        return numbers, Probabilities(grades, 1.0 / probabilities, rel, estimates)

    def _strata(self, rel: float, _: float) -> tuple[Ints, Strata]:
        """Give numbers to pairs of a stratum and a grade, and estimate how much is relevant."""
        of_query, counts, pooled = self._numbered()
        starts = offsets_of(counts)
        stratum = starts[self._query] + of_query
        sampled = np.bincount(stratum[self._grades >= 0], minlength=pooled.size)
        weights = np.divide(pooled, sampled, out=np.zeros(pooled.size), where=sampled > 0)
        number, kinds = _number_pairs(of_query, np.maximum(self._grades, -1.0))
        strata, grades = np.column_stack([(0.0, -1.0), kinds])
        relevant_cells = np.stack([self._query, number])[:, self._grades >= rel]
        cells, relevant = np.unique(relevant_cells, axis=1, return_counts=True)
        by_grade: list[dict[float, float]] = [{} for _ in range(len(self._table))]
        for query, kind, count in zip(*cells.tolist(), relevant.tolist(), strict=True):
            place, grade = starts[query] + int(strata[kind]), float(grades[kind])
            estimate = count * int(pooled[place]) / int(sampled[place])
            by_grade[query][grade] = by_grade[query].get(grade, 0.0) + estimate
        graded = [sorted(of_grade.items(), reverse=True) for of_grade in by_grade]
        estimates = np.array([math.fsum(of_grade.values()) for of_grade in by_grade], np.float64)
        counted = strata.astype(np.int64), starts, graded
        return number, Strata(grades, weights, rel, estimates, *counted)


def _number_pairs(firsts: Ints | Floats, seconds: Floats) -> tuple[Ints, Floats]:
    """Give numbers to pairs, from 1 in their order; also return the pairs, ``(2, pairs)``."""
    pairs, number = np.unique(np.stack([firsts, seconds]), axis=1, return_inverse=True)
    return np.asarray(number.reshape(-1) + 1), pairs.astype(np.float64)

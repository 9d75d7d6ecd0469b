"""A small problem in neutral form, and what is to come of it: the parts of a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Triple = tuple[Any, Any, Any]  # query, document, and grade or score
Found = dict[str, dict[Any, float]]  # measure to query to value
MEAN = "the mean"  # in place of a query, where an entrance tells nothing of queries


@dataclass(frozen=True)
class Problem:
    """Judgments and a run, triple by triple, and how they are to be given and evaluated."""

    judged: tuple[Triple, ...] = (
        ("q1", "d1", 0),
        ("q1", "d2", 1),
        ("q2", "d1", 1),
        ("q2", "d2", 0),
    )
    ranked: tuple[Triple, ...] = (
        *(("q1", "d1", 1.0), ("q1", "d2", 2.0)),
        *(("q2", "d1", 0.25), ("q2", "d2", 0.5)),
    )
    measures: tuple[Any, ...] = ("RR",)
    judged_empty: tuple[Any, ...] = ()  # queries of the judgments that have no documents
    ranked_empty: tuple[Any, ...] = ()  # queries of the run that have no documents
    qrels_file: bytes | None = None  # what stands in a file, byte by byte
    run_file: bytes | None = None
    arrange: Callable[[Any], Any] | None = None  # done to every array that is handed over
    about: str = ""  # what only some entrances can be given: see `demands`

    def scored(self, relevant: Any, other: Any) -> Problem:
        """Return the problem with other scores in q2, whose relevant document is named first."""
        return replace(self, ranked=(*self.ranked[:2], ("q2", "d1", relevant), ("q2", "d2", other)))

    def graded(self, grade: Any, **changed: Any) -> Problem:
        """Return the problem with another grade of d1 in q2."""
        return replace(
            self, judged=(*self.judged[:2], ("q2", "d1", grade), ("q2", "d2", 0)), **changed
        )

    def renamed(
        self, ids: Mapping[Any, Any], *, judged: bool = True, ranked: bool = True
    ) -> Problem:
        """Return the problem with other ids of queries and documents, on one side or both."""

        def rename(triples: tuple[Triple, ...]) -> tuple[Triple, ...]:
            return tuple((ids.get(q, q), ids.get(d, d), x) for q, d, x in triples)

        return replace(
            self,
            judged=rename(self.judged) if judged else self.judged,
            ranked=rename(self.ranked) if ranked else self.ranked,
        )

    def queries(self) -> list[Any]:
        """Return the queries of the judgments, in their order."""
        return list(dict.fromkeys([*(q for q, _, _ in self.judged), *self.judged_empty]))

    def grades(self, query: Any) -> dict[Any, Any]:
        return {d: grade for q, d, grade in self.judged if q == query}

    def ranking(self, query: Any) -> list[tuple[Any, Any]]:
        """Return documents and scores of a query, as they stand in the problem."""
        return [(d, score) for q, d, score in self.ranked if q == query]

    def ordered(self, query: Any) -> list[Any]:
        """Return the documents of a query, best first; ties by id, descending."""
        return [d for d, _ in sorted(self.ranking(query), key=lambda e: (e[1], e[0]), reverse=True)]


@dataclass(frozen=True)
class Values:
    """The values that are to come out, of the first measure unless measures are named."""

    values: Mapping[Any, float]  # query to value
    more: Mapping[str, Mapping[Any, float]] = field(default_factory=dict)  # of other measures
    warns: str = ""  # a pattern of the one warning that there is

    def of(self, measures: tuple[Any, ...]) -> Found:
        return {str(measures[0]): dict(self.values), **{m: dict(v) for m, v in self.more.items()}}


@dataclass(frozen=True)
class Refused:
    """The refusal that is to come: what its text says, and where it says it is.

    `at` is the place of the triple at fault in the run, or in the judgments if so said by `side`:
    its row, its line, or its query and document are to be named, as far as an entrance has them.
    """

    says: str = ""  # a pattern, found in the text
    at: int | None = None
    side: str | None = "run"
    line: int | None = None  # of a file given byte by byte


Wanted = Values | Refused


@dataclass(frozen=True)
class Row:
    """A row of the table: a problem, what is wanted of it, and where the product differs, why."""

    number: int
    what: str
    problem: Problem
    wanted: Wanted
    # Entrances, or traits of entrances, of which something else is wanted; with the reason.
    but: Mapping[str, tuple[Wanted, str]] = field(default_factory=dict)
    # Entrances, or traits of them, that cannot be given this; with the reason.
    cannot: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.number} {self.what}"


def is_number(cell: object) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool)


def demands(problem: Problem) -> set[str]:
    """Name what an entrance must be able to be given for this problem."""
    return set(
        filter(None, (problem.about, *_of_ids(problem), *_of_cells(problem), *_of_shape(problem)))
    )


def _of_ids(problem: Problem) -> list[str]:
    found = []
    columns = [[t[i] for t in side] for side in (problem.judged, problem.ranked) for i in (0, 1)]
    ids = [each for column in columns for each in column]
    if any(not isinstance(each, str) for each in ids):
        found.append("ids that are no text")
    if any(not isinstance(each, str | int | np.integer) or isinstance(each, bool) for each in ids):
        found.append("ids of other types")
    if any(len({isinstance(each, str) for each in column}) > 1 for column in columns):
        found.append("ids of two kinds")
    if any(isinstance(each, int) and not -(2**63) <= each < 2**63 for each in ids):
        found.append("ids beyond int64")
    texts = [each for each in ids if isinstance(each, str)]
    if any(not each or each.split() != [each] or not each.isprintable() for each in texts):
        found.append("ids that are no words")
    if any("\ud800" <= c <= "\udfff" for each in texts for c in each):
        found.append("lone surrogates")
    return found


def _of_cells(problem: Problem) -> list[str]:
    found = []
    for source, triples in (("grade", problem.judged), ("score", problem.ranked)):
        cells = [cell for _, _, cell in triples]
        if any(not is_number(cell) for cell in cells):
            found.append(f"a {source} that is no number")
        if any(cell is None for cell in cells):
            found.append("nulls")
        elif any(not is_number(cell) for cell in cells) and len({type(c) for c in cells}) > 1:
            found.append("cells of several types")
        elif any(isinstance(cell, bool) for cell in cells):
            found.append("truth values")
        elif any(isinstance(cell, str) for cell in cells):
            found.append("numbers as text")
        if any(isinstance(cell, complex) for cell in cells):
            found.append("complex numbers")
        if any(isinstance(cell, int) and abs(cell) >= 2**63 for cell in cells):
            found.append("whole numbers beyond int64")
        if any(isinstance(cell, np.float16) for cell in cells):
            found.append("16-bit numbers")
        if source == "score" and any(isinstance(c, float) and not math.isfinite(c) for c in cells):
            found.append("scores that are not finite")
        if source == "grade" and any(is_number(c) and (c < 0 or c % 1) for c in cells):
            found.append("fractional or negative grades")
    return found


def _of_shape(problem: Problem) -> list[str]:
    found = []
    if problem.qrels_file is not None or problem.run_file is not None:
        found.append("bytes of a file")
    if problem.arrange is not None:
        found.append("arrays")
    pairs = [[t[:2] for t in side] for side in (problem.judged, problem.ranked)]
    if len(set(pairs[0])) < len(pairs[0]):
        found.append("a judgment twice")
    if len(set(pairs[1])) < len(pairs[1]):
        found.append("a document twice")
    if problem.judged_empty:
        found.append("queries judged without documents")
    if problem.ranked_empty:
        found.append("empty rankings")
    sides = {q for q, _, _ in problem.judged}, {q for q, _, _ in problem.ranked}
    sides[0].update(problem.judged_empty)
    sides[1].update(problem.ranked_empty)
    if not all(sides):
        found.append("nothing on one side")
    if sides[0] != sides[1]:
        found.append("queries of one side")
    if set(pairs[0]) - set(pairs[1]):
        found.append("judged documents that are not ranked")
    if set(pairs[1]) - set(pairs[0]):
        found.append("unjudged documents")
        if {"Bpref", "Judged@5"} & set(map(str, problem.measures)):
            found.append("a measure of unjudged documents")
    if _tied(problem):
        found.append("ties")
    return found


def _tied(problem: Problem) -> bool:
    """Tell whether documents of different grades, which are numbers, share a score."""
    try:
        for query in {q for q, _, _ in problem.ranked}:
            grades = problem.grades(query)
            seen: dict[float, Any] = {}
            for document, score in problem.ranking(query):
                grade = grades.get(document, 0)
                known = seen.setdefault(float(score), grade)
                if known != grade and known == known and grade == grade:
                    return True
    except (TypeError, ValueError, OverflowError):
        return False
    return False

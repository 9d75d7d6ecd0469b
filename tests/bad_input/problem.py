"""A small problem in neutral form, and what is to come of it at an entrance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Triple = tuple[Any, Any, Any]  # query, document, and grade or score
Found = dict[str, dict[Any, float]]  # measure to query to value
MEAN = "the mean"  # in place of a query, where an entrance tells nothing of queries


@dataclass(frozen=True)
class Problem:
    """Judgments and a run, triple by triple, or what stands in their files."""

    judged: tuple[Triple, ...] = (
        *(("q1", "d1", 0), ("q1", "d2", 1)),
        *(("q2", "d1", 1), ("q2", "d2", 0)),
    )
    ranked: tuple[Triple, ...] = (
        *(("q1", "d1", 1.0), ("q1", "d2", 2.0)),
        *(("q2", "d1", 0.25), ("q2", "d2", 0.5)),
    )
    measures: tuple[str, ...] = ("RR",)
    judged_empty: tuple[Any, ...] = ()  # queries of the judgments that have no documents
    ranked_empty: tuple[Any, ...] = ()  # queries of the run that have no documents
    qrels_file: bytes | None = None  # what stands in a file, byte by byte
    run_file: bytes | None = None

    def scored(self, relevant: Any, other: Any) -> Problem:
        """Return the problem with other scores in q2, whose relevant document is named first."""
        return replace(self, ranked=(*self.ranked[:2], ("q2", "d1", relevant), ("q2", "d2", other)))

    def graded(self, grade: Any, **changed: Any) -> Problem:
        """Return the problem with another grade of d1 in q2."""
        judged = (*self.judged[:2], ("q2", "d1", grade), ("q2", "d2", 0))
        return replace(self, judged=judged, **changed)

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

    def of(self, measures: tuple[str, ...]) -> Found:
        return {measures[0]: dict(self.values), **{m: dict(v) for m, v in self.more.items()}}


@dataclass(frozen=True)
class Rejected:
    """The error that is to come: a pattern that its text has, and where it says the fault is.

    `at` is the place of the triple at fault in the run, or in the judgments if so said by `side`:
    its row, its line, or its query and document are to be named, as far as an entrance has them.
    """

    says: str = ""
    at: int | None = None
    side: str = "run"
    line: int | None = None  # of a file given byte by byte


@dataclass(frozen=True)
class Row:
    """A problem and what is wanted of it; `but`: of entrances, or traits, that want otherwise.

    What is ``None`` there cannot be given there, or is another problem. A row about ids or scores
    is only for entrances that have them.
    """

    what: str
    problem: Problem
    wanted: Values | Rejected
    but: Mapping[str, Values | Rejected | None] = field(default_factory=dict)
    about: str = ""


def reciprocal_ranks(
    problem: Problem, compared: Callable[[Any], Any], *, expected: bool
) -> dict[Any, float]:
    """Return each query's reciprocal rank, slowly.

    Args:
        problem: with scores that are numbers.
        compared: what a score is compared as.
        expected: the mean over all orders of tied documents, not the order by id.
    """
    found = {}
    for query in problem.queries():
        grades = problem.grades(query)
        scores = {d: compared(score) for d, score in problem.ranking(query)}
        relevant = [d for d in scores if grades.get(d, 0) >= 1]
        found[query] = 0.0
        if not relevant:
            continue
        best = max(scores[d] for d in relevant)
        above = sum(score > best for score in scores.values())
        tied = [d for d, score in scores.items() if score == best]
        hits = sum(d in relevant for d in tied)
        if not expected:
            order = sorted(tied, reverse=True)
            first = min(order.index(d) for d in relevant if scores[d] == best)
            found[query] = 1 / (above + first + 1)
            continue
        ways = math.comb(len(tied), hits)
        found[query] = math.fsum(
            math.comb(len(tied) - first, hits - 1) / ways / (above + first)
            for first in range(1, len(tied) - hits + 2)
        )
    return found

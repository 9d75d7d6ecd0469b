"""How many queries there were, and what is marked of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from irbatch.array_types import Bools, Bytes, Floats
from irbatch.errors import warn
from irbatch.measures import Measure


class QueryMark(IntFlag):
    """What is marked of a query, see `Counts`; states that were written hold these numbers."""

    NO_RELEVANT = 1
    EMPTY = 2
    TIED = 4
    MISSING = 8

    def where(self, holds: Bools) -> Bytes:
        """Return marks, uint8 ``(queries,)``, of queries that it holds of or not."""
        return holds * np.uint8(self)

    def holds(self, marks: Bytes) -> Bools:
        """Tell of which queries it holds, from their marks."""
        return (marks & np.uint8(self)).astype(bool)


@dataclass(frozen=True)
class Counts:
    """How many queries there were, and what became of them.

    Attributes:
        queries: averaged.
        judged: in the qrels.
        answered: in both the qrels and the run.
        missing: in the qrels only; they score 0 unless asked otherwise.
        extra: in the run only; they are ignored.
        no_relevant: averaged ones without a document of grade 1 (or `rel`, where given) or more.
        empty: answered ones whose ranking is empty.
        tied: those whose values depend on the order of documents that share a score, where ids
            don't decide it.
    """

    queries: int
    judged: int
    answered: int
    missing: int
    extra: int
    no_relevant: int
    empty: int
    tied: int = 0


def count_queries(marks: Bytes, judged: int | None = None, extra: int = 0) -> Counts:
    """Count the queries averaged, by their marks; `judged` defaults to their number."""
    no_relevant, empty, tied, missing = (
        int(np.count_nonzero(marks & mark.value)) for mark in QueryMark
    )
    answered = marks.size - missing
    judged = marks.size if judged is None else judged
    return Counts(marks.size, judged, answered, judged - answered, extra, no_relevant, empty, tied)


def best_without(measures: Sequence[Measure], values: Floats, marks: Bytes) -> list[str]:
    """Name measures of candidates that are at their best for queries without a ranking.

    Values are ``(queries, measures)``, and may have weights behind them.
    """
    without = QueryMark.MISSING.holds(marks) | QueryMark.EMPTY.holds(marks)
    best: list[str] = []
    if not without.any():
        return best
    for each, column in zip(measures, values.T, strict=False):
        declared = each.declaration
        of_candidates = declared.reads == "relevant" or declared.undefined is not None
        if of_candidates and (column[without] == each.range[0 if each.sign < 0 else 1]).any():
            best.append(str(each))
    return best


def warn_of_best(best: Sequence[str]) -> None:
    """Warn of measures that `best_without` names."""
    if best:
        says = "missing='skip' leaves them out, and ranks at a cutoff count as not found"
        warn(f"{', '.join(best)}: best of all for queries without a ranking; {says}")

"""How many queries there were, and what is marked of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from irbatch.array_types import Bools, Bytes


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
        no_relevant: averaged ones without a document of grade 1 or more.
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

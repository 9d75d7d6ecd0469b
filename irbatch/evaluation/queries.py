"""The queries of an evaluation: what is counted and marked of them, and said."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes, Floats, Positions
from irbatch.data.ids import KINDS, id_kind
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, warn
from irbatch.evaluation.settings import Settings
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


def warn_of_best(measures: Sequence[Measure], values: Floats, marks: Bytes) -> None:
    """Warn of measures of candidates that are at their best for queries without a ranking.

    Values are ``(queries, measures)``, and may have weights behind them.
    """
    without = QueryMark.MISSING.holds(marks) | QueryMark.EMPTY.holds(marks)
    best: list[str] = []
    for each, column in zip(measures, values.T, strict=False):
        declared = each.declaration
        of_candidates = declared.reads == "relevant" or declared.undefined is not None
        if of_candidates and (column[without] == each.range[0 if each.sign < 0 else 1]).any():
            best.append(str(each))
    if best:
        says = "missing='skip' leaves them out, and ranks at a cutoff count as not found"
        warn(f"{', '.join(best)}: best of all for queries without a ranking; {says}")


ENOUGH = 10  # queries in which some document should be judged, had ids the same spelling
SAMPLES = 3  # ids shown of each side when nothing matches


class Queries(NamedTuple):
    """How many queries there are, and some of their ids, for messages."""

    number: int
    ids: Sequence[Any]

    @classmethod
    def of(cls, ids: Collection[Any]) -> Queries:
        """Return the number of some queries, and as many ids as messages look at."""
        return cls(len(ids), list(itertools.islice(ids, SAMPLES + 1)))

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.ids[:SAMPLES]))
        return shown + (", …" if len(self.ids) > SAMPLES else "")

    @property
    def kind(self) -> str:
        """What the ids are, for messages."""
        return KINDS[str(id_kind(type(self.ids[0])))]


@dataclass(eq=False)
class Partition:
    """Part of a run: whole rankings of some queries, beside others elsewhere.

    Nothing is said of queries that it doesn't answer, nor of its documents being unjudged: others
    may know better.

    Args:
        apart: whether the judgments are of these queries alone; else only answered ones are
            evaluated.
        absent: positions in `Qrels.queries` of those to evaluate, without rankings.

    Attributes:
        answered: all queries that there is a ranking for, judged or not.
        any_judged: whether any document retrieved is judged.
        document: one that is judged, if there is any.
    """

    apart: bool = False
    absent: Positions | None = None
    answered: Collection[Any] = ()
    any_judged: bool = False
    document: Any = None

    def choose(self, qrels: Qrels, answered: Collection[Any], missing: str) -> Positions:
        """Choose the queries to evaluate, in the order of the judgments."""
        if self.absent is not None:
            return self.absent
        if self.apart and missing != "skip":  # an error is one of all partitions
            return np.arange(len(qrels))
        found = (qrels.row_of.get(query, -1) for query in answered)
        rows = np.fromiter(found, np.intp, len(answered))
        return np.sort(rows[rows >= 0])


def check_answered(
    judged: Queries, absent: Queries, run: Queries, missing: str, name: str | None
) -> None:
    """Reject a run of other queries, or one that lacks queries against the settings.

    `absent` are those of the judged queries that the run doesn't answer.
    """
    reject = functools.partial(InputError, source="run", path=name)
    if absent.number == judged.number and run.number:
        kinds = ""
        if judged.ids and judged.kind != run.kind:
            kinds = (
                f"; ids are {judged.kind} in the qrels and {run.kind} in the run: make both text, "
                "as they are in text files"
            )
        raise reject(
            f"no query of it is judged (of {run.number}): qrels have {judged}, the run has "
            f"{run}{kinds}"
        )
    if not run.number:
        warn(f"{_name_run(name)} is empty: every query scores 0")
    if absent.number and missing == "error":
        raise reject(
            f"{absent.number} of {judged.number} judged queries are missing, such as "
            f'{absent}; missing="zero" scores them 0, "skip" leaves them out'
        )


def warn_of_empty(counts: Counts, settings: Settings, name: str | None) -> None:
    """Warn of a run whose rankings, of several queries, are all empty."""
    if counts.answered > 1 and counts.empty == counts.answered and not settings.judged_only:
        warn(f"{_name_run(name)} has empty rankings alone: every query scores 0")


def warn_of_unjudged(document: object, answered: int, name: str | None) -> None:
    """Warn of a run none of whose documents is judged, as `document` is, if it answers enough."""
    if document is not None and answered >= ENOUGH:
        spelled = f"are ids spelled as in the qrels, such as {document!r}?"
        warn(f"{_name_run(name)}: none of its documents is judged; {spelled}")


def first_document(qrels: Qrels) -> Any:
    """Return a judged document; None if there is none."""
    return next(iter(next(filter(None, qrels.documents)))) if qrels.codes.size else None


def _name_run(name: str | None) -> str:
    return f"run {name!r}" if name else "run"

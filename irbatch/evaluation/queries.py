"""The queries of an evaluation: which are averaged, what is counted of them, and warned of."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes, Positions
from irbatch.data.ids import KINDS, form_hint, id_kind
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, keyword, many, warn

SAMPLES = 3  # ids shown of each side when nothing matches
ENOUGH = 10  # queries in which some document should be judged, or relevant


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


class Counts(NamedTuple):
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


class Queries:
    """How many queries there are, and some of their ids if they are known, for messages."""

    def __init__(self, number: int, ids: Sequence[Any]) -> None:
        self.number, self.ids = number, ids

    @classmethod
    def of(cls, ids: Collection[Any]) -> Queries:
        """Return the number of some queries, and as many ids as messages look at."""
        return cls(len(ids), list(itertools.islice(ids, SAMPLES + 1)))

    def __str__(self) -> str:
        if not self.ids:
            return many(self.number, "query")
        shown = ", ".join(map(repr, self.ids[:SAMPLES]))
        return shown + (", …" if len(self.ids) > SAMPLES else "")

    @property
    def kind(self) -> str:
        """What the ids are, for messages."""
        return KINDS[str(id_kind(type(self.ids[0])))]


def choose_queries(
    qrels: Qrels, ranked_rows: Positions, answered: Collection[Any], missing: str, name: str | None
) -> Positions:
    """Return the positions of the queries to average, where those of `ranked_rows` have a ranking.

    `answered` are all queries that the run has a ranking for.

    Raises:
        InputError: if none of them is judged, or one is missing with ``missing="error"``.
    """
    all_rows = np.arange(len(qrels))
    if ranked_rows.size < all_rows.size or not ranked_rows.size:
        absent = np.setdiff1d(all_rows, ranked_rows, assume_unique=True)
        samples = [qrels.queries[row] for row in absent[: SAMPLES + 1].tolist()]
        of_run = Queries.of(answered)
        check_answered(
            Queries.of(qrels.queries), Queries(absent.size, samples), of_run, missing, name
        )
    return ranked_rows if missing == "skip" else all_rows


def check_answered(
    judged: Queries, absent: Queries, run: Queries, missing: str, name: str | None
) -> None:
    """Reject a run of other queries, or one that lacks queries against the settings.

    `absent` are those of the judged queries that the run doesn't answer.
    """
    reject = functools.partial(InputError, source="run", path=name)
    if absent.number == judged.number and run.number:
        kinds = form_hint([*judged.ids, *run.ids])
        if judged.ids and run.ids and judged.kind != run.kind:
            kinds = (
                f"; ids are {judged.kind} in the qrels and {run.kind} in the run: make both text, "
                "as they are in text files"
            )
        raise reject(
            f"no query of it is judged (of {run.number}): qrels have {judged}, the run has "
            f"{run}{kinds}"
        )
    if not run.number:
        warn(f"{name_run(name)} is empty: every query scores 0")
    if absent.number and missing == "error":
        such = f", such as {absent}" if absent.ids else ""
        raise reject(
            f"{absent.number} of {judged.number} judged queries are missing{such}; "
            f"{keyword('missing', 'zero')} scores them 0, 'skip' leaves them out"
        )


def level_of(settings: Mapping[str, str]) -> str:
    """Return the grade from which documents are relevant unless a measure says otherwise.

    >>> level_of({"relevant": "grade >= 4 unless rel="}), level_of({})
    ('4', '1')
    """
    return settings.get("relevant", "grade >= 1").removeprefix("grade >= ").partition(" ")[0]


def name_run(name: str | None) -> str:
    """Name a run for messages."""
    return f"run {name!r}" if name else "run"


# ---------------------------------------------------------------- what means hide, or leave out


def warn_of_run(results: Any, settings: Any, qrels: Qrels, *, any_judged: bool) -> None:
    """Warn of what makes means of a run's queries say little, or else than they seem to."""
    warn_of_empty(results.counts, settings, results.name)
    if not any_judged and qrels.codes.size:
        warn_of_unjudged(first_document(qrels), results.counts.answered, results.name)
    warn(*notes_on(results))


def notes_on(results: Any) -> list[str]:
    """Say what means leave out, and whether nothing is relevant; without numbers: once."""
    return [*left_out(results), *nothing_relevant(results)]


def left_out(results: Any) -> list[str]:
    """Name measures whose means leave out queries without a ranking, as no rank is the worst."""
    ranks = [
        column
        for column, measure in enumerate(results.columns)
        if measure.declaration.reads == "relevant" and measure.declaration.builtin
    ]
    if not ranks or not results.has_values:  # values may wait to be computed
        return []
    counted = np.ones(len(results.marks), bool)
    if results.settings.get("queries without relevant documents") == "skip":
        counted = (results.marks & (QueryMark.MISSING | QueryMark.EMPTY)).astype(bool)
    values = results.values[counted]
    names = [str(results.columns[i]) for i in ranks if np.isnan(values[:, i]).any()]
    left = "queries without a ranking are left out of the mean"
    hint = "; at a cutoff k, FirstRank, MeanRank and MedianRank are k + 1 there"
    return [f"{', '.join(names)}: {left}{hint}"] if names else []


def warn_of_empty(counts: Counts, settings: Any, name: str | None) -> None:
    """Warn of a run whose rankings, of several queries, are all empty."""
    if counts.answered > 1 and counts.empty == counts.answered and not settings.judged_only:
        warn(f"{name_run(name)} has empty rankings alone: every query scores 0")


def warn_of_unjudged(document: object, answered: int, name: str | None) -> None:
    """Warn of a run none of whose documents is judged, as `document` is, if it answers enough."""
    if answered >= ENOUGH:
        such = "" if document is None else f", such as {document!r}"
        spelled = f"are ids spelled as in the qrels{such}?{form_hint([document])}"
        warn(f"{name_run(name)}: none of its documents is judged; {spelled}")


def first_document(qrels: Qrels) -> Any:
    """Return a judged document; None if there is none."""
    return next(iter(next(filter(None, qrels.documents)))) if qrels.codes.size else None


def nothing_relevant(results: Any) -> list[str]:
    """Say so, where none of many queries has a relevant document.

    Gains below 1 are those of relevant documents, too, if a measure finds any.
    """
    if results.counts.no_relevant < max(results.counts.queries, ENOUGH):
        return []
    judging = [column for column in results.columns if column.aggregate != "sum" and column.sign]
    means = [results[column] for column in judging if column.name != "Judged"]
    if any(mean not in (0, math.inf) and mean == mean for mean in means):
        return []
    level = level_of(results.settings)
    what = f"no query has a relevant document (of grade {level} or more)"
    check = "check the labels" if level == "1" else f"check the labels and rel={level}"
    return [f"{what}, so measures are 0 or undefined, however good rankings are: {check}"]

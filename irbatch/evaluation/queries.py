"""What is known of evaluated queries: values, marks and counts; what is to be said of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import IntFlag
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes, Floats, NDArray, Positions
from irbatch.data.ids import KINDS, form_hint, id_kind
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, keyword, many, warn
from irbatch.measures import Measure, call_formula

if TYPE_CHECKING:
    from irbatch.engine.items import ItemArrays, ItemCounts, ItemRows

SAMPLES = 3  # ids shown of each side when nothing matches
ENOUGH = 10  # queries in which some document should be judged, or relevant
Counted = NDArray[np.int32]


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


class RunItems(NamedTuple):
    """The items of each query, in rank order, up to the deepest cutoff of a measure.

    `lists` are int32 ``(documents,)`` of each, as `ItemRanks` has them.
    """

    known: ItemArrays
    lists: Sequence[ItemRows]

    def counted(self, cutoff: int | None) -> ItemCounts:
        """Count the items up to a rank."""
        from irbatch.engine.items import ItemCounts  # for those who have items

        return ItemCounts.of(self.known, self.lists, math.inf if cutoff is None else cutoff)

    def take(self, rows: Sequence[int]) -> RunItems:
        """Return those of some queries."""
        return RunItems(self.known, [self.lists[row] for row in rows])


class Rows:
    """What is known of queries, one a row.

    Args:
        values: ``(queries, columns)``, of measures and, behind them, see `with_weights`.
        marks: ``(queries,)``, see `QueryMark`; default: none.
        judgment_counts: ``(queries, 2)``, how many documents are relevant, and how many judged;
            None where labels of what was ranked are all there is.
        items: where measures of the whole run read them.
    """

    def __init__(
        self,
        values: Floats,
        marks: Bytes | None = None,
        judgment_counts: Counted | None = None,
        items: RunItems | None = None,
    ) -> None:
        self.values = values
        self.marks: Bytes = np.zeros(len(values), np.uint8) if marks is None else marks
        self.judgment_counts, self.items = judgment_counts, items

    def __len__(self) -> int:
        return len(self.marks)

    def take(self, rows: Any) -> Rows:
        """Return those of some queries."""
        judgments = None if self.judgment_counts is None else self.judgment_counts[rows]
        items = None if self.items is None else self.items.take(rows)
        return Rows(self.values[rows], self.marks[rows], judgments, items)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Put some, at least one, one after the other."""
        if len(parts) == 1:
            return parts[0]
        numbers = [part.judgment_counts for part in parts if len(part)]
        judgments = [some for some in numbers if some is not None]
        items = [part.items for part in parts if part.items is not None]
        listed = [ranked for some in items for ranked in some.lists]
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.marks for part in parts]),
            np.concatenate(judgments) if judgments and len(judgments) == len(numbers) else None,
            RunItems(items[0].known, listed) if items else None,
        )


def value_of(measure: Measure, counts: ItemCounts) -> float:
    """Return the value of a measure of a whole run, checked, since users write formulas."""
    if (value := call_formula(measure, counts)).shape:
        problem = f"the formula of {measure.name} returned shape {value.shape}, not a number"
        raise InputError(problem, source="measures")
    return float(value)


def with_weights(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures and, behind them, what weights the values of some: one each a column."""
    return [*measures, *(measure.weight for measure in measures if measure.aggregate == "weighted")]


def weight_column(measures: Sequence[Measure], column: int) -> int:
    """Return the column of a measure's weights."""
    return len(with_weights(measures[:column])) + len(measures) - column


def check_answered(
    counts: Counts,
    missing: str,
    name: str | None,
    qrels: Qrels | None,
    absent: Positions | None = None,
    answered: Iterable[Any] = (),
) -> None:
    """Reject a run of other queries, or one that lacks queries against the settings.

    `absent` are the positions in the qrels of those that the run doesn't answer; what is known of
    these, and of the queries `answered`, is shown.
    """
    of_run, problem = counts.answered + counts.extra, ""
    if not of_run:
        warn(f"{name_run(name)} is empty: every query scores 0")
    elif not counts.answered:
        judged = [] if qrels is None else qrels.queries_at(np.arange(len(qrels))[: SAMPLES + 1])
        ranked = [*itertools.islice(answered, SAMPLES + 1)]
        hint = form_hint([*judged, *ranked])
        kinds = [KINDS[str(id_kind(type(ids[0])))] for ids in (judged, ranked) if ids]
        if len(set(kinds)) == 2:
            hint = "; ids are {} in the qrels and {} in the run: make both text, as they are in "
            hint = hint.format(*kinds) + "text files"
        problem = f"no query of it is judged (of {of_run}): qrels have "
        problem += f"{_list(judged, counts.judged)}, the run has {_list(ranked, of_run)}{hint}"
    if counts.missing and missing == "error" and not problem:
        such = ""
        if qrels is not None and absent is not None:
            such = f", such as {_list(qrels.queries_at(absent[: SAMPLES + 1]))}"
        problem = f"{counts.missing} of {counts.judged} judged queries are missing{such}; "
        problem += f"{keyword('missing', 'zero')} scores them 0, 'skip' leaves them out"
    if problem:
        raise InputError(problem, source="run", path=name)


def _list(ids: Sequence[Any], number: int = 0) -> str:
    """List the first of some queries; without these say how many they are."""
    more = ["…"] if len(ids) > SAMPLES else []
    return ", ".join([*map(repr, ids[:SAMPLES]), *more]) or many(number, "query")


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


def notes_on(results: Any) -> list[str]:
    """Say what means leave out, and whether nothing is relevant; without numbers: once."""
    notes, settings = [], results.settings
    ranks = [  # of which none is the worst
        column
        for column, measure in enumerate(results.columns)
        if measure.declaration.reads == "relevant" and measure.declaration.builtin
    ]
    if ranks and results.has_values:  # which may wait to be computed
        values = results.values
        if settings.get("queries without relevant documents") == "skip":
            values = values[(QueryMark.MISSING | QueryMark.EMPTY).holds(results.marks)]
        if names := [str(results.columns[i]) for i in ranks if np.isnan(values[:, i]).any()]:
            left = "queries without a ranking are left out of the mean"
            hint = "at a cutoff k, FirstRank, MeanRank and MedianRank are k + 1 there"
            notes.append(f"{', '.join(names)}: {left}; {hint}")
    if results.counts.no_relevant >= max(results.counts.queries, ENOUGH):
        judging = [of for of in results.columns if of.aggregate != "sum" and of.sign]
        means = [results[of] for of in judging if of.name != "Judged"]
        # Gains below 1 are those of relevant documents, too, if a measure finds any.
        if all(mean in (0, math.inf) or math.isnan(mean) for mean in means):
            level = level_of(settings)
            what = f"no query has a relevant document (of grade {level} or more)"
            check = "check the labels" if level == "1" else f"check the labels and rel={level}"
            undefined = "so measures are 0 or undefined, however good rankings are"
            notes.append(f"{what}, {undefined}: {check}")
    return notes


def warn_of_unjudged(qrels: Qrels | None, answered: int, name: str | None) -> None:
    """Warn of a run none of whose documents is judged, if it answers enough; None: unknown ones."""
    if answered < ENOUGH or (qrels is not None and not qrels.codes.size):
        return
    document = None if qrels is None else next(iter(next(filter(None, qrels.documents))))
    such = "" if document is None else f", such as {document!r}"
    spelled = f"are ids spelled as in the qrels{such}?{form_hint([document])}"
    warn(f"{name_run(name)}: none of its documents is judged; {spelled}")

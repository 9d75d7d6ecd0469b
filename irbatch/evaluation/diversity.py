"""Evaluating by judgments of subtopics: the same join, then measures that read `SubtopicRanks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.data.qrels import Qrels
from irbatch.data.subtopics import SubtopicQrels
from irbatch.engine.judged import collect_judged
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.subtopics import SubtopicRanks, Subtopics
from irbatch.engine.ties.orders import orders_of
from irbatch.errors import InputError
from irbatch.evaluation.counts import QueryMark
from irbatch.evaluation.pipeline import Watch
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, apply_formula

Evaluate = Callable[[Qrels, Watch], Results]
"""Joins a run with judgments, has its blocks watched, and returns results of no measures."""

DECIDED_BY_GRADES = ("pessimistic", "optimistic")


def read_subtopics(measures: Sequence[Measure]) -> bool:
    """Tell whether measures read subtopics, all of them; InputError if some do and some don't."""
    those = [each for each in measures if each.declaration.reads == "subtopics"]
    if those and len(those) < len(measures):
        other = next(each for each in measures if each not in those)
        problem = f"{those[0]} reads judgments of subtopics, {other} grades"
        raise InputError(f"{problem}: evaluate them one after the other", source="measures")
    return bool(those)


def evaluate_subtopics(
    qrels: SubtopicQrels, measures: Sequence[Measure], settings: Settings, evaluate: Evaluate
) -> Results:
    """Return the results of measures of diversity; those of one ``rel`` share a join."""
    if settings.ties in DECIDED_BY_GRADES:
        problem = f"ties={settings.ties!r} goes by grades, which sets of subtopics don't have"
        raise InputError(problem, source="ties", value=settings.ties)
    values = np.zeros((len(qrels), len(measures)))
    wanted = [settings.rel if each["rel"] is None else each["rel"] for each in measures]
    for rel in dict.fromkeys(wanted):
        positions = [position for position, each in enumerate(wanted) if each == rel]
        judged, subtopics = qrels.at(rel)
        some = [measures[position] for position in positions]

        def watch(
            rows: Positions,
            matrix: RelevanceMatrix,
            subtopics: Subtopics = subtopics,
            some: list[Measure] = some,
            positions: list[int] = positions,
        ) -> None:
            values[rows[:, None], positions] = _values(subtopics, rows, matrix, some)

        found = evaluate(judged, watch)
    row_of = {query: row for row, query in enumerate(judged.queries)}
    values = values[[row_of[query] for query in found.query_ids]]
    if settings.no_relevant == "skip":
        values[QueryMark.NO_RELEVANT.holds(found.marks)] = np.nan
    return Results(
        values, found.query_ids, measures, found.counts, found.settings, found.name, found.marks
    )


def _values(
    subtopics: Subtopics, queries: Positions, matrix: RelevanceMatrix, measures: Sequence[Measure]
) -> Floats:
    """Compute measures of the queries of a block: float64 ``(queries, measures)``."""
    ranks = _ranks(subtopics, queries, matrix)
    values = np.column_stack([*_columns(ranks, measures)])
    for row, orders in orders_of(matrix):
        of_each = [
            _values(subtopics, np.repeat(queries[row], some.retrieved.size), some, measures)
            for some in orders
        ]
        values[row] = np.concatenate(of_each).mean(axis=0)
    return values


def _columns(ranks: SubtopicRanks, measures: Sequence[Measure]) -> Iterator[Floats]:
    for each in measures:
        yield apply_formula(each, ranks.at(each.cutoff), ())


def _ranks(subtopics: Subtopics, queries: Positions, matrix: RelevanceMatrix) -> SubtopicRanks:
    judged = collect_judged(matrix)
    sets = matrix.levels.astype(np.int64)[np.maximum(judged.codes, 0)]
    some = (sets > 0) & (judged.codes >= 0)
    return SubtopicRanks(
        subtopics,
        queries.astype(np.int64),
        matrix.retrieved,
        judged.row_index[some],
        judged.ranks[some],
        sets[some],
    )

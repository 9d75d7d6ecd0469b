"""Evaluating by judgments of subtopics, strata or probabilities.

The join is that of all judgments; the measures read what `irbatch.data.marked.Marks` make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.data.marked import MarkedQrels, Marks
from irbatch.data.qrels import Qrels
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError
from irbatch.evaluation.pipeline import Watch
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, apply_formula, needs_relevant

Evaluate = Callable[[Qrels, Watch], Results]
"""Joins a run with judgments, has its blocks watched, and returns results of no measures."""

DECIDED_BY_GRADES = ("pessimistic", "optimistic")


def evaluate_marked(
    judgments: MarkedQrels, measures: Sequence[Measure], settings: Settings, evaluate: Evaluate
) -> Results:
    """Return the results of measures that read marks; all share a join."""
    if settings.ties in DECIDED_BY_GRADES:
        problem = f"ties={settings.ties!r} goes by grades, {judgments.reads} have no such order"
        raise InputError(problem, source="ties", value=settings.ties)
    wanted = [settings.rel if each["rel"] is None else each["rel"] for each in measures]
    qrels, views = judgments.at(dict.fromkeys(wanted))
    places = {rel: [i for i, each in enumerate(wanted) if each == rel] for rel in views}
    values = np.zeros((len(qrels), len(measures)))

    def see(queries: Positions, matrix: RelevanceMatrix) -> None:
        for rel, (marks, kinds) in views.items():
            some = [measures[place] for place in places[rel]]
            seen = matrix
            if kinds is not None:
                seen = matrix.regraded(kinds[matrix.levels.astype(np.int64)])
            values[queries[:, None], places[rel]] = _values(marks, queries, seen, some)

    depths = [each.cutoff for each in measures if each.declaration.takes_cutoff]
    deepest = None if None in depths else max(filter(None, depths), default=1)
    found = evaluate(qrels, Watch(see, deepest))
    row_of = {query: row for row, query in enumerate(qrels.queries)}
    rows = np.array([row_of[query] for query in found.query_ids], np.intp)
    values = values[rows]
    nothing = {rel: view.marks.no_relevant[rows] for rel, view in views.items()}
    if settings.no_relevant == "skip":
        for place, (each, rel) in enumerate(zip(measures, wanted, strict=True)):
            if needs_relevant(each):
                values[nothing[rel], place] = np.nan
    nowhere = np.logical_and.reduce(list(nothing.values()))
    marks = found.marks & ~np.uint8(QueryMark.NO_RELEVANT)
    marks |= QueryMark.NO_RELEVANT.where(nowhere)
    counts = replace(found.counts, no_relevant=int(nowhere.sum()))
    return Results(values, found.query_ids, measures, counts, found.settings, found.name, marks)


def _values(
    marks: Marks, queries: Positions, matrix: RelevanceMatrix, measures: Sequence[Measure]
) -> Floats:
    """Compute measures of the queries of a block: float64 ``(queries, measures)``."""
    ranks = marks.ranks(queries, matrix)
    columns = [apply_formula(each, ranks.at(each.cutoff), ()) for each in measures]
    values = np.column_stack(columns)
    from irbatch.engine.orders import orders_of  # for those who have ties

    for row, orders in orders_of(matrix):
        of_each = [
            _values(marks, np.repeat(queries[row], some.retrieved.size), some, measures)
            for some in orders
        ]
        values[row] = np.concatenate(of_each).mean(axis=0)
    return values

"""Evaluating by judgments of subtopics, strata or probabilities.

The join is that of all judgments; the measures read what `irbatch.data.marked.Marks` makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.marked import Marks, MarkStatistics
from irbatch.data.qrels import Qrels
from irbatch.engine.kinds import RANKS_OF
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, keyword
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan, apply_formula, needs_relevant


class MarkedValues:
    """The values of measures that read marks: all share a join, with those that read grades.

    Attributes:
        qrels: the judgments as they are joined with a run.
        depth: down to which rank the measures look, None of all or if unjudged documents go first.
    """

    def __init__(self, qrels: Qrels, marks: Marks, plan: Plan, settings: Settings) -> None:
        if settings.ties in ("pessimistic", "optimistic"):
            how = keyword("ties", settings.ties)
            problem = f"{how} goes by grades, {marks.reads} have no such order"
            raise InputError(problem, source="ties", value=settings.ties)
        self._skips, self._own = settings.no_relevant == "skip", qrels
        self._relevant = qrels.levels >= settings.least_relevant
        measures = {place: plan.measures[place] for place in plan.of_marks}
        rels = {
            place: settings.rel if measure["rel"] is None else measure["rel"]
            for place, measure in measures.items()
        }
        by_kind, views = marks.at(dict.fromkeys(rels.values()), qrels.regraded)
        self._views = [
            (view, {place: measures[place] for place in rels if rels[place] == rel})
            for rel, view in views.items()
        ]
        depths = [of.cutoff for of in measures.values() if of.declaration.takes_cutoff]
        whole = None in depths or settings.judged_only
        self.depth = None if whole else max(filter(None, depths), default=1)
        self.qrels: Qrels = by_kind
        self._grades = 1  # that a kind is told apart by
        if plan.columns > len(measures):
            self.depth, self._grades = None, qrels.levels.size + 1
            grades = np.maximum(qrels.codes, -1) + 1
            self.qrels = qrels.regraded(by_kind.grades * self._grades + grades)

    def graded(self, matrix: RelevanceMatrix) -> RelevanceMatrix:
        """Return a block of the join with the documents' grades, for measures that read these."""
        if self._grades == 1:
            return matrix
        grades = np.append(-1.0, self._own.levels)
        return matrix.regraded(grades[matrix.levels.astype(np.int64) % self._grades])

    def compute(
        self, queries: Positions, matrix: RelevanceMatrix, values: Floats
    ) -> tuple[Ints, Bools]:
        """Write the values of the queries of a block of the join, ``(queries, columns)``.

        Returns how many documents are relevant, and for which queries none is by any `rel`.
        """
        nowhere = np.ones(queries.size, bool)
        for (statistics, kinds), measures in self._views:
            by_kind, own = matrix, matrix.levels.astype(np.int64) // self._grades
            if kinds is not None or self._grades > 1:
                by_kind = matrix.regraded(own.astype(np.float64) if kinds is None else kinds[own])
            places = [*measures]
            values[:, places] = _values(statistics, queries, by_kind, [*measures.values()])
            irrelevant = statistics.no_relevant[queries]
            if self._skips:
                skipped = [place for place in places if needs_relevant(measures[place])]
                values[np.flatnonzero(irrelevant)[:, None], skipped] = np.nan
            nowhere &= irrelevant
        relevant = self._own.level_counts(queries)[:, self._relevant].sum(axis=1)
        return relevant, nowhere


def _values(
    statistics: MarkStatistics,
    queries: Positions,
    matrix: RelevanceMatrix,
    measures: Sequence[Measure],
) -> Floats:
    """Compute measures of the queries of a block: float64 ``(queries, measures)``."""
    ranks = RANKS_OF[type(statistics)](statistics, queries, matrix)
    columns = [apply_formula(measure, ranks.at(measure.cutoff), ()) for measure in measures]
    values = np.column_stack(columns)
    from irbatch.engine.expected import orders_of  # for those who have ties

    for row, orders in orders_of(matrix):
        of_each = [
            _values(statistics, np.repeat(queries[row], some.retrieved.size), some, measures)
            for some in orders
        ]
        values[row] = np.concatenate(of_each).mean(axis=0)
    return values

"""Evaluating by judgments of subtopics, strata or probabilities.

The join is that of all judgments; the measures read what `irbatch.data.marked.Marks` makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.data.marked import Marks, MarkStatistics
from irbatch.data.qrels import Qrels
from irbatch.engine.kinds import RANKS_OF
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, keyword
from irbatch.evaluation.pipeline import Watch
from irbatch.evaluation.queries import QueryMark, Rows
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, apply_formula, needs_relevant

DECIDED_BY_GRADES = ("pessimistic", "optimistic")


class MarkedValues:
    """The values of measures that read marks: all share a join, whose blocks they watch.

    Attributes:
        qrels: the judgments as they are joined with a run.
        watch: what sees the blocks.
    """

    def __init__(
        self, qrels: Qrels, marks: Marks, measures: Sequence[Measure], settings: Settings
    ) -> None:
        if settings.ties in DECIDED_BY_GRADES:
            problem = (
                f"{keyword('ties', settings.ties)} goes by grades, {marks.reads} have no such order"
            )
            raise InputError(problem, source="ties", value=settings.ties)
        self._measures, self._skips = measures, settings.no_relevant == "skip"
        self._rels = [settings.rel if of["rel"] is None else of["rel"] for of in measures]
        self._relevant, self._own = qrels.levels >= settings.least_relevant, qrels
        self.qrels: Qrels
        self.qrels, self._views = marks.at(dict.fromkeys(self._rels), qrels.regraded)
        self._values = np.zeros((len(self.qrels), len(measures)))
        depths = [of.cutoff for of in measures if of.declaration.takes_cutoff]
        deepest = None if None in depths else max(filter(None, depths), default=1)
        self.watch = Watch(self._see, deepest, self._complete)

    def _complete(self, results: Results) -> Results:
        """Return the results of a run's join, which is of no measures, with the values."""
        rows = np.array([self.qrels.row_of[query] for query in results.query_ids], np.intp)
        values = self._values[rows]
        irrelevant = {rel: view.statistics.no_relevant[rows] for rel, view in self._views.items()}
        for place, (measure, rel) in enumerate(zip(self._measures, self._rels, strict=True)):
            if self._skips and needs_relevant(measure):
                values[irrelevant[rel], place] = np.nan
        nowhere = np.logical_and.reduce(list(irrelevant.values()))
        marks = results.marks & ~np.uint8(QueryMark.NO_RELEVANT)
        marks |= QueryMark.NO_RELEVANT.where(nowhere)
        counts = results.counts._replace(no_relevant=int(nowhere.sum()))
        judgments = results.of_queries.judgment_counts
        if judgments is not None:
            judgments[:, 0] = self._own.level_counts(rows)[:, self._relevant].sum(axis=1)
        of_queries = Rows(values, marks, judgments)
        more = self._measures, counts, results.settings, results.name
        return Results(of_queries, results.query_ids, *more)

    def _see(self, queries: Positions, matrix: RelevanceMatrix) -> None:
        for rel, (statistics, kinds) in self._views.items():
            places = [place for place, own in enumerate(self._rels) if own == rel]
            seen = matrix
            if kinds is not None:
                seen = matrix.regraded(kinds[matrix.levels.astype(np.int64)])
            measures = [self._measures[place] for place in places]
            self._values[queries[:, None], places] = _values(statistics, queries, seen, measures)


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

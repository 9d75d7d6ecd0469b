"""Evaluating by judgments of subtopics, strata or probabilities.

The join is that of all judgments; the measures read what `irbatch.data.marked.Marks` makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irbatch.array_types import Bools, Floats, NDArray, Positions
from irbatch.data.marked import Marks, MarkStatistics
from irbatch.data.qrels import Qrels
from irbatch.engine.kinds import RANKS_OF
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, keyword
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, apply_formula, needs_relevant

DECIDED_BY_GRADES = ("pessimistic", "optimistic")


class MarkedValues:
    """The values of measures that read marks: all share a join.

    Attributes:
        qrels: the judgments as they are joined with a run.
        depth: down to which rank the measures look, None of all.
    """

    def __init__(
        self, qrels: Qrels, marks: Marks, measures: tuple[Measure, ...], settings: Settings
    ) -> None:
        if settings.ties in DECIDED_BY_GRADES:
            problem = (
                f"{keyword('ties', settings.ties)} goes by grades, {marks.reads} have no such order"
            )
            raise InputError(problem, source="ties", value=settings.ties)
        self.measures, self._skips = measures, settings.no_relevant == "skip"
        self._rels = [settings.rel if of["rel"] is None else of["rel"] for of in measures]
        self._relevant, self._own = qrels.levels >= settings.least_relevant, qrels
        self.qrels: Qrels
        self.qrels, self._views = marks.at(dict.fromkeys(self._rels), qrels.regraded)
        depths = [of.cutoff for of in measures if of.declaration.takes_cutoff]
        self.depth = None if None in depths else max(filter(None, depths), default=1)

    def compute(
        self, queries: Positions, matrix: RelevanceMatrix
    ) -> tuple[Floats, NDArray[np.int64], Bools]:
        """Return values of the queries of a block: float64 ``(queries, measures)``.

        And how many documents are relevant, and for which queries none is by any measure's `rel`.
        """
        values = np.empty((queries.size, len(self.measures)))
        nowhere = np.ones(queries.size, bool)
        for rel, (statistics, kinds) in self._views.items():
            places = [place for place, own in enumerate(self._rels) if own == rel]
            graded = matrix
            if kinds is not None:
                graded = matrix.regraded(kinds[matrix.levels.astype(np.int64)])
            measures = [self.measures[place] for place in places]
            values[:, places] = _values(statistics, queries, graded, measures)
            irrelevant = statistics.no_relevant[queries]
            if self._skips:
                skipped = [place for place in places if needs_relevant(self.measures[place])]
                values[np.flatnonzero(irrelevant)[:, None], skipped] = np.nan
            nowhere &= irrelevant
        relevant = self._own.level_counts(queries)[:, self._relevant].sum(axis=1)
        return values, relevant, nowhere


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

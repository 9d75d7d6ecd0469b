"""Measures that read what is known of documents, judged or not: items, costs, and exposure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.cells import GradedCandidates
from irbatch.data.items import DocumentCosts, check_items
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.items import ItemRanks, ItemRows, JudgedItems, lists_of
from irbatch.engine.matrix import Costs, plan_blocks
from irbatch.engine.ties import Ordering, TiePolicy
from irbatch.errors import InputError
from irbatch.evaluation.evaluation import Evaluation
from irbatch.evaluation.queries import Rows, RunItems
from irbatch.measures import apply_formula, needs_relevant
from irbatch.pack.candidates import Candidates
from irbatch.pack.items import Wanted, judged_items, rank_columns, rank_run
from irbatch.pack.join import Block, bounds_of
from irbatch.runtime.ragged import row_index_of

LEVELS = 8  # besides its ranks, a row of a block takes as much as so many: see `plan_blocks`


class ItemMeasures:
    """The measures of an evaluation that read items, and what they read of rankings."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.known = evaluation, check_items(evaluation.items)
        plan, settings = evaluation.plan, evaluation.settings
        self._places = [(position, plan.filled[position]) for position in plan.of_items]
        weighted = [measure for measure in plan.measures if measure.aggregate == "weighted"]
        # Whose values, or whose values' weights, each column has.
        self._whose = [*plan.measures, *weighted]
        if settings.judged_only:
            problem = f"judged_only=True leaves out documents that {self._places[0][1]} reads"
            raise InputError(problem, source="measures", value=str(self._places[0][1]))
        deepest = settings.max_depth
        cutoffs = [measure.cutoff for _, measure in self._places]
        if deepest is not None:
            cutoffs = [deepest if cutoff is None else min(deepest, cutoff) for cutoff in cutoffs]
        in_order = any(measure.declaration.in_order for _, measure in self._places)
        self._wanted = Wanted(tuple(dict.fromkeys(cutoffs)), in_order)
        of_run = [of.cutoff for _, of in self._places if of.aggregate == "run"]
        self._kept = None if None in of_run else max(filter(None, of_run), default=0)

    def of_scores(
        self,
        of_queries: Rows,
        candidates: Candidates,
        graded: GradedCandidates,
        policy: TiePolicy,
        document_ids: Any,
    ) -> None:
        """Add items, and values that read them, of the queries of a matrix of scores."""
        rows = rank_columns(self.known, candidates, self._wanted, policy, document_ids)
        judged = JudgedItems(graded.starts, graded.columns, graded.grades)
        lists = self._compute(candidates.queries, [rows], lambda: judged, of_queries.values)
        of_queries.items = RunItems(self.known.arrays, lists)

    def of_run(self, of_queries: Rows, qrels: Qrels, rows: Positions, run: Run) -> None:
        """Do so for the queries at `rows` of the judgments."""
        ordering = None if self.evaluation.in_order else self.evaluation.settings.ordering
        queries = [qrels.queries[row] for row in rows.tolist()]
        table = run.as_table()
        runs = self.evaluation.repeated or [Run(table, run.name)]
        begins, ends = bounds_of(table, table.find(queries))
        lists: list[ItemRows] = [np.empty(0, np.int32)] * len(queries)
        for places in plan_blocks(ends - begins, LEVELS):
            some = [queries[place] for place in places.tolist()]
            values = of_queries.values[places]
            judged = functools.partial(judged_items, self.known, qrels, rows[places])
            rankings = [rank_run(self.known, one, some, self._wanted, ordering) for one in runs]
            listed = self._compute(some, rankings, judged, values)
            for place, items in zip(places.tolist(), listed, strict=True):
                lists[place] = items
            of_queries.values[places] = values
        of_queries.items = RunItems(self.known.arrays, lists)

    def _compute(
        self,
        queries: Sequence[Any],
        rankings: Sequence[Ints],
        read_judged: Callable[[], JudgedItems],
        values: Floats,
    ) -> list[ItemRows]:
        """Write the values of some queries, ``(queries, columns)``, each with rankings.

        Returns the lists that measures of the whole run read.
        """
        judged = functools.cache(read_judged)
        threads = self.evaluation.threads
        ranks, *others = (
            ItemRanks(self.known.arrays, queries, rows, judged, threads=threads)
            for rows in rankings
        )
        ranks.others = others
        at = functools.cache(ranks.at)
        for position, measure in self._places:
            if measure.aggregate == "run":
                continue
            takes_rel = "rel" in measure.declaration.parameters and measure["rel"] is not None
            rel = float(measure["rel"]) if takes_rel else 1.0
            try:
                values[:, position] = apply_formula(measure, at(measure.cutoff, rel), ())
            except InputError as problem:
                source = str(measure) if problem.source == "items" else problem.source
                raise problem.with_fields(source=source) from None
            if self.evaluation.settings.no_relevant == "skip" and needs_relevant(
                self._whose[position]
            ):
                starts, _, grades = ranks.read_judged()
                relevant = np.bincount(row_index_of(starts), grades >= rel, len(values))
                values[relevant == 0, position] = np.nan
        return lists_of(ranks.rows[:, : self._kept])


def add_costs(
    blocks: Iterable[Block],
    document_costs: DocumentCosts,
    qrels: Qrels,
    rows: Positions,
    run: Run,
    ordering: Ordering,
) -> Iterator[Block]:
    """Add what documents cost to blocks of the queries at `rows` of the judgments."""
    whole_order = Wanted((None,), in_order=True)
    for block in blocks:
        queries = [qrels.queries[row] for row in rows[block.rows].tolist()]
        costs = np.full((len(queries), block.matrix.depth), np.nan)
        ranked = rank_run(document_costs.documents, run, queries, whole_order, ordering)
        costs[:, : ranked.shape[1]] = document_costs.of_items(ranked)
        block.matrix.costs = Costs(costs, document_costs.lowest, document_costs.highest)
        yield block

"""From packed queries to the values of every measure: what all entry points come down to."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.qrels import Qrels
from irbatch.data.query_table import QueryTable
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError
from irbatch.evaluation.counts import QueryMark
from irbatch.evaluation.settings import Progress, Settings
from irbatch.measures import Plan
from irbatch.pack import Block, pack_run
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.formats.file_reader import Reader

Choose = Callable[[Collection[Any]], Positions]
"""From the queries of a run to the positions in `Qrels.queries` of those to evaluate."""

Watch = Callable[[Positions, RelevanceMatrix], object]
"""Called with the positions in `Qrels.queries` of some queries, and their matrix."""


class Computed:
    """The values of some queries; blocks of them are put in as they are packed.

    Attributes:
        rows: intp ``(queries,)``, the queries' positions in `Qrels.queries` or in the input.
        values: float64 ``(queries, measures)``.
        marks: uint8 ``(queries,)``, see `QueryMark`.
        any_judged: whether any document retrieved is judged.
        answered: of a run, all queries that it has a ranking for.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Positions,
        settings: Settings,
        threads: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        check_threads(threads)
        self.plan, self.rows, self.settings = plan, rows, settings
        self._threads, self._watch = threads, watch
        self.values = np.zeros((rows.size, len(plan.measures)))
        self.marks = np.zeros(rows.size, np.uint8)
        self.any_judged = False
        self.answered: Collection[Any] = ()

    def put(self, block: Block, places: Positions) -> None:
        """Scan a block, and keep the values and the marks of its queries.

        Documents that the settings leave out are removed first: the far ranks, then the unjudged.
        `places` says where the queries stand in `rows`.
        """
        settings, matrix = self.settings, block.matrix
        if settings.max_depth is not None:
            matrix = matrix.truncated(int(settings.max_depth))
        if settings.judged_only:
            matrix = matrix.condensed()
        self.values[places] = self.plan.values(
            matrix, skip_no_relevant=settings.no_relevant == "skip", threads=self._threads
        )
        relevant = matrix.judged[:, matrix.levels >= 1].sum(axis=1)
        marks = QueryMark.NO_RELEVANT.where(relevant == 0)
        marks |= QueryMark.EMPTY.where(block.matrix.retrieved == 0)
        if block.tied is not None:
            marks |= QueryMark.TIED.where(block.tied)
        self.marks[places] = marks
        self.any_judged = self.any_judged or block.matrix.has_judged()
        if self._watch is not None:
            self._watch(self.rows[places], matrix)

    def select(self, places: Positions) -> Computed:
        """Return what came of some of the queries, by their places in `rows`."""
        selected = copy.copy(self)
        selected.rows = self.rows[places]
        selected.values, selected.marks = self.values[places], self.marks[places]
        return selected


def compute_blocks(
    plan: Plan, blocks: Iterable[Block], queries: int, settings: Settings, threads: int | None
) -> Computed:
    """Compute every measure of queries whose grades come with them, not from judgments."""
    computed = Computed(plan, np.arange(queries), settings, threads)
    for block in blocks:
        plan.check_levels(block.matrix.levels)
        computed.put(block, block.rows)
    return computed


def compute_run(
    plan: Plan,
    qrels: Qrels,
    run: Run | Reader,
    choose: Choose,
    settings: Settings,
    threads: int | None = None,
    progress: Progress | None = None,
    *,
    in_order: bool = False,
    watch: Watch | None = None,
) -> Computed:
    """Compute every measure of a run.

    Args:
        run: the rankings; or a large file, of which no more is kept than the values of queries.
        choose: which queries to evaluate, and in which order.
        threads: how many threads scan; default: as many as the work is worth.
        progress: called with queries done and queries in all, unless a file is read.
        in_order: the rankings stand in order; their scores are not looked at.
        watch: sees each block as it was scanned.

    Raises:
        InputError: if grades are fractional and a measure doesn't say which of them are relevant,
            naming query and document; or if a ranking cannot be evaluated.
    """
    try:
        plan.check_levels(qrels.levels)
    except InputError as problem:
        query, document = qrels.first_of(problem.value)
        fields = {"source": "qrels", "path": qrels.name, "query": query, "document": document}
        raise problem.with_fields(**fields) from None
    if isinstance(run, Run):
        rows = choose(run.queries)
        computed = Computed(plan, rows, settings, threads, watch)
        computed.answered = run.queries
        done = 0
        for block in _pack(qrels, run, rows, settings, in_order=in_order):
            computed.put(block, block.rows)
            done += block.rows.size
            if progress is not None:
                progress(done, rows.size)
    else:
        every = Computed(plan, np.arange(len(qrels)), settings, threads, watch)
        computed = _compute_reading(every, qrels, run, choose)
    _mark_missing(computed, qrels)
    return computed


def _pack(
    qrels: Qrels, run: Run, rows: Positions, settings: Settings, *, in_order: bool
) -> Iterator[Block]:
    if in_order and isinstance(run.rankings, QueryTable):
        from irbatch.pack.table import pack_ranked  # for those who have tables

        return pack_ranked(qrels, run.rankings, rows)
    return pack_run(qrels, run, rows, settings.ordering)


def _compute_reading(computed: Computed, qrels: Qrels, reader: Reader, choose: Choose) -> Computed:
    """Evaluate a file as it is read; a query that comes once more is evaluated once more."""
    from irbatch.pack.table import pack_table  # for those who have tables

    ordering = computed.settings.ordering
    row_of = {query: row for row, query in enumerate(qrels.queries)}
    answered: dict[Any, None] = {}
    for table in reader.tables():
        answered.update(dict.fromkeys(table))
        rows = np.array([row_of[query] for query in table if query in row_of], np.intp)
        for block in pack_table(qrels, table, rows, ordering):
            computed.put(block, rows[block.rows])
    computed.answered = answered
    chosen = choose(answered)
    absent = [row for row in chosen.tolist() if qrels.queries[row] not in answered]
    rows = np.array(absent, np.intp)
    for block in pack_run(qrels, Run({}), rows, ordering):
        computed.put(block, rows[block.rows])
    return computed.select(chosen)


def _mark_missing(computed: Computed, qrels: Qrels) -> None:
    """Mark the queries that the run has no ranking for, not even an empty one."""
    queries = map(qrels.queries.__getitem__, computed.rows.tolist())
    answered = map(computed.answered.__contains__, queries)
    missing = ~np.fromiter(answered, bool, computed.rows.size)
    computed.marks[missing] &= ~np.uint8(QueryMark.EMPTY)
    computed.marks[missing] |= np.uint8(QueryMark.MISSING)

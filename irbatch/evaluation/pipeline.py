"""From packed queries to values and results: what all entry points come down to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bytes, Floats, Ints, Positions
from irbatch.data.dicts import is_table
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, warn
from irbatch.evaluation.queries import (
    Counts,
    QueryMark,
    Rows,
    choose_queries,
    count_queries,
    first_document,
    notes_on,
    warn_of_unjudged,
)
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Settings
from irbatch.measures import FormulaError, Measure, Plan
from irbatch.pack.join import Block, pack_run, pack_table, shortened
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable
    from irbatch.data.items import DocumentCosts, Items
    from irbatch.evaluation.judgments import MarkedValues
    from irbatch.formats.reader import TableReader
    from irbatch.runtime.progress import Progress

MISSING, EMPTY = np.uint8(QueryMark.MISSING), np.uint8(QueryMark.EMPTY)


class Work(NamedTuple):
    """What is computed of rankings, and how.

    Attributes:
        plan: the measures.
        settings: how rankings are read.
        threads: as in `irbatch.evaluate`.
        order: what the order of rankings came from, for the signature.
        in_order: whether rankings stand in it: their scores are not looked at then.
        marked: the measures, where they read marks; those of `plan` are none then.
        watch: called with the places of queries in `Qrels`, and their matrix.
        items, costs: what is known of documents, where a run is whole.
        repeated: rankings that a query has several of, of which the run has one.
    """

    plan: Plan
    settings: Settings
    threads: int | None = None
    order: str = ""
    in_order: bool = False
    marked: MarkedValues | None = None
    watch: Callable[[Positions, RelevanceMatrix], object] | None = None
    items: Items | None = None
    costs: DocumentCosts | None = None
    repeated: Sequence[Run] = ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, whatever they read."""
        return self.plan.measures if self.marked is None else self.marked.measures


# What was computed of a block: values ``(queries, columns)``; marks, see `QueryMark`, and how many
# documents are relevant, retrieved or not, each ``(queries,)``; whether any retrieved one is
# judged; and the matrix for `Work.watch`.
Part = tuple[Floats, Bytes, Ints, bool, RelevanceMatrix | None]


class Computed:
    """What `Rows` say of queries; blocks of them are put in as they are packed."""

    def __init__(self, work: Work, queries: Sequence[Any], qrels: Qrels | None = None) -> None:
        check_threads(work.threads)
        self.work, self.queries = work, queries
        marks = np.full(len(queries), MISSING)  # those without a ranking so far
        columns = work.plan.columns if work.marked is None else len(work.measures)
        self.of_queries = Rows(np.zeros((len(queries), columns)), marks)
        if qrels is not None:
            counts = np.zeros((len(queries), 2), np.int32)
            counts[:, 1] = np.diff(qrels.starts)
            self.of_queries.judgment_counts = counts
        self.rows: Positions = np.arange(len(queries))  # in `Qrels.queries`, or the input
        self.any_judged = False  # of the documents retrieved
        self.answered: Collection[Any] = ()  # all queries that the run has a ranking for

    @property
    def ranked_rows(self) -> Positions:
        """The rows that have a ranking."""
        return np.flatnonzero(self.of_queries.marks & MISSING == 0)

    def put(
        self, blocks: Iterable[Block], rows: Positions, progress: Progress | None = None
    ) -> None:
        """Compute blocks, whose queries stand at `rows`."""
        done = 0
        for block in self.split(blocks):
            self.keep(self.compute(block, rows[block.rows]), rows[block.rows])
            done += block.rows.size
            if progress is not None:
                progress(done, rows.size)

    def split(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks small enough for what is computed of them."""
        for block in blocks:
            yield from block.split(self.work.plan.rows_at_once)

    def compute(self, block: Block, rows: Positions) -> Part:
        """Cut a block, of the queries at `rows`, as the settings say, and scan it."""
        settings, marked, matrix = self.work.settings, self.work.marked, block.matrix
        if settings.max_depth is not None:
            matrix = matrix.truncated(int(settings.max_depth))
        if settings.judged_only:
            matrix = matrix.condensed()
        if marked is None:
            values = self._scan(matrix, rows)
            relevant = matrix.judged[:, matrix.levels >= settings.least_relevant].sum(axis=1)
            nothing = relevant == 0
        else:
            values, relevant, nothing = marked.compute(rows, matrix)
        marks = QueryMark.NO_RELEVANT.where(nothing)
        marks |= QueryMark.EMPTY.where(block.matrix.retrieved == 0)
        if block.tied is not None:
            marks |= QueryMark.TIED.where(block.tied)
        watched = None if self.work.watch is None else matrix
        return values, marks, relevant, block.matrix.has_judged(), watched

    def _scan(self, matrix: RelevanceMatrix, rows: Positions) -> Floats:
        plan, skips = self.work.plan, self.work.settings.no_relevant == "skip"
        try:
            return plan.values(matrix, skip_no_relevant=skips, threads=self.work.threads)
        except FormulaError as problem:
            row = plan.first_failing(matrix)
            query = None if row is None else self.queries[int(rows[row])]
            raise problem.with_fields(query=query) from problem.__cause__

    def keep(self, part: Part, rows: Positions) -> None:
        """Keep what was computed of the queries at `rows`."""
        of_queries = self.of_queries
        of_queries.values[rows], of_queries.marks[rows], relevant, any_judged, matrix = part
        if of_queries.judgment_counts is not None:
            of_queries.judgment_counts[rows, 0] = relevant
        self.any_judged = self.any_judged or any_judged
        if self.work.watch is not None and matrix is not None:
            self.work.watch(rows, matrix)

    def take(self, qrels: Qrels, rows: Positions) -> None:
        """Keep the queries at `rows` of the judgments alone; those missing have empty rankings."""
        marks = self.of_queries.marks
        absent = rows[marks[rows] & MISSING != 0]
        if absent.size:
            self.put(pack_blocks(self.work, qrels, Run({}), absent), absent)
            marks[absent] = marks[absent] & ~EMPTY | MISSING
        if rows.size < self.rows.size or (rows != self.rows).any():
            self.of_queries, self.rows = self.of_queries.take(rows), rows

    def results(self, query_ids: Sequence[Any], counts: Counts, name: str | None = None) -> Results:
        """Return results of the queries that are kept."""
        work, items = self.work, self.of_queries.items
        read = {"items": None if items is None else items.known, "costs": work.costs}
        settings = work.settings.signature(work.order, **read)
        return Results(self.of_queries, query_ids, work.measures, counts, settings, name)


Choose = Callable[[Computed], Positions]
"""Returns the positions in `Qrels.queries` of those to evaluate of a part of a run."""


def compute_run(
    work: Work,
    qrels: Qrels,
    run: Run | TableReader,
    progress: Progress | None = None,
    rows: Positions | None = None,
) -> Computed:
    """Compute every measure of the judged queries that a run answers, by their positions in qrels.

    Of a large file only queries' values are kept. `rows` are the positions, where they are known.
    `progress` is not called where a file is read.
    """
    settings, marked = work.settings, work.marked
    try:
        work.plan.check_levels(qrels.levels)
    except InputError as problem:
        query, document = qrels.first_of(problem.value)
        fields = {"source": "qrels", "path": qrels.name, "query": query, "document": document}
        raise problem.with_fields(**fields) from None
    computed = Computed(work, qrels.queries, qrels)
    if not isinstance(run, Run):
        _compute_reading(computed, qrels, run)
        return computed
    computed.answered = run.queries
    if rows is None:
        rows = run.answers(qrels)
    if marked is not None and marked.depth is not None and not settings.judged_only:
        short = shortened(run, marked.depth, settings.ordering)
        if short is not None:
            computed.put(pack_run(qrels, short, rows, settings.ordering), rows, progress)
    if not computed.any_judged:  # of a shortened run, it is to be known whether any is further down
        computed.put(pack_blocks(work, qrels, run, rows), rows, progress)
    return computed


def pack_blocks(work: Work, qrels: Qrels, run: Run, rows: Positions) -> Iterable[Block]:
    """Pack the queries at `rows` of the judgments, with what documents cost."""
    if work.in_order and is_table(run.rankings):
        return pack_table(qrels, run.rankings, rows, None)
    ordering = work.settings.ordering
    if work.costs is None:
        return pack_run(qrels, run, rows, ordering)
    from irbatch.evaluation.items import add_costs  # for those who have costs

    run = run.prepared()
    return add_costs(pack_run(qrels, run, rows, ordering), work.costs, qrels, rows, run, ordering)


def _compute_reading(computed: Computed, qrels: Qrels, reader: TableReader) -> None:
    """Evaluate a file as it is read; a query that comes once more is evaluated once more."""
    ordering, row_of = computed.work.settings.ordering, qrels.row_of
    _ = qrels.column  # is made here, not by each thread
    # Users' own formulas need not be made for threads: they are called in the caller's.
    in_threads = computed.work.plan.is_catalogued and computed.work.marked is None

    def read(table: QueryTable) -> tuple[list[Any], list[tuple[Part | Block, Positions]]]:
        queries = list(table)
        rows = np.array([row_of[query] for query in queries if query in row_of], np.intp)
        packed = computed.split(pack_run(qrels, Run(table, reader.name), rows, ordering))
        blocks = ((block, rows[block.rows]) for block in packed)
        if not in_threads:
            return queries, list(blocks)
        return queries, [(computed.compute(*block), block[1]) for block in blocks]

    answered: dict[Any, None] = {}
    for queries, parts in reader.map_tables(read):
        answered.update(dict.fromkeys(queries))
        for part, rows in parts:
            computed.keep(computed.compute(part, rows) if isinstance(part, Block) else part, rows)
    computed.answered = answered


def evaluate_run(
    work: Work,
    qrels: Qrels,
    run: Run | TableReader,
    progress: Progress | None = None,
    choose: Choose | None = None,
) -> Results:
    """Choose the queries to average, and return their results; see `compute_run`.

    Of a part of a run `choose` says which to evaluate; what there is to say of all queries is left
    to those who have them.
    """
    settings = work.settings
    computed = compute_run(work, qrels, run, progress)
    ranked_rows, answered = computed.ranked_rows, computed.answered
    if choose is None:
        rows = choose_queries(qrels, ranked_rows, answered, settings.missing, run.name)
    else:
        rows = choose(computed)
    computed.take(qrels, rows)
    if work.plan.of_items and work.items is not None and isinstance(run, Run):
        from irbatch.evaluation.items import ItemMeasures  # for those who have items

        measures = ItemMeasures(work.plan, work.items, settings, work.threads)
        ordering = None if work.in_order else settings.ordering
        measures.of_run(computed.of_queries, qrels, rows, run, ordering, work.repeated)
    counts = count_queries(computed.of_queries.marks, len(qrels), len(answered) - ranked_rows.size)
    queries = qrels.queries
    if rows.size < len(queries):
        queries = list(map(queries.__getitem__, rows.tolist()))
    results = computed.results(queries, counts, run.name)
    if choose is None:
        if not computed.any_judged and qrels.codes.size:
            warn_of_unjudged(first_document(qrels), counts.answered, run.name)
        warn(*notes_on(results))
    return results


def compute_blocks(work: Work, blocks: Iterable[Block], queries: Sequence[Any]) -> Computed:
    """Compute the values of queries whose grades come with them, not from judgments."""
    computed = Computed(work, queries)
    for block in blocks:
        work.plan.check_levels(block.matrix.levels)
        computed.put([block], computed.rows)
    return computed

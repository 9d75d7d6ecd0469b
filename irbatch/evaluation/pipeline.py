"""From packed queries to values and results: what all entry points come down to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bytes, Floats, Ints, Positions
from irbatch.data.dicts import is_table
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, warn
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.queries import (
    QueryMark,
    Rows,
    check_answered,
    count_queries,
    notes_on,
    warn_of_unjudged,
)
from irbatch.evaluation.results import Results
from irbatch.measures import FormulaError
from irbatch.pack.join import Block, pack_run, pack_table, shortened
from irbatch.runtime.progress import Progress, progress_on_bar

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable
    from irbatch.evaluation.judgments import MarkedValues
    from irbatch.formats.reader import TableReader

MISSING, EMPTY = np.uint8(QueryMark.MISSING), np.uint8(QueryMark.EMPTY)

# What was computed of a block: values ``(queries, columns)``; marks, see `QueryMark`, and how many
# documents are relevant, retrieved or not, each ``(queries,)``; whether any retrieved one is
# judged; and the matrix for `Evaluation.watch`.
Part = tuple[Floats, Bytes, Ints, bool, RelevanceMatrix | None]


class Computed:
    """What `Rows` say of queries; blocks of them are put in as they are packed.

    Attributes:
        of_queries: the rows.
        rows: their positions in `Qrels.queries`, or in the input.
        any_judged: whether any of the documents retrieved is judged.
        answered: all queries that the run has a ranking for.
    """

    def __init__(self, evaluation: Evaluation, queries: Sequence[Any] | Qrels) -> None:
        self.evaluation, self._asked = evaluation, queries
        marks = np.full(len(queries), MISSING)  # those without a ranking so far
        self.of_queries = Rows(np.zeros((len(queries), evaluation.plan.columns)), marks)
        self.rows: Positions = np.arange(len(queries))
        self.any_judged = False
        self.answered: Collection[Any] = ()
        self._marked: MarkedValues | None = None
        if isinstance(queries, Qrels):
            qrels = queries
            counts = np.zeros((len(queries), 2), np.int32)
            counts[:, 1] = np.diff(qrels.starts)
            self.of_queries.judgment_counts = counts
            self._qrels = self._joined = qrels
            if qrels.marks is not None and evaluation.plan.of_marks:
                from irbatch.evaluation.judgments import MarkedValues  # for those who have marks

                plan, settings = evaluation.plan, evaluation.settings
                self._marked = MarkedValues(qrels, qrels.marks, plan, settings)
                self._joined = self._marked.qrels

    @property
    def queries(self) -> Sequence[Any]:
        """All of them, those left out too."""
        return self._asked.queries if isinstance(self._asked, Qrels) else self._asked

    @property
    def ranked_rows(self) -> Positions:
        """The rows that have a ranking."""
        return np.flatnonzero(self.of_queries.marks & MISSING == 0)

    def put(
        self, blocks: Iterable[Block], rows: Positions, progress: Progress | None = None
    ) -> None:
        """Compute blocks, whose queries stand at `rows`."""
        done = 0
        for block in self._split(blocks):
            self._keep(self._compute(block, rows[block.rows]), rows[block.rows])
            done += block.rows.size
            if progress is not None:
                progress(done, rows.size)

    def put_run(self, run: Run, rows: Positions, progress: Progress | None = None) -> None:
        """Compute the queries at `rows` of the judgments, that a run has, or none of its."""
        evaluation, qrels = self.evaluation, self._joined
        ordering = evaluation.settings.ordering
        if evaluation.in_order and is_table(run.rankings):
            self.put(pack_table(qrels, run.rankings, rows, None), rows, progress)
            return
        depth = None if self._marked is None else self._marked.depth
        if depth is not None and (short := shortened(run, depth, ordering)) is not None:
            self.put(pack_run(qrels, short, rows, ordering), rows, progress)
            if self.any_judged:  # or one may be further down, which is to be known
                return
        run = run if evaluation.costs is None else run.prepared()
        blocks = pack_run(qrels, run, rows, ordering)
        if evaluation.costs is not None:
            from irbatch.evaluation.items import add_costs  # for those who have costs

            blocks = add_costs(blocks, evaluation.costs, qrels, rows, run, ordering)
        self.put(blocks, rows, progress)

    def put_read(self, reader: TableReader) -> None:
        """Compute a file as it is read; a query that comes once more is computed once more."""
        evaluation, qrels = self.evaluation, self._joined
        row_of = qrels.row_of
        _ = qrels.column  # is made here, not by each thread
        # Users' own formulas need not be made for threads: they are called in the caller's.
        in_threads = evaluation.plan.is_catalogued and self._marked is None

        def read(table: QueryTable) -> tuple[list[Any], list[tuple[Part | Block, Positions]]]:
            queries = list(table)
            rows = np.array([row_of[query] for query in queries if query in row_of], np.intp)
            run, ordering = Run(table, reader.name), evaluation.settings.ordering
            packed = self._split(pack_run(qrels, run, rows, ordering))
            blocks = ((block, rows[block.rows]) for block in packed)
            if not in_threads:
                return queries, list(blocks)
            return queries, [(self._compute(*block), block[1]) for block in blocks]

        answered: dict[Any, None] = {}
        for queries, parts in reader.map_tables(read):
            answered.update(dict.fromkeys(queries))
            for part, rows in parts:
                self._keep(self._compute(part, rows) if isinstance(part, Block) else part, rows)
        self.answered = answered

    def _split(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks small enough for what is computed of them."""
        for block in blocks:
            yield from block.split(self.evaluation.plan.rows_at_once)

    def _compute(self, block: Block, rows: Positions) -> Part:
        """Cut a block, of the queries at `rows`, as the settings say, and scan it."""
        marked, graded = self._marked, block.matrix
        if marked is not None:
            graded = marked.graded(graded)
        matrix = self._cut(graded)
        values = self._scan(matrix, rows)
        if marked is None:
            least = self.evaluation.settings.least_relevant
            relevant = matrix.judged @ (matrix.levels >= least)
            nothing = relevant == 0
        else:
            relevant, nothing = marked.compute(rows, self._cut(block.matrix), values)
        marks = QueryMark.NO_RELEVANT.where(nothing)
        marks |= QueryMark.EMPTY.where(block.matrix.retrieved == 0)
        if block.tied is not None:
            marks |= QueryMark.TIED.where(block.tied)
        watched = None if self.evaluation.watch is None else matrix
        return values, marks, relevant, block.matrix.has_judged(), watched

    def _cut(self, matrix: RelevanceMatrix) -> RelevanceMatrix:
        settings = self.evaluation.settings
        if settings.max_depth is not None:
            matrix = matrix.truncated(int(settings.max_depth))
        return matrix.condensed() if settings.judged_only else matrix

    def _scan(self, matrix: RelevanceMatrix, rows: Positions) -> Floats:
        plan, threads = self.evaluation.plan, self.evaluation.threads
        skips = self.evaluation.settings.no_relevant == "skip"
        try:
            return plan.values(matrix, skip_no_relevant=skips, threads=threads)
        except FormulaError as problem:
            row = plan.first_failing(matrix)
            query = None if row is None else self.queries[int(rows[row])]
            raise problem.with_fields(query=query) from problem.__cause__

    def _keep(self, part: Part, rows: Positions) -> None:
        """Keep what was computed of the queries at `rows`."""
        of_queries, watch = self.of_queries, self.evaluation.watch
        of_queries.values[rows], of_queries.marks[rows], relevant, any_judged, matrix = part
        if of_queries.judgment_counts is not None:
            of_queries.judgment_counts[rows, 0] = relevant
        self.any_judged = self.any_judged or any_judged
        if watch is not None and matrix is not None:
            watch(rows, matrix)

    def take(self, rows: Positions) -> None:
        """Keep the queries at `rows` of the judgments alone; those missing have empty rankings."""
        marks = self.of_queries.marks
        absent = rows[marks[rows] & MISSING != 0]
        if absent.size:
            self.put_run(Run({}), absent)
            marks[absent] = marks[absent] & ~EMPTY | MISSING
        if rows.size < self.rows.size or (rows != self.rows).any():
            self.of_queries, self.rows = self.of_queries.take(rows), rows

    def results(self, rows: Positions, run: Run | TableReader) -> Results:
        """Return the results of the queries at `rows` of the judgments, of a run computed."""
        evaluation, qrels = self.evaluation, self._qrels
        extra = len(self.answered) - self.ranked_rows.size
        self.take(rows)
        if evaluation.plan.of_items and isinstance(run, Run):
            from irbatch.evaluation.items import ItemMeasures  # for those who have items

            ItemMeasures(evaluation).of_run(self.of_queries, qrels, rows, run)
        table = qrels.table
        queries = qrels.queries_at(rows) if table is None else table.queries.take(rows)
        counts = count_queries(self.of_queries.marks, len(qrels), extra)
        more = evaluation.measures, counts, evaluation.signature(), run.name
        return Results(self.of_queries, queries, *more)


def compute_run(
    evaluation: Evaluation,
    qrels: Qrels,
    run: Run | TableReader,
    progress: Progress | None = None,
    rows: Positions | None = None,
) -> Computed:
    """Compute every measure of the judged queries that a run answers, by their positions in qrels.

    Of a large file only queries' values are kept. `rows` are the positions, where they are known.
    `progress` is not called where a file is read.
    """
    try:
        evaluation.plan.check_levels(qrels.levels)
    except InputError as problem:
        query, document = qrels.first_of(problem.value)
        fields = {"source": "qrels", "path": qrels.name, "query": query, "document": document}
        raise problem.with_fields(**fields) from None
    computed = Computed(evaluation, qrels)
    if isinstance(run, Run):
        computed.answered = run.queries
        computed.put_run(run, run.answers(qrels) if rows is None else rows, progress)
    else:
        computed.put_read(run)
    return computed


def compute_blocks(evaluation: Evaluation, blocks: Iterable[Block], queries: Sequence[Any]) -> Rows:
    """Compute the values of queries whose grades come with them, not from judgments."""
    computed = Computed(evaluation, queries)
    for block in blocks:
        evaluation.plan.check_levels(block.matrix.levels)
        computed.put([block], computed.rows)
    return computed.of_queries


def evaluate_run(evaluation: Evaluation, qrels: Judgments | None, run: Rankings) -> Results:
    """Return the results of judgments and a run, whatever they come as; None are no judgments."""
    if qrels is None:
        evaluation.check_unjudged()
        with progress_on_bar("evaluating", evaluation.progress) as tell:
            return average_unjudged(evaluation, evaluation.rankings(run), tell)
    judgments = evaluation.judgments(qrels)
    with evaluation.opened(run) as (opened, tell):
        return average(evaluation, judgments, opened, tell)


def average(
    evaluation: Evaluation, qrels: Qrels, run: Run | TableReader, progress: Progress | None = None
) -> Results:
    """Return the results of the queries that the settings average; warn of what these hide."""
    computed = compute_run(evaluation, qrels, run, progress)
    ranked, missing = computed.ranked_rows, evaluation.settings.missing
    if ranked.size < len(qrels):
        extra = len(computed.answered) - ranked.size
        counts = count_queries(computed.of_queries.marks, extra=extra)
        absent = np.setdiff1d(computed.rows, ranked, assume_unique=True)
        check_answered(counts, missing, run.name, qrels, absent, computed.answered)
    results = computed.results(ranked if missing == "skip" else computed.rows, run)
    if not computed.any_judged:
        warn_of_unjudged(qrels, results.counts.answered, run.name)
    warn(*notes_on(results))
    return results


def average_unjudged(evaluation: Evaluation, run: Run, progress: Progress | None = None) -> Results:
    """Return the results of all queries of a run, of measures that read no judgments."""
    judgments = Qrels({query: {} for query in run.queries})
    computed = compute_run(evaluation, judgments, run, progress)
    results = computed.results(computed.rows, run)
    results.settings["judgments"] = "none"
    results.counts = results.counts._replace(no_relevant=0)  # of none it is known
    results.of_queries.judgment_counts = None
    return results

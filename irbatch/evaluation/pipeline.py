"""From packed queries to values and results: what all entry points come down to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bytes, Floats, Positions
from irbatch.data.columns import QueryTable
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.ties import Ordering
from irbatch.errors import InputError, warn_all
from irbatch.evaluation.queries import (
    Counts,
    Partition,
    Queries,
    QueryMark,
    check_answered,
    count_queries,
    first_document,
    warn_of_best,
    warn_of_empty,
    warn_of_unjudged,
)
from irbatch.evaluation.results import Results, RunItems, nothing_relevant
from irbatch.evaluation.settings import Settings
from irbatch.measures import Plan
from irbatch.pack.join import Block, pack_run, shortened
from irbatch.runtime.progress import Progress
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.data.items import DocumentCosts, ItemStatistics
    from irbatch.formats.reader import TableReader

Choose = Callable[[Collection[Any]], Positions]
"""From the queries of a run to the positions in `Qrels.queries` of those to evaluate."""


class Watch(NamedTuple):
    """What is to see the matrices, too.

    Args:
        see: called with the positions in `Qrels.queries` of some queries, and their matrix.
        depth: down to which rank it looks, if not at all.
    """

    see: Callable[[Positions, RelevanceMatrix], object]
    depth: int | None = None


class Part(NamedTuple):
    """What was computed of some queries."""

    values: Floats  # (queries, columns), see `Plan`
    marks: Bytes  # (queries,), see `QueryMark`
    any_judged: bool
    matrix: RelevanceMatrix | None  # where there is a `Watch` to call


@dataclass(eq=False)
class Computed:
    """The values of some queries; blocks of them are put in as they are packed."""

    plan: Plan
    rows: Positions  # (queries,): positions in `Qrels.queries` or in the input
    settings: Settings
    threads: int | None = None
    watch: Watch | None = None
    any_judged: bool = False  # whether any document retrieved is judged
    answered: Collection[Any] = ()  # of a run, all queries that it has a ranking for
    items: RunItems | None = None  # where measures read them

    def __post_init__(self) -> None:
        check_threads(self.threads)
        self.values = np.zeros((self.rows.size, self.plan.columns))
        self.marks = np.zeros(self.rows.size, np.uint8)

    def split(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks small enough for what is computed of them."""
        return (part for block in blocks for part in block.split(self.plan.rows_at_once))

    def put(self, block: Block, places: Positions) -> None:
        """Compute a block, and keep what comes of it at `places` of `rows`."""
        self.keep(self.compute(block), places)

    def compute(self, block: Block) -> Part:
        """Cut a block as the settings say, and scan it."""
        settings, matrix = self.settings, block.matrix
        if settings.max_depth is not None:
            matrix = matrix.truncated(int(settings.max_depth))
        if settings.judged_only:
            matrix = matrix.condensed()
        values = self.plan.values(
            matrix, skip_no_relevant=settings.no_relevant == "skip", threads=self.threads
        )
        relevant = matrix.judged[:, matrix.levels >= settings.least_relevant].sum(axis=1)
        marks = QueryMark.NO_RELEVANT.where(relevant == 0)
        marks |= QueryMark.EMPTY.where(block.matrix.retrieved == 0)
        if block.tied is not None:
            marks |= QueryMark.TIED.where(block.tied)
        watched = None if self.watch is None else matrix
        return Part(values, marks, block.matrix.has_judged(), watched)

    def keep(self, part: Part, places: Positions) -> None:
        """Keep a part at `places` of `rows`."""
        self.values[places] = part.values
        self.marks[places] = part.marks
        self.any_judged = self.any_judged or part.any_judged
        if self.watch is not None and part.matrix is not None:
            self.watch.see(self.rows[places], part.matrix)

    def results(
        self, query_ids: Sequence[Any], order: str, counts: Counts, name: str | None = None
    ) -> Results:
        """Return results; `order` says what the rankings' order came from."""
        settings, measures = self.settings.signature(order), self.plan.measures
        if self.items is not None:
            settings["items"] = self.items.known.fingerprint
        given = query_ids, measures, counts, settings, name, self.marks, self.items
        return Results(self.values, *given)


def compute_run(
    plan: Plan,
    qrels: Qrels,
    run: Run | TableReader,
    choose: Choose,
    settings: Settings,
    threads: int | None = None,
    progress: Progress | None = None,
    *,
    in_order: bool = False,
    watch: Watch | None = None,
    costs: DocumentCosts | None = None,
) -> Computed:
    """Compute every measure of a run, or of a large file, of which only queries' values are kept.

    `choose` says which queries to evaluate, in order. `progress` is not called where a file is
    read. If rankings stand in order their scores are not looked at. Runs whose documents have
    `costs` are whole.
    """
    try:
        plan.check_levels(qrels.levels)
    except InputError as problem:
        query, document = qrels.first_of(problem.value)
        fields = {"source": "qrels", "path": qrels.name, "query": query, "document": document}
        raise problem.with_fields(**fields) from None
    if not isinstance(run, Run):
        every = Computed(plan, np.arange(len(qrels)), settings, threads, watch)
        computed = _compute_reading(every, qrels, run, choose)
        _mark_missing(computed, qrels)
        return computed
    rows = choose(run.queries)
    if (short := _shorten(plan, qrels, run, rows, settings, watch)) is not None:
        own = plan, qrels, short, lambda _: rows, settings, threads, progress
        computed = compute_run(*own, watch=watch and watch._replace(depth=None))
        computed.answered = run.queries
        if computed.any_judged:  # else it is to be known whether any is further down
            return computed
    computed = Computed(plan, rows, settings, threads, watch)
    computed.answered = run.queries
    done = 0
    for block in computed.split(_pack(qrels, run, rows, settings.ordering, in_order, costs)):
        computed.put(block, block.rows)
        done += block.rows.size
        if progress is not None:
            progress(done, rows.size)
    _mark_missing(computed, qrels)
    return computed


def _pack(
    qrels: Qrels,
    run: Run,
    rows: Positions,
    ordering: Ordering,
    in_order: bool,
    costs: DocumentCosts | None,
) -> Iterable[Block]:
    """Pack the queries at `rows` of the judgments."""
    if in_order and isinstance(run.rankings, QueryTable):
        from irbatch.pack.join import pack_ranked  # for those who have tables

        return pack_ranked(qrels, run.rankings, rows)
    if costs is None:
        return pack_run(qrels, run, rows, ordering)
    from irbatch.evaluation.items import add_costs  # for those who have costs

    run = run.prepared()
    return add_costs(pack_run(qrels, run, rows, ordering), costs, qrels, rows, run, ordering)


def _shorten(
    plan: Plan, qrels: Qrels, run: Run, rows: Positions, settings: Settings, watch: Watch | None
) -> Run | None:
    """Leave out what is not looked at, if that is known and worth it."""
    if watch is None or watch.depth is None or plan.measures or settings.judged_only:
        return None
    queries = map(qrels.queries.__getitem__, rows.tolist())
    return shortened(run, queries, watch.depth, settings.ordering)


def _compute_reading(
    computed: Computed, qrels: Qrels, reader: TableReader, choose: Choose
) -> Computed:
    """Evaluate a file as it is read; a query that comes once more is evaluated once more."""
    ordering = computed.settings.ordering
    row_of = qrels.row_of
    answered: dict[Any, None] = {}
    with suppress(OverflowError):  # of ids that are numbers beyond int64
        _ = qrels.column  # is made here, not by each thread
    # Users' own formulas need not be made for threads: they are called in the caller's.
    in_threads = computed.plan.is_catalogued

    def work(table: QueryTable) -> tuple[list[Any], list[tuple[Part | Block, Positions]]]:
        rows = np.array([row_of[query] for query in table if query in row_of], np.intp)
        packed = computed.split(pack_run(qrels, Run(table, reader.name), rows, ordering))
        blocks = ((each, rows[each.rows]) for each in packed)
        if not in_threads:
            return list(table), list(blocks)
        return list(table), [(computed.compute(block), places) for block, places in blocks]

    for queries, parts in reader.map_tables(work):
        answered.update(dict.fromkeys(queries))
        for part, places in parts:
            computed.keep(part if isinstance(part, Part) else computed.compute(part), places)
    computed.answered = answered
    chosen = choose(answered)
    absent = [row for row in chosen.tolist() if qrels.queries[row] not in answered]
    rows = np.array(absent, np.intp)
    for block in computed.split(pack_run(qrels, Run({}), rows, ordering)):
        computed.put(block, rows[block.rows])
    computed.rows, computed.values = chosen, computed.values[chosen]
    computed.marks = computed.marks[chosen]
    return computed


def _mark_missing(computed: Computed, qrels: Qrels) -> None:
    """Mark the queries that the run has no ranking for, not even an empty one."""
    queries = map(qrels.queries.__getitem__, computed.rows.tolist())
    answered = map(computed.answered.__contains__, queries)
    missing = ~np.fromiter(answered, bool, computed.rows.size)
    computed.marks[missing] &= ~np.uint8(QueryMark.EMPTY)
    computed.marks[missing] |= np.uint8(QueryMark.MISSING)


def evaluate_run(
    plan: Plan,
    qrels: Qrels,
    run: Run | TableReader,
    settings: Settings,
    order: str,
    threads: int | None,
    progress: Progress | None = None,
    *,
    in_order: bool = False,
    watch: Watch | None = None,
    items: ItemStatistics | None = None,
    costs: DocumentCosts | None = None,
    partition: Partition | None = None,
) -> Results:
    """Choose the queries to average, and return their results; see `compute_run`.

    `items` are for measures that read them, whose runs are whole. Of a `partition` what there is
    to say of all queries is left to those who have them.
    """

    def choose(answered: Collection[Any]) -> Positions:
        if partition is not None:
            return partition.choose(qrels, answered, settings.missing)
        there = np.fromiter(map(answered.__contains__, qrels.queries), bool, len(qrels))
        absent = [qrels.queries[row] for row in np.flatnonzero(~there)]
        given = Queries.of(qrels.queries), Queries.of(absent), Queries.of(answered)
        check_answered(*given, settings.missing, run.name)
        return np.flatnonzero(there) if settings.missing == "skip" else np.arange(len(qrels))

    computed = compute_run(
        plan, qrels, run, choose, settings, threads, progress,
        in_order=in_order, watch=watch, costs=costs,
    )  # fmt: skip
    if plan.of_items and items is not None and isinstance(run, Run):
        from irbatch.evaluation.items import ItemMeasures, add_items  # for those who have items

        measures = ItemMeasures(plan, items, settings, threads)
        ordering = None if in_order else settings.ordering
        given = computed.values, qrels, computed.rows, run, ordering
        computed.items = add_items(measures, *given)
    queries = [qrels.queries[row] for row in computed.rows]
    matched = len(queries) - int(np.count_nonzero(QueryMark.MISSING.holds(computed.marks)))
    counts = count_queries(computed.marks, len(qrels), len(computed.answered) - matched)
    if partition is not None:
        partition.answered, partition.any_judged = computed.answered, computed.any_judged
        partition.document = first_document(qrels)
    else:
        warn_of_best(plan.measures, computed.values, computed.marks)
        warn_of_empty(counts, settings, run.name)
        if not computed.any_judged:
            warn_of_unjudged(first_document(qrels), counts.answered, run.name)
    results = computed.results(queries, order, counts, run.name)
    if partition is None:
        warn_all(nothing_relevant(results))
    if costs is not None:
        results.settings["costs"] = costs.fingerprint
    return results


def evaluate_blocks(
    plan: Plan,
    blocks: Iterable[Block],
    query_ids: Sequence[Any],
    settings: Settings,
    order: str,
    threads: int | None,
) -> Results:
    """Return the results of queries whose grades come with them, not from judgments."""
    computed = compute_blocks(plan, blocks, len(query_ids), settings, threads)
    return computed.results(query_ids, order, count_queries(computed.marks))


def compute_blocks(
    plan: Plan, blocks: Iterable[Block], queries: int, settings: Settings, threads: int | None
) -> Computed:
    """Compute the values of so many queries, whose grades come with them."""
    computed = Computed(plan, np.arange(queries), settings, threads)
    for block in computed.split(blocks):
        plan.check_levels(block.matrix.levels)
        computed.put(block, block.rows)
    return computed

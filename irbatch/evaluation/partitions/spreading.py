"""One run in partitions, or several runs, evaluated on any executor.

A query whose rows stand in several partitions is found when all are read, and evaluated once more
from the rows of all of them.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, cast

from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn_all, warnings_kept
from irbatch.evaluation.partitions.executing import (
    TASKS_PER_WORKER,
    name_of,
    opened,
    run_tasks,
    workers_of,
)
from irbatch.evaluation.partitions.findings import by_id
from irbatch.evaluation.partitions.partial import PartialResult, merge_partials
from irbatch.evaluation.partitions.sending import Shared, shared
from irbatch.evaluation.partitions.task import PartitionTask
from irbatch.evaluation.results import Results
from irbatch.evaluation.task import Evaluation, Judgments, Rankings
from irbatch.formats import check_parts, open_run, read_rankings
from irbatch.formats.parts import find_parts, is_dataset, is_file
from irbatch.runtime.progress import Progress, progress_on_bar

Common = tuple[PartitionTask, Qrels | MarkedQrels]


class NamedPartition(NamedTuple):
    """A partition, and what messages call it."""

    name: str
    partition: Any


class SpanningQueries(NamedTuple):
    """Queries that stand in several partitions, to be evaluated from all of these."""

    queries: frozenset[Any]
    partitions: tuple[Any, ...]


def evaluate_partitions(
    evaluation: Evaluation,
    qrels: Judgments,
    run: Any,
    executor: Executor | int | None,
    *,
    by_query: bool = False,
    progress: Progress | bool | None = None,
) -> Results:
    """Return the results of a run in partitions; `by_query`: it is promised to be cut so.

    Raises:
        InputError: as `irbatch.evaluate`, and if a query is in two partitions against the promise.
    """
    if progress is not None and not callable(progress):
        with progress_on_bar("partitions", progress) as told:
            options: dict[str, Any] = {"by_query": by_query, "progress": told}
            return evaluate_partitions(evaluation, qrels, run, executor, **options)
    partitions = partitions_of(run)
    if is_file(run) and len(partitions) > 1:  # what doesn't fit together is refused as elsewhere
        with open_run(run, evaluation.order_by, evaluation.run_columns):
            pass
    if isinstance(executor, int) and len(partitions) == 1:
        return evaluation.evaluate(qrels, run, progress)  # with all the threads there are
    with opened(executor) as pool:
        task = PartitionTask(evaluation)
        judgments = task.judgments(qrels)
        with shared((task, judgments), pool) as common:
            parts = _evaluate_each(pool, common, partitions, progress)
            spanning = _spanning(parts)
            if spanning and by_query:
                query, places = next(iter(spanning.items()))
                names = " and ".join(repr(name_of(partitions[at], at)) for at in places[:2])
                problem = f"it is in {names}, against partitioned_by_query=True"
                raise InputError(problem, source="run", query=query)
            if spanning:
                tasks = TASKS_PER_WORKER * workers_of(pool)
                wholes = list(_gather(spanning, partitions, max(map(len, parts)), tasks))
                parts = [part.without(spanning.keys()) for part in parts]
                parts += [part for _, part in run_tasks(pool, evaluate_whole, common, wholes)]
    name = os.fspath(run) if isinstance(run, str | os.PathLike) else None
    found = merge_partials(parts).results(judgments, name=name, items=evaluation.items)
    return cast(Results, found)  # values by query were kept


def evaluate_systems(
    evaluation: Evaluation,
    qrels: Judgments,
    runs: Mapping[str, Rankings],
    executor: Executor | int,
    progress: Progress | bool | None = None,
) -> dict[str, Results]:
    """Return the results of several runs, by name, each evaluated by one worker."""
    if progress is not None and not callable(progress):
        with progress_on_bar("systems", progress) as told:
            return evaluate_systems(evaluation, qrels, runs, executor, told)
    names, found = list(runs), {}
    _check_not_input(runs.values())
    with opened(executor) as pool:
        judgments = evaluation.judgments(qrels)
        with shared((PartitionTask(evaluation), judgments), pool) as common:
            done = run_tasks(pool, evaluate_system, common, list(runs.values()))
            for number, (place, (results, texts)) in enumerate(done, 1):
                found[names[place]] = results
                warn_all(texts)
                if progress is not None:
                    progress(number, len(names))
    return {name: found[name] for name in names}


def partitions_of(run: Any) -> list[Any]:
    """List a run's partitions: files of a folder or a pattern, parts of a dataset, or as given."""
    if isinstance(run, list | tuple):
        return [each for one in run for each in partitions_of(one)]
    if is_dataset(run):
        return list(run.get_fragments())
    if is_file(run):
        _check_not_input([run])
        path = os.fspath(run)
        return find_parts(path, "run") or [path]
    return [run]


def _check_not_input(runs: Iterable[Any]) -> None:
    """Refuse standard input, which workers have not got."""
    if any(each == "-" for each in runs if isinstance(each, str)):
        problem = "standard input is read by this process alone, not by those of an executor"
        raise InputError(problem, source="run", path="-")


def are_partitions(run: Any) -> bool:
    """Tell whether a run is a list of partitions, rather than of records."""
    return isinstance(run, list | tuple) and bool(run) and all(map(_is_partition, run))


def _is_partition(each: Any) -> bool:
    if isinstance(each, Mapping):  # a record's values are no mappings
        return all(isinstance(documents, Mapping) for documents in each.values())
    return is_file(each) or isinstance(each, Run) or hasattr(each, "__arrow_c_stream__")


def evaluate_one(common: Common, item: NamedPartition) -> PartialResult:
    """Evaluate a partition, in a worker."""
    task, judgments = common
    return task.partial(judgments, _readable(item.partition), item.name)


def evaluate_system(common: Common, run: Rankings) -> tuple[Results, list[str]]:
    """Evaluate a whole run, in a worker; return the warnings, too."""
    task, judgments = common
    with warnings_kept() as caught:
        results = task.evaluation.evaluate(judgments, run)
    return results, list(caught)


def evaluate_whole(common: Common, item: SpanningQueries) -> PartialResult:
    """Evaluate queries from the rows that several partitions have of them, in a worker."""
    task, judgments = common
    rankings: dict[Any, dict[Any, float]] = defaultdict(dict)
    for place, partition in enumerate(item.partitions):
        name = name_of(partition, place)
        for query, documents in _rankings_of(task, partition, item.queries).items():
            mine = rankings[query]
            if not mine.keys().isdisjoint(documents):
                if all(isinstance(each, str) for each in item.partitions):
                    evaluation = task.evaluation  # for the error that one process raises
                    check_parts([*item.partitions], evaluation.order_by, evaluation.run_columns)
                document = next(each for each in documents if each in mine)
                fields = {"source": "run", "path": name, "query": query, "document": document}
                several = "a list is one run's partitions, evaluate_runs takes several runs"
                raise InputError(f"another partition has this document, too; {several}", **fields)
            mine.update(documents)
    return task.partial_of_rankings(judgments, dict(rankings))


def _rankings_of(
    task: PartitionTask, partition: Any, queries: frozenset[Any]
) -> dict[Any, dict[Any, float]]:
    """Return some queries' documents and their scores, of a partition."""
    given = _readable(partition)
    with warnings_kept():  # they were issued before
        if is_file(given):
            evaluation = task.evaluation
            return read_rankings(given, queries, evaluation.order_by, evaluation.run_columns)
        found = task.evaluation.rankings(given).rankings
        return {query: dict(found[query]) for query in found if query in queries}


def _readable(partition: Any) -> Any:
    """Return a partition as rankings: a fragment of a dataset as a dataset of its own."""
    if not type(partition).__module__.startswith("pyarrow._dataset") or is_dataset(partition):
        return partition
    from irbatch.errors import imported

    library = imported("datasets", "arrow", "pyarrow.dataset")
    schema, form = partition.physical_schema, partition.format
    return library.FileSystemDataset([partition], schema, form, partition.filesystem)


def _evaluate_each(
    pool: Executor, common: Shared, partitions: Sequence[Any], progress: Progress | None
) -> list[PartialResult]:
    """Evaluate every partition; the order is theirs."""
    named = [NamedPartition(name_of(each, place), each) for place, each in enumerate(partitions)]
    parts: dict[int, PartialResult] = {}
    for place, part in run_tasks(pool, evaluate_one, common, named):
        parts[place] = part
        if progress is not None:
            progress(len(parts), len(partitions))
    return [parts[place] for place in range(len(partitions))]


def _spanning(parts: Sequence[PartialResult]) -> dict[Any, list[int]]:
    """Return the queries that are in several partitions, and in which."""
    first: dict[Any, int] = {}
    spanning: dict[Any, list[int]] = {}
    for place, part in enumerate(parts):
        for query in part.queries():
            if (before := first.setdefault(query, place)) != place:
                spanning.setdefault(query, [before]).append(place)
    return spanning


def _gather(
    spanning: Mapping[Any, Sequence[int]], partitions: Sequence[Any], most: int, tasks: int
) -> Iterator[SpanningQueries]:
    """Put queries together that are in the same partitions or in neighbours, for so many tasks.

    Each task reads its partitions again, and holds about as much as a partition of `most` queries:
    a query counts as often as there are partitions that have some of it.
    """

    def whole() -> SpanningQueries:
        some = tuple(partitions[place] for place in sorted(places))
        return SpanningQueries(frozenset(queries), some)

    limit = min(most, math.ceil(sum(map(len, spanning.values())) / tasks))
    queries: list[Any] = []
    places: set[int] = set()
    held = 0
    for query in sorted(spanning, key=lambda each: (spanning[each], by_id(each))):
        if queries and held + len(spanning[query]) > limit:
            yield whole()
            queries, places, held = [], set(), 0
        queries.append(query)
        places.update(spanning[query])
        held += len(spanning[query])
    yield whole()

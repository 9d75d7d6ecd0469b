"""One run in partitions, or several runs, evaluated on any executor.

A query whose rows stand in several partitions is found when all are read, and evaluated once more
from the rows of all of them.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from multiprocessing import connection
from typing import Any, NamedTuple, cast

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn_all, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.partial import PartialResult, PartitionTask, by_id, merge_partials
from irbatch.evaluation.results import Results
from irbatch.formats.files import check_parts, find_parts, is_file, open_run, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone, available_cores

Common = tuple[PartitionTask, Qrels]
Work = Callable[[Common, Any], Any]

TASKS_PER_WORKER = 2  # tasks a worker, so that none waits for the next one
MOST_HELD = 2  # objects that a process keeps, for tasks to come

_held: dict[str, Any] = {}  # what tasks share, by key, the newest last


class NotHeldError(Exception):
    """A process does not hold yet what tasks share: send it with the task."""


class Workers:
    """Workers of an executor, or so many processes, or this thread, for tasks that share an object.

    Processes are sent the object once, not with every task, and end with the block; if one of our
    own is killed, they are started anew, once.

    Args:
        executor: of threads or processes, a number of processes, or None.
        common: what tasks share; it pickles.

    Raises:
        InputError: if the executor is something else.
    """

    def __init__(self, executor: Executor | int | None, common: Common) -> None:
        self._common, self._given = common, executor
        self._key, self._content = os.urandom(16).hex(), b""
        self._pool: Executor | None = None
        self.number = 1
        if executor is None or isinstance(executor, ThreadPoolExecutor):
            self._pool = executor
        elif isinstance(executor, Executor | int):
            self._content = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
            if isinstance(executor, Executor):
                self._pool = executor
            else:
                self.number = check_whole("executor", executor, 1)
                self._start()
        else:
            problem = "is a concurrent.futures.Executor, or a number of processes"
            raise InputError(problem, source="executor", value=executor)
        if isinstance(executor, Executor):
            self.number = getattr(executor, "_max_workers", None) or available_cores()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        if isinstance(self._given, int):
            self._end(at_once=problem[0] is not None)

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item, and what came of ``work(shared object, item)``, when done.

        Raises:
            ChildProcessError: if a process was killed, or couldn't start.
            InputError: if the executor was shut down.
        """
        if self._pool is None:
            yield from ((place, work(self._common, item)) for place, item in enumerate(items))
            return
        left, attempts = list(range(len(items)))[::-1], 1
        running: dict[Future[Any], int] = {}
        try:
            while left or running:
                try:
                    while left and len(running) < TASKS_PER_WORKER * self.number:
                        running[self._submit(work, items[left[-1]])] = left[-1]
                        left.pop()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        place = running[future]
                        try:
                            result = future.result()
                        except NotHeldError:
                            running[self._submit(work, items[place], self._content)] = place
                        else:
                            yield place, result
                        del running[future]
                except BrokenExecutor as problem:
                    lost = [*running.values()] or left[-1:]
                    if not isinstance(self._given, int) or attempts == 2:
                        raise ChildProcessError(_killed(items, lost)) from problem
                    attempts += 1
                    left += sorted(running.values(), reverse=True)
                    running = {}
                    self._end(at_once=True)
                    self._start()
        finally:
            for future in running:
                future.cancel()

    def _submit(self, work: Work, item: Any, content: bytes | None = None) -> Future[Any]:
        pool = cast(Executor, self._pool)
        try:
            if not self._content:  # threads
                return pool.submit(_run_alone, work, self._common, item)
            return pool.submit(_run_held, work, self._key, content, item)
        except BrokenExecutor:
            raise
        except RuntimeError as problem:
            raise InputError(f"takes no tasks: {problem}", source="executor") from None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        given = self._key, self._content
        self._pool = ProcessPoolExecutor(self.number, context, _begin, given)

    def _end(self, *, at_once: bool) -> None:
        """Wait for the processes to end, or end them, whatever they are at."""
        pool = cast(ProcessPoolExecutor, self._pool)
        processes = list((getattr(pool, "_processes", None) or {}).values())
        if at_once:
            pool.shutdown(wait=False, cancel_futures=True)
            for each in processes:
                each.terminate()
        for each in processes if at_once else ():
            each.join()
        pool.shutdown()


def _begin(key: str, content: bytes) -> None:
    """Prepare a process of our own: it leaves interrupts to its parent, and doesn't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    _hold(key, content)


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _hold(key: str, content: bytes) -> None:
    _held[key] = pickle.loads(content)  # noqa: S301 - whoever sends tasks wrote it
    while len(_held) > MOST_HELD:
        del _held[next(iter(_held))]


def _run_held(work: Work, key: str, content: bytes | None, item: Any) -> Any:
    """Do a task in a process, which holds what tasks share or is sent it."""
    if content is not None:
        _hold(key, content)
    if key not in _held:
        raise NotHeldError
    return _run_alone(work, _held[key], item)


def _run_alone(work: Work, common: Common, item: Any) -> Any:
    """Do a task in a worker, with one thread."""
    with alone():
        return work(common, item)


def _killed(items: Sequence[Any], lost: Sequence[int]) -> str:
    names = ", ".join(repr(name_of(items[each], each)) for each in sorted(lost)[:4])
    return (
        f"a worker was killed, perhaps for want of memory, while it had one of {names}; or it "
        'could not import this script, which is to evaluate under if __name__ == "__main__":'
    )


def name_of(item: Any, place: int) -> str:
    """Name a partition for messages."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return str(name or getattr(item, "path", None) or f"partition {place}")


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
    if is_file(run) and len(partitions) > 1:  # what doesn't fit together is rejected as elsewhere
        with open_run(run, evaluation.order_by, evaluation.run_columns):
            pass
    if isinstance(executor, int) and len(partitions) == 1:
        return evaluation.evaluate(qrels, run, progress)  # with all the threads there are
    judgments = evaluation.judgments(qrels)
    with Workers(executor, (PartitionTask(evaluation), judgments)) as workers:
        parts = _evaluate_each(workers, partitions, progress)
        spanning = _spanning(parts)
        if spanning and by_query:
            query, places = next(iter(spanning.items()))
            names = " and ".join(repr(name_of(partitions[at], at)) for at in places[:2])
            problem = f"it is in {names}, against partitioned_by_query=True"
            raise InputError(problem, source="run", query=query)
        if spanning:
            tasks = TASKS_PER_WORKER * workers.number
            wholes = list(_gather(spanning, partitions, max(map(len, parts)), tasks))
            parts = [part.without(spanning.keys()) for part in parts]
            parts += [part for _, part in workers.run(evaluate_whole, wholes)]
    name = os.fspath(run) if isinstance(run, str | os.PathLike) else None
    return merge_partials(parts).results(judgments, name=name, items=evaluation.items)


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
    common = PartitionTask(evaluation), evaluation.judgments(qrels)
    with Workers(executor, common) as workers:
        done = workers.run(evaluate_system, list(runs.values()))
        for number, (place, (results, texts)) in enumerate(done, 1):
            found[names[place]] = results
            warn_all(texts)
            if progress is not None:
                progress(number, len(names))
    return {name: found[name] for name in names}


def partitions_of(run: Any) -> list[Any]:
    """List a run's partitions: files of a folder or a pattern, or as given."""
    if isinstance(run, list | tuple):
        return [each for one in run for each in partitions_of(one)]
    if is_file(run):
        _check_not_input([run])
        return find_parts(run, "run")
    return [run]


def _check_not_input(runs: Iterable[Any]) -> None:
    """Reject standard input, which workers have not got."""
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
    return task.partial(judgments, item.partition, item.name)


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
    with warnings_kept():  # they were issued before
        if is_file(partition):
            evaluation = task.evaluation
            return read_rankings(partition, queries, evaluation.order_by, evaluation.run_columns)
        found = task.evaluation.rankings(partition).rankings
        return {query: dict(found[query]) for query in found if query in queries}


def _evaluate_each(
    workers: Workers, partitions: Sequence[Any], progress: Progress | None
) -> list[PartialResult]:
    """Evaluate every partition; the order is theirs."""
    named = [NamedPartition(name_of(each, place), each) for place, each in enumerate(partitions)]
    parts: dict[int, PartialResult] = {}
    for place, part in workers.run(evaluate_one, named):
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

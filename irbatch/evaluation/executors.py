"""One run in partitions, or several runs, evaluated on any executor.

A query whose rows stand in several partitions is found when all are read, and evaluated once more
from the rows of all of them.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import connection
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.partial import PartialResult, evaluate_part, merge_partials
from irbatch.evaluation.results import Results
from irbatch.formats.files import find_parts, is_file, open_run, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone

Common = tuple[Evaluation, Qrels]  # what tasks share
Work = Callable[[Common, Any], Any]

_own: list[Common] = []  # what tasks share, in a process that we started
_read = functools.lru_cache(1)(pickle.loads)  # in others, which are sent it with each task


class Workers:
    """Workers of an executor, or so many processes, or this thread, for tasks that share an object.

    Our own processes end with the block; if one of them is killed, they are started anew, once.
    """

    def __init__(self, executor: Executor | int | None, common: Common) -> None:
        self._common, self._pool = common, executor
        self._processes = 0
        self._sent: Common | bytes | None = common  # with each task
        if executor is None or isinstance(executor, ThreadPoolExecutor):
            return
        if isinstance(executor, Executor):
            self._sent = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        else:
            self._processes = check_whole("executor", executor, 1)
            self._sent = None
            self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self._processes, context, _begin, (self._common,))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        self._end(at_once=problem[0] is not None)

    def _end(self, *, at_once: bool) -> None:
        """Wait for our own processes to end, or end them, whatever they are at."""
        if self._processes and isinstance(pool := self._pool, ProcessPoolExecutor):
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=not at_once, cancel_futures=True)
            for process in processes if at_once else ():
                process.terminate()
                process.join()
            pool.shutdown()

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item, and what came of ``work(common, item)``, when done.

        Raises:
            ChildProcessError: if a process was killed, or couldn't start.
        """
        if self._pool is None:
            yield from ((place, work(self._common, item)) for place, item in enumerate(items))
            return
        left, may_restart = dict(enumerate(items)), self._processes > 0
        while left:
            futures: dict[Future[Any], int] = {}
            pool: Any = self._pool
            try:
                for place, item in left.items():
                    futures[pool.submit(_run, work, self._sent, item)] = place
                for future in as_completed(futures):
                    result = future.result()
                    del left[futures[future]]
                    yield futures[future], result
            except BrokenExecutor as problem:
                if not may_restart:
                    names = ", ".join(repr(name_of(*some)) for some in list(left.items())[:4])
                    raise ChildProcessError(
                        "a worker was killed, perhaps for want of memory, while it had one of "
                        f"{names}; or it could not import this script, which is to evaluate under "
                        'if __name__ == "__main__":'
                    ) from problem
                may_restart = False
                self._end(at_once=True)
                self._start()
            finally:
                for future in futures:
                    future.cancel()


def _begin(common: Common) -> None:
    """Prepare a process of our own: it leaves interrupts to its parent, and doesn't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    _own.append(common)


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _run(work: Work, common: Common | bytes | None, item: Any) -> Any:
    """Do a task with one thread; `common` is pickled, or what `_begin` was given."""
    shared = _read(common) if isinstance(common, bytes) else common or _own[0]
    with alone():
        return work(shared, item)


def evaluate_partitions(
    evaluation: Evaluation,
    qrels: Judgments,
    run: Any,
    executor: Executor | int | None,
    progress: Progress | bool | None = None,
) -> Results:
    """Return the results of a run in partitions."""
    partitions = partitions_of(run)
    if is_file(run) and len(partitions) > 1:  # what doesn't fit together is rejected as elsewhere
        with open_run(run, evaluation.order_by, evaluation.run_columns):
            pass
    if isinstance(executor, int) and len(partitions) == 1:
        return evaluation.evaluate(qrels, run, progress)  # with all the threads there are
    judgments = evaluation.judgments(qrels)
    named = [(name_of(place, partition), partition) for place, partition in enumerate(partitions)]
    with Workers(executor, (evaluation, judgments)) as workers:
        by_place = _collect(workers, evaluate_one, named, "partitions", progress)
        parts = [by_place[place] for place in range(len(named))]
        places: dict[Any, list[int]] = {}
        for place, part in enumerate(parts):
            for query in part.kept.ids:
                places.setdefault(query, []).append(place)
        spanning = {query: some for query, some in places.items() if len(some) > 1}
        if spanning:
            run_of_spanning = _read_spanning(workers, spanning, named)
            by_score = evaluation._replace(order_by="score")
            part = evaluate_part(by_score, judgments, run_of_spanning)
            part.kept.settings = evaluation.signature()
            parts = [*(part.without(spanning.keys()) for part in parts), part]
    name = os.fspath(run) if isinstance(run, str | os.PathLike) else None
    return merge_partials(parts).results(judgments, name=name)


def evaluate_systems(
    evaluation: Evaluation,
    qrels: Judgments,
    runs: Mapping[str, Rankings],
    executor: Executor | int,
    progress: Progress | bool | None = None,
) -> dict[str, Results]:
    """Return the results of several runs, by name, each evaluated by one worker."""
    _check_not_input(runs.values())
    with Workers(executor, (evaluation, evaluation.judgments(qrels))) as workers:
        outcomes = _collect(workers, evaluate_system, list(runs.values()), "systems", progress)
    for place in range(len(runs)):
        warn(*outcomes[place][1])
    return {name: outcomes[place][0] for place, name in enumerate(runs)}


def _collect(
    workers: Workers, work: Work, items: Sequence[Any], what: str, progress: Progress | bool | None
) -> dict[int, Any]:
    """Return what came of each item, by its place, telling how far it is."""
    shown: AbstractContextManager[Any] = nullcontext(progress)
    if progress and not callable(progress):
        shown = progress_on_bar(what, progress)
    done: dict[int, Any] = {}
    with shown as tell:
        for place, result in workers.run(work, items):
            done[place] = result
            if tell:
                tell(len(done), len(items))
    return done


def name_of(place: int, item: Any) -> str:
    """Name a partition, a run or what workers are given of them, for messages."""
    item = item[0] if isinstance(item, tuple) else item
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return str(name or getattr(item, "path", None) or f"partition {place}")


def partitions_of(run: Any) -> list[Any]:
    """List a run's partitions: files of a folder or a pattern, or as given."""
    if isinstance(run, list | tuple):
        return [partition for part in run for partition in partitions_of(part)]
    _check_not_input([run])
    return find_parts(run, "run") if is_file(run) else [run]


def _check_not_input(runs: Iterable[Any]) -> None:
    """Reject standard input, which workers have not got."""
    if any(isinstance(run, str) and run == "-" for run in runs):
        problem = "standard input is read by this process alone, not by those of an executor"
        raise InputError(problem, source="run", path="-")


def are_partitions(run: Any) -> bool:
    """Tell whether a run is a list of partitions, rather than of records."""
    return isinstance(run, list | tuple) and bool(run) and all(map(_is_partition, run))


def _is_partition(part: Any) -> bool:
    if isinstance(part, Mapping):  # a record's values are no mappings
        return all(isinstance(documents, Mapping) for documents in part.values())
    return is_file(part) or isinstance(part, Run) or hasattr(part, "__arrow_c_stream__")


def evaluate_one(common: Common, item: tuple[str, Any]) -> PartialResult:
    """Evaluate a partition, which has a name for messages."""
    return evaluate_part(*common, item[1], name=item[0])


def evaluate_system(common: Common, run: Rankings) -> tuple[Results, list[str]]:
    """Evaluate a whole run; return the warnings, too."""
    evaluation, judgments = common
    with warnings_kept() as caught:
        results = evaluation.evaluate(judgments, run)
    return results, list(caught)


def read_queries(common: Common, item: tuple[Any, set[Any]]) -> dict[Any, dict[Any, float]]:
    """Return some queries' documents and their scores, of a partition."""
    (evaluation, _), (partition, queries) = common, item
    with warnings_kept():  # they were issued before
        if is_file(partition):
            return read_rankings(partition, queries, evaluation.order_by, evaluation.run_columns)
        rankings = evaluation.rankings(partition).rankings
        return {query: dict(rankings[query]) for query in queries.intersection(rankings)}


def _read_spanning(
    workers: Workers, spanning: Mapping[Any, Sequence[int]], named: Sequence[tuple[str, Any]]
) -> Run:
    """Return the rankings of queries, from the rows that several partitions have of them."""
    queries: dict[int, set[Any]] = {}
    for query, places in spanning.items():
        for place in places:
            queries.setdefault(place, set()).add(query)
    where = sorted(queries)
    read = dict(workers.run(read_queries, [(named[i][1], queries[i]) for i in where]))
    rankings: dict[Any, dict[Any, float]] = {query: {} for query in spanning}
    for number, place in enumerate(where):
        for query, documents in read[number].items():
            twice = rankings[query].keys() & documents.keys()
            if twice:
                several = "a list is one run's partitions, evaluate_runs takes several runs"
                raise InputError(
                    f"another partition has this document, too; {several}",
                    source="run", path=named[place][0], query=query, document=min(twice, key=str),
                )  # fmt: skip
            rankings[query].update(documents)
    return Run(rankings)

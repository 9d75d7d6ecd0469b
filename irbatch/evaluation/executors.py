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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from multiprocessing import connection
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings, is_file
from irbatch.evaluation.partial import PartialResult, add_up, evaluate_part
from irbatch.evaluation.pipeline import evaluate_run
from irbatch.evaluation.results import Results
from irbatch.formats.files import find_parts, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone

Common = tuple[Evaluation, Qrels]  # what tasks share
Item = tuple[Any, ...]  # what else one is about: a run or a part of one, its name, and more

_own: list[Common] = []  # what tasks share, in a process that we started
_read = functools.lru_cache(1)(pickle.loads)  # in others, which are sent it with each task


class Workers:
    """Workers of an executor, or so many processes, or this thread, for tasks that share an object.

    Our own processes end with the block; if one of them is killed, they are started anew, once.
    """

    def __init__(self, executor: Executor | int | None, common: Common) -> None:
        self._common, self._pool, self._processes = common, executor, 0
        self._sent: Common | bytes | None = common  # with each task
        if isinstance(executor, Executor) and not isinstance(executor, ThreadPoolExecutor):
            self._sent = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        elif executor is not None and not isinstance(executor, Executor):
            self._processes = check_whole("executor", executor, 1)
            self._sent = None
            self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self._processes, context, _begin, (self._common,))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        """Wait for our own processes to end; after an error end them, whatever they are at."""
        if self._processes and isinstance(pool := self._pool, ProcessPoolExecutor):
            failed = problem[0] is not None
            processes = [*(getattr(pool, "_processes", None) or {}).values()] if failed else []
            pool.shutdown(wait=not failed, cancel_futures=True)
            for process in processes:
                process.terminate()
                process.join()

    def run(
        self, work: Callable[..., Any], items: Sequence[Item], progress: Progress | None = None
    ) -> list[Any]:
        """Return what came of ``work(*common, *item)`` for each item, telling how far it is."""
        done: dict[int, Any] = {}
        may_restart = self._processes > 0
        while len(done) < len(items):
            left = {place: item for place, item in enumerate(items) if place not in done}
            try:
                for place, result in self._outcomes(work, left):
                    done[place] = result
                    if progress is not None:
                        progress(len(done), len(items))
            except BrokenExecutor as problem:
                if not may_restart:
                    names = [name for place, (_, name, *_) in left.items() if place not in done]
                    raise ChildProcessError(
                        "a worker was killed, perhaps for want of memory, while it had one of "
                        f"{', '.join(map(repr, names[:4]))}; or it could not import this script, "
                        'which is to evaluate under if __name__ == "__main__":'
                    ) from problem
                may_restart = False  # the pool has ended its other processes
                self._start()
        return [done[place] for place in range(len(items))]

    def _outcomes(
        self, work: Callable[..., Any], items: Mapping[int, Item]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item, and what came of it, when it is done."""
        pool: Any = self._pool
        if pool is None:
            yield from ((place, work(*self._common, *item)) for place, item in items.items())
            return
        futures: dict[Future[Any], int] = {}
        try:
            for place, item in items.items():
                futures[pool.submit(_run, work, self._sent, item)] = place
            for future in as_completed(futures):
                yield futures[future], future.result()
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


def _run(work: Callable[..., Any], common: Common | bytes | None, item: Item) -> Any:
    """Do a task with one thread; `common` is pickled, or what `_begin` was given."""
    shared = _read(common) if isinstance(common, bytes) else common or _own[0]
    with alone():
        return work(*shared, *item)


def evaluate_partitions(
    evaluation: Evaluation,
    qrels: Judgments,
    run: Any,
    executor: Executor | int | None,
    progress: Progress | bool | None = None,
) -> Results:
    """Return the results of a run in partitions."""
    partitions = partitions_of(run)
    if isinstance(executor, int) and len(partitions) == 1:
        return evaluate_run(evaluation, qrels, run, progress)  # with all the threads there are
    judgments = evaluation.judgments(qrels)
    named = [(partition, name_of(place, partition)) for place, partition in enumerate(partitions)]
    with Workers(executor, (evaluation, judgments)) as workers:
        with progress_on_bar("partitions", progress) as tell:
            parts: list[PartialResult] = workers.run(evaluate_part, named, tell)
        counts = Counter(query for part in parts for query in part.kept.ids)
        spanning = {query for query, number in counts.items() if number > 1}
        if spanning:
            where = [
                (*item, spanning)
                for item, part in zip(named, parts, strict=True)
                if not spanning.isdisjoint(part.kept.ids)
            ]
            names = [name for _, name, _ in where]
            whole = _join_rankings(names, workers.run(read_queries, where))
            by_score = evaluation._replace(order_by="score")
            part = evaluate_part(by_score, judgments, Run(whole))
            part.kept.settings = evaluation.signature()
            parts = [part, *parts]
    name = os.fspath(run) if isinstance(run, str | os.PathLike) else None
    return add_up(parts).results(judgments, name=name)


def evaluate_systems(
    evaluation: Evaluation,
    qrels: Judgments,
    runs: Mapping[str, Rankings],
    executor: Executor | int,
    progress: Progress | bool | None = None,
) -> dict[str, Results]:
    """Return the results of several runs, by name, each evaluated by one worker."""
    _check_not_input(runs.values())
    judgments = evaluation.judgments(qrels)
    with (
        Workers(executor, (evaluation, judgments)) as workers,
        progress_on_bar("systems", progress) as tell,
    ):
        parts = workers.run(evaluate_part, [(run, name) for name, run in runs.items()], tell)
    return {part.name: part.results(judgments, name=part.name) for part in parts}


def name_of(place: int, run: Any) -> str:
    """Name a partition or a run, for messages."""
    name = run if isinstance(run, str) else getattr(run, "name", None)
    return str(name or getattr(run, "path", None) or f"partition {place}")


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
    """Tell whether a list is of partitions, rather than of records."""
    return bool(run) and all(map(_is_partition, run))


def _is_partition(part: Any) -> bool:
    if isinstance(part, Mapping):  # a record's values are no mappings
        return all(isinstance(documents, Mapping) for documents in part.values())
    return is_file(part) or isinstance(part, Run) or hasattr(part, "__arrow_c_stream__")


def read_queries(
    evaluation: Evaluation, _: Qrels, partition: Any, name: str, queries: set[Any]
) -> dict[Any, dict[Any, float]]:
    """Return some queries' documents and their scores, of a partition."""
    with warnings_kept():  # they were issued before
        if is_file(partition):
            return read_rankings(partition, queries, evaluation.order_by, evaluation.run_columns)
        rankings = evaluation.rankings(partition).rankings
        return {query: dict(rankings[query]) for query in queries.intersection(rankings)}


def _join_rankings(
    names: Iterable[str], partitions: Iterable[Mapping[Any, Mapping[Any, float]]]
) -> dict[Any, dict[Any, float]]:
    """Return the documents that queries have in some partitions, each in one of these."""
    rankings: dict[Any, dict[Any, float]] = {}
    for name, of_queries in zip(names, partitions, strict=True):
        for query, documents in of_queries.items():
            ranking = rankings.setdefault(query, {})
            twice = ranking.keys() & documents.keys()
            if twice:
                several = "a list is one run's partitions, evaluate_runs takes several runs"
                raise InputError(
                    f"another partition has this document, too; {several}",
                    source="run", path=name, query=query, document=min(twice, key=str),
                )  # fmt: skip
            ranking.update(documents)
    return rankings

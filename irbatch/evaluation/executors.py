"""One run in partitions, or several runs, evaluated on any executor.

A query whose rows stand in several partitions is found when all are read, and evaluated once more
from the rows of all of them: processes of our own are started anew for that.
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
from contextlib import contextmanager
from multiprocessing import connection
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, is_file
from irbatch.evaluation.partial import PartialResult, add_up, evaluate_part
from irbatch.evaluation.pipeline import evaluate_run
from irbatch.evaluation.results import Results
from irbatch.formats.files import find_parts, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone

Common = tuple[Evaluation, Qrels]  # what tasks share
Sent = Common | bytes | None  # pickled for processes of others, None for our own, which have it
Item = tuple[Any, ...]  # what else one is about: a run or a part of one, its name, and more

_own: list[Common] = []  # what tasks share, in a process that we started
_read = functools.lru_cache(1)(pickle.loads)  # in others, which are sent it with each task


def run_tasks(
    executor: Executor | int | None,
    common: Common,
    work: Callable[..., Any],
    items: Sequence[Item],
    progress: Progress | None = None,
) -> list[Any]:
    """Return what came of ``work(*common, *item)`` for each item, telling how far it is.

    An executor does it, or so many processes, which are started once more if one of them is
    killed, or this thread.
    """
    if any(isinstance(run, str) and run == "-" for run, *_ in items):
        problem = (
            "standard input is read once, by one process: it is not for partitions and executors"
        )
        raise InputError(problem, source="run", path="-")
    done: dict[int, Any] = {}

    def finish(place: int, result: Any) -> None:
        done[place] = result
        if progress is not None:
            progress(len(done), len(items))

    if executor is None:
        for place, item in enumerate(items):
            finish(place, work(*common, *item))
        return list(done.values())
    attempts = 1 if isinstance(executor, Executor) else 2
    while left := [place for place in range(len(items)) if place not in done]:
        futures: dict[Future[Any], int] = {}
        try:
            with _pool(executor, common) as (pool, sent):
                for place in left:
                    futures[pool.submit(_run, work, sent, items[place])] = place
                for future in as_completed(futures):
                    finish(futures[future], future.result())
        except BrokenExecutor as problem:
            attempts -= 1
            if not attempts:
                names = [items[place][1] for place in left if place not in done]
                raise ChildProcessError(
                    "a worker was killed, perhaps for want of memory, while it had one of "
                    f"{', '.join(map(repr, names[:4]))}; or it could not import this script, "
                    'which is to evaluate under if __name__ == "__main__":'
                ) from problem
        finally:
            for future in futures:
                future.cancel()
    return [done[place] for place in range(len(items))]


@contextmanager
def _pool(executor: Executor | int, common: Common) -> Iterator[tuple[Executor, Sent]]:
    """Give an executor, and what it is sent with each task.

    Processes that are started end with the block; after an error at once, whatever they are at.
    """
    if isinstance(executor, Executor):
        of_threads = isinstance(executor, ThreadPoolExecutor)
        yield executor, common if of_threads else pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        return
    processes = check_whole("executor", executor, 1)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, _begin, (common,))
    try:
        yield pool, None
    except BaseException:
        started = [*(getattr(pool, "_processes", None) or {}).values()]
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.terminate()
            process.join()
        raise
    pool.shutdown()


def _begin(common: Common) -> None:
    """Prepare a process of our own: it leaves interrupts to its parent, and doesn't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    _own.append(common)


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _run(work: Callable[..., Any], sent: Sent, item: Item) -> Any:
    """Do a task with one thread."""
    common = _read(sent) if isinstance(sent, bytes) else sent or _own[0]
    with alone():
        return work(*common, *item)


def evaluate_partitions(
    evaluation: Evaluation, qrels: Judgments, run: Any, executor: Executor | int | None
) -> Results:
    """Return the results of a run in partitions."""
    named: list[Item] = []
    several = isinstance(run, list | tuple)
    for part in run if several else [run]:
        for partition in find_parts(part, "run") if is_file(part) else [part]:
            own = partition.name if isinstance(partition, Run) else partition
            named.append((partition, own if isinstance(own, str) else f"partition {len(named)}"))
    if isinstance(executor, int) and len(named) == 1:  # which has all the threads there are
        return evaluate_run(evaluation, qrels, named[0][0] if several else run)
    judgments = evaluation.judgments(qrels)
    common = evaluation._replace(progress=None), judgments
    with progress_on_bar("partitions", evaluation.progress) as tell:
        parts: list[PartialResult] = run_tasks(executor, common, evaluate_part, named, tell)
    counts = Counter(query for part in parts for query in part.kept.ids)
    spanning = {query for query, number in counts.items() if number > 1}
    if spanning:
        where = [
            (*item, spanning)
            for item, part in zip(named, parts, strict=True)
            if not spanning.isdisjoint(part.kept.ids)
        ]
        names = [name for _, name, _ in where]
        whole = _join_rankings(names, run_tasks(executor, common, read_queries, where))
        by_score = evaluation._replace(order_by="score", progress=None)
        part = evaluate_part(by_score, judgments, Run(whole))
        part.kept.settings = evaluation.signature()
        parts = [part, *parts]
    name = os.fspath(run) if isinstance(run, str | os.PathLike) else None
    return add_up(parts).results(judgments, name=name)


def are_partitions(run: Any) -> bool:
    """Tell whether a list is of partitions, rather than of records."""
    for part in run:
        if isinstance(part, Mapping):  # a record's values are not mappings
            if not all(isinstance(documents, Mapping) for documents in part.values()):
                return False
        elif not (is_file(part) or isinstance(part, Run) or hasattr(part, "__arrow_c_stream__")):
            return False
    return bool(run)


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
            if twice := ranking.keys() & documents.keys():
                several = "a list is one run's partitions, evaluate_runs takes several runs"
                raise InputError(
                    f"another partition has this document, too; {several}",
                    source="run", path=name, query=query, document=min(twice, key=str),
                )  # fmt: skip
            ranking.update(documents)
    return rankings

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
from dataclasses import replace
from multiprocessing import connection
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn_all, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.partial import PartialResult, evaluate_part, merge_partials
from irbatch.evaluation.results import Results
from irbatch.formats.files import find_parts, is_file, open_run, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone

Common = tuple[Evaluation, Qrels]  # what tasks share
Work = Callable[[Common, Any], Any]
Named = tuple[str, Any]  # a partition, and what messages call it

_own: list[Common] = []  # what tasks share, in a process that we started


class Workers:
    """Workers of an executor, or so many processes, or this thread, for tasks that share an object.

    Our own processes end with the block; if one of them is killed, they are started anew, once.

    Args:
        executor: of threads or processes, a number of processes, or None.
        common: what tasks share; it pickles.

    Raises:
        InputError: if the executor is something else.
    """

    def __init__(self, executor: Executor | int | None, common: Common) -> None:
        self._common, self._executor = common, executor
        self._content: bytes | None = None
        self._processes: ProcessPoolExecutor | None = None
        if executor is not None and not isinstance(executor, ThreadPoolExecutor):
            self._content = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
            if not isinstance(executor, Executor):
                self._number = check_whole("executor", executor, 1)
                self._start()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        self._end(at_once=problem[0] is not None)

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item, and what came of ``work(shared object, item)``, when done.

        Raises:
            ChildProcessError: if a process was killed, or couldn't start.
            InputError: if the executor was shut down.
        """
        if self._executor is None:
            yield from ((place, work(self._common, item)) for place, item in enumerate(items))
            return
        left, again = dict(enumerate(items)), self._processes is not None
        while left:
            running: dict[Future[Any], int] = {}
            try:
                running |= {self._submit(work, item): place for place, item in left.items()}
                for future in as_completed(running):
                    result = future.result()
                    del left[running[future]]
                    yield running[future], result
            except BrokenExecutor as problem:
                if not again:
                    names = ", ".join(repr(name_of(*some)) for some in list(left.items())[:4])
                    raise ChildProcessError(
                        "a worker was killed, perhaps for want of memory, while it had one of "
                        f"{names}; or it could not import this script, which is to evaluate under "
                        'if __name__ == "__main__":'
                    ) from problem
                again = False
                self._end(at_once=True)
                self._start()
            finally:
                for future in running:
                    future.cancel()

    def _submit(self, work: Work, item: Any) -> Future[Any]:
        pool: Any = self._executor if self._processes is None else self._processes
        try:
            if self._content is None:
                return pool.submit(_run, work, self._common, item)
            content = self._content if self._processes is None else None
            return pool.submit(_run_there, work, content, item)
        except BrokenExecutor:
            raise
        except RuntimeError as problem:
            raise InputError(f"takes no tasks: {problem}", source="executor") from None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes = ProcessPoolExecutor(self._number, context, _begin, (self._content,))

    def _end(self, *, at_once: bool) -> None:
        """Wait for our own processes to end, or end them, whatever they are at."""
        if self._processes is None:
            return
        processes = list((getattr(self._processes, "_processes", None) or {}).values())
        self._processes.shutdown(wait=not at_once, cancel_futures=True)
        for process in processes if at_once else ():
            process.terminate()
            process.join()
        self._processes.shutdown()


def _begin(content: bytes | None) -> None:
    """Prepare a process of our own: it leaves interrupts to its parent, and doesn't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    _own.append(pickle.loads(content or b""))  # noqa: S301 - our parent wrote it


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


@functools.lru_cache(1)
def _read(content: bytes) -> Common:
    common: Common = pickle.loads(content)  # noqa: S301 - whoever sends tasks wrote it
    return common


def _run_there(work: Work, content: bytes | None, item: Any) -> Any:
    """Do a task in a process, which holds what tasks share or reads it, once."""
    return _run(work, _own[0] if content is None else _read(content), item)


def _run(work: Work, common: Common, item: Any) -> Any:
    with alone():  # with one thread
        return work(common, item)


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
    common = evaluation, judgments
    named = [(name_of(place, partition), partition) for place, partition in enumerate(partitions)]
    with Workers(executor, common) as workers:
        by_place = _collect(workers, evaluate_one, named, "partitions", progress)
        parts = [by_place[place] for place in range(len(named))]
        places: dict[Any, list[int]] = {}
        for place, part in enumerate(parts):
            for query in part.kept.ids:
                places.setdefault(query, []).append(place)
        spanning = {query: some for query, some in places.items() if len(some) > 1}
        if spanning:
            parts = [part.without(spanning.keys()) for part in parts]
            parts.append(_evaluate_spanning(workers, common, spanning, named))
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
    _check_not_input(runs.values())
    with Workers(executor, (evaluation, evaluation.judgments(qrels))) as workers:
        outcomes = _collect(workers, evaluate_system, list(runs.values()), "systems", progress)
    for place in range(len(runs)):
        warn_all(outcomes[place][1])
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


# ---------------------------------------------------------------- what workers do


def evaluate_one(common: Common, item: Named) -> PartialResult:
    """Evaluate a partition."""
    name, partition = item
    return evaluate_part(*common, partition, name=name)


def evaluate_system(common: Common, run: Rankings) -> tuple[Results, list[str]]:
    """Evaluate a whole run; return the warnings, too."""
    evaluation, judgments = common
    with warnings_kept() as caught:
        results = evaluation.evaluate(judgments, run)
    return results, list(caught)


def read_queries(common: Common, item: tuple[Any, frozenset[Any]]) -> dict[Any, dict[Any, float]]:
    """Return some queries' documents and their scores, of a partition."""
    (evaluation, _), (partition, queries) = common, item
    with warnings_kept():  # they were issued before
        if is_file(partition):
            return read_rankings(partition, queries, evaluation.order_by, evaluation.run_columns)
        rankings = evaluation.rankings(partition).rankings
        return {query: dict(rankings[query]) for query in queries.intersection(rankings)}


def _evaluate_spanning(
    workers: Workers, common: Common, spanning: Mapping[Any, Sequence[int]], named: Sequence[Named]
) -> PartialResult:
    """Evaluate queries from the rows that several partitions have of them."""
    queries: dict[int, set[Any]] = {}
    for query, places in spanning.items():
        for place in places:
            queries.setdefault(place, set()).add(query)
    where = sorted(queries)
    read = dict(workers.run(read_queries, [(named[i][1], frozenset(queries[i])) for i in where]))
    rankings: dict[Any, dict[Any, float]] = {}
    for number, place in enumerate(where):
        for query, documents in read[number].items():
            mine = rankings.setdefault(query, {})
            if (document := next(filter(mine.__contains__, documents), None)) is not None:
                several = "a list is one run's partitions, evaluate_runs takes several runs"
                raise InputError(
                    f"another partition has this document, too; {several}",
                    source="run", path=named[place][0], query=query, document=document,
                )  # fmt: skip
            mine.update(documents)
    evaluation, judgments = common
    part = evaluate_part(replace(evaluation, order_by="score"), judgments, Run(rankings))
    return replace(part, evaluation=evaluation, settings=evaluation.signature())

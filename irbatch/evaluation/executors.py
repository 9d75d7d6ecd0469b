"""One run in partitions, or several runs, evaluated on any executor.

A query whose rows stand in several partitions is found when all are read, and evaluated once more
from the rows of all of them.
"""

from __future__ import annotations

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

_held: dict[str, Common] = {}  # by a process: what tasks share, under its key


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
        self._common, self._pool = common, executor
        self._own: ProcessPoolExecutor | None = None
        self._content, self._key = b"", os.urandom(16).hex()
        if executor is None or isinstance(executor, ThreadPoolExecutor):
            return
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
        if self._pool is None:
            yield from ((place, work(self._common, item)) for place, item in enumerate(items))
            return
        left, again = dict(enumerate(items)), self._own is not None
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
                    names = ", ".join(repr(name_of(*each)) for each in list(left.items())[:4])
                    said = (
                        "a worker was killed, perhaps for want of memory, while it had one of "
                        f"{names}; or it could not import this script, which is to evaluate under "
                        'if __name__ == "__main__":'
                    )
                    raise ChildProcessError(said) from problem
                again = False
                self._end(at_once=True)
                self._start()
            finally:
                for future in running:
                    future.cancel()

    def _submit(self, work: Work, item: Any) -> Future[Any]:
        pool: Any = self._pool
        try:
            if not self._content:
                return pool.submit(_run_alone, work, self._common, item)
            content = b"" if self._own is not None else self._content
            return pool.submit(_run_held, work, self._key, content, item)
        except BrokenExecutor:
            raise
        except RuntimeError as problem:
            raise InputError(f"takes no tasks: {problem}", source="executor") from None

    def _start(self) -> None:
        context, held = multiprocessing.get_context("spawn"), (self._key, self._content)
        self._pool = self._own = ProcessPoolExecutor(self._number, context, _begin, held)

    def _end(self, *, at_once: bool) -> None:
        """Wait for our own processes to end, or end them, whatever they are at."""
        if self._own is None:
            return
        processes = list((getattr(self._own, "_processes", None) or {}).values())
        self._own.shutdown(wait=not at_once, cancel_futures=True)
        for each in processes if at_once else ():
            each.terminate()
            each.join()
        self._own.shutdown()


def _begin(key: str, content: bytes) -> None:
    """Prepare a process of our own: it leaves interrupts to its parent, and doesn't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    _held[key] = pickle.loads(content)  # noqa: S301 - our parent wrote it


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _run_held(work: Work, key: str, content: bytes, item: Any) -> Any:
    """Do a task in a process, which holds what tasks share or reads it."""
    if key not in _held:
        _held.clear()
        _held[key] = pickle.loads(content)  # noqa: S301 - whoever sends tasks wrote it
    return _run_alone(work, _held[key], item)


def _run_alone(work: Work, common: Common, item: Any) -> Any:
    """Do a task in a worker, with one thread."""
    with alone():
        return work(common, item)


def name_of(place: int, item: Any) -> str:
    """Name a partition, a run or what workers are given of them, for messages."""
    item = item[0] if isinstance(item, tuple) else item
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return str(name or getattr(item, "path", None) or f"partition {place}")


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
    partitions = partitions_of(run)
    if is_file(run) and len(partitions) > 1:  # what doesn't fit together is rejected as elsewhere
        with open_run(run, evaluation.order_by, evaluation.run_columns):
            pass
    if isinstance(executor, int) and len(partitions) == 1:
        return evaluation.evaluate(qrels, run, progress)  # with all the threads there are
    judgments = evaluation.judgments(qrels)
    common = evaluation, judgments
    with Workers(executor, common) as workers, _told("partitions", progress) as tell:
        named = [(name_of(place, each), each) for place, each in enumerate(partitions)]
        found: dict[int, PartialResult] = {}
        for place, part in workers.run(evaluate_one, named):
            found[place] = part
            tell(len(found), len(named))
        parts = [found[place] for place in range(len(named))]
        places: dict[Any, list[int]] = {}
        for place, part in enumerate(parts):
            for query in part.kept.ids:
                places.setdefault(query, []).append(place)
        spanning = {query: some for query, some in places.items() if len(some) > 1}
        if spanning and by_query:
            query, some = next(iter(spanning.items()))
            names = " and ".join(repr(named[place][0]) for place in some[:2])
            problem = f"it is in {names}, against partitioned_by_query=True"
            raise InputError(problem, source="run", query=query)
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
    names, found = list(runs), {}
    _check_not_input(runs.values())
    common = evaluation, evaluation.judgments(qrels)
    with Workers(executor, common) as workers, _told("systems", progress) as tell:
        for place, (results, texts) in workers.run(evaluate_system, list(runs.values())):
            found[names[place]] = results
            warn_all(texts)
            tell(len(found), len(names))
    return {name: found[name] for name in names}


def _told(what: str, progress: Progress | bool | None) -> AbstractContextManager[Any]:
    """Return what is told of progress, while it is entered."""
    if progress:
        return nullcontext(progress) if callable(progress) else progress_on_bar(what, progress)
    return nullcontext(lambda done, total: None)


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


def evaluate_one(common: Common, item: Named) -> PartialResult:
    """Evaluate a partition, in a worker."""
    name, partition = item
    return evaluate_part(*common, partition, name=name)


def evaluate_system(common: Common, run: Rankings) -> tuple[Results, list[str]]:
    """Evaluate a whole run, in a worker; return the warnings, too."""
    evaluation, judgments = common
    with warnings_kept() as caught:
        results = evaluation.evaluate(judgments, run)
    return results, list(caught)


def read_queries(common: Common, item: tuple[Any, frozenset[Any]]) -> dict[Any, dict[Any, float]]:
    """Return some queries' documents and their scores, of a partition, in a worker."""
    (evaluation, _), (partition, queries) = common, item
    with warnings_kept():  # they were issued before
        if is_file(partition):
            return read_rankings(partition, queries, evaluation.order_by, evaluation.run_columns)
        found = evaluation.rankings(partition).rankings
        return {query: dict(found[query]) for query in queries.intersection(found)}


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

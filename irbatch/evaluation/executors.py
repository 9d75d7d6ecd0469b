"""One run in partitions, or several runs, evaluated on any executor."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import sys
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
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import connection
from types import TracebackType
from typing import Any, NamedTuple, cast

from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn_all, warnings_kept
from irbatch.evaluation.evaluation import Evaluation, Judgments, Rankings
from irbatch.evaluation.partial import PartialResult, PartitionTask, merge_partials
from irbatch.evaluation.results import Results
from irbatch.evaluation.states import by_id
from irbatch.formats.files import check_parts, find_parts, is_file, open_run, read_rankings
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Progress, progress_on_bar
from irbatch.runtime.threads import alone, available_cores

MOST_HELD = 2  # that a process keeps, for tasks to come

_held: dict[str, Any] = {}  # by key, the newest last


class MissingSharedError(Exception):
    """A process cannot read what tasks share, as on another machine: send it with the task."""


@dataclass(frozen=True)
class Shared:
    """Stands for an object: where a process finds it, by a key.

    The key is a digest of the pickled object. It comes with the task, through the executor; so
    nothing is unpickled but what whoever sends tasks has written.
    """

    key: str
    path: str = ""  # of a file that holds it, on the machine it comes from
    content: bytes | None = None

    def load(self) -> Any:
        """Return the object, from what this process holds, or else from where it is.

        Raises:
            MissingSharedError: if that is on another machine.
        """
        if self.key not in _held:
            content = self.content
            if content is None:
                try:
                    with open(self.path, "rb") as file:  # noqa: PTH123 - pathlib takes 5 ms
                        content = file.read()
                except OSError:
                    raise MissingSharedError from None
            if _key_of(content) != self.key:  # someone else wrote it
                raise MissingSharedError
            _hold(self.key, pickle.loads(content))  # noqa: S301 - what the task names
        return _held[self.key]

    def with_content(self) -> Shared:
        """Return the same with the object itself."""
        with open(self.path, "rb") as file:  # noqa: PTH123 - as above
            return replace(self, content=file.read())


def _key_of(content: bytes) -> str:
    from hashlib import blake2b

    return blake2b(content, digest_size=16).hexdigest()


def _hold(key: str, given: Any) -> None:
    _held[key] = given
    while len(_held) > MOST_HELD:
        del _held[next(iter(_held))]


@contextmanager
def shared(given: Any, executor: Executor) -> Iterator[Shared]:
    """Give what stands for an object in the tasks of an executor, until the block ends."""
    if isinstance(executor, ThreadPoolExecutor | InlineExecutor):
        key = os.urandom(16).hex()
        _hold(key, given)
        try:
            yield Shared(key)
        finally:
            _held.pop(key, None)
        return
    import tempfile

    content = pickle.dumps(given, pickle.HIGHEST_PROTOCOL)
    with tempfile.TemporaryDirectory(prefix="irbatch-") as folder:
        path = os.path.join(folder, "shared")  # noqa: PTH118 - as above
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(content)
        key = _key_of(content)
        del content
        yield Shared(key, path)


def run_task(work: Callable[[Any, Any], Any], common: Shared, item: Any) -> Any:
    """Call ``work(shared object, item)`` in a worker, with one thread."""
    with alone():
        return work(common.load(), item)


class InlineExecutor(Executor):
    """An executor that runs each task at once, in the thread that submits it."""

    _max_workers = 1

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Any:
        """Call a function, and return what comes of it as done."""
        from concurrent.futures import Future

        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **named))
        except Exception as problem:
            done.set_exception(problem)
        return done


class Processes(Executor):
    """So many processes, started anew rather than forked; those that were killed are replaced."""

    def __init__(self, number: int) -> None:
        self._max_workers = number
        self._pool = self._start()

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Any:
        """Have a function called in one of them."""
        with _blocked_interrupts():  # by which a process that starts would end with a traceback
            return self._pool.submit(fn, *args, **named)

    @property
    def _processes(self) -> Any:
        """The processes by number, as those of a `ProcessPoolExecutor`."""
        return getattr(self._pool, "_processes", None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Start no more, and wait for those there are."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def renew(self) -> None:
        """Start others, after one was killed."""
        self._end()
        self._pool = self._start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._pool.shutdown()
        else:
            self._end()

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._max_workers, context, _begin)

    def _end(self) -> None:
        """End them at once, whatever they are at."""
        processes = list((self._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for each in processes:
            each.terminate()
        for each in processes:
            each.join()
        self._pool.shutdown()
        del self._pool  # and with it what it has of the system


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Let interrupts wait until the block ends; processes started in it never get any."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave interrupts to the parent, and don't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


TASKS_PER_WORKER = 2  # tasks a worker, so that none waits for the next one
ATTEMPTS = 2  # at a task whose process was killed, where the processes are ours

UNGUARDED = 118
"""The exit status of a process that met these lines as it started: it imports its parent's script,
whose own work is not kept from that. Python would have each such process end with a traceback of
forty lines; here the parent tells, in one.
"""
TOLD_OF_SCRIPT = (
    "workers import this script, and so would evaluate, too: what it does itself belongs under "
    'if __name__ == "__main__":'
)


@contextmanager
def opened(executor: Executor | int | None) -> Iterator[Executor]:
    """Give the executor; of a number so many processes, until the block ends; of None this thread.

    Raises:
        InputError: if it is none.
        SystemExit: in a process that is only starting, see `UNGUARDED`.
    """
    if executor is None:
        yield InlineExecutor()
    elif isinstance(executor, Executor):
        if not isinstance(executor, ThreadPoolExecutor):
            _leave_if_starting()
        yield executor
    elif isinstance(executor, int):
        _leave_if_starting()
        with Processes(check_whole("executor", executor, 1)) as processes:
            yield processes
    else:
        problem = "is a concurrent.futures.Executor, or a number of processes"
        raise InputError(problem, source="executor", value=executor)


def run_tasks(
    executor: Executor, work: Callable[[Any, Any], Any], common: Shared, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Yield the place of each item, and what came of ``work(shared object, item)``, as it is done.

    Raises:
        ChildProcessError: if a process was killed, or couldn't start.
        InputError: if the executor was shut down.
    """
    left = list(range(len(items)))[::-1]
    attempts = dict.fromkeys(left, 0)
    running: dict[Future[Any], int] = {}
    try:
        while left or running:
            while left and len(running) < TASKS_PER_WORKER * workers_of(executor):
                place = left.pop()
                running[_submit(executor, work, common, items[place])] = place
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                place = running.pop(future)
                try:
                    yield place, future.result()
                except MissingSharedError:  # once a process: then it holds what is shared
                    whole = common.with_content()
                    running[_submit(executor, work, whole, items[place])] = place
                except BrokenExecutor as problem:
                    if _met_script(executor):
                        raise ChildProcessError(TOLD_OF_SCRIPT) from None
                    attempts[place] += 1
                    lost = [place, *running.values()]
                    renew = getattr(executor, "renew", None)
                    if renew is None or max(attempts[each] for each in lost) >= ATTEMPTS:
                        raise ChildProcessError(_killed(items, lost)) from problem
                    for each in running.values():
                        attempts[each] += 1
                    left += sorted(lost, reverse=True)
                    running.clear()
                    renew()
                    break
    finally:
        for future in running:
            future.cancel()


def _submit(executor: Executor, *task: Any) -> Future[Any]:
    """Have a task run; where a worker was killed before, the future says so."""
    try:
        return executor.submit(run_task, *task)
    except BrokenExecutor as problem:
        lost: Future[Any] = Future()
        lost.set_exception(problem)
        return lost
    except RuntimeError as problem:
        raise InputError(f"takes no tasks: {problem}", source="executor") from None


def workers_of(executor: Executor) -> int:
    """Return how many workers an executor has, as far as is known."""
    return getattr(executor, "_max_workers", None) or available_cores()


def _killed(items: Sequence[Any], lost: Sequence[int]) -> str:
    names = ", ".join(repr(name_of(items[each], each)) for each in sorted(lost)[:4])
    return f"a worker was killed, perhaps for want of memory, while it had one of {names}"


def _leave_if_starting() -> None:
    """End a process that is only starting, as multiprocessing notes it."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and getattr(processes.current_process(), "_inheriting", False):
        raise SystemExit(UNGUARDED)


def _met_script(executor: Executor) -> bool:
    """Tell whether a process of an executor that is broken ended as `UNGUARDED` says."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown()  # which waits for them
    return any(each.exitcode == UNGUARDED for each in processes)


def name_of(item: Any, place: int) -> str:
    """Name a partition for messages."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return str(name or getattr(item, "path", None) or f"partition {place}")


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
    """List a run's partitions: files of a folder or a pattern, or as given."""
    if isinstance(run, list | tuple):
        return [each for one in run for each in partitions_of(one)]
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

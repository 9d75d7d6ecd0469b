"""Running tasks on any executor: a few at once, in any order, and all ends if one fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from typing import Any

from irbatch.errors import InputError
from irbatch.evaluation.partitions.sending import (
    InlineExecutor,
    MissingSharedError,
    Shared,
    run_task,
)
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.threads import available_cores

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
        from irbatch.evaluation.partitions.processes import Processes

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

"""Running tasks on any executor: a few at once, in any order, and all ends if one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from typing import Any

from irbatch.errors import InputError
from irbatch.evaluation.partitions.sending import (
    InlineExecutor,
    MissingSharedError,
    Shared,
    run_task,
)
from irbatch.runtime.checks import check_whole
from irbatch.runtime.threads import available_cores

TASKS_PER_WORKER = 2  # tasks a worker, so that none waits for the next one
ATTEMPTS = 2  # at what a process was killed over, with processes of our own


@contextmanager
def opened(executor: Executor | int | None) -> Iterator[Executor]:
    """Give the executor, or one of so many processes, which end with the block; None: no other.

    Raises:
        InputError: if it is none.
    """
    if executor is None:
        yield InlineExecutor()
    elif isinstance(executor, Executor):
        yield executor
    elif isinstance(executor, int):
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
        ChildProcessError: if a process was killed.
    """
    left = list(range(len(items)))[::-1]
    attempts = dict.fromkeys(left, 0)
    running: dict[Future[Any], int] = {}
    try:
        while left or running:
            while left and len(running) < TASKS_PER_WORKER * workers_of(executor):
                place = left.pop()
                running[executor.submit(run_task, work, common, items[place])] = place
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                place = running.pop(future)
                try:
                    yield place, future.result()
                except MissingSharedError:  # once a process: then it holds what is shared
                    whole = common.with_content()
                    running[executor.submit(run_task, work, whole, items[place])] = place
                except BrokenExecutor as problem:
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


def workers_of(executor: Executor) -> int:
    """Return how many workers an executor has, as far as is known."""
    return getattr(executor, "_max_workers", None) or available_cores()


def _killed(items: Sequence[Any], lost: Sequence[int]) -> str:
    names = ", ".join(repr(name_of(items[each], each)) for each in sorted(lost)[:4])
    start = 'or it could not start: a script\'s own work belongs under if __name__ == "__main__"'
    return f"a worker was killed, perhaps for want of memory, while it had one of {names}; {start}"


def name_of(item: Any, place: int) -> str:
    """Name a partition for messages."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return str(name or getattr(item, "path", None) or f"partition {place}")

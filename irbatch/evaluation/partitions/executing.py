"""Working off items on any executor: a few at once, in any order, and all ends if one fails."""

from __future__ import annotations

import os
import pickle
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
from dataclasses import dataclass, replace
from typing import Any

from irbatch.errors import InputError
from irbatch.runtime.checks import check_whole
from irbatch.runtime.threads import alone, available_cores

MOST_HELD = 2  # that a process keeps, for tasks to come

_held: dict[str, Any] = {}  # by key, the newest last
TASKS_PER_WORKER = 2  # tasks a worker, so that none waits for the next one
ATTEMPTS = 2  # at what a process was killed over, with processes of our own


class MissingSharedError(Exception):
    """A process on another machine has not got what tasks share: it is to be sent with the task."""


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
    """An executor that works here and now."""

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

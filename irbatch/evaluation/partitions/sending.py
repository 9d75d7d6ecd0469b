"""What all tasks of an evaluation share: sent to each process once, not with every task."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from irbatch.runtime.threads import alone

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

"""The threads that share a block's rows.

Kernels release the GIL and write each row's own cells, so results don't depend on how rows are
divided. Threads end with the work they were started for, so that a forked child misses none. Where
the system starts no more of them, fewer share the work.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from irbatch.runtime.numbers import check_whole

if TYPE_CHECKING:
    from concurrent.futures import Future
    from functools import cached_property as cached_property  # noqa: TID251
else:

    class cached_property(functools.cached_property):  # noqa: N801, TID251
        """Keep what a method returns as the attribute of its name, without the library's lock.

        Before Python 3.12 that is one for all instances: a child of a fork would wait for ever for
        a lock that another thread held in its parent. Two threads that ask at once may both compute
        it, and keep equal values.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


Item = TypeVar("Item")
Done = TypeVar("Done")

# Below this many cells a thread costs more than it saves (python -m benchmarks --only scan).
CELLS_PER_THREAD = 1 << 20
# Ranges each thread takes in turn, so that one busy core doesn't hold up the rest.
RANGES_PER_THREAD = 4

# Cells of work after which an interrupt is answered: some hundredths of a second.
CELLS_AT_ONCE = 1 << 25

_has_company = ContextVar("has_company", default=False)  # whether other threads have work, too


def _start(work: Callable[[], Done]) -> Future[Done]:
    """Work in a thread of its own; or here and now, where none can be started."""
    from concurrent.futures import Future
    from threading import Thread  # here: these take 3 ms to import

    done: Future[Done] = Future()

    def carry_out() -> None:
        try:
            done.set_result(work())
        except BaseException as problem:
            done.set_exception(problem)

    try:
        Thread(target=carry_out, name="irbatch", daemon=True).start()
    except RuntimeError:  # the system starts no more
        carry_out()
    return done


def map_ranges(
    work: Callable[[int, int], object], rows: int, *, cells: int, threads: int | None = None
) -> None:
    """Call ``work(start, stop)`` over ranges that cover ``range(rows)`` once, perhaps in threads.

    There are exactly so many `threads`, if given, or as many as the `cells` of work are worth; but
    a thread of `map_items` does all of it, as it would wait for itself.
    """
    if _has_company.get():
        threads = 1
    if threads is None:
        worth = cells // CELLS_PER_THREAD
        threads = min(available_cores(), worth) if worth > 1 else 1
    if threads < 2 or rows < 2:
        pieces = max(min(rows, cells // CELLS_AT_ONCE), 1)
        for i in range(pieces):
            work(rows * i // pieces, rows * (i + 1) // pieces)
        return
    work(0, 1)  # compile before sharing, so that the threads don't all wait for one compiler
    pieces = min(rows - 1, max(threads * RANGES_PER_THREAD, cells // CELLS_AT_ONCE))
    bounds = (1 + (rows - 1) * i // pieces for i in range(pieces + 1))
    left = deque(itertools.pairwise(bounds))

    def drain() -> None:
        while left:
            try:
                piece = left.popleft()
            except IndexError:  # another thread took the last one
                return
            work(*piece)

    try:
        helpers = [_start(drain) for _ in range(min(threads, pieces) - 1)]
        drain()
        for helper in helpers:
            helper.result()
    finally:
        left.clear()  # after an error


def map_items(work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
    """Call ``work(item)`` for each item, several at once, and yield what comes of it in order.

    Items may be made while it is going on, and are taken no faster than they are worked off.
    """
    threads = 1 if _has_company.get() else available_cores()
    waiting: deque[Future[Done]] = deque()
    work_alone = alone()(work)
    for i, item in enumerate(items):
        if threads < 2 or i == 0:  # the first one compiles
            yield work(item)
            continue
        waiting.append(_start(functools.partial(work_alone, item)))
        if len(waiting) > threads:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread work without others: they have work of their own."""
    before = _has_company.set(True)
    try:
        yield
    finally:
        _has_company.reset(before)


def check_threads(threads: Any) -> None:
    """Check a number of threads, from 1 on; None leaves the choice open."""
    if threads is not None:
        check_whole("threads", threads, 1)


def available_cores() -> int:
    """Count the cores this process may run on (`IRBATCH_THREADS` overrides)."""
    setting = os.environ.get("IRBATCH_THREADS", "")
    if setting.isdecimal() and int(setting) > 0:
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

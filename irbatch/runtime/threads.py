"""The threads that share a block's rows.

Kernels release the GIL and write each row's own cells, so results don't depend on how rows are
divided. The pool is made at the first use, never at import, and belongs to one process: a forked
child makes its own.
"""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar

from irbatch.runtime.checks import check_whole

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Done = TypeVar("Done")

# Below this many cells a thread costs more than it saves (python -m benchmarks --only scan).
CELLS_PER_THREAD = 1 << 20
# Ranges each thread takes in turn, so that one busy core doesn't hold up the rest.
RANGES_PER_THREAD = 4

_pools: dict[int, ThreadPoolExecutor] = {}
_inside = local()  # whether a thread is one of `map_items`
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def map_ranges(
    work: Callable[[int, int], object], rows: int, *, cells: int, threads: int | None = None
) -> None:
    """Call ``work(start, stop)`` over ranges that cover ``range(rows)`` once, perhaps in threads.

    There are exactly so many `threads`, if given, or as many as the `cells` of work are worth; but
    a thread of `map_items` does all of it, as it would wait for itself.
    """
    if getattr(_inside, "map_items", False):
        threads = 1
    if threads is None:
        worth = cells // CELLS_PER_THREAD
        threads = min(available_cores(), worth) if worth > 1 else 1
    if threads < 2 or rows < 2:
        work(0, rows)
        return
    work(0, 1)  # compile before sharing, so that the threads don't all wait for one compiler
    pieces = min(rows - 1, threads * RANGES_PER_THREAD)
    bounds = [1 + (rows - 1) * i // pieces for i in range(pieces + 1)]
    for done in [_pool(threads).submit(work, *pair) for pair in itertools.pairwise(bounds)]:
        done.result()


def map_items(work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
    """Call ``work(item)`` for each item, several at once, and yield what comes of it in order.

    Items may be made while it is going on, and are taken no faster than they are worked off.
    """
    threads = available_cores()
    waiting: deque[Future[Done]] = deque()
    for i, item in enumerate(items):
        if threads < 2 or i == 0:  # the first one compiles
            yield work(item)
            continue
        waiting.append(_pool(threads).submit(_work_inside, work, item))
        if len(waiting) > threads:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _work_inside(work: Callable[[Item], Done], item: Item) -> Done:
    _inside.map_items = True
    try:
        return work(item)
    finally:
        _inside.map_items = False


def check_threads(threads: Any) -> None:
    """Check a number of threads, from 1 on; None leaves the choice open."""
    if threads is not None:
        check_whole("threads", threads, 1)


def available_cores() -> int:
    """Count the cores this process may run on (`IRBATCH_THREADS` overrides)."""
    wish = os.environ.get("IRBATCH_THREADS", "")
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="irbatch")
    return _pools[threads]

"""Worker processes of our own, which end when they are to, or when their parent does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any


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
    wait([sentinel])
    os._exit(1)

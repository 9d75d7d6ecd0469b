"""A progress bar on a terminal for work of more than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from irbatch.settings import Progress

__all__ = ["progress_of"]

SHOWN_AFTER = 1.0  # seconds


@contextmanager
def progress_of(runs: int) -> Iterator[Callable[[str], Progress | None]]:
    """Give a function from a run's name to what `evaluate` reports its progress to.

    Nothing is shown where standard error is no terminal, or rich is not installed.

    Args:
        runs: how many runs there will be.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield lambda name: None
        return
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    bar = Bar(console=Console(stderr=True), transient=True)
    task = bar.add_task("reading", total=runs)
    done: list[str] = []

    def of_run(name: str) -> Progress:
        done.append(name)
        bar.update(task, completed=len(done) - 1, description=name)

        def report(queries: int, total: int) -> None:
            share: Any = len(done) - 1 + queries / max(total, 1)
            bar.update(task, completed=share)

        return report

    timer = threading.Timer(SHOWN_AFTER, bar.start)
    timer.start()
    try:
        yield of_run
    finally:
        timer.cancel()
        timer.join()
        bar.stop()

"""A progress bar of rich, on standard error or in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from irbatch.errors import imported, printable
from irbatch.runtime.numbers import check_choice

Progress = Callable[[int, int], object]
"""Called with how much is done, and how much there is."""

SHOWN_AFTER, REDRAWN_AFTER = 1.0, 0.1  # seconds


@contextmanager
def progress_on_bar(what: str, progress: Any) -> Iterator[Progress | None]:
    """Give a function to tell how far some work is: that of the caller, or a bar's if it is wanted.

    The bar appears when the work has taken a second, and nothing is left of it in the end.

    Raises:
        InputError: if what says so is neither a function, None, True nor False.
        ImportError: naming the extra, without rich.
    """
    if progress is None or callable(progress):
        yield progress
        return
    check_choice("progress", progress, (True, False))
    if not progress:
        yield None
        return
    rich = imported("progress bars", "cli", "rich.progress")
    bar = rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        console=rich.Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task(printable(what), total=None)
    due = time.monotonic() + SHOWN_AFTER

    def show(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        bar.start()
        bar.update(task, completed=done, total=total)
        bar.refresh()
        due = time.monotonic() + REDRAWN_AFTER

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()

"""A progress bar of rich, on standard error or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from irbatch.errors import imported, printable
from irbatch.runtime.numbers import check_choice

Progress = Callable[[int, int], object]
"""Called with how much is done, and how much there is."""

Step = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

REDRAWN_AFTER = 0.1  # seconds


@contextmanager
def progress_on_bar(what: str, progress: Any) -> Iterator[Progress | None]:
    """Give a function to tell how far some work is, None if a bar is not wanted.

    Raises:
        InputError: if what says so is neither True nor False.
        ImportError: naming the extra, without rich.
    """
    check_choice("progress", progress, (True, False))
    with steps_on_bar(progress) as step:
        yield step and partial(step, what)


@contextmanager
def steps_on_bar(wanted: bool | None = None, after: float = 0.0) -> Iterator[Step | None]:
    """Give a function to tell how far work is, on a bar that appears `after` so many seconds.

    Unless `wanted` says so, there is a bar where standard error is a terminal and rich is
    installed; None without one. Nothing is left of it in the end.
    """
    bar = _make_bar(wanted)
    if bar is None:
        yield None
        return
    task = bar.add_task("", total=None)
    due = time.monotonic() + after

    def step(what: str, done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        bar.start()
        bar.update(task, description=printable(what), completed=done, total=total)
        bar.refresh()
        due = time.monotonic() + REDRAWN_AFTER

    try:
        yield step
    finally:
        if bar.live.is_started:
            bar.stop()


def _make_bar(wanted: bool | None) -> Any:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (is_terminal if wanted is None else wanted):
        return None
    try:
        rich = imported("progress bars", "cli", "rich.progress")
        console = imported("progress bars", "cli", "rich.console").Console(stderr=True)
    except ImportError:
        if wanted:
            raise
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )

"""A progress bar of rich, on standard error or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from irbatch.errors import imported, printable
from irbatch.runtime.numbers import check_choice

Step = Callable[[str, int, int], None]
"""Called with what is being done, how many calls of it are done, and how many there are."""

Progress = Callable[[int, int], object]
"""Called with how much is done, and how much there is."""

REDRAWN_AFTER = 0.1  # seconds


def make_bar(*, alone: bool = True, wanted: bool | None = None) -> tuple[Any, Any] | None:
    """Return a bar and its task, whose field ``amount`` says how much is done; None without one.

    Nothing is drawn before the bar is started, and nothing is left of it. `alone` it draws itself,
    in a thread of its own, else when its ``refresh()`` is called. Unless `wanted` says so, there is
    one where standard error is a terminal and rich is installed.
    """
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
    bar = rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TextColumn("{task.fields[amount]}"),
        console=console,
        transient=True,
        auto_refresh=alone,
        redirect_stdout=alone,
        redirect_stderr=alone,
    )
    return bar, bar.add_task("", total=None, amount="")


@contextmanager
def progress_on_bar(what: str, progress: Any) -> Iterator[Progress | None]:
    """Give a function to tell how far some work is, None if a bar is not wanted.

    Raises:
        InputError: if what says so is neither True nor False.
        ImportError: naming the extra, without rich.
    """
    check_choice("progress", progress, (True, False))
    with steps_on_bar(progress, "") as step:
        yield (lambda done, total: step(what, done, total)) if progress else None


@contextmanager
def steps_on_bar(wanted: bool | None = None, unit: str = " calls") -> Iterator[Step]:
    """Give a function to tell how far work is, on a bar as `make_bar` makes it.

    Without a `unit` the bar shows percentages alone.
    """
    if (made := make_bar(alone=False, wanted=wanted)) is None:
        yield lambda what, done, total: None
        return
    bar, task = made
    due = 0.0

    def step(what: str, done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        amount = f"{done:,} of {total:,}{unit}" if unit else ""
        bar.update(task, description=printable(what), completed=done, total=total, amount=amount)
        bar.refresh()
        due = time.monotonic() + REDRAWN_AFTER

    with bar:
        yield step

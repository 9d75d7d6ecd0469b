"""A progress bar on standard error, of rich, which is no dependency of this library."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from irbatch.errors import printable
from irbatch.runtime.extras import imported

Step = Callable[[str, int, int], None]
"""Called with what is being done, how many calls of it are done, and how many there are."""

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
def steps_on_bar(wanted: bool | None = None) -> Iterator[Step]:
    """Give a function to tell how far work is, on a bar as `make_bar` makes it."""
    made = make_bar(alone=False, wanted=wanted)
    if made is None:
        yield lambda what, done, total: None
        return
    bar, task = made
    due = 0.0

    def step(what: str, done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        amount = f"{done:,} of {total:,} calls"
        bar.update(task, description=printable(what), completed=done, total=total, amount=amount)
        bar.refresh()
        due = time.monotonic() + REDRAWN_AFTER

    with bar:
        yield step

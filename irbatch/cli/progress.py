"""A progress bar on a terminal for work of more than a second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from irbatch.errors import printable
from irbatch.runtime.progress import Progress, make_bar

SHOWN_AFTER = 1.0  # seconds


@contextmanager
def progress_of(files: int) -> Iterator[Callable[[str], Progress | None]]:
    """Yield a function from a file's path, one of so many, to the callback for its progress.

    Nothing is shown where standard error is no terminal, or rich is not installed.
    """
    made = make_bar()
    if made is None:
        yield lambda path: None
        return
    from pathlib import Path  # here: it takes 5 ms to import

    bar, task = made
    begun: list[str] = []

    def of_file(path: str) -> Progress:
        begun.append(path)
        place = f"{len(begun)} of {files}: {printable(Path(path).name)}"
        bar.reset(task, description=place, total=None, amount="")
        size = Path(path).stat().st_size if Path(path).is_file() else -1

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, amount=_amount(done, total, size))

        return report

    timer = threading.Timer(SHOWN_AFTER, bar.start)
    timer.start()
    try:
        yield of_file
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _amount(done: int, total: int, size: int) -> str:
    """Say how much is done: bytes where all of them are a file's, else queries."""
    if total == size:
        return f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
    return f"{done:,} of {total:,} queries"

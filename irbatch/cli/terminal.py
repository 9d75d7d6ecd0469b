"""What commands say to a person on standard error: messages, and how far long work is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irbatch.errors import printable

if TYPE_CHECKING:
    from irbatch.runtime.progress import Progress


SHOWN_AFTER = 1.0  # seconds


def say(what: str, text: object) -> None:
    """Tell a person something, such as an error or a warning."""
    lines = "\n".join(map(printable, str(text).split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)


def note(text: str) -> None:
    """Tell a person what there is to know of a result."""
    print(f"note: {printable(text)}", file=sys.stderr)


@contextmanager
def progress_of(files: int) -> Iterator[Callable[[str], Progress | None]]:
    """Yield a function from a file's path, one of so many, to the callback for its progress.

    Nothing is shown where standard error is not a terminal, or rich is not installed.
    """
    from irbatch.runtime.progress import make_bar  # here: messages need nothing

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
            of_bytes = total == size  # else of queries
            amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            amount = amount if of_bytes else f"{done:,} of {total:,} queries"
            bar.update(task, completed=done, total=total, amount=amount)

        return report

    timer = threading.Timer(SHOWN_AFTER, bar.start)
    timer.start()
    try:
        yield of_file
    finally:
        timer.cancel()
        timer.join()
        bar.stop()

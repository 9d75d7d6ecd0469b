"""What commands say to a person on standard error: messages, and how far long work is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
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
    """Yield a function from a file's path, one of so many, to the callback for its progress."""
    from irbatch.runtime.progress import steps_on_bar  # here: messages need nothing

    numbers = count(1)
    with steps_on_bar(after=SHOWN_AFTER) as step:
        yield (
            lambda path: (
                step and partial(step, f"{next(numbers)} of {files}: {os.path.basename(path)}")  # noqa: PTH119 - pathlib takes 5 ms to import
            )
        )

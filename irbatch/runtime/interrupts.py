"""Ctrl-C, answered where it does no harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Let an interrupt come when the block has ended, not within it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # interrupts come to the main thread, and there is something else for them here
        return
    came: list[Any] = []
    try:
        signal.signal(signal.SIGINT, lambda *given: came.append(given))
    except ValueError:  # Python is a part of another program, whose thread is the main one
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])

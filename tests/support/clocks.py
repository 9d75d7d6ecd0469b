"""Clocks for tests, on which nothing takes time unless it is said to."""

from __future__ import annotations

import asyncio
import selectors
import threading
from typing import Any

SECOND = 10**9  # ns


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.now = 10**15

    def perf_counter_ns(self) -> int:
        return self.now

    def perf_counter(self) -> float:
        return self.now / SECOND

    process_time = perf_counter

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


class SharedClock(Clock):
    """A clock of several threads, which moves when all of them sleep, to where the first wakes."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._awake, self._sleeping = threads, threading.Condition()
        self._alarms: list[int] = []

    def sleep(self, seconds: float) -> None:
        with self._sleeping:
            alarm = self.now + round(seconds * SECOND)
            self._alarms.append(alarm)
            self._leave()
            self._sleeping.wait_for(lambda: self.now >= alarm)

    def leave(self) -> None:
        """Tell that a thread will sleep no more."""
        with self._sleeping:
            self._leave()

    def _leave(self) -> None:
        self._awake -= 1
        if self._awake == 0 and self._alarms:
            self.now = min(self._alarms)
            left = [alarm for alarm in self._alarms if alarm > self.now]
            self._awake, self._alarms = len(self._alarms) - len(left), left
            self._sleeping.notify_all()


def loop_on(clock: Clock) -> asyncio.AbstractEventLoop:
    """Return a loop in which time passes only when all tasks sleep, on this clock."""

    class Selector(selectors.SelectSelector):
        def select(self, timeout: float | None = None) -> Any:
            clock.now += max(round((timeout or 0) * SECOND), 0)
            return super().select(0)

    loop = asyncio.SelectorEventLoop(Selector())
    loop.time = lambda: clock.now / SECOND  # type: ignore[method-assign]
    return loop

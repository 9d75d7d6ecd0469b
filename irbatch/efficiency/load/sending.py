"""Sending queries when they are due, and keeping when each was sent and answered.

A query is sent when it is due, or when one of so many callers is free: they take queries in order.
What is kept tells apart what the search took, how long a query waited for others, and by how much
the sender itself was late.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.efficiency.load.arrivals import SECOND
from irbatch.errors import shown

ANSWERED, FAILED, OUT_OF_TIME = range(3)


class Sending:
    """Queries that are due at given times, and what became of them.

    Attributes:
        due: int64 ``(calls,)``, ns from the start.
        ready: when a query could be sent: it was due, and a caller was free.
        sent: when it was.
        done: when the answer was there, or the time was out.
        outcome: int8 ``(calls,)``: `ANSWERED`, `FAILED` or `OUT_OF_TIME`.
        problem: what the first call that failed raised, or None.
    """

    def __init__(
        self, search: Callable[[Any], Any], queries: list[Any], due: Ints, timeout: int | None
    ) -> None:
        self._search, self._queries = search, queries
        self.due, self._timeout = due, timeout
        self.ready, self.sent, self.done = (np.zeros(due.size, np.int64) for _ in range(3))
        self.outcome = np.zeros(due.size, np.int8)
        self.problem: str | None = None
        self._next, self._lock = 0, threading.Lock()
        self._stopped: BaseException | None = None
        self._start = 0

    def in_threads(self, callers: int) -> None:
        """Send all queries, by so many callers: this thread alone, or as many others."""
        self._start = time.perf_counter_ns()
        if callers == 1:
            self._call()
            return
        threads = [threading.Thread(target=self._call_safely, daemon=True) for _ in range(callers)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as problem:
            self._stopped = problem  # no caller sends another one
            raise
        if self._stopped is not None:
            raise self._stopped

    async def as_tasks(self, callers: int | None) -> None:
        """Await all queries, by so many callers; without a number each is sent when it is due."""
        import asyncio

        self._start = time.perf_counter_ns()
        if callers is not None:
            await asyncio.gather(*(self._await() for _ in range(min(callers, self.due.size))))
            return
        tasks = set()
        while (number := self._take()) is not None:
            await self._sleep_until(int(self.due[number]))
            task = asyncio.create_task(self._await_one(number, int(self.due[number])))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)

    def _now(self) -> int:
        return time.perf_counter_ns() - self._start

    def _take(self) -> int | None:
        """Return the number of the next query; None if there is none left."""
        with self._lock:
            number = self._next
            self._next += 1
        return None if number >= self.due.size or self._stopped is not None else number

    def _call_safely(self) -> None:
        try:
            self._call()
        except BaseException as problem:  # what ends a program; told in the thread that began this
            self._stopped = problem

    def _call(self) -> None:
        """Send one query after the other, each when it is due."""
        search, queries = self._search, self._queries
        while (number := self._take()) is not None:
            due, free = int(self.due[number]), self._now()
            while (early := due - self._now()) > 0:
                time.sleep(early / SECOND)
            sent, outcome = self._now(), OUT_OF_TIME
            if not self._is_over(due, sent):
                outcome = ANSWERED
                try:
                    search(queries[number % len(queries)])
                except Exception as problem:
                    outcome = self._note(problem)
            self._keep(number, max(due, free), sent, outcome)

    async def _await(self) -> None:
        while (number := self._take()) is not None:
            due, free = int(self.due[number]), self._now()
            await self._sleep_until(due)
            await self._await_one(number, max(due, free))

    async def _await_one(self, number: int, ready: int) -> None:
        import asyncio

        due, sent, outcome = int(self.due[number]), self._now(), OUT_OF_TIME
        if not self._is_over(due, sent):
            left = None if self._timeout is None else (due + self._timeout - sent) / SECOND
            outcome = ANSWERED
            try:
                async with asyncio.timeout(left) as limit:
                    await self._search(self._queries[number % len(self._queries)])
            except Exception as problem:
                outcome = OUT_OF_TIME if limit.expired() else self._note(problem)
        self._keep(number, ready, sent, outcome)

    async def _sleep_until(self, due: int) -> None:
        import asyncio

        while True:
            early = due - self._now()
            await asyncio.sleep(max(early, 0) / SECOND)  # of no time lets the others go on
            if early <= 0:
                return

    def _is_over(self, due: int, now: int) -> bool:
        return self._timeout is not None and now - due >= self._timeout

    def _keep(self, number: int, ready: int, sent: int, outcome: int) -> None:
        done = self._now()
        if outcome == ANSWERED and self._is_over(int(self.due[number]), done):
            outcome = OUT_OF_TIME
        self.ready[number], self.sent[number], self.done[number] = ready, sent, done
        self.outcome[number] = outcome

    def _note(self, problem: Exception) -> int:
        if self.problem is None:
            self.problem = f"{type(problem).__name__}: {shown(str(problem))}"
        return FAILED

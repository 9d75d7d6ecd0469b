"""Measuring a search under load, and the highest rate at which its latency stays within a bound.

A query is sent when it is due, or when one of so many callers is free: they take queries in order.
What is kept tells apart what the search took, how long a query waited for others, and by how much
the sender itself was late.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.efficiency.load_report import Load, LoadAtRate
from irbatch.efficiency.measure import MILLISECOND, SECOND, Caller, describe, is_async, loop_for
from irbatch.efficiency.quantities import of_system
from irbatch.efficiency.record import ARRIVALS, OPEN, POISSON, Hardware, Latency, find_percentiles
from irbatch.errors import ErrorsIn, InputError, shown, warn
from irbatch.report.numbers import show_quantity
from irbatch.runtime.numbers import check_choice, check_number, check_whole, exact_mean

MOST_DUE = 10_000_000  # queries at one rate
SECONDS = 10.0  # at each rate, where nothing else is said
MOST_TRIED = 20  # rates, where they are looked for
PRECISION = 1.1  # of the rate that is looked for: from the highest that held to one that didn't
LEAST = 2.0**-10  # of the first rate: below it none is looked for
GROWTH = 1.25  # from the second quarter of a run to the last, of a queue that grows
QUARTERS = 4
ANSWERED, FAILED, OUT_OF_TIME = range(3)


def measure_load(
    search: Callable[[Any], Any],
    queries: Mapping[Any, Any] | Iterable[Any],
    *,
    rates: float | Iterable[float] | None = None,
    within: float | None = None,
    arrivals: str = POISSON,
    concurrency: int | None = None,
    duration: float | None = None,
    calls: int | None = None,
    timeout: float | None = None,
    warmup: int = 10,
    seed: int = 0,
    system: str | None = None,
    dataset: str | None = None,
    hardware: Hardware | str | None = None,
    price_per_hour: float | None = None,
    currency: str | None = None,
) -> Load:
    """Measure how long queries take that come at a rate, whether others are answered or not.

    This is an open loop, as of the server scenario of MLPerf (Reddi et al., MLPerf Inference
    Benchmark, ISCA 2020) and of wrk2. `measure_search` is a closed one: there the next query comes
    when the last one is answered, and none ever waits. Latency counts from when a query was *due*,
    not from when it was sent: if a call holds up those behind it, all of them took longer. One that
    fails, or is out of time, ends nothing: it is counted, and by percentiles as longer than all.

    Each rate starts with nothing waiting, and ends when all queries are done: above what the search
    can take that is later than `duration`. Intervals of percentiles know that calls which wait for
    each other are alike: a busier search takes more calls. No time is taken for reading answers;
    the first one is checked, in the warm-up.

    Args:
        search: answers a query, ``search(query)``, or awaits it where it is ``async def``.
        queries: as of `measure_search`; they are asked in turn, again from the start where more
            are due.
        rates: queries a second; of several, each is measured by itself, from the lowest on.
        within: a bound on p99, in ms. The highest rate that holds it, with no queue that grows, is
            `Load.sustained_rate`; without `rates` it is looked for, to a tenth: from half of what
            calls one after the other reach, twice or half of that until one rate holds and one does
            not, then between these.
        arrivals: ``"poisson"``, at random times, or ``"fixed"``, at equal distances.
        concurrency: how many calls there are at a time, each in a thread of its own where `search`
            is not ``async def``; default: 1; of one that is, as many as there are queries due.
        duration: seconds in which queries are due, at each rate; default: 10.
        calls: in place of it, how many queries are due.
        timeout: ms from when a query is due. Later it is not sent any more; an answer that comes
            later counts as none; and a call that is awaited is cancelled.
        warmup: calls before, one after the other, of the first of `queries`; at least 1.
        seed: of the arrivals; those of two rates are the same but for their speed.
        system, dataset, hardware, price_per_hour, currency: as of `measure_search`.

    Raises:
        InputError: before anything is called, naming the system and the argument, if one is wrong;
            in the warm-up, naming the query, if the first answer is none.

    What `search` raises in the warm-up is raised as it is. Where the sender itself was late by more
    than a tenth of p99 a warning says so: the machine was busy with something else, or calls are
    shorter than what can be timed so.

    >>> import time
    >>> load = measure_load(lambda query: time.sleep(0.01) or ["d1"], ["cat", "dog"], calls=4,
    ...                     rates=50, arrivals="fixed", warmup=1, system="constant")
    >>> load.rates[0].latency.calls, load.rates[0].latency.errors, load.rates[0].latency.mean > 9
    (4, 0, True)
    """
    record, ids, asked = describe(
        search, queries, system, hardware, dataset=dataset, warmup=warmup,
        price_per_hour=price_per_hour, currency=currency,
    )  # fmt: skip
    with ErrorsIn(source=of_system(record.system)):
        check_whole("warmup", warmup, 1)  # the first answer is checked in it
        check_choice("arrivals", arrivals, ARRIVALS)
        check_whole("seed", seed, 0)
        for option, count in (("calls", calls), ("concurrency", concurrency)):
            if count is not None:
                check_whole(option, count, 1)
        for option, most in (("duration", duration), ("timeout", timeout), ("within", within)):
            if most is not None:
                check_number(option, most, above=0)
        if calls is not None and duration is not None:
            raise InputError("calls and duration are both given: one follows from the other")
        if calls is None and duration is None:
            duration = SECONDS
        if concurrency is None and not is_async(search):
            concurrency = 1
        listed = _list_rates(rates, within)
        arriving = partial(due_times, arrivals=arrivals, seed=seed, calls=calls, duration=duration)
        for rate in listed:
            arriving(rate)
    at_rates: list[LoadAtRate] = []

    def measure(rate: float) -> LoadAtRate:
        limit = None if timeout is None else round(timeout * MILLISECOND)
        sending = Sending(search, asked, arriving(rate), limit)
        if runner is None:
            sending.in_threads(concurrency or 1)
        else:
            runner.run(sending.as_tasks(concurrency))
        at_rate = summarise(sending, rate, arrivals, concurrency, len(asked))
        if not at_rate.kept_up:
            late, p99 = (f"{show_quantity(ms)} ms" for ms in (at_rate.lateness, at_rate.p99))
            warn(
                f"times of {shown(record.system)} at {show_quantity(rate)} queries/s contain that "
                f"queries were sent late, up to {late} (p99) of {p99}: the machine does other "
                "work, or calls are too short to be timed so"
            )
        at_rates.append(at_rate)
        return at_rate

    with loop_for(of_system(record.system), search) as runner:
        caller = Caller(f"answer of {shown(record.system)}", search, runner)
        took, _ = caller.ask(ids, asked, warmup)
        for rate in listed:
            measure(rate)
        if not listed and within is not None:
            start = SECOND / max(float(took.mean()), 1.0) / 2
            look_for_rate(start, lambda rate: measure(rate).holds(within))
    return Load(
        about=record, rates=at_rates, callers=concurrency, timeout=timeout, within=within, seed=seed
    )


def _list_rates(rates: Any, within: Any) -> list[float]:
    """Return the rates that are given, ascending: low ones don't heat a machine for high ones."""
    if rates is None:
        if within is None:
            raise InputError("rates are missing: give one, or within to look for the highest")
        return []
    is_several = isinstance(rates, Iterable) and not isinstance(rates, str)
    several = sorted(
        check_number("rates", rate, above=0) for rate in (rates if is_several else [rates])
    )
    if not several or len(set(several)) < len(several):
        raise InputError(f"rates are {shown(rates)}: none, or one twice")
    return several


def look_for_rate(start: float, holds: Callable[[float], bool]) -> None:
    """Try rates until the highest that holds and the lowest that does not are close.

    >>> tried = []
    >>> look_for_rate(40, lambda rate: tried.append(rate) or rate < 100)
    >>> [round(rate) for rate in tried]
    [40, 80, 160, 113, 95, 104]
    """
    low, high, rate = 0.0, math.inf, start
    for _ in range(MOST_TRIED):
        rate = float(f"{rate:.3g}")
        if holds(rate):
            low = rate
        else:
            high = rate
        if high <= low * PRECISION or high <= start * LEAST:
            return
        rate = 2 * low if math.isinf(high) else math.sqrt(low * high) if low else high / 2


def due_times(
    rate: float, arrivals: str, seed: int, *, calls: int | None, duration: float | None
) -> Ints:
    """Return when each query is due, int64 ``(calls,)``, ns from the start, ascending.

    They come at random times (``"poisson"``: as those of many people who know nothing of each
    other, given how many there are, so that the rate is kept exactly), or at equal distances
    (``"fixed"``). With the same seed those of two rates are alike but for their speed. There are
    so many `calls`, or as many as are due in a `duration` of seconds.

    Raises:
        InputError: if none would be due in that time, or more than ten million.

    >>> due_times(4, "fixed", 0, calls=3, duration=None).tolist()
    [250000000, 500000000, 750000000]
    """
    count = calls if duration is None else round(min(rate * duration, MOST_DUE + 1.0))
    if not count:
        problem = f"no query is due in {duration:g} s at {rate:g} a second"
        raise InputError(problem, value=duration)
    if count > MOST_DUE:
        raise InputError(f"more than {MOST_DUE:,} queries are due at {rate:g} a second", value=rate)
    if arrivals == POISSON:
        # The times of a Poisson process, given how many there are up to the next one.
        gaps = np.random.default_rng(seed).standard_exponential(count + 1)
        seconds = np.cumsum(gaps)[:-1] / gaps.sum() * (count / rate)
    else:
        seconds = np.arange(1, count + 1) / rate
    return np.rint(seconds * SECOND).astype(np.int64)


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
        self.due, self._timeout = due, math.inf if timeout is None else timeout
        self.ready, self.sent, self.done = (np.zeros(due.size, np.int64) for _ in range(3))
        self.outcome = np.zeros(due.size, np.int8)
        self.problem: str | None = None
        self._next, self._lock = 0, threading.Lock()
        self._start = 0

    def in_threads(self, callers: int) -> None:
        """Send all queries, by so many callers: this thread alone, or as many others."""
        self._start = time.perf_counter_ns()
        if callers == 1:
            self._call()
            return
        with ThreadPoolExecutor(callers) as pool:
            try:
                for calling in [pool.submit(self._call) for _ in range(callers)]:
                    calling.result()
            finally:  # where something ends the program, too, callers send no other one
                self._next = self.due.size

    def _call(self) -> None:
        """Send one query after the other, each when it is due."""
        while True:
            with self._lock:
                number = self._next
                self._next += 1
            if number >= self.due.size:
                return
            free = self._now()
            while (early := int(self.due[number]) - self._now()) > 0:
                time.sleep(early / SECOND)
            sent, outcome = self._now(), OUT_OF_TIME
            if self._left(number, sent) > 0:
                outcome = ANSWERED
                try:
                    self._search(self._queries[number % len(self._queries)])
                except Exception as problem:
                    outcome = self._note(problem)
                except BaseException:
                    self._next = self.due.size
                    raise
            self._keep(number, free, sent, outcome)

    async def as_tasks(self, callers: int | None) -> None:
        """Await all queries, by so many callers; without a number each is sent when it is due."""
        import asyncio

        self._start = time.perf_counter_ns()
        idle = asyncio.Semaphore(callers or self.due.size)
        tasks = set()
        for number in range(self.due.size):
            waits = idle.locked()
            await idle.acquire()
            free = self._now() if waits else 0
            early = 1
            while early > 0:
                early = int(self.due[number]) - self._now()
                await asyncio.sleep(max(early, 0) / SECOND)  # of no time lets the others go on
            task = asyncio.create_task(self._await(number, free))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            task.add_done_callback(lambda task: idle.release())
        await asyncio.gather(*tasks)

    async def _await(self, number: int, free: int) -> None:
        import asyncio

        sent, outcome = self._now(), OUT_OF_TIME
        if (left := self._left(number, sent)) > 0:
            outcome = ANSWERED
            try:
                async with asyncio.timeout(None if math.isinf(left) else left / SECOND) as limit:
                    await self._search(self._queries[number % len(self._queries)])
            except Exception as problem:
                outcome = OUT_OF_TIME if limit.expired() else self._note(problem)
        self._keep(number, free, sent, outcome)

    def _now(self) -> int:
        return time.perf_counter_ns() - self._start

    def _left(self, number: int, now: int) -> float:
        """Return the ns until a query is out of time."""
        return int(self.due[number]) + self._timeout - now

    def _keep(self, number: int, free: int, sent: int, outcome: int) -> None:
        done = self._now()
        self.ready[number] = max(int(self.due[number]), free)
        self.sent[number], self.done[number] = sent, done
        is_late = outcome == ANSWERED and self._left(number, done) <= 0
        self.outcome[number] = OUT_OF_TIME if is_late else outcome

    def _note(self, problem: Exception) -> int:
        if self.problem is None:
            self.problem = f"{type(problem).__name__}: {shown(str(problem))}"
        return FAILED


def summarise(
    found: Sending, rate: float, arrivals: str, callers: int | None, asked: int
) -> LoadAtRate:
    """Return what was found at a rate, where `asked` different queries were asked."""
    answered = found.outcome == ANSWERED
    end = max(int(found.done.max()) / SECOND, found.due.size / rate)
    times = (found.done - found.due) / MILLISECOND
    independent = independent_calls(found, min(asked, found.due.size))
    values, intervals = find_percentiles(np.where(answered, times, np.inf), independent)
    return LoadAtRate(
        rate=rate,
        achieved=int(answered.sum()) / end,
        latency=Latency(
            mean=exact_mean(times[answered].tolist()) if answered.any() else None,
            **values,
            intervals=intervals,
            calls=found.due.size,
            loop=OPEN,
            rate=rate,
            arrivals=arrivals,
            errors=int((found.outcome == FAILED).sum()),
            timeouts=int((found.outcome == OUT_OF_TIME).sum()),
        ),
        busy=callers and float((found.done - found.sent).sum()) / SECOND / (callers * end),
        growing=is_growing(found, times, callers is None),
        lateness=float(np.quantile((found.sent - found.ready) / MILLISECOND, 0.99)),
        wall_time=end,
        problem=found.problem,
    )


def independent_calls(found: Sending, asked: int) -> int:
    """Return how many independent calls tell as much as these, of which many wait for each other.

    What happens after nothing was being answered doesn't depend on what was before. So the calls
    from one such moment to the next are a cluster, and count as Kish's effective number of clusters
    does (Survey Sampling, 1965, section 8.2): (sum of sizes)² / sum of squared sizes. Calls of the
    same query are no further ones, as with `Latency.from_samples`.
    """
    begins = np.flatnonzero(_starts_idle(found))
    sizes = np.diff(np.append(begins, found.due.size)).astype(np.float64)
    clusters = float(sizes.sum() ** 2 / (sizes**2).sum())
    return max(min(int(clusters), asked), 1)


def _starts_idle(found: Sending) -> Bools:
    """Tell of each call whether all before it were done when it was due."""
    before = np.concatenate([[0], np.maximum.accumulate(found.done)[:-1]])
    return found.due >= before


def is_growing(found: Sending, times: Floats, unlimited: bool) -> bool:
    """Tell whether the queue still grew: in the last half all waited, and ever longer.

    Where any number of calls run at a time, it is their number that grows, too.
    """
    half = found.due.size // 2
    if half < QUARTERS:
        return False
    if not unlimited:
        waits = (found.ready - found.due).astype(np.float64)
        return bool((waits[half:] > 0).all()) and _rises(waits)
    done = np.searchsorted(np.sort(found.done), found.due, side="right")
    in_progress = np.arange(found.due.size) - done
    return not _starts_idle(found)[half:].any() and _rises(times) and _rises(in_progress)


def _rises(values: Floats | Ints) -> bool:
    means = [float(part.mean()) for part in np.array_split(values, QUARTERS)]
    return means[-1] > GROWTH * means[1]

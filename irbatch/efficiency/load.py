"""A search under load: its latency at each rate, and the highest rate within a bound.

A query is sent when it is due, or when one of so many callers is free: they take queries in order.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import itemgetter
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.efficiency.interchange import field_error, of_system, to_known
from irbatch.efficiency.measure import MILLISECOND, SECOND, Caller
from irbatch.efficiency.record import (
    ARRIVALS,
    OPEN,
    POISSON,
    STATISTICS,
    EfficiencyRecord,
    Hardware,
    Latency,
    find_percentiles,
)
from irbatch.errors import ErrorsIn, InputError, many, shown
from irbatch.report import Reported
from irbatch.report.document import Column, Document, Record, list_records, make_table
from irbatch.report.text import show_quantity
from irbatch.runtime.numbers import check_choice, check_number, check_whole
from irbatch.runtime.sums import exact_mean

SHOWN = ("p50", "p95", "p99")  # of latency, for people
MOST_DUE = 10_000_000  # queries at one rate
SECONDS = 10  # in which queries are due at each rate, where nothing else is said
MOST_TRIED = 20  # rates, where they are looked for
PRECISION = 1.1  # of the rate that is looked for: from the highest that held to one that didn't
LEAST = 2.0**-10  # of the first rate: below it none is looked for
GROWTH = 1.25  # from the second quarter of a run to the last, of latencies where a queue grows


@dataclass(frozen=True, kw_only=True)
class LoadAtRate:
    """What a search did at one rate.

    Attributes:
        rate: queries a second that were due.
        achieved: queries a second that were answered, until the last one was.
        latency: from when a query was due; see `Latency` for errors.
        growing: whether the queue grew to the end: in the last half every query found the callers
            busy, and in the last quarter latencies were longer than in the second. In a longer run
            they would be longer yet.
        wall_time: from the start to the last answer, in s.
        problem: what the first call that failed raised.
    """

    rate: float
    achieved: float
    latency: Latency
    growing: bool = False
    wall_time: float = 0.0
    problem: str | None = None

    @property
    def p99(self) -> float:
        """The 99th percentile of latency, in ms; infinite where it falls on a call that failed."""
        return math.inf if self.latency.p99 is None else self.latency.p99

    def holds(self, within: float) -> bool:
        """Tell whether p99 is within so many ms, and no queue grows."""
        return self.p99 <= within and not self.growing


@dataclass(frozen=True, kw_only=True, repr=False)
class Load(Reported):
    """How long queries took that came at each of some rates, as `measure_load` returns it.

    `to_dict` and `to_json` have times in ms and rates in queries a second; `to_csv` and frames have
    one line a rate.

    Attributes:
        about: the record of the system, without latency; `record` has it.
        rates: one `LoadAtRate` each, ascending.
        callers: how many calls there were at a time; None: as many as there are.
        within: the bound on p99, in ms, that rates were measured for, or None.
        seed: of the arrivals.
    """

    _label = "tab:load"

    about: EfficiencyRecord
    rates: Sequence[LoadAtRate]
    callers: int | None = None
    within: float | None = None
    seed: int = 0

    def __repr__(self) -> str:
        queries, rates = self.about.n_queries or 0, many(len(self.rates), "rate")
        name = shown(self.about.system)
        return f"<Load of {name}: open loop, {many(queries, 'query')}, {rates}>"

    @property
    def sustained_rate(self) -> float | None:
        """The highest rate up to which all rates hold (see `LoadAtRate.holds`); 0 if none does.

        None where there was no bound.
        """
        if self.within is None:
            return None
        held = takewhile(lambda at_rate: at_rate.holds(self.within or 0.0), self.rates)
        return max((at_rate.rate for at_rate in held), default=0.0)

    @property
    def record(self) -> EfficiencyRecord:
        """The record for a leaderboard, with the latency at the sustained rate, or the only one.

        It has no latency where no rate holds.

        Raises:
            InputError: if there are several rates and no bound to choose one of them.
        """
        if self.within is None and len(self.rates) > 1:
            raise field_error("load", "rates", "are several, without a bound: say within", None)
        rate = self.rates[0].rate if self.within is None else self.sustained_rate
        at_rate = next((measured for measured in self.rates if measured.rate == rate), None)
        if at_rate is None:
            return self.about
        return replace(self.about, latency=at_rate.latency, wall_time=at_rate.wall_time)

    def _everything(self) -> dict[str, Any]:
        rates = list(map(to_known, self.rates))
        return to_known({**vars(self), "about": self.about.to_dict(), "rates": rates})

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_records(_columns(self), self._rows)

    def _document(self, form: str) -> Document:
        name = self.about.system
        table = make_table(f"Latency of {name} by rate", _columns(self), self._rows)
        return Document(f"Load on {name}", _caption(self), [], [table])

    @property
    def _rows(self) -> list[Record]:
        return [{**vars(at_rate.latency), **vars(at_rate)} for at_rate in self.rates]


def _columns(load: Load) -> list[Column]:
    """Return the columns; an item has the fields of a rate and of its latency."""

    def column(name: str, heading: str, **more: Any) -> Column:
        more = {"descends": False, "show": show_quantity, **more}
        return Column(heading, name=name, value=itemgetter(name), **more)

    def beyond(name: str) -> Callable[[Record], Record]:
        return lambda row: {"text": "∞", "value": math.inf} if row[name] is None else {}

    failed = any(row["errors"] for row in load._rows)
    count: Any = {"show": "{:,}".format}
    return [
        column("rate", "queries/s", kind="name"),
        column("achieved", "answered/s", descends=True),
        *(column(name, f"{name} (ms)" * (name in SHOWN), more=beyond(name)) for name in STATISTICS),
        column("calls", "calls", **count),
        column("errors", "errors" * failed, **count),
        column("growing", "queue", kind="text", show={True: "grows", False: "steady"}.__getitem__),
        column("wall_time", ""),
    ]  # fmt: skip


def _caption(load: Load) -> str:
    at_random = load.rates[0].latency.arrivals == POISSON
    coming = "at random times (Poisson)" if at_random else "at equal distances"
    callers = "as many calls" if load.callers is None else many(load.callers, "call")
    sentences = [
        f"Open loop: queries came {coming}, whether others were answered or not, {callers} at a "
        f"time{' as there are' if load.callers is None else ''}. Latency counts from when a query "
        "was due, and calls that failed count as longer than all others."
    ]
    if load.about.hardware != Hardware():
        sentences.append(f"Measured on {load.about.hardware}.")
    if load.within is not None:
        held = load.sustained_rate
        up_to = f"up to {show_quantity(held)} queries/s" if held else "at none"
        sentences.append(f"p99 within {show_quantity(load.within)} ms {up_to}.")
    problem = next((at_rate.problem for at_rate in load.rates if at_rate.problem), None)
    if problem is not None:
        sentences.append(f"First error: {problem}.")
    return " ".join(sentences)


# ---------------------------------------------------------------- measuring it


def measure_load(
    search: Callable[[Any], Any],
    queries: Mapping[Any, Any] | Iterable[Any],
    *,
    rates: float | Iterable[float] | None = None,
    within: float | None = None,
    arrivals: str = POISSON,
    concurrency: int | None = None,
    calls: int | None = None,
    warmup: int = 10,
    seed: int = 0,
    system: str | None = None,
    **about: Any,
) -> Load:
    """Measure how long queries take that come at a rate, whether others are answered or not.

    This is an open loop, as of the server scenario of MLPerf (Reddi et al., MLPerf Inference
    Benchmark, ISCA 2020) and of wrk2. Latency counts from when a query was *due*, not from when it
    was sent: if a call holds up those behind it, all of them took longer. One that fails ends
    nothing: it is counted, and by percentiles as longer than all; of a query that a client gives
    up, `search` raises its own time-out. Each rate starts with nothing waiting, and ends when all
    queries are done. Where the sender itself is late, on a
    busy machine, latencies contain that. Of the answers only that to the first query of the warm-up
    is read.

    Args:
        search: answers a query, ``search(query)``, or awaits it where it is ``async def``.
        queries: as of `measure_search`; they are asked in turn, again from the start where more
            are due.
        rates: queries a second; of several, each is measured by itself, from the lowest on.
        within: a bound on p99, in ms. The highest rate that holds it, with no queue that grows, is
            `Load.sustained_rate`; without `rates` it is looked for, to a tenth, from half of what
            calls one after the other reach.
        arrivals: ``"poisson"``, at random times, or ``"fixed"``, at equal distances.
        concurrency: how many calls there are at a time, each in a thread of its own where `search`
            is not ``async def``; default: 1; of one that is, as many as there are queries due.
        calls: how many queries are due at each rate; default: those of 10 seconds.
        warmup: calls before, one after the other, of the first of `queries`; at least 1.
        seed: of the arrivals; those of two rates are the same but for their speed.
        system, **about: as of `measure_search`.

    Raises:
        InputError: before anything is called, naming the system and the argument, if one is wrong;
            in the warm-up, naming the query, if the first answer is none.

    What `search` raises in the warm-up is raised as it is.

    >>> import time
    >>> load = measure_load(lambda query: time.sleep(0.01) or ["d1"], ["cat", "dog"], calls=4,
    ...                     rates=50, arrivals="fixed", warmup=1, system="constant")
    >>> load.rates[0].latency.calls, load.rates[0].latency.errors, load.rates[0].latency.mean > 9
    (4, 0, True)
    """
    caller = Caller(measure_load, search, queries, system, about, warmup=warmup)
    with ErrorsIn(source=of_system(caller.record.system)):
        check_whole("warmup", warmup, 1)  # the first answer is checked in it
        check_choice("arrivals", arrivals, ARRIVALS)
        check_whole("seed", seed, 0)
        for option, count in (("calls", calls), ("concurrency", concurrency)):
            if count is not None:
                check_whole(option, count, 1)
        if within is not None:
            check_number("within", within, above=0)
        listed = _list_rates(rates, within)
        for rate in listed:
            due_times(rate, arrivals, seed, calls)
    callers = 1 if concurrency is None and not caller.is_async else concurrency
    at_rates: dict[float, LoadAtRate] = {}
    with caller.loop() as runner:

        def measure(rate: float) -> LoadAtRate:
            sending = Sending(search, caller.queries, due_times(rate, arrivals, seed, calls))
            if runner is None:
                sending.in_threads(callers or 1)
            else:
                runner.run(sending.as_tasks(callers))
            at_rates[rate] = summarise(sending, rate, arrivals, callers)
            return at_rates[rate]

        took, _ = caller.ask(runner, warmup)
        for rate in listed:
            measure(rate)
        if not listed and within is not None:
            start = SECOND / max(float(took.mean()), 1.0) / 2
            look_for_rate(start, lambda rate: measure(rate).holds(within))
    ascending = [at_rates[rate] for rate in sorted(at_rates)]
    return Load(about=caller.record, rates=ascending, callers=callers, within=within, seed=seed)


def _list_rates(rates: Any, within: Any) -> list[float]:
    """Return the rates that are given, ascending: low ones don't heat a machine for high ones."""
    if rates is None:
        if within is None:
            raise InputError("rates are missing: give one, or within to look for the highest")
        return []
    listed = rates if isinstance(rates, Iterable) and not isinstance(rates, str) else [rates]
    several = sorted(check_number("rates", rate, above=0) for rate in listed)
    if not several or len(set(several)) < len(several):
        raise InputError(f"rates are {shown(rates)}: none, or one twice")
    return several


def look_for_rate(start: float, holds: Callable[[float], bool]) -> None:
    """Try rates until the highest that holds and the lowest that does not are close."""
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


def due_times(rate: float, arrivals: str, seed: int, calls: int | None) -> Ints:
    """Return when each query is due, int64 ``(calls,)``, ns from the start, ascending.

    With the same seed the times of two rates are alike but for their speed.
    """
    count = round(min(rate * SECONDS, MOST_DUE + 1.0)) if calls is None else calls
    if not count:
        raise InputError(f"no query is due in {SECONDS} s at {rate:g} a second", value=rate)
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
        done: when the call ended, likewise.
        failed: bool ``(calls,)``.
        problem: what the first call that failed raised, or None.
    """

    def __init__(self, search: Callable[[Any], Any], queries: list[Any], due: Ints) -> None:
        self._search, self._queries, self.due = search, queries, due
        self.done, self.failed = np.zeros(due.size, np.int64), np.zeros(due.size, bool)
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
            while (early := int(self.due[number]) - self._now()) > 0:
                time.sleep(early / SECOND)
            try:
                self._search(self._queries[number % len(self._queries)])
            except Exception as problem:
                self._note(number, problem)
            self.done[number] = self._now()

    async def as_tasks(self, callers: int | None) -> None:
        """Await all queries, by so many callers; without a number each is sent when it is due."""
        import asyncio

        self._start = time.perf_counter_ns()
        idle = asyncio.Semaphore(callers or self.due.size)
        tasks = set()
        for number in range(self.due.size):
            await idle.acquire()
            early = 1
            while early > 0:
                early = int(self.due[number]) - self._now()
                await asyncio.sleep(max(early, 0) / SECOND)  # of no time lets the others go on
            task = asyncio.create_task(self._await(number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            task.add_done_callback(lambda task: idle.release())
        await asyncio.gather(*tasks)

    async def _await(self, number: int) -> None:
        try:
            await self._search(self._queries[number % len(self._queries)])
        except Exception as problem:
            self._note(number, problem)
        self.done[number] = self._now()

    def _now(self) -> int:
        return time.perf_counter_ns() - self._start

    def _note(self, number: int, problem: Exception) -> None:
        self.failed[number] = True
        if self.problem is None:
            self.problem = f"{type(problem).__name__}: {shown(str(problem))}"


def summarise(sending: Sending, rate: float, arrivals: str, callers: int | None) -> LoadAtRate:
    """Return what became of the queries of a rate."""
    answered = ~sending.failed
    end = max(int(sending.done.max()) / SECOND, sending.due.size / rate)
    times = (sending.done - sending.due) / MILLISECOND
    return LoadAtRate(
        rate=rate,
        achieved=int(answered.sum()) / end,
        latency=Latency(
            mean=exact_mean(times[answered]) if answered.any() else None,
            **find_percentiles(np.sort(np.where(answered, times, np.inf))),
            calls=sending.due.size,
            loop=OPEN,
            rate=rate,
            arrivals=arrivals,
            errors=int(sending.failed.sum()),
        ),
        growing=is_growing(sending, times, callers or 1),
        wall_time=end,
        problem=sending.problem,
    )


def is_growing(sending: Sending, times: Floats, callers: int) -> bool:
    """Tell whether the queue still grew: in the last half all waited, and latencies rose.

    Where any number of calls run at a time, a query waits for none: one other in progress counts.
    """
    quarters = np.array_split(times, 4)
    if not quarters[0].size:
        return False
    done = np.searchsorted(np.sort(sending.done), sending.due, side="right")
    in_progress = np.arange(sending.due.size) - done
    waited = in_progress[sending.due.size // 2 :] >= callers
    return bool(waited.all() and quarters[3].mean() > GROWTH * quarters[1].mean())

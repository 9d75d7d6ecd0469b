"""Measuring a search under load, and the highest rate at which its latency stays within a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from irbatch.array_types import Ints
from irbatch.efficiency.answers import read_queries
from irbatch.efficiency.checks import of_system, refuse
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import ARRIVALS, POISSON
from irbatch.efficiency.load.arrivals import SECOND, due_times
from irbatch.efficiency.load.at_rate import MILLISECOND, LoadAtRate, summarise
from irbatch.efficiency.load.load import Load
from irbatch.efficiency.load.sending import Sending
from irbatch.efficiency.measuring import name_of
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.efficiency.timing import Calls, is_async, loop_for, warm_up
from irbatch.errors import ErrorsIn, InputError, kind_of, shown, warn
from irbatch.report.numbers import show_quantity
from irbatch.runtime.numbers import check_choice, check_number, check_whole
from irbatch.statistics.resampling import check_level

SECONDS = 10.0  # at each rate, where nothing else is said
MOST_TRIED = 20  # rates, where they are looked for
FINEST = 0.02  # between two of them, which have three digits
LEAST = 2.0**-10  # of the first rate: below it none is looked for


def measure_load(
    search: Callable[[Any], Any],
    queries: Mapping[Any, Any] | Iterable[Any],
    *,
    rate: float | None = None,
    rates: Iterable[float] | None = None,
    within: float | None = None,
    arrivals: str = POISSON,
    concurrency: int | None = None,
    duration: float | None = None,
    calls: int | None = None,
    timeout: float | None = None,
    warmup: int = 10,
    precision: float = 0.1,
    seed: int = 0,
    level: float = 0.05,
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
        rate: queries a second.
        rates: several, each measured by itself, from the lowest on.
        within: a bound on p99, in ms. The highest rate that holds it, with no queue that grows, is
            `Load.sustained_rate`; without `rate` and `rates` it is looked for: from half of what
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
        precision: how much more than the highest rate that held, as a share, the lowest that did
            not may be, where rates are looked for.
        seed: of the arrivals; those of two rates are the same but for their speed.
        level: the chance that an interval misses.
        system, dataset, hardware, price_per_hour, currency: as of `measure_search`.

    Raises:
        InputError: before anything is called, naming the system and the argument, if one is wrong;
            in the warm-up, naming the query, if the first answer is none.

    What `search` raises in the warm-up is raised as it is. Where the sender itself was late by more
    than a tenth of p99 a warning says so: the machine was busy with something else, or calls are
    shorter than what can be timed so.

    >>> import time
    >>> load = measure_load(lambda query: time.sleep(0.01) or ["d1"], ["cat", "dog"], calls=4,
    ...                     rate=50, arrivals="fixed", warmup=1, system="constant")
    >>> load.rates[0].latency.calls, load.rates[0].latency.errors, load.rates[0].latency.mean > 9
    (4, 0, True)
    """
    name = name_of(search) if system is None else system
    source = of_system(name)
    if not callable(search):
        raise refuse(source, "search", f"is {kind_of(search)}, not to be called", search)
    ids, asked = read_queries(source, queries)
    if hardware is None or isinstance(hardware, str):
        hardware = Hardware.here(hardware)
    record = EfficiencyRecord(
        system=name,
        dataset=dataset,
        hardware=hardware,
        n_queries=len(ids),
        warmup=warmup,
        price_per_hour=price_per_hour,
        currency=currency,
    )
    with ErrorsIn(source=source):
        check_whole("warmup", warmup, 1)  # the first answer is checked in it
        wanted = _check_rates(rate, rates, within)
        check_number("precision", precision, above=0)
        if concurrency is None and not is_async(search):
            concurrency = 1
        plan = Plan(search, asked, arrivals, seed, calls, duration, concurrency, timeout, level)
        for each in wanted:
            plan.due(each)
    found: list[LoadAtRate] = []
    with loop_for(source, search) as loop:

        def measure(rate: float) -> LoadAtRate:
            found.append(plan.measure(rate, loop))
            _warn_of_lateness(name, found[-1])
            return found[-1]

        first = Calls(f"answer of {shown(name)}", search, ids, asked, 1, False).within(loop)
        took = warm_up(first, warmup, lambda *said: None)
        for each in wanted:
            measure(each)
        if not wanted and within is not None:
            start = len(took) * SECOND / max(sum(took.values()), 1) / 2
            look_for_rate(start, lambda rate: measure(rate).holds(within), precision)
    return Load(
        about=record, rates=found, callers=concurrency, timeout=timeout, within=within, seed=seed
    )


@dataclass(frozen=True)
class Plan:
    """How rates are measured; errors are those of `measure_load`."""

    search: Callable[[Any], Any]
    queries: list[Any]
    arrivals: str
    seed: int
    calls: int | None
    duration: float | None
    callers: int | None
    timeout: float | None
    level: float

    def __post_init__(self) -> None:
        check_choice("arrivals", self.arrivals, ARRIVALS)
        check_whole("seed", self.seed, 0)
        check_level(self.level)
        if self.calls is not None:
            check_whole("calls", self.calls, 1)
        if self.duration is not None:
            check_number("duration", self.duration, above=0)
            if self.calls is not None:
                raise InputError("calls and duration are both given: one follows from the other")
        if self.callers is not None:
            check_whole("concurrency", self.callers, 1)
        if self.timeout is not None:
            check_number("timeout", self.timeout, above=0)

    def due(self, rate: float) -> Ints:
        """Return when queries are due, ns int64 ``(calls,)``."""
        duration = SECONDS if self.duration is None and self.calls is None else self.duration
        return due_times(rate, self.arrivals, self.seed, calls=self.calls, duration=duration)

    def measure(self, rate: float, loop: Any) -> LoadAtRate:
        """Send queries at a rate until all are done; `loop` is an `asyncio.Runner` or None."""
        timeout = None if self.timeout is None else round(self.timeout * MILLISECOND)
        sending = Sending(self.search, self.queries, self.due(rate), timeout)
        if loop is None:
            sending.in_threads(self.callers or 1)
        else:
            loop.run(sending.as_tasks(self.callers))
        asked = min(len(self.queries), sending.due.size)
        return summarise(sending, rate, self.arrivals, self.callers, asked, self.level)


def look_for_rate(start: float, holds: Callable[[float], bool], precision: float) -> None:
    """Try rates until the highest that holds and the lowest that does not are close.

    >>> tried = []
    >>> look_for_rate(40, lambda rate: tried.append(rate) or rate < 100, precision=0.1)
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
        if high <= low * (1 + max(precision, FINEST)) or high <= start * LEAST:
            return
        rate = 2 * low if math.isinf(high) else math.sqrt(low * high) if low else high / 2


def _check_rates(rate: Any, rates: Any, within: Any) -> list[float]:
    """Return the rates that are given, ascending: low ones don't heat a machine for high ones."""
    if within is not None:
        check_number("within", within, above=0)
    if rate is not None and rates is not None:
        raise InputError("rate and rates are both given")
    if rate is None and rates is None:
        if within is None:
            raise InputError(
                "rate is missing: give it, or rates, or within to look for the highest"
            )
        return []
    if rates is None:
        return [check_number("rate", rate, above=0)]
    if isinstance(rates, str) or not isinstance(rates, Iterable):
        raise InputError(f"rates are {shown(rates)}, not several numbers", value=rates)
    several = [check_number("rates", each, above=0) for each in rates]
    if not several or len(set(several)) < len(several):
        raise InputError(f"rates are {shown(several)}: none, or one twice", value=several)
    return sorted(several)


def _warn_of_lateness(system: str, found: LoadAtRate) -> None:
    if not found.kept_up:
        late, p99 = (f"{show_quantity(each)} ms" for each in (found.lateness, found.p99))
        said = f"times of {shown(system)} at {show_quantity(found.rate)} queries/s contain that"
        why = "the machine does other work, or calls are too short to be timed so"
        warn(f"{said} queries were sent late, up to {late} (p99) of {p99}: {why}")

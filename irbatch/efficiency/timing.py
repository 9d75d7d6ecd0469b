"""The calls of a search, timed with nothing else between readings of the clock; their FLOPs."""

from __future__ import annotations

import importlib
import inspect
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.answers import answers_of_batch, read_answers
from irbatch.efficiency.checks import read_quantity, refuse
from irbatch.efficiency.readings import IN_WARM_UP, MemoryWatch, Watch
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import ErrorsIn, many, shown, warn
from irbatch.report.numbers import show_quantity
from irbatch.runtime.progress import Step

MILLISECOND, SECOND = 1e6, 1e9  # in nanoseconds
NAMED = 5  # queries of a call that failed
COUNTED = 32  # queries whose floating-point operations torch counts
FEWEST = 5  # calls on both sides: the median of fewer is that of a cold start
FACTOR = 2.0  # between two medians that differ much
LEAST = 0.1  # ms between them: of less the caches of the processor are the reason


@dataclass(frozen=True)
class Calls:
    """The calls that answer all queries once."""

    source: str  # what errors call the answers
    search: Callable[[Any], Any]
    ids: list[Any]
    queries: list[Any]
    size: int  # queries that a call answers; the last may be left fewer
    takes_list: bool  # whether `search` takes a list of queries, not one
    loop: Any = None  # an `asyncio.Runner`, for a search that is `async def`

    def __len__(self) -> int:
        return -(-len(self.ids) // self.size)

    def ids_of(self, number: int) -> list[Any]:
        """Return the ids of the queries that a call answers."""
        return self.ids[number * self.size : (number + 1) * self.size]

    def time(self, number: int) -> tuple[int, Any]:
        """Make a call; return how many nanoseconds it took, and what came back."""
        given: Any = self.queries[number * self.size : (number + 1) * self.size]
        if not self.takes_list:
            (given,) = given
        search, clock = self.search, time.perf_counter_ns
        try:
            if self.loop is not None:
                return self.loop.run(self._await(given))
            begin = clock()
            answer = search(given)
            end = clock()
        except Exception as problem:
            ids = self.ids_of(number)
            named = ", ".join(map(shown, ids[:NAMED])) + (", …" if len(ids) > NAMED else "")
            problem.add_note(f"in the call for {many(len(ids), 'query')}: {named}")
            raise
        return end - begin, answer

    async def _await(self, given: Any) -> tuple[int, Any]:
        """Time a call within the loop, that what the loop itself takes is not timed."""
        clock = time.perf_counter_ns
        begin = clock()
        answer = await self.search(given)
        end = clock()
        return end - begin, answer

    def within(self, loop: Any) -> Calls:
        """Return the calls as they are made where this loop is, which only some need."""
        return replace(self, loop=loop if is_async(self.search) else None)

    def check(self, number: int, answer: Any) -> None:
        """Refuse what a call returned, if it is not an answer to each of its queries."""
        read_answers(self.source, self.ids_of(number), self.answers(number, answer))

    def answers(self, number: int, answer: Any) -> list[Any]:
        """Return what a call returned as a list, an answer to each of its queries."""
        if not self.takes_list:
            return [answer]
        return answers_of_batch(self.source, self.ids_of(number), answer)


def is_async(search: Any) -> bool:
    """Tell whether calls are to be awaited."""
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(type(search), "__call__", None)  # noqa: B004 - it may be `async def`
    )


def loop_for(source: str, *searches: Any) -> AbstractContextManager[Any]:
    """Return the loop that calls are awaited in, to be entered; None is in it if none needs it."""
    if not any(map(is_async, searches)):
        return nullcontext()
    asyncio = importlib.import_module("asyncio")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner()
    why = "is async def, and a loop is running here already: measure it in another thread"
    raise refuse(source, "search", f"{why}, as with asyncio.to_thread", searches[0])


def warm_up(calls: Calls, count: int, step: Step) -> dict[int, int]:
    """Make calls that do not count; return each call's number and the ns that it first took.

    The first answer is checked, as all may be of its kind.
    """
    first: dict[int, int] = {}
    for i in range(count):
        number = i % len(calls)
        taken, answer = calls.time(number)
        first.setdefault(number, taken)
        if i == 0:
            calls.check(number, answer)
        step("warm-up", i + 1, count)
    return first


def time_calls(
    calls: Calls, warming: Calls | None, record: EfficiencyRecord, step: Step
) -> tuple[dict[str, Any], Floats, list[Any]]:
    """Return fields of the record; ms float64 ``(repeats, calls)``; an answer to each query.

    The warm-up makes the calls of `warming`, or else the timed ones.
    """
    memory = MemoryWatch()
    with memory.looking(IN_WARM_UP) if record.warmup else nullcontext():
        warm = warm_up(warming or calls, record.warmup or 0, step)
    times = np.zeros((record.repeat, len(calls)), np.int64)
    kept: list[Any] = []
    watch = Watch()
    for turn in range(record.repeat):
        for number in range(len(calls)):
            times[turn, number], answer = calls.time(number)
            if turn == number == 0 and not record.warmup:
                calls.check(number, answer)
            if turn == record.repeat - 1:
                kept.append(answer)
            memory.look()
            step(f"pass {turn + 1} of {record.repeat}", number + 1, len(calls))
    measured = {**watch.read(), **memory.read()}
    measured["throughput"] = _per_second(len(calls.ids) * record.repeat, int(times.sum()))
    answers = [each for number, got in enumerate(kept) for each in calls.answers(number, got)]
    milliseconds: Floats = times / MILLISECOND
    milliseconds.flags.writeable = False
    asked = {} if warming else {number: ns / MILLISECOND for number, ns in warm.items()}
    warn_of_caching(record.system, asked, milliseconds)
    return measured, milliseconds, answers


def time_throughput(
    calls: Calls, warming: Calls | None, record: EfficiencyRecord, step: Step
) -> tuple[float | None, list[Any]]:
    """Return queries a second, of one pass of larger calls, and an answer to each query."""
    warm_up(warming or calls, min(record.warmup or 0, 1), step)
    total = 0
    answers: list[Any] = []
    for number in range(len(calls)):
        taken, answer = calls.time(number)
        answers += calls.answers(number, answer)
        total += taken
        step("throughput", number + 1, len(calls))
    return _per_second(len(calls.ids), total), answers


def _per_second(queries: int, nanoseconds: int) -> float | None:
    """Return how many queries were answered in a second; None if the clock stood still."""
    return queries / (nanoseconds / SECOND) if nanoseconds else None


def torch_flops(calls: Calls) -> float | None:
    """Return the mean FLOPs of a query that torch counts in this thread, over the first calls.

    Where it counts none, warn and return None.
    """
    counter = importlib.import_module("torch.utils.flop_counter")
    queries = 0
    with counter.FlopCounterMode(display=False) as counting:
        for number in range(min(max(COUNTED // calls.size, 1), len(calls))):
            calls.time(number)
            queries += len(calls.ids_of(number))
    total = int(counting.get_total_flops())
    if total:
        return total / queries
    why = "search doesn't call the model, or calls it in another thread or process"
    warn(f"torch counted no FLOPs: {why}; flops= says what they are")
    return None


def mean_flops(source: str, count: Callable[[Any], Any], calls: Calls) -> float:
    """Return the mean of what the caller's function says of each query."""
    numbers = []
    for query, each in zip(calls.ids, calls.queries, strict=True):
        with ErrorsIn(query=query):
            numbers.append(read_quantity(source, "flops", count(each)))
    return math.fsum(numbers) / len(numbers)


def warn_of_caching(system: str, warm: Mapping[int, float], times: Floats) -> None:
    """Warn where calls that were made before take another time than when they were made first.

    Args:
        system: whose times they are.
        warm: ms that timed calls took when the warm-up made them first, by their number.
        times: ms ``(passes, calls)``.
    """
    asked = np.array(list(warm), np.int64)
    if len(asked) >= FEWEST:
        fresh = np.delete(times[0], asked)
        before, after = _median(list(warm.values())), _median(times[0, asked])
        # Of calls that are all warm a slow beginning may be the reason as well.
        if _is_less(after, before) and (not len(fresh) or _is_less(after, _median(fresh))):
            said = f"{many(len(asked), 'call')} of the warm-up took {_ms(before)} first, and"
            others = f"; the other calls took {_ms(_median(fresh))}" if len(fresh) else ""
            why = "it keeps answers, or its warm-up was not over"
            _warn(system, f"{said} {_ms(after)} when they were timed{others}", why)
            return
    if len(times) > 1 and times.shape[1] >= FEWEST:
        first, later = _median(times[0]), _median(np.median(times[1:], axis=0))
        said = f"calls took {_ms(first)} in the first pass, and {_ms(later)} in later ones"
        if _is_less(later, first):
            _warn(system, said, "it keeps answers, or its warm-up was not over")
        elif _is_less(first, later):
            _warn(system, said, "it slows down, or something else takes the machine's time")


def _warn(system: str, said: str, why: str) -> None:
    hint = "warmup_queries=, a longer warmup= or repeat=1 may tell"
    warn(f"times of {shown(system)} are of two kinds: {said} (medians); {why} ({hint})")


def _is_less(one: float, other: float) -> bool:
    return one * FACTOR <= other and other - one >= LEAST


def _median(times: Floats | list[float]) -> float:
    return float(np.median(times))


def _ms(time: float) -> str:
    return f"{show_quantity(time)} ms"

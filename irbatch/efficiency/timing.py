"""The calls of a search, timed with nothing else between readings of the clock; their FLOPs."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.answers import answers_of_batch, read_answers
from irbatch.efficiency.checks import read_quantity
from irbatch.efficiency.readings import Watch
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import ErrorsIn, many, shown, warn
from irbatch.runtime.progress_bar import Step

MILLISECOND, SECOND = 1e6, 1e9  # in nanoseconds
NAMED = 5  # queries of a call that failed
COUNTED = 32  # queries whose floating-point operations torch counts


@dataclass(frozen=True)
class Calls:
    """The calls that answer all queries once."""

    source: str  # what errors call the answers
    search: Callable[[Any], Any]
    ids: list[Any]
    queries: list[Any]
    size: int  # queries that a call answers; the last may be left fewer
    takes_list: bool  # whether `search` takes a list of queries, not one

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
            begin = clock()
            answer = search(given)
            end = clock()
        except Exception as problem:
            ids = self.ids_of(number)
            named = ", ".join(map(shown, ids[:NAMED])) + (", …" if len(ids) > NAMED else "")
            problem.add_note(f"in the call for {many(len(ids), 'query')}: {named}")
            raise
        return end - begin, answer

    def check(self, number: int, answer: Any) -> None:
        """Refuse what a call returned, if it is not an answer to each of its queries."""
        read_answers(self.source, self.ids_of(number), self.answers(number, answer))

    def answers(self, number: int, answer: Any) -> list[Any]:
        """Return what a call returned as a list, an answer to each of its queries."""
        if not self.takes_list:
            return [answer]
        return answers_of_batch(self.source, self.ids_of(number), answer)


def warm_up(calls: Calls, count: int, step: Step) -> None:
    """Make calls that are not timed; check the first answer, as all may be of its kind."""
    for i in range(count):
        number = i % len(calls)
        _, answer = calls.time(number)
        if i == 0:
            calls.check(number, answer)
        step("warm-up", i + 1, count)


def time_calls(
    calls: Calls, record: EfficiencyRecord, step: Step
) -> tuple[dict[str, Any], Floats, list[Any]]:
    """Return fields of the record; ms float64 ``(repeats, calls)``; an answer to each query."""
    warm_up(calls, record.warmup or 0, step)
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
            step(f"pass {turn + 1} of {record.repeat}", number + 1, len(calls))
    measured = watch.read()
    measured["throughput"] = _per_second(len(calls.ids) * record.repeat, int(times.sum()))
    answers = [each for number, got in enumerate(kept) for each in calls.answers(number, got)]
    milliseconds: Floats = times / MILLISECOND
    milliseconds.flags.writeable = False
    return measured, milliseconds, answers


def time_throughput(
    calls: Calls, record: EfficiencyRecord, step: Step
) -> tuple[float | None, list[Any]]:
    """Return queries a second, of one pass of larger calls, and an answer to each query."""
    warm_up(calls, min(record.warmup or 0, 1), step)
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

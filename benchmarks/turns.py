"""Timing several works in turn, so that a busy machine slows all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import amount, duration, seconds

__all__ = ["PATIENCE", "Timed", "in_turn", "times_as_long"]

PATIENCE = 4.0  # seconds; what takes longer is called once only


@dataclass(frozen=True)
class Timed:
    """What a work returned, the seconds that it took, round by round, and its memory if known."""

    result: Any
    rounds: tuple[float, ...]
    peak: int = 0

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        memory = f", {amount(self.peak)}" if self.peak else ""
        return duration(self.seconds) + memory


def in_turn(
    works: Mapping[str, Callable[[], Any]], rounds: int, patience: float = PATIENCE,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timed]:  # fmt: skip
    """Call each work once for its result, then time them: A B C, A B C.

    The first call counts only for a work that takes longer than `patience` seconds, and is then
    its only one: callers have each tool compile on something small before.
    """
    results: dict[str, Any] = {}
    first: dict[str, float] = {}
    for name, work in works.items():
        first[name] = seconds(lambda name=name, work=work: results.update({name: work()}), clock)
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            if first[name] <= patience:
                taken[name].append(seconds(work, clock))
    return {name: Timed(results[name], tuple(taken[name] or [first[name]])) for name in works}


def times_as_long(one: Timed, other: Timed) -> float:
    """Return how many times as long as `one` the other took: the median over rounds."""
    if len(one.rounds) != len(other.rounds):
        return other.seconds / one.seconds
    return statistics.median(b / a for a, b in zip(one.rounds, other.rounds, strict=True))

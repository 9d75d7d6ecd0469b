"""Latency: the time from a call to its answer, of many calls."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.checks import check_fields, check_quantity, only_known, refuse
from irbatch.efficiency.quantities import PERCENTILES
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import exact_mean
from irbatch.statistics.order_statistics import quantile_ranks
from irbatch.statistics.resampling import check_draws, check_level, draw_column_means

STATISTICS = ("mean", *PERCENTILES)
LOOPS = CLOSED, OPEN = "closed", "open"  # see `Latency`
ARRIVALS = POISSON, FIXED = "poisson", "fixed"
OF_OPEN_LOOPS = ("rate", "arrivals", "errors", "timeouts")
SOURCE = "latency"
REAL = "iuf"  # kinds of NumPy's types


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Time of a call in milliseconds: with a batch size of one, that of a query.

    Attributes:
        mean: of all timed calls.
        p50, p90, p95, p99: percentiles, between neighbours linearly.
        intervals: name of a number above to the bounds of its confidence interval; percentiles
            have one where there are calls enough.
        level: the chance that an interval misses.
        calls: how many were timed.
        loop: ``"closed"`` where a call began when the last one had ended; ``"open"`` where queries
            were due at a rate and latency counts from then, so that it contains their waiting for
            each other: see `measure_load`. The two are not to be compared.
        rate: queries a second that were due, on average, in an open loop.
        arrivals: how they were: ``"poisson"`` or ``"fixed"``.
        errors, timeouts: calls of an open loop that failed, or whose time was out. Percentiles
            count them as longer than all others, and have no value where they reach them; the mean
            is of the others.

    Raises:
        InputError: naming the field, if a number is negative or not finite, or percentiles or
            bounds are out of order.

    >>> Latency.from_samples([4.0, 6.0, 5.0, 25.0], draws=100).p50
    5.5
    """

    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    level: float = 0.05
    calls: int | None = None
    loop: str | None = None
    rate: float | None = None
    arrivals: str | None = None
    errors: int | None = None
    timeouts: int | None = None

    def __post_init__(self) -> None:
        counts = {"calls": 1, "errors": 0, "timeouts": 0}
        check_fields(self, SOURCE, counts=counts, quantities=(*STATISTICS, "rate"))
        self._check_loop()
        known = [name for name in PERCENTILES if getattr(self, name) is not None]
        for lower, upper in pairwise(known):
            low, high = getattr(self, lower), getattr(self, upper)
            if low > high:
                raise refuse(SOURCE, lower, f"is {low:g}, more than {upper}, {high:g}", low)
        if not isinstance(self.intervals, Mapping):
            problem = f"are {shown(self.intervals)}, not bounds by name"
            raise refuse(SOURCE, "intervals", problem, self.intervals)
        intervals = {name: _interval(name, bounds) for name, bounds in self.intervals.items()}
        object.__setattr__(self, "intervals", intervals)
        check_level(self.level)

    def _check_loop(self) -> None:
        for name, choices in (("loop", LOOPS), ("arrivals", ARRIVALS)):
            value = getattr(self, name)
            if value is not None and value not in choices:
                problem = f"is {shown(value)}, neither of {' and '.join(map(repr, choices))}"
                raise refuse(SOURCE, name, problem, value)
        if self.loop != OPEN:
            for name in OF_OPEN_LOOPS:
                if getattr(self, name) is not None:
                    problem = f"is of an open loop, and loop is {shown(self.loop)}"
                    raise refuse(SOURCE, name, problem, getattr(self, name))

    def known(self) -> dict[str, Any]:
        """Return the fields that say something, by name: no level where it is of no intervals."""
        level = self.level if self.intervals or self.level != Latency.level else None
        return only_known({**vars(self), "intervals": self.intervals or None, "level": level})

    @classmethod
    def from_samples(
        cls, milliseconds: Any, *, level: float = 0.05, draws: int = 2000, seed: int = 0
    ) -> Latency:
        """Summarise timed calls, with intervals for other queries of the same kind.

        The interval of the mean is by the bootstrap, percentile method; of few calls, some of them
        long, it misses more often than it says (of 50 lognormal times, 11 % at a level of 0.05).
        Those of percentiles reach from one of the times to another. Their ranks follow from the
        binomial distribution, so that they miss with a chance of at most `level` whatever the
        times' distribution is. That takes 6 calls for p50 at a level of 0.05, 36 for p90, 72 for
        p95 and 368 for p99; of fewer, a percentile has no interval.

        What is independent is the query, or the batch of a call. Repeats of a call are of the same
        queries, so they stay together and do not count as further calls: 50 queries timed 10 times
        have no interval of p99. Where repeats differ by chance alone intervals are wider than they
        need be. No interval knows of what slows a machine for many calls in a row.

        Args:
            milliseconds: ``(calls,)`` or, where each was repeated, ``(repeats, calls)``.
            level: the chance that an interval misses.
            draws, seed: of the bootstrap; 0 draws make no intervals, of percentiles neither.

        Raises:
            InputError: if there are no calls, or a time is negative or not finite.
        """
        check_level(level)
        check_draws(draws, seed, least=0)
        times = _as_times(milliseconds)
        shares = np.array(list(PERCENTILES.values())) / 100
        numbers = [exact_mean(times.ravel().tolist()), *np.quantile(times, shares).tolist()]
        intervals = _find_intervals(times, shares, level, draws, seed) if draws else {}
        known = dict(zip(STATISTICS, numbers, strict=True))
        return cls(**known, intervals=intervals, level=level, calls=times.size)


def _find_intervals(
    times: Floats, shares: Floats, level: float, draws: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return the intervals that times ``(repeats, calls)`` can give, by name."""
    repeats, calls = times.shape
    if calls == 1:
        return {}
    drawn = draw_column_means(times, draws, seed)
    low, high = np.quantile(drawn, [level / 2, 1 - level / 2]).tolist()
    intervals = {"mean": (low, high)}
    ordered = np.sort(times, axis=None)
    for name, share in zip(PERCENTILES, shares.tolist(), strict=True):
        ranks = quantile_ranks(calls, share, level)
        if ranks is not None:
            # A rank of one pass is `repeats` ranks of all; the outer ones hold however much the
            # repeats of a call are alike: the share of them below a time varies most if they are.
            first, last = repeats * (ranks[0] - 1), repeats * ranks[1] - 1
            intervals[name] = float(ordered[first]), float(ordered[last])
    return intervals


def _interval(name: str, bounds: Any) -> tuple[float, float]:
    field = f"interval of {name}"
    if name not in STATISTICS:
        raise refuse(SOURCE, field, f"is of none of {', '.join(STATISTICS)}", name)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise refuse(SOURCE, field, f"is {shown(bounds)}, not two bounds", bounds)
    low, high = (check_quantity(SOURCE, field, each) for each in bounds)
    if low is None or high is None or low > high:
        raise refuse(SOURCE, field, f"is {shown(bounds)}, not a lower and an upper bound", bounds)
    return low, high


def _as_times(milliseconds: Any) -> Floats:
    """Return times as ``(repeats, calls)``."""
    refuse = functools.partial(InputError, source=SOURCE)
    try:
        given = np.asarray(milliseconds)
    except ValueError as problem:  # lists of different lengths
        raise refuse(f"times are no numbers: {problem}") from None
    if given.dtype.kind not in REAL and given.size:
        wanted = f"times are numbers of milliseconds, not of type {given.dtype}"
        raise refuse(wanted, value=milliseconds)
    times = np.atleast_2d(given.astype(np.float64))
    if times.ndim != 2 or not times.size:
        raise refuse("times are of calls, or of repeats and calls, at least one", value=times.shape)
    wrong = np.argwhere(~(np.isfinite(times) & (times >= 0)))
    if len(wrong):
        repeat, call = wrong[0].tolist()
        value = float(times[repeat, call])
        raise refuse(f"time {value:g} of call {call} is negative or not finite", value=value)
    return times

"""Latency: the time from a call to its answer, of many calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.checks import check_count, check_quantity, refuse
from irbatch.efficiency.quantities import PERCENTILES
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import exact_mean
from irbatch.statistics.resampling import check_draws, check_level, draw_counts

__all__ = ["STATISTICS", "Latency"]


STATISTICS = ("mean", *PERCENTILES)
SOURCE = "latency"
REAL = "iuf"  # kinds of NumPy's types


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Time of a call in milliseconds: with a batch size of one, that of a query.

    Attributes:
        mean: of all timed calls.
        p50, p90, p95, p99: percentiles, between neighbours linearly.
        intervals: name of a number above to the bounds of its confidence interval.
        level: the chance that an interval misses.
        calls: how many were timed.

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

    def __post_init__(self) -> None:
        """Check all numbers.

        Raises:
            InputError: naming the field of what is no number, negative, not finite or, of
                percentiles and intervals, out of order.
        """
        for name in STATISTICS:
            value = check_quantity(SOURCE, name, getattr(self, name))
            object.__setattr__(self, name, value)
        known = [name for name in PERCENTILES if getattr(self, name) is not None]
        for lower, upper in pairwise(known):
            low, high = getattr(self, lower), getattr(self, upper)
            if low > high:
                raise refuse(SOURCE, lower, f"is {low:g}, more than {upper}, {high:g}", low)
        object.__setattr__(self, "calls", check_count(SOURCE, "calls", self.calls, 1))
        if not isinstance(self.intervals, Mapping):
            raise refuse(SOURCE, "intervals", f"are {shown(self.intervals)}, not bounds by name",
                         self.intervals)  # fmt: skip
        intervals = {name: _interval(name, bounds) for name, bounds in self.intervals.items()}
        object.__setattr__(self, "intervals", intervals)
        check_level(self.level)

    @classmethod
    def from_samples(
        cls, milliseconds: Any, *, level: float = 0.05, draws: int = 2000, seed: int = 0
    ) -> Latency:
        """Summarise timed calls; intervals are by the bootstrap, percentile method.

        Args:
            milliseconds: ``(calls,)`` or, where each was repeated, ``(repeats, calls)``: the
                repeats of a call are drawn together, as they are not independent.
            level: the chance that an interval misses.
            draws, seed: of the bootstrap; 0 draws make no intervals.

        Raises:
            InputError: for no calls, and for times that are negative or no finite numbers.
        """
        check_level(level)
        check_draws(draws, seed, least=0)
        times = _as_times(milliseconds)
        ordered = np.sort(times, axis=None)
        shares = np.array(list(PERCENTILES.values())) / 100
        numbers = [exact_mean(times.ravel().tolist()), *_quantiles(ordered, shares)]
        intervals: dict[str, tuple[float, float]] = {}
        if draws and times.shape[1] > 1:
            drawn = np.concatenate(list(_draw(times, shares, draws, seed)))
            bounds = np.quantile(drawn, [level / 2, 1 - level / 2], axis=0).T.tolist()
            intervals = {name: (low, high) for name, (low, high) in
                         zip(STATISTICS, bounds, strict=True)}  # fmt: skip
        known = dict(zip(STATISTICS, numbers, strict=True))
        return cls(**known, intervals=intervals, level=level, calls=times.size)


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
    try:
        given = np.asarray(milliseconds)
    except ValueError as problem:  # lists of different lengths
        raise InputError(f"times are no numbers: {problem}", source=SOURCE) from None
    if given.dtype.kind not in REAL and given.size:
        raise InputError(f"times are numbers of milliseconds, not of type {given.dtype}",
                         source=SOURCE, value=milliseconds)  # fmt: skip
    times = np.atleast_2d(given.astype(np.float64))
    if times.ndim != 2 or not times.size:
        raise InputError("times are of calls, or of repeats and calls, and not none",
                         source=SOURCE, value=times.shape)  # fmt: skip
    wrong = ~(np.isfinite(times) & (times >= 0))
    if wrong.any():
        value = float(times[wrong][0])
        where = tuple(np.argwhere(wrong)[0].tolist())
        raise InputError(f"time {value:g} of call {where[1]} is negative or not finite",
                         source=SOURCE, value=value)  # fmt: skip
    return times


def _quantiles(ordered: Floats, shares: Floats) -> list[float]:
    quantiles: list[float] = np.quantile(ordered, shares).tolist()
    return quantiles


def _draw(times: Floats, shares: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Yield the statistics of drawn calls, float64 ``(draws, statistics)``."""
    repeats, calls = times.shape
    order = np.argsort(times, axis=None, kind="stable")
    ordered, owners = times.ravel()[order], order % calls
    scale = 2.0 ** (np.frexp(times.max())[1] - 1)  # as sums of huge times are beyond float64
    by_call = (times / scale).sum(axis=0) / repeats
    place = shares * (times.size - 1)
    below = np.floor(place)
    upper = np.minimum(below + 1, times.size - 1)
    for some in draw_counts(calls, draws, seed):
        low, high = np.empty((2, len(some), len(shares)))
        for i, often in enumerate(some):  # one by one: repeats make these long
            # How many of the drawn times stand at or before each of the ordered ones.
            upto = np.cumsum(often[owners])
            low[i], high[i] = (ordered[np.searchsorted(upto, at, "right")] for at in (below, upper))
        means = (some @ by_call / calls * scale)[:, None]
        yield np.concatenate([means, low + (place - below) * (high - low)], axis=1)

"""What a search did at one rate of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.efficiency.checks import check_fields, only_known, part_of_record, refuse
from irbatch.efficiency.latency import OPEN, Latency
from irbatch.efficiency.load.arrivals import SECOND
from irbatch.efficiency.load.sending import ANSWERED, FAILED, OUT_OF_TIME, Sending
from irbatch.efficiency.quantities import PERCENTILES
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.runtime.numbers import exact_mean
from irbatch.statistics.order_statistics import quantile_ranks

SOURCE = "load"
MILLISECOND = 1e6  # in nanoseconds
LATE = 0.1  # share of the latency that the sender itself may add
GROWTH = 1.25  # from the second quarter of a run to the last, of a queue that grows
QUARTERS = 4
AMOUNTS = ("rate", "achieved", "busy", "lateness", "wall_time")


@dataclass(frozen=True, kw_only=True)
class LoadAtRate:
    """What a search did at one rate.

    Attributes:
        rate: queries a second that were due.
        achieved: queries a second that were answered, until the last one was.
        latency: from when a query was due; see `Latency` for errors and time-outs.
        busy: share of the callers' time in which they called; None where their number is open.
        growing: whether the queue grew to the end: in the last half every query waited, and in the
            last quarter longer than in the second. In a longer run latencies would be longer.
        lateness: ms by which the sender itself was late, 99th percentile: a query was due and a
            caller was free, but the call began later. Latencies contain it.
        wall_time: from the start to the last answer, in s.
        problem: what the first call that failed raised.
    """

    rate: float
    achieved: float
    latency: Latency
    busy: float | None = None
    growing: bool = False
    lateness: float = 0.0
    wall_time: float = 0.0
    problem: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, SOURCE, texts=["problem"], counts={}, quantities=AMOUNTS)
        for name in AMOUNTS:
            if getattr(self, name) is None and name != "busy":
                raise refuse(SOURCE, name, "is missing", None)
        if not isinstance(self.growing, bool):
            problem = f"is {shown(self.growing)}, not true or false"
            raise refuse(SOURCE, "growing", problem, self.growing)
        if not isinstance(self.latency, Latency) or self.latency.loop != OPEN:
            raise refuse(SOURCE, "latency", "is of no open loop", self.latency)

    @property
    def p99(self) -> float:
        """The 99th percentile of latency, in ms; infinite where it falls on a call that failed."""
        return math.inf if self.latency.p99 is None else self.latency.p99

    @property
    def kept_up(self) -> bool:
        """Whether the sender was late by no more than a tenth of the latency."""
        return self.lateness <= LATE * self.p99

    def holds(self, within: float) -> bool:
        """Tell whether p99 is within so many ms, and no queue grows."""
        return self.p99 <= within and not self.growing

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, as JSON has it."""
        latency = self.latency.known()
        if "intervals" in latency:
            latency["intervals"] = {name: [*ends] for name, ends in latency["intervals"].items()}
        return only_known({**vars(self), "latency": latency})

    @classmethod
    def from_dict(cls, values: Any) -> LoadAtRate:
        """Make one of what `to_dict` returned; `InputError` naming what cannot be read."""
        if not isinstance(values, Mapping):
            raise InputError(f"a rate is an object, not {shown(values)}", source=SOURCE)
        needed = ("rate", "achieved", "latency")
        for name in needed:
            if values.get(name) is None:
                raise refuse(SOURCE, name, "is missing", None)
        check_keys(values, list(cls.__dataclass_fields__))
        latency = values["latency"]
        if not isinstance(latency, Mapping):
            raise refuse(SOURCE, "latency", f"is {shown(latency)}, not an object", latency)
        check_keys(latency, list(Latency.__dataclass_fields__))
        known = only_known({**values, "latency": None})
        return cls(**known, latency=part_of_record(SOURCE, "latency", Latency, latency))


def check_keys(values: Mapping[str, Any], known: list[str]) -> None:
    """Refuse a key that is none of those that are known."""
    for name in values:
        if name not in known:
            raise refuse(SOURCE, shown(name), f"is not known{did_you_mean(name, known)}", name)


def summarise(
    found: Sending, rate: float, arrivals: str, callers: int | None, asked: int, level: float
) -> LoadAtRate:
    """Return what was found at a rate, where `asked` different queries were asked."""
    answered = found.outcome == ANSWERED
    end = max(int(found.done.max()) / SECOND, found.due.size / rate)
    called = float((found.done - found.sent).sum()) / SECOND
    late = (found.sent - found.ready) / MILLISECOND
    times = (found.done - found.due) / MILLISECOND
    return LoadAtRate(
        rate=rate,
        achieved=int(answered.sum()) / end,
        latency=Latency(
            **_percentiles(times, answered, independent_calls(found, asked), level),
            calls=found.due.size,
            loop=OPEN,
            rate=rate,
            arrivals=arrivals,
            errors=int((found.outcome == FAILED).sum()),
            timeouts=int((found.outcome == OUT_OF_TIME).sum()),
        ),
        busy=None if callers is None else called / (callers * end),
        growing=is_growing(found, times, callers is None),
        lateness=float(np.quantile(late, 0.99)),
        wall_time=end,
        problem=found.problem,
    )


def _percentiles(times: Floats, answered: Bools, independent: int, level: float) -> dict[str, Any]:
    """Return mean, percentiles and intervals; a call without an answer took longer than any."""
    found: dict[str, Any] = {}
    if answered.any():
        found["mean"] = exact_mean(times[answered].tolist())
    worst = float(times.max())
    ordered = np.sort(np.where(answered, times, np.inf))
    finite = np.where(np.isfinite(ordered), ordered, worst)
    n, intervals = ordered.size, {}
    for name, percent in PERCENTILES.items():
        share = percent / 100
        if np.isfinite(ordered[math.ceil(share * (n - 1))]):
            found[name] = float(np.quantile(finite, share))
        ranks = quantile_ranks(independent, share, level)
        if name in found and ranks is not None:
            # A rank of those is n / independent ranks of all, rounded outwards.
            first, last = (ranks[0] - 1) * n // independent, -(-ranks[1] * n // independent) - 1
            if np.isfinite(ordered[last]):
                intervals[name] = float(ordered[first]), float(ordered[last])
    return {**found, "intervals": intervals, "level": level}


def independent_calls(found: Sending, asked: int) -> int:
    """Return how many independent calls tell as much as these, of which many wait for each other.

    What happens after nothing was being answered doesn't depend on what was before. So the calls
    from one such moment to the next are a cluster, and count as Kish's effective number of clusters
    does (Survey Sampling, 1965, section 8.2): (sum of sizes)² / sum of squared sizes. Calls of the
    same query are no further ones, as with `Latency.from_samples`.
    """
    begins = np.flatnonzero(starts_idle(found))
    sizes = np.diff(np.append(begins, found.due.size)).astype(np.float64)
    clusters = float(sizes.sum() ** 2 / (sizes**2).sum())
    return max(min(int(clusters), asked), 1)


def starts_idle(found: Sending) -> Bools:
    """Tell of each call whether all before it were done when it was due."""
    before = np.concatenate([[0], np.maximum.accumulate(found.done)[:-1]])
    return found.due >= before


def is_growing(found: Sending, times: Floats, unlimited: bool) -> bool:
    """Tell whether the queue still grew: in the last half all waited, and ever longer."""
    half = found.due.size // 2
    if half < QUARTERS:
        return False
    waits = times if unlimited else (found.ready - found.due).astype(np.float64)
    queued = ~starts_idle(found)[half:] if unlimited else waits[half:] > 0
    return bool(queued.all()) and _rises(waits) and (not unlimited or _rises(_in_progress(found)))


def _rises(values: Floats | Ints) -> bool:
    means = [float(part.mean()) for part in np.array_split(values, QUARTERS)]
    return means[-1] > GROWTH * means[1]


def _in_progress(found: Sending) -> Ints:
    """Count the calls without an answer when each query was due, int64 ``(calls,)``."""
    done = np.searchsorted(np.sort(found.done), found.due, side="right")
    return np.arange(found.due.size) - done

"""When queries are due that come at a rate."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Ints
from irbatch.efficiency.latency import POISSON
from irbatch.errors import InputError

SECOND = 1e9  # in nanoseconds
MOST = 10_000_000  # queries at one rate


def due_times(
    rate: float, arrivals: str, seed: int, *, calls: int | None, duration: float | None
) -> Ints:
    """Return when each query is due, int64 ``(calls,)``, ns from the start, ascending.

    They come at random times (``"poisson"``: as those of many people who know nothing of each
    other, given how many there are, so that the rate is kept exactly), or at equal distances
    (``"fixed"``). With the same seed those of two rates are alike but for their speed.

    Args:
        rate: queries a second.
        arrivals: ``"poisson"`` or ``"fixed"``.
        seed: of random times.
        calls: how many queries there are; or None, and
        duration: seconds in which they are due.

    Raises:
        InputError: if none would be due in that time, or more than ten million.

    >>> due_times(4, "fixed", 0, calls=3, duration=None).tolist()
    [250000000, 500000000, 750000000]
    """
    count = calls if duration is None else round(min(rate * duration, MOST + 1.0))
    if not count:
        problem = f"no query is due in {duration:g} s at {rate:g} a second"
        raise InputError(problem, value=duration)
    if count > MOST:
        raise InputError(f"more than {MOST:,} queries are due at {rate:g} a second", value=rate)
    if arrivals == POISSON:
        # The times of a Poisson process, given how many there are up to the next one.
        gaps = np.random.default_rng(seed).standard_exponential(count + 1)
        seconds = np.cumsum(gaps)[:-1] / gaps.sum() * (count / rate)
    else:
        seconds = np.arange(1, count + 1) / rate
    return np.rint(seconds * SECOND).astype(np.int64)

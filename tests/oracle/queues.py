"""Queues: one simulated event by event, and what is known of them in closed form."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from fractions import Fraction

ANSWERED, OUT_OF_TIME = "answered", "out of time"


def serve(
    due: Sequence[int],
    service: Sequence[int],
    servers: int,
    timeout: int | None = None,
    *,
    cancels: bool = False,
) -> list[tuple[int, int, str]]:
    """Serve who comes first first; return when each begins and ends, and how.

    Who has waited as long as `timeout` leaves. Who is still served then has come in vain, and goes
    at once where that `cancels` the service.
    """
    free = [0] * servers
    found = []
    for arrival, takes in zip(due, service, strict=True):
        begin = max(arrival, heapq.heappop(free))
        end, how = begin + takes, ANSWERED
        if timeout is not None and begin - arrival >= timeout:
            end, how = begin, OUT_OF_TIME
        elif timeout is not None and end - arrival >= timeout:
            end, how = arrival + timeout if cancels else end, OUT_OF_TIME
        heapq.heappush(free, end)
        found.append((begin, end, how))
    return found


def mean_time(busy: float) -> float:
    """Return the mean time in an M/D/1 queue whose service takes 1 (Pollaczek and Khinchine)."""
    return 1 + busy / (2 * (1 - busy))


def share_within(busy: Fraction, time: Fraction) -> float:
    """Return the share of those who are in an M/D/1 queue no longer than a time; service takes 1.

    Erlang (1909), as in Gross et al., Fundamentals of Queueing Theory. Its terms alternate, so
    that their powers are exact.
    """
    wait = time - 1
    total = Fraction(0)
    for k in range(math.floor(wait) + 1):
        x = busy * (k - wait)
        total += x**k / math.factorial(k) * Fraction(math.exp(-x))
    return float((1 - busy) * total)

"""Queues: one simulated event by event, and what is known of them in closed form."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

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

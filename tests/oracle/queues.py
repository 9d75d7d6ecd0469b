"""Queues: one simulated event by event, and what is known of them in closed form."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def serve(due: Sequence[int], service: Sequence[int], servers: int) -> list[tuple[int, int]]:
    """Serve who comes first first; return when each begins and ends."""
    free = [0] * servers
    found = []
    for arrival, takes in zip(due, service, strict=True):
        begin = max(arrival, heapq.heappop(free))
        heapq.heappush(free, begin + takes)
        found.append((begin, begin + takes))
    return found

"""One search, measured twice: one query after the other, and with queries that come at a rate.

It answers in 2 ms, but for one query of 200, which takes 150 ms. In a closed loop the next query
comes when the last one is answered: none ever waits, and 99 % are answered in some 2 ms. People
don't wait for each other. Where 200 queries a second come at random times the search is busy for
just over half of the time, yet all that come while the slow one is answered wait for it and for
each other: what 1 % of them take is a hundred times as long.

Run: python examples/measure_load.py
"""

from __future__ import annotations

import time

from irbatch.efficiency import measure_load, measure_search

QUERIES = [f"query {number}" for number in range(200)]


def search(query: str) -> list[str]:
    time.sleep(0.150 if query == "query 100" else 0.002)
    return ["d1", "d2"]


def main() -> None:
    closed = measure_search(search, QUERIES, system="sleepy", warmup=5)
    print(f"{closed}\n")
    load = measure_load(
        search, QUERIES, system="sleepy", warmup=5, rates=[100, 200], calls=200, within=50
    )
    print(load)
    one, other = closed.record.latency, load.rates[-1].latency
    print(f"p99 in a closed loop: {one.p99:.1f} ms; at 200 queries/s: {other.p99:.1f} ms")


if __name__ == "__main__":
    main()

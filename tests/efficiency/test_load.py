"""A search under load: when queries are sent, what is found at a rate, and the highest rate."""

from __future__ import annotations

import asyncio
import json
import math
import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import queues
from support.clocks import Clock, SharedClock, loop_on
from support.input_errors import input_error

import irbatch.efficiency.load as sending
from irbatch.array_types import Ints
from irbatch.efficiency import Hardware, Load, measure_load
from irbatch.efficiency.load import MOST_DUE, Sending, due_times, is_growing, look_for_rate
from irbatch.efficiency.record import find_percentiles

MS = 10**6  # ns
QUERIES = [f"q{i}" for i in range(500)]
quick = partial(measure_load, hardware=Hardware(), warmup=1, system="bm25")


@pytest.fixture
def clock(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(sending, "time", clock)
    return clock


def taking(clock: Clock, milliseconds: float) -> Any:
    """Return a search that takes so long."""

    def search(query: Any) -> list[str]:
        clock.now += round(milliseconds * MS)
        return ["d"]

    return search


def simulate(busy: float, calls: int, seed: int) -> Any:
    """Return what becomes of queries in an M/D/1 queue, whose service takes 1 ms."""
    due = due_times(1000 * busy, "poisson", seed, calls)
    work = np.arange(calls) * MS
    return SimpleNamespace(due=due, done=work + np.maximum.accumulate(due - work) + MS)


# Sending, against queues that are simulated event by event

PLANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=1, max_size=40)


def read_plan(plan: list[tuple[int, int]]) -> tuple[Ints, list[int]]:
    """Return when queries are due and what each takes, in ns."""
    return np.cumsum([gap for gap, _ in plan]) * MS, [takes * MS for _, takes in plan]


def expected(due: Ints, service: list[int], callers: int) -> list[int]:
    return [end for _, end in queues.serve(due.tolist(), service, callers)]


@settings(deadline=None)
@given(PLANS)
def test_one_caller_is_a_queue_with_one_server(plan: list[tuple[int, int]]) -> None:
    clock = Clock()
    due, service = read_plan(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = Sending(lambda takes: clock.sleep(takes / 1e9), service, due)
        found.in_threads(1)
    assert found.done.tolist() == expected(due, service, 1)


class SendingOnClock(Sending):
    clock: SharedClock

    def _call(self) -> None:
        try:
            super()._call()
        finally:
            self.clock.leave()


@settings(deadline=None, max_examples=40)
@given(PLANS, st.integers(2, 4))
def test_threads_are_a_queue_with_several_servers(
    plan: list[tuple[int, int]], callers: int
) -> None:
    clock = SharedClock(callers)
    due, service = read_plan(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = SendingOnClock(lambda takes: clock.sleep(takes / 1e9), service, due)
        found.clock = clock
        found.in_threads(callers)
    assert found.done.tolist() == expected(due, service, callers)


@settings(deadline=None, max_examples=40)
@given(PLANS, st.none() | st.integers(1, 4))
def test_tasks_are_a_queue_too(plan: list[tuple[int, int]], callers: int | None) -> None:
    clock = Clock()
    clock.now = 10**6  # where a float of seconds is exact enough
    due, service = read_plan(plan)

    async def search(takes: int) -> None:
        await asyncio.sleep(takes / 1e9)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = Sending(search, service, due)
        with asyncio.Runner(loop_factory=lambda: loop_on(clock)) as runner:
            runner.run(found.as_tasks(callers))
    served = expected(due, service, callers or len(plan))
    assert found.done.tolist() == pytest.approx(served, abs=0.01 * MS)


@pytest.mark.parametrize("callers", [1, 3])
def test_what_ends_a_program_is_raised(callers: int) -> None:
    def search(query: int) -> None:
        raise SystemExit("enough")

    found = Sending(search, [1], np.arange(50) * 1000)
    with pytest.raises(SystemExit, match="enough"):
        found.in_threads(callers)
    assert found.failed.size == 50


# When queries are due


@pytest.mark.parametrize("arrivals", ["poisson", "fixed"])
def test_a_rate_is_kept_exactly(arrivals: str) -> None:
    due = due_times(20, arrivals, 3, None)
    assert due.size == 200
    assert (np.diff(due) > 0).all()
    assert due[0] > 0
    assert due[-1] <= 10e9
    faster = due_times(40, arrivals, 3, calls=200)
    assert np.abs(due - 2 * faster).max() <= 2, "alike but for the speed"


def test_poisson_arrivals_are_random() -> None:
    """Given how many there are, the times of a Poisson process are uniform."""
    gaps = np.concatenate([np.diff(due_times(1, "poisson", s, 1000)) for s in range(20)])
    gaps = gaps / gaps.mean()
    for share in (0.1, 0.5, 0.9, 0.99):
        assert np.quantile(gaps, share) == pytest.approx(-math.log(1 - share), rel=0.05), share
    assert not np.array_equal(*(due_times(1, "poisson", s, 5) for s in (1, 2)))


# What is found at a rate


def test_latency_counts_from_when_a_query_was_due(clock: Clock) -> None:
    """One call that holds up those behind it makes all of them wait: nothing is left out."""
    stall = iter([0.1] + [1000.0] + [1.0] * 998)

    def search(query: str) -> list[str]:
        clock.now += round(next(stall) * MS)
        return ["d"]

    load = quick(search, QUERIES, rates=100, arrivals="fixed", calls=999)
    latency = load.rates[0].latency
    due = [10 * MS * k for k in range(1, 1000)]
    served = queues.serve(due, [1000 * MS] + [MS] * 998, 1)
    times = [(end - arrival) / MS for arrival, (_, end) in zip(due, served, strict=True)]
    assert latency.p99 == pytest.approx(np.percentile(times, 99))
    assert latency.p99 > 900
    assert latency.mean == pytest.approx(np.mean(times))
    assert (latency.calls, latency.errors) == (999, 0)
    assert (latency.loop, latency.rate, latency.arrivals) == ("open", 100, "fixed")


def test_failures_count_as_longer_than_all(clock: Clock) -> None:
    def search(query: int) -> list[str]:
        clock.now += MS
        if query in (30, 60):
            raise ValueError(f"no {query}")
        return ["d"]

    load = quick(search, range(100), rates=100, arrivals="fixed", calls=100)
    found = load.rates[0]
    assert found.latency.errors == 2
    assert found.problem == "ValueError: 'no 30'"
    assert (found.latency.p95, found.latency.p99) == (1.0, None)
    assert found.latency.mean == 1.0, "of the others"
    assert math.isinf(found.p99)
    assert not found.holds(1e300)
    assert found.achieved == pytest.approx(98 / 1.001)
    assert "First error: ValueError: 'no 30'" in str(load)


@pytest.mark.parametrize("calls", [1, 2, 7, 100, 101, 1000])
def test_percentiles_are_numpys_and_failures_are_infinite(calls: int) -> None:
    times = np.sort(np.random.default_rng(3).gamma(2, 10, calls))
    for failed in {0, 1, min(calls, 5), calls // 2}:
        known = np.where(np.arange(calls) < calls - failed, times, np.inf)
        found = find_percentiles(known)
        for name, percent in {"p50": 50, "p90": 90, "p95": 95, "p99": 99}.items():
            if math.isinf(known[math.ceil(percent / 100 * (calls - 1))]):
                assert name not in found
            else:
                finite = np.where(np.isinf(known), 1e9, known)
                assert found[name] == np.percentile(finite, percent)


@pytest.mark.parametrize("calls", [100, 1000])
def test_a_queue_that_grows_is_told(calls: int) -> None:
    def share(busy: float) -> float:
        found = [simulate(busy, calls, seed) for seed in range(100)]
        grows = [is_growing(each, (each.done - each.due) / MS, 1) for each in found]
        return float(np.mean(grows))

    assert share(0.3) == 0
    assert share(0.6) <= 0.02
    assert share(1.5) >= 0.97


# The highest rate within a bound


@pytest.mark.parametrize("start", [1.0, 37.0, 5000.0])
@pytest.mark.parametrize("capacity", [9.0, 63.0, 12_345.0])
def test_a_rate_is_found_from_wherever_one_starts(start: float, capacity: float) -> None:
    tried: list[float] = []

    def holds(rate: float) -> bool:
        tried.append(rate)
        return rate <= capacity

    look_for_rate(start, holds)
    held, failed = [r for r in tried if r <= capacity], [r for r in tried if r > capacity]
    assert min(failed) <= 1.1 * max(held) * 1.01
    assert len(tried) == len(set(tried)) <= 20


def test_the_highest_rate_is_looked_for(clock: Clock) -> None:
    load = quick(taking(clock, 10), QUERIES, within=40, calls=400)
    assert load.rates[0].rate < load.rates[-1].rate
    assert 50 in [each.rate for each in load.rates], "half of what calls one after the other reach"
    best, bound = load.sustained_rate, load.within
    assert best is not None
    assert bound == 40
    assert 50 <= best < 100
    above = min(each.rate for each in load.rates if each.rate > best)
    assert above <= best * 1.11
    for each in load.rates:
        assert (each.rate <= best) == (each.p99 <= 40 and not each.growing)
    said = str(load)
    assert f"p99 within 40 ms up to {best:.4g} queries/s." in said


def test_of_given_rates_the_first_that_fails_counts(clock: Clock) -> None:
    takes = iter([1.0] + [5.0] * 20 + [80.0] * 20 + [5.0] * 20)

    def search(query: str) -> list[str]:
        clock.now += round(next(takes) * MS)
        return ["d"]

    load = quick(search, QUERIES, rates=[4, 2, 8], arrivals="fixed", calls=20, within=50)
    assert [each.rate for each in load.rates] == [2, 4, 8]
    assert [each.holds(50) for each in load.rates] == [True, False, True]
    assert load.sustained_rate == 2
    none = quick(taking(clock, 5), QUERIES, rates=[2, 4], arrivals="fixed", calls=9, within=1)
    assert none.sustained_rate == 0
    assert none.record == none.about
    assert "p99 within 1 ms at none." in str(none)


# The value and its faces


def example(clock: Clock) -> Load:
    search = taking(clock, 10)
    return measure_load(
        search, QUERIES, rates=[40, 80, 160], calls=200, within=150, warmup=1,
        system="bm25", hardware=Hardware(cpu="ARM", n_cpu=2), dataset="robust04", price_per_hour=2,
    )  # fmt: skip


def test_records_for_leaderboards(clock: Clock) -> None:
    load = example(clock)
    record = load.record
    assert load.sustained_rate == record.value("latency_rate") == 80
    assert record.latency == load.rates[1].latency
    assert (record.system, record.dataset) == ("bm25", "robust04")
    assert (record.throughput, record.cost_per_million) == (None, None)
    alone = quick(taking(clock, 10), QUERIES, rates=5, calls=9)
    assert alone.sustained_rate is None
    assert alone.record.latency == alone.rates[0].latency
    several = quick(taking(clock, 10), QUERIES, rates=[5, 6], calls=9)
    input_error(lambda: several.record, "rates", "within")


def test_json(clock: Clock) -> None:
    load = example(clock)
    said = json.loads(load.to_json())
    assert said["within"] == 150
    assert said["about"]["system"] == "bm25"
    assert said["rates"][0]["latency"]["p99"] == load.rates[0].p99


def test_faces(clock: Clock) -> None:
    load = example(clock)
    assert repr(load) == "<Load of 'bm25': open loop, 500 queries, 3 rates>"
    for text in (str(load), load.to_markdown(), load.to_latex(), load.to_html()):
        for word in ("Open loop", "Poisson", "when a query was due", "160", "grows", "40"):
            assert word in text
    rows = [line for line in load.to_latex().splitlines() if line.endswith(r"\\")]
    assert not any(re.search(r"(?<!\\)%", row) for row in rows), "the rest would be a comment"


# What is refused


def never(query: Any) -> list[str]:
    pytest.fail("it is refused before anything is called")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "rates are missing"),
        ({"rates": math.inf}, "rates=inf"),
        ({"rates": [5, 5]}, "none, or one twice"),
        ({"within": math.nan}, "within=nan"),
        ({"rates": 5, "warmup": 0}, "warmup=0"),
        ({"rates": 5, "arrivals": "burst"}, "arrivals='burst'"),
        ({"rates": 5, "concurrency": 1.5}, "concurrency=1.5"),
        ({"rates": 5, "calls": 0}, "calls=0"),
        ({"rates": 0.01}, "no query is due in 10 s"),
        ({"rates": 1e9}, "more than"),
        ({"rates": 1, "calls": MOST_DUE + 1}, f"{MOST_DUE:,}"),
        ({"rates": 5, "search": 5}, "not to be called"),
        ({"rates": 5, "queries": []}, "no queries"),
    ],
    ids=str,
)
def test_refused(given: dict[str, Any], told: str) -> None:
    options = {"search": never, "queries": ["q"], "system": "bm25", **given}
    input_error(lambda: measure_load(**options), "bm25", told)


def test_an_async_search_is_awaited() -> None:

    async def search(query: str) -> list[str]:
        if query == "q3":
            raise LookupError(query)
        return ["d"]

    load = measure_load(search, QUERIES, rates=2000, calls=10, warmup=1)
    assert load.callers is None
    assert load.rates[0].problem == "LookupError: 'q3'"
    assert load.rates[0].latency.errors == 1

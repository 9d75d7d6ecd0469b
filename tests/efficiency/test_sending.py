"""Queries are sent when they are due: against a queue that is simulated event by event."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import queues
from support.clocks import Clock, SharedClock, loop_on

import irbatch.efficiency.load as sending
from irbatch import InputError
from irbatch.array_types import Ints
from irbatch.efficiency.load import ANSWERED, OUT_OF_TIME, Sending, due_times
from irbatch.efficiency.load import MOST_DUE as MOST

NAMES = {ANSWERED: queues.ANSWERED, OUT_OF_TIME: queues.OUT_OF_TIME}
MS = 10**6  # ns
PLANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=1, max_size=40)
TIMEOUTS = st.none() | st.integers(1, 30)


def read_plan(plan: list[tuple[int, int]], timeout: int | None) -> tuple[Ints, list[int], Any]:
    """Return when queries are due and what each takes in ns, and the time-out in ns."""
    due = np.cumsum([gap for gap, _ in plan]) * MS
    return due, [takes * MS for _, takes in plan], None if timeout is None else timeout * MS


def outcomes(found: Sending) -> list[tuple[int, int, str]]:
    ends = zip(found.sent.tolist(), found.done.tolist(), found.outcome.tolist(), strict=True)
    return [(sent, done, NAMES[outcome]) for sent, done, outcome in ends]


def check_nothing_is_late(found: Sending) -> None:
    assert found.sent.tolist() == found.ready.tolist()
    assert (found.ready >= found.due).all()


@settings(deadline=None)
@given(PLANS, TIMEOUTS)
def test_one_caller_is_a_queue_with_one_server(
    plan: list[tuple[int, int]], timeout: int | None
) -> None:
    clock = Clock()
    due, service, limit = read_plan(plan, timeout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = Sending(lambda takes: clock.sleep(takes / 1e9), service, due, timeout)
        found.in_threads(1)
    assert outcomes(found) == queues.serve(due.tolist(), service, 1, limit)
    check_nothing_is_late(found)


class SendingOnClock(Sending):
    clock: SharedClock

    def _call(self) -> None:
        try:
            super()._call()
        finally:
            self.clock.leave()


@settings(deadline=None, max_examples=40)
@given(PLANS, TIMEOUTS, st.integers(2, 4))
def test_threads_are_a_queue_with_several_servers(
    plan: list[tuple[int, int]], timeout: int | None, callers: int
) -> None:
    clock = SharedClock(callers)
    due, service, limit = read_plan(plan, timeout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = SendingOnClock(lambda takes: clock.sleep(takes / 1e9), service, due, timeout)
        found.clock = clock
        found.in_threads(callers)
    assert outcomes(found) == queues.serve(due.tolist(), service, callers, limit)
    check_nothing_is_late(found)


@settings(deadline=None, max_examples=40)
@given(PLANS, TIMEOUTS, st.none() | st.integers(1, 4))
def test_tasks_are_a_queue_too(
    plan: list[tuple[int, int]], timeout: int | None, callers: int | None
) -> None:
    clock = Clock()
    clock.now = 10**6  # where a float of seconds is exact enough
    due, service, limit = read_plan(plan, timeout)

    async def search(takes: int) -> None:
        await asyncio.sleep(takes / 1e9)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "time", clock)
        found = Sending(search, service, due, timeout)
        with asyncio.Runner(loop_factory=lambda: loop_on(clock)) as runner:
            runner.run(found.as_tasks(callers))
    expected = queues.serve(due.tolist(), service, callers or len(plan), limit, cancels=True)
    for (sent, done, how), (begin, end, so) in zip(outcomes(found), expected, strict=True):
        assert abs(sent - begin) < 0.01 * MS
        assert abs(done - end) < 0.01 * MS
        ties = limit is not None and abs(abs(end - begin) - limit) < 0.01 * MS
        assert how == so or ties


@pytest.mark.parametrize("callers", [1, 3])
def test_what_ends_a_program_is_raised(callers: int) -> None:
    def search(query: int) -> None:
        raise SystemExit("enough")

    found = Sending(search, [1], np.arange(50) * 1000, None)
    with pytest.raises(SystemExit, match="enough"):
        found.in_threads(callers)
    assert found.outcome.size == 50


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


@pytest.mark.parametrize(
    ("rate", "calls", "told"),
    [(0.01, None, "no query is due in 10 s"), (1e9, None, "more than"), (1, MOST + 1, f"{MOST:,}")],
)
def test_too_few_or_too_many(rate: float, calls: int | None, told: str) -> None:
    with pytest.raises(InputError, match=told):
        due_times(rate, "fixed", 0, calls)

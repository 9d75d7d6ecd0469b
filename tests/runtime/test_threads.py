"""Threads that share work: each part is done once, by as many threads as the system starts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from irbatch.runtime.threads import cached_property, map_items, map_ranges


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the system start so many threads, and no more."""
    start = threading.Thread.start

    def allow(number: int) -> None:
        left = [None] * number

        def start_or_refuse(thread: threading.Thread) -> None:
            if not left:
                raise RuntimeError("can't start new thread")
            left.pop()
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_or_refuse)

    return allow


def counted(counts: list[int], wanted: int, work: Callable[[], object]) -> list[int]:
    """Count how often each row comes when so many threads share them."""
    rows = len(counts)

    def count(first: int, last: int) -> None:
        work()
        for row in range(first, last):
            counts[row] += 1

    map_ranges(count, rows, cells=rows, threads=wanted)
    return counts


@pytest.mark.parametrize("number", [0, 1, 3])
def test_fewer_threads_do_all_of_the_work(
    number: int, at_most: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRBATCH_THREADS", "6")
    at_most(number)
    assert list(map_items(lambda i: i * i, range(50))) == [i * i for i in range(50)]
    for _ in range(3):
        assert counted([0] * 1000, 8, lambda: time.sleep(1e-4)) == [1] * 1000


@pytest.mark.parametrize("wanted", [2, 3, 8])
def test_as_many_threads_share_the_work_as_were_asked_for(wanted: int) -> None:
    counts, started = [0] * 1000, set[int]()
    gate = threading.Barrier(wanted)

    def meet() -> None:
        ours = threading.get_ident()
        if counts[0] and ours not in started:  # the first row comes alone
            started.add(ours)
            gate.wait(300)

    assert counted(counts, wanted, meet) == [1] * 1000
    assert len(started) == wanted


def test_an_error_ends_the_work() -> None:
    done: list[int] = []

    def work(first: int, last: int) -> None:
        if first > 0:
            time.sleep(1e-3)
            if first > 20:
                raise ZeroDivisionError
        done.append(first)

    with pytest.raises(ZeroDivisionError):
        map_ranges(work, 1000, cells=1000 << 25, threads=2)
    assert len(done) < 100


def test_long_work_comes_in_pieces_so_that_an_interrupt_is_answered() -> None:
    pieces: list[tuple[int, int]] = []
    map_ranges(lambda *each: pieces.append(each), 100, cells=10 << 25, threads=1)
    assert [first for first, _ in pieces] == list(range(0, 100, 10))
    assert [last for _, last in pieces] == list(range(10, 110, 10))
    pieces.clear()
    map_ranges(lambda *each: pieces.append(each), 3, cells=10 << 25, threads=1)
    assert pieces == [(0, 1), (1, 2), (2, 3)]
    pieces.clear()
    map_ranges(lambda *each: pieces.append(each), 0, cells=0)
    assert pieces == [(0, 0)]


# ---------------------------------------------------------------- properties computed once


class Each:
    def __init__(self, value, wait=None):
        self._value, self._wait, self.started, self.times = value, wait, threading.Event(), 0

    @cached_property
    def value(self):
        """Say what is kept."""
        self.times += 1
        self.started.set()
        assert self._wait is None or self._wait.wait(300)
        return self._value


def test_value_is_computed_once():
    each = Each([1])
    assert each.value is each.value
    assert each.times == 1
    assert Each.value.__doc__ == "Say what is kept."


def test_no_lock_is_held_while_another_thread_computes():
    """A child of a fork would wait for ever for the lock that this thread holds in its parent."""
    go = threading.Event()
    slow, other = Each(1, go), Each(2)
    first = threading.Thread(target=lambda: slow.value, daemon=True)
    second = threading.Thread(target=lambda: other.value, daemon=True)
    first.start()
    assert slow.started.wait(300)
    second.start()
    second.join(60)
    waited = second.is_alive()
    go.set()
    first.join(300)
    assert not waited

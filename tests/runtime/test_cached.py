"""A property that is computed once."""

from __future__ import annotations

import threading

from irbatch.runtime.threads import cached_property


class Each:
    def __init__(self, value, wait=None):
        self._value, self._wait, self.started, self.times = value, wait, threading.Event(), 0

    @cached_property
    def value(self):
        """Say what is kept."""
        self.times += 1
        self.started.set()
        assert self._wait is None or self._wait.wait(60)
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
    assert slow.started.wait(60)
    second.start()
    second.join(5)
    waited = second.is_alive()
    go.set()
    first.join(60)
    assert not waited

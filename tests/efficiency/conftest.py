"""The clock that calls are timed with."""

from __future__ import annotations

import pytest
from support.clocks import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that moves only when it is told to, in place of the machine's."""
    clock = Clock()
    monkeypatch.setattr("irbatch.efficiency.measure.time", clock)
    return clock

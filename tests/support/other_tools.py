"""What the comparisons with other tools share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

Table = dict[Any, dict[Any, Any]]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error)


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def without_ties(run: Table) -> Table:
    """The same rankings, with whole scores."""
    orders = {q: sorted(each, key=lambda d: (each[d], d)) for q, each in run.items()}
    return {q: {d: float(place) for place, d in enumerate(each)} for q, each in orders.items()}

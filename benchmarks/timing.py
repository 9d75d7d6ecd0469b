"""Timing two things side by side, so that a busy machine slows both."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

__all__ = ["machine", "ratio"]


def ratio(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7
) -> tuple[float, float, float]:
    """Time both in turn, once unmeasured.

    Returns:
        Median seconds of ours, median seconds of theirs, and the median of theirs / ours taken
        round by round.
    """
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return (
        statistics.median(mine for mine, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(other / mine for mine, other in pairs),
    )


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def machine(*packages: str) -> str:
    """Name Python, the processor and the versions of packages."""
    versions = []
    for name in packages:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return f"Python {platform.python_version()}, {platform.machine()}; {', '.join(versions)}"

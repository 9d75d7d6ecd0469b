"""Timing two things side by side, so that a busy machine slows both; and writing figures."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

__all__ = ["amount", "duration", "machine", "multiple", "ratio", "seconds"]


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


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one call."""
    start = clock()
    work()
    return clock() - start


def duration(seconds: float) -> str:
    """Write seconds with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds * 1e6)} µs"


def multiple(ratio: float) -> str:
    """Write how many times something is something else."""
    return f"{ratio:.1f} ×" if 2 <= ratio < 10 else f"{_digits(ratio)} ×"


def amount(size: float) -> str:
    """Write bytes as megabytes."""
    return f"{_digits(size / 1e6)} MB"


def _digits(number: float) -> str:
    """Write three digits, or all before the point."""
    return f"{number:,.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"


def machine(*packages: str) -> str:
    """Name Python, the processor and the versions of packages."""
    versions = []
    for name in packages:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return f"Python {platform.python_version()}, {platform.machine()}; {', '.join(versions)}"

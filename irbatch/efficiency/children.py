"""What the child processes of this process take: on Linux, where /proc tells of the living ones."""

from __future__ import annotations

import os
from pathlib import Path

from irbatch.efficiency.quantities import MEGA

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

PROC = Path("/proc")
TIMES = slice(11, 15)  # of the fields behind a command's name: its own, and those of its children


def living_children() -> list[int] | None:
    """Return the ids of all processes that this one began, and these; None if it isn't told."""
    found: list[int] = []
    left = [os.getpid()]
    while left:
        listed = _children_of(left.pop())
        if listed is None and not found:
            return None
        found += listed or []
        left += listed or []
    return found


def _children_of(process: int) -> list[int] | None:
    """Return a process' children; those of one that has just ended are none."""
    lists = list(PROC.glob(f"{process}/task/*/children"))
    if not lists:
        return None if process == os.getpid() else []
    return [int(each) for path in lists for each in _read(path).split()]


def children_memory() -> float | None:
    """Return the memory that they hold together, in MB, shared pages counted by each."""
    listed = living_children()
    if listed is None:
        return None
    sizes = (_read(PROC / str(each) / "statm").split() for each in listed)
    pages = sum(int(size[1]) for size in sizes if size)
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGA


def children_time() -> float | None:
    """Return the CPU time that they took until now, also those that have ended, in s."""
    listed = living_children()
    if resource is None or listed is None:
        return None
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for each in listed:
        text = _read(PROC / str(each) / "stat")
        ticks += sum(map(int, text[text.rfind(")") + 2 :].split()[TIMES]))
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _read(path: Path) -> str:
    """Read what a process says of itself; nothing, if it has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

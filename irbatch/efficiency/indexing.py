"""Building an index: how long it takes, how much memory, and how large it is on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from irbatch.efficiency.checks import check_fields, only_known, refuse
from irbatch.efficiency.readings import BETWEEN_CALLS, MemoryWatch, Paths, size_on_disk
from irbatch.efficiency.timing import is_async

SOURCE = "indexing"


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """What building an index took, by `measure_indexing`.

    Attributes:
        index: what the function returned that built it.
        time: in s.
        memory: the most that the process held meanwhile, and its children, in MB.
        disk: what the index takes on disk, in MB.
    """

    index: Any = field(default=None, repr=False)  # it may be large
    time: float
    memory: float | None = None
    disk: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, SOURCE, counts={}, quantities=("time", "memory", "disk"))

    @property
    def fields(self) -> dict[str, float]:
        """The fields of an `EfficiencyRecord` that are known."""
        known = {"time": self.time, "memory": self.memory, "disk": self.disk}
        return {FIELDS[name]: value for name, value in only_known(known).items()}


FIELDS = {"time": "indexing_time", "memory": "indexing_memory", "disk": "index_disk"}


def measure_indexing(build: Callable[[], Any], *, index_path: Paths | None = None) -> Indexing:
    """Build an index once, and tell what that took.

    Memory is read as `measure_search` reads it, every 10 ms where it stays below what the process
    has ever held; to it the most is added that was seen of child processes, on Linux.

    Args:
        build: builds the index; what it returns is `Indexing.index`.
        index_path: files and folders that are the index on disk, when it is built.

    Raises:
        InputError: naming the argument, before anything is built if `build` can't be called or is
            ``async def``; when it is built, if a path is not there.

    What `build` raises is raised as it is.

    >>> from irbatch.efficiency import EfficiencyRecord
    >>> built = measure_indexing(lambda: {"cat": ["d1"]})
    >>> built.index
    {'cat': ['d1']}
    >>> EfficiencyRecord(system="words", **built.fields).indexing_time == built.time
    True
    """
    if not callable(build) or is_async(build):
        why = f"is a {type(build).__name__}, not to be called"
        if callable(build):
            why = "is async def: give a function that runs it, as with asyncio.run"
        raise refuse(SOURCE, "build", why, build)
    memory = MemoryWatch()
    with memory.looking(BETWEEN_CALLS):
        begin = time.perf_counter()
        index = build()
        taken = time.perf_counter() - begin
    held = memory.read()
    own, children = held["peak_memory"], held["children_memory"]
    most = None if own is None else own + (children or 0.0)
    disk = size_on_disk(SOURCE, "index_path", index_path)
    return Indexing(index=index, time=taken, memory=most, disk=disk)

"""What this process, models and files take: time, memory, size."""

from __future__ import annotations

import itertools
import os
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from irbatch.efficiency.accelerators import GpuWatch
from irbatch.efficiency.checks import refuse
from irbatch.efficiency.children import children_memory, children_time
from irbatch.efficiency.quantities import MEGA
from irbatch.errors import shown

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

KIBI = 1024
DECIMALS = 9  # of seconds: clocks are no finer
STATUS = Path("/proc/self/status")
PAGES = Path("/proc/self/statm")  # held now, see proc(5)
BETWEEN_CALLS, IN_WARM_UP = 0.01, 0.001  # seconds from one look at the memory to the next


class Watch:
    """Tells what this process, with all of its threads, uses from now on; see `measure_search`."""

    def __init__(self) -> None:
        self._started = datetime.now().astimezone().isoformat(timespec="seconds")
        self._cpu, self._children = cpu_times(), children_time()
        self._wall = time.perf_counter()

    def read(self) -> dict[str, Any]:
        """Return what was used since, as fields of a record."""
        wall = round(time.perf_counter() - self._wall, DECIMALS)
        both = zip(cpu_times(), self._cpu, strict=True)
        user, system = (round(max(now - before, 0.0), DECIMALS) for now, before in both)
        taken, before = children_time(), self._children
        children = None if taken is None or before is None else max(taken - before, 0.0)
        return {
            "cpu_used": (user + system) / wall if wall else None,
            "wall_time": wall,
            "user_time": user,
            "system_time": system,
            "children_time": None if children is None else round(children, DECIMALS),
            "start_time": self._started,
        }


class MemoryWatch:
    """Tells the most memory that this process, its accelerators and its children hold from now on.

    The operating system's mark of the most since the process began is read, and left as it is:
    others read it, too. Where it rises it is exact. Else the most counts that was seen here, which
    misses what is taken and given back between two looks. Of children nothing else is known.
    """

    def __init__(self) -> None:
        self._mark, self._most, self._due = peak_memory(), held_memory(), 0.0
        self._children, self._gpus = children_memory(), GpuWatch()

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.monotonic()
        if now < self._due:
            return
        self._gpus.look()
        if self._most is not None:
            self._most = max(self._most, held_memory() or 0.0)
        if self._children is not None:
            self._children = max(self._children, children_memory() or 0.0)
        self._due = now + BETWEEN_CALLS

    @contextmanager
    def looking(self, every: float) -> Iterator[None]:
        """Look all the while, in a thread: not while anything short is timed."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(every):
                self._due = 0.0
                self.look()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._due = 0.0

    def read(self) -> dict[str, float | None]:
        """Return the most, in MB, as fields of a record; None where it isn't told.

        Where no more can be told, that of the process is the most since it began.
        """
        mark = peak_memory()
        rose = mark is not None and self._mark is not None and mark > self._mark
        own = mark if rose or self._most is None else self._most
        gpus = self._gpus.read()
        return {"peak_memory": own, "peak_gpu_memory": gpus, "children_memory": self._children}


def cpu_times() -> tuple[float, float]:
    """Return the user and the system time of this process, in s."""
    if resource is None:
        times = os.times()
        return times.user, times.system
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def held_memory() -> float | None:
    """Return the memory that this process holds, in MB; None where the system doesn't tell."""
    try:
        pages = int(PAGES.read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGA


def peak_memory() -> float | None:
    """Return the most that this process ever held, in MB; None where the system doesn't tell."""
    try:
        lines = STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * KIBI / MEGA
    if resource is None:
        return None
    most = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most * (1 if sys.platform == "darwin" else KIBI) / MEGA


def model_size(model: Any) -> float:
    """Return the size of a model's parameters and buffers, each counted once, in MB."""
    parts = itertools.chain(model.parameters(), model.buffers())
    return float(sum(each.numel() * each.element_size() for each in parts)) / MEGA


def size_on_disk(source: str, field: str, paths: Any) -> float | None:
    """Return the size of a path or several, in MB, each file once, links to files as files.

    Links to folders inside a folder are not followed.
    """
    if paths is None:
        return None
    several = isinstance(paths, Iterable) and not isinstance(paths, str | bytes | os.PathLike)
    given = list(paths) if several else [paths]
    if not given:
        raise refuse(source, field, "names no path", paths)
    sizes: dict[tuple[int, int], int] = {}
    for each in given:
        if not isinstance(each, str | os.PathLike) or not os.fspath(each):
            raise refuse(source, field, f"is {shown(each)}, which is no path", each)
        path = Path(each)
        if not path.exists():
            raise refuse(source, field, f"is {shown(str(path))}, which is not there", each)
        for found in _files(path):
            sizes[found.st_dev, found.st_ino] = found.st_size
    return sum(sizes.values()) / MEGA


def _files(path: Path) -> Iterator[os.stat_result]:
    """Look at a file, or at all files of a folder."""
    if not path.is_dir():
        yield path.stat()
        return
    for folder, _, names in os.walk(path, onerror=_fail):
        for name in names:
            file = Path(folder, name)
            # A link to nothing has no size, and pipes and sockets hold none.
            if file.exists() and stat.S_ISREG((found := file.stat()).st_mode):
                yield found


def _fail(problem: OSError) -> None:
    raise problem

"""What this process, its children, its accelerators and files take: time, memory, size."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from irbatch.efficiency.fields import field_error
from irbatch.efficiency.quantities import MEGA
from irbatch.errors import imported, shown

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

DECIMALS = 9  # of seconds: clocks are no finer
INTERVAL = 0.01  # seconds from one look at the memory to the next
PAUSE = 20  # times what listing children took, before the next time: of thousands of processes


class Peak:
    """The most that is held from now on, in MB.

    A `mark` of the most that was ever held is exact where it rises; it is left as it is, for others
    read it, too. Else the most that was seen here counts.
    """

    def __init__(
        self,
        held: Callable[[], float],
        mark: Callable[[], float] = lambda: 0.0,
        before: float | None = None,
    ) -> None:
        self._held, self._mark = held, mark
        self._before = mark() if before is None else before
        self._most = held()

    def look(self) -> None:
        """Look how much is held now."""
        self._most = max(self._most, self._held())

    def read(self) -> float:
        """Return the most."""
        mark = self._mark()
        return mark if mark > self._before else self._most


class Watch:
    """Tells what this process, with all of its threads, and its children use; see `measure_search`.

    Memory is watched from now on, on accelerators that of torch's tensors; time since `start`.
    """

    def __init__(self) -> None:
        self._psutil = imported("measuring", "efficiency", "psutil")
        self._own = self._psutil.Process()
        self._children: list[Any] = []
        self._children_due = self._due = 0.0
        self._memory = Peak(self.held, self.most_held)
        self._of_children = Peak(self._held_by_children)
        self._gpus = _watch_gpus()

    def held(self) -> float:
        """Return the memory that this process holds, in MB."""
        return self._own.memory_info().rss / MEGA

    def most_held(self) -> float:
        """Return the most that it ever held, in MB, as the system marks it; 0 if it doesn't."""
        if resource is None:
            return getattr(self._own.memory_info(), "peak_wset", 0) / MEGA
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024) / MEGA

    def list_children(self, *, now: bool = False) -> list[Any]:
        """Return all that descend from this one and live, `now` or a moment ago."""
        begin = time.monotonic()
        if now or begin >= self._children_due:
            with suppress(self._psutil.Error):
                self._children = self._own.children(recursive=True)
            end = time.monotonic()
            self._children_due = end + PAUSE * (end - begin)
        return self._children

    def _held_by_children(self) -> float:
        """Return the memory that children hold together, in MB, shared pages counted by each."""
        held = 0
        for child in self.list_children():
            with suppress(self._psutil.Error):  # it has just ended
                held += child.memory_info().rss
        return held / MEGA

    def children_time(self) -> float:
        """Return the CPU time of children until now, also of those that have ended, in s."""
        taken = sum(os.times()[2:4])
        for child in self.list_children(now=True):
            with suppress(self._psutil.Error):
                taken += sum(child.cpu_times()[:4])  # user's and system's, and of its children
        return taken

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.monotonic()
        if now >= self._due:
            for peak in (*self._gpus, self._memory, self._of_children):
                peak.look()
            self._due = now + INTERVAL

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look all the while, in a thread: not while anything short is timed."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(INTERVAL):
                self.look()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._due = 0.0

    def memory(self) -> dict[str, float | None]:
        """Return the most, in MB, as fields of a record; that of several accelerators added up."""
        gpus = self._gpus or _watch_gpus(before=0.0)  # torch came to them since
        return {
            "peak_memory": self._memory.read(),
            "peak_gpu_memory": sum(peak.read() for peak in gpus) or None,
            "children_memory": self._of_children.read(),
        }

    def start(self) -> None:
        """Count time from now on."""
        self._started = datetime.now().astimezone().isoformat(timespec="seconds")
        self._children_time = self.children_time()
        self._cpu, self._wall = _cpu_times(), time.perf_counter()

    def times(self) -> dict[str, Any]:
        """Return the time that was used since the start, as fields of a record."""
        wall = round(time.perf_counter() - self._wall, DECIMALS)
        both = zip(_cpu_times(), self._cpu, strict=True)
        user, system = (round(max(now - before, 0.0), DECIMALS) for now, before in both)
        children = max(self.children_time() - self._children_time, 0.0)
        return {
            "cpu_used": (user + system) / wall if wall else None,
            "wall_time": wall,
            "user_time": user,
            "system_time": system,
            "children_time": round(children, DECIMALS),
            "start_time": self._started,
        }


def _cpu_times() -> tuple[float, float]:
    """Return user's and system's CPU time of this process, in s."""
    used = resource.getrusage(resource.RUSAGE_SELF) if resource else os.times()
    return used[0], used[1]


def _watch_gpus(before: float | None = None) -> list[Peak]:
    """Watch the accelerators of NVIDIA (or AMD) that torch uses, if it is loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return []

    def in_mb(count: Callable[[int], int], device: int) -> float:
        return count(device) / MEGA

    held, most = torch.cuda.memory_allocated, torch.cuda.max_memory_allocated
    return [
        Peak(partial(in_mb, held, device), partial(in_mb, most, device), before)
        for device in range(torch.cuda.device_count())
    ]


def size_on_disk(path: Any) -> float:
    """Return the MB of a file or a folder, each file once; links to folders are not followed."""
    is_path = isinstance(path, str | os.PathLike) and os.fspath(path)
    if not is_path or not Path(path).exists():
        problem = "which is not there" if is_path else "which is not a path"
        raise field_error("indexing", "index_path", f"is {shown(path)}, {problem}", path)

    def fail(problem: OSError) -> None:
        raise problem

    files = [Path(path)]
    if files[0].is_dir():
        walk = os.walk(path, onerror=fail)
        files = [Path(folder, name) for folder, _, names in walk for name in names]
    # A link to nothing has no size, and pipes and sockets hold none.
    stats = [file.stat() for file in files if file.is_file()]
    sizes = {(about.st_dev, about.st_ino): about.st_size for about in stats}
    return sum(sizes.values()) / MEGA

"""What this process, its children, its accelerators, models and files take: time, memory, size."""

from __future__ import annotations

import importlib
import itertools
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
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

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

DECIMALS = 9  # of seconds: clocks are no finer
BETWEEN_CALLS, IN_WARM_UP = 0.01, 0.001  # seconds from one look at the memory to the next
PAUSE = 20  # times what listing children took, before the next time: of thousands of processes


class Processes:
    """Readings of this process and of those that it began, by psutil.

    Raises:
        ImportError: naming the extra, when psutil is not installed.
    """

    def __init__(self) -> None:
        self._psutil = imported("measuring", "efficiency", "psutil")
        self._own = self._psutil.Process()
        self._children: list[Any] = []
        self._due = 0.0

    def children(self, *, now: bool = False) -> list[Any]:
        """Return all that descend from this one and live, `now` or a moment ago."""
        begin = time.monotonic()
        if now or begin >= self._due:
            self._children = []
            with suppress(self._psutil.Error):
                self._children = self._own.children(recursive=True)
            end = time.monotonic()
            self._due = end + PAUSE * (end - begin)
        return self._children

    def memory(self) -> float:
        """Return the memory that this process holds, in MB."""
        return self._own.memory_info().rss / MEGA

    def peak_memory(self) -> float | None:
        """Return the most that it ever held, in MB, as the system marks it; None if it doesn't."""
        if resource is None:
            return getattr(self._own.memory_info(), "peak_wset", 0) / MEGA or None
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024) / MEGA

    def children_memory(self) -> float:
        """Return the memory that children hold together, in MB, shared pages counted by each."""
        held = 0
        for child in self.children():
            with suppress(self._psutil.Error):  # it has just ended
                held += child.memory_info().rss
        return held / MEGA

    def times(self) -> tuple[float, float]:
        """Return user's and system's CPU time of this process, in s."""
        used = resource.getrusage(resource.RUSAGE_SELF) if resource else None
        return (used.ru_utime, used.ru_stime) if used else self._own.cpu_times()[:2]

    def children_time(self) -> float:
        """Return the CPU time of children until now, also of those that have ended, in s."""
        taken = 0.0
        if resource is not None:
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken = ended.ru_utime + ended.ru_stime
        for child in self.children(now=True):
            with suppress(self._psutil.Error):
                taken += sum(child.cpu_times()[:4])  # user's and system's, and of its children
        return taken


class Watch:
    """Tells what this process, with all of its threads, uses from now on; see `measure_search`."""

    def __init__(self) -> None:
        self._processes = Processes()
        self._started = datetime.now().astimezone().isoformat(timespec="seconds")
        self._children = self._processes.children_time()
        self._cpu, self._wall = self._processes.times(), time.perf_counter()

    def read(self) -> dict[str, Any]:
        """Return what was used since, as fields of a record."""
        wall = round(time.perf_counter() - self._wall, DECIMALS)
        both = zip(self._processes.times(), self._cpu, strict=True)
        user, system = (round(max(now - before, 0.0), DECIMALS) for now, before in both)
        children = max(self._processes.children_time() - self._children, 0.0)
        return {
            "cpu_used": (user + system) / wall if wall else None,
            "wall_time": wall,
            "user_time": user,
            "system_time": system,
            "children_time": round(children, DECIMALS),
            "start_time": self._started,
        }


class Peak:
    """The most that is held from now on, in MB.

    What keeps a mark of the most that it ever held is read, and its mark left as it is: others read
    it, too. Where the mark rises it is exact. Else the most counts that was seen here, which misses
    what is taken and given back between two looks.
    """

    def __init__(
        self,
        held: Callable[[], float],
        mark: Callable[[], float | None] = lambda: None,
        new: bool = False,
    ) -> None:
        self._held, self._mark = held, mark
        self._before = 0.0 if new else mark()
        self._most = held()

    def look(self) -> None:
        """Look how much is held now."""
        self._most = max(self._most, self._held())

    def read(self) -> float:
        """Return the most."""
        mark = self._mark()
        rose = mark is not None and self._before is not None and mark > self._before
        return mark if mark is not None and rose else self._most


class MemoryWatch:
    """Tells the most memory that this process, its accelerators and its children hold from now on.

    On accelerators it is that of torch's tensors, where it uses some, or else what NVIDIA's driver
    counts for this process and its children, where nvidia-ml-py is installed.
    """

    def __init__(self) -> None:
        processes = self._processes = Processes()
        self._own = Peak(processes.memory, processes.peak_memory)
        self._children = Peak(processes.children_memory)
        self._gpus = _watch_gpus(processes)
        self._due = 0.0

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.monotonic()
        if now < self._due:
            return
        for peak in (*self._gpus, self._own, self._children):
            peak.look()
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
        """Return the most, in MB, as fields of a record; that of several accelerators added up."""
        gpus = self._gpus or _watch_gpus(self._processes, new=True)  # torch came to them since
        return {
            "peak_memory": self._own.read(),
            "peak_gpu_memory": sum(peak.read() for peak in gpus) or None,
            "children_memory": self._children.read(),
        }


def _watch_gpus(processes: Processes, new: bool = False) -> list[Peak]:
    """Watch accelerators of NVIDIA (or AMD): by torch, if it is loaded and uses some, or NVML."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        cuda, devices = torch.cuda, range(torch.cuda.device_count())
        return [
            Peak(partial(_in_mb, cuda.memory_allocated, i),
                 partial(_in_mb, cuda.max_memory_allocated, i), new)
            for i in devices
        ]  # fmt: skip
    library = _nvml()
    return [] if library is None else [Peak(partial(_driver_memory, library, processes))]


def _in_mb(count: Callable[[int], int], device: int) -> float:
    return count(device) / MEGA


def _nvml() -> Any:
    """Return NVIDIA's library, if it is installed and there is a driver."""
    try:
        library = importlib.import_module("pynvml")
        library.nvmlInit()
    except Exception:  # not installed, or no driver, or one of another version
        return None
    return library


def _driver_memory(library: Any, processes: Processes) -> float:
    """Return what the driver counts for this process and its children, in MB."""
    total, pids = 0, {os.getpid(), *(child.pid for child in processes.children())}
    with suppress(library.NVMLError):
        for number in range(library.nvmlDeviceGetCount()):
            device = library.nvmlDeviceGetHandleByIndex(number)
            for process in library.nvmlDeviceGetComputeRunningProcesses(device):
                total += (process.usedGpuMemory or 0) if process.pid in pids else 0
    return total / MEGA


def model_size(model: Any) -> float:
    """Return the size of a model's parameters and buffers, each counted once, in MB."""
    parts = itertools.chain(model.parameters(), model.buffers())
    return float(sum(part.numel() * part.element_size() for part in parts)) / MEGA


def size_on_disk(source: str, field: str, paths: Any) -> float | None:
    """Return the size of a path or several, in MB, each file once, links to files as files.

    Links to folders inside a folder are not followed.
    """
    if paths is None:
        return None
    several = isinstance(paths, Iterable) and not isinstance(paths, str | bytes | os.PathLike)
    listed = list(paths) if several else [paths]
    sizes: dict[tuple[int, int], int] = {}
    for path in listed or [None]:
        is_path = isinstance(path, str | os.PathLike) and os.fspath(path)
        if not is_path or not Path(path).exists():
            problem = "which is not there" if is_path else "which is not a path"
            raise field_error(source, field, f"is {shown(path or paths)}, {problem}", path)
        for file in _files(Path(path)):
            sizes[file.st_dev, file.st_ino] = file.st_size
    return sum(sizes.values()) / MEGA


def _files(path: Path) -> Iterator[os.stat_result]:
    """Look at a file, or at all files of a folder."""
    if not path.is_dir():
        yield path.stat()
        return

    def fail(problem: OSError) -> None:
        raise problem

    for folder, _, names in os.walk(path, onerror=fail):
        for name in names:
            file = Path(folder, name)
            # A link to nothing has no size, and pipes and sockets hold none.
            if file.exists() and stat.S_ISREG((about := file.stat()).st_mode):
                yield about

"""What this process, its children, its accelerators, models and files take: time, memory, size."""

from __future__ import annotations

import importlib
import itertools
import os
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from irbatch.efficiency.quantities import MEGA, refuse
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


class MemoryWatch:
    """Tells the most memory that this process, its accelerators and its children hold from now on.

    The operating system's mark of the most since the process began is read, and left as it is:
    others read it, too. Where it rises it is exact. Else the most counts that was seen here, which
    misses what is taken and given back between two looks. Of children nothing else is known.
    """

    def __init__(self) -> None:
        self._processes, self._gpus = Processes(), GpuWatch()
        self._mark, self._most = self._processes.peak_memory(), self._processes.memory()
        self._children, self._due = self._processes.children_memory(), 0.0

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.monotonic()
        if now < self._due:
            return
        self._gpus.look(self._processes)
        self._most = max(self._most, self._processes.memory())
        self._children = max(self._children, self._processes.children_memory())
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
        """Return the most, in MB, as fields of a record; None where it isn't told."""
        mark = self._processes.peak_memory()
        rose = mark is not None and self._mark is not None and mark > self._mark
        own = mark if rose else self._most
        gpus = self._gpus.read()
        return {"peak_memory": own, "peak_gpu_memory": gpus, "children_memory": self._children}


class GpuWatch:
    """Tells the most memory on accelerators from now on: of torch's tensors, where it uses some.

    Torch's marks of the most are read and left as they are, as `MemoryWatch` does with the
    system's. Without torch, it is the most that was seen of what NVIDIA's driver counts for this
    process and its children, where nvidia-ml-py is installed.
    """

    def __init__(self) -> None:
        torch = _torch()
        devices = range(torch.cuda.device_count()) if torch is not None else ()
        self._marks = [torch.cuda.max_memory_allocated(device) for device in devices]
        self._most = [torch.cuda.memory_allocated(device) for device in devices]
        self._driver = None if torch is not None else _nvml()
        self._seen = 0

    def look(self, processes: Processes) -> None:
        """Look how much is held now."""
        torch = _torch()
        if torch is not None:
            for device, most in enumerate(self._most):
                self._most[device] = max(most, torch.cuda.memory_allocated(device))
        elif self._driver is not None:
            pids = {os.getpid(), *(child.pid for child in processes.children())}
            self._seen = max(self._seen, _driver_bytes(self._driver, pids))

    def read(self) -> float | None:
        """Return the most, in MB, that of several accelerators added up; None if it isn't told."""
        torch = _torch()
        if torch is None:
            return self._seen / MEGA if self._seen else None
        marks = [torch.cuda.max_memory_allocated(i) for i in range(torch.cuda.device_count())]
        if not self._marks:  # torch came to them since
            return float(sum(marks)) / MEGA
        both = zip(marks, self._marks, self._most, strict=True)
        return float(sum(mark if mark > before else most for mark, before, most in both)) / MEGA


def _torch() -> Any:
    """Return torch, if it is loaded and uses accelerators of NVIDIA (or AMD)."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def _nvml() -> Any:
    """Return NVIDIA's library, if it is installed and there is a driver."""
    try:
        library = importlib.import_module("pynvml")
        library.nvmlInit()
    except Exception:  # not installed, or no driver, or one of another version
        return None
    return library


def _driver_bytes(library: Any, pids: set[int]) -> int:
    """Return what the driver counts for some processes."""
    total = 0
    with suppress(library.NVMLError):
        for number in range(library.nvmlDeviceGetCount()):
            device = library.nvmlDeviceGetHandleByIndex(number)
            for process in library.nvmlDeviceGetComputeRunningProcesses(device):
                total += (process.usedGpuMemory or 0) if process.pid in pids else 0
    return total


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
    if not listed:
        raise refuse(source, field, "names no path", paths)
    sizes: dict[tuple[int, int], int] = {}
    for path in listed:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise refuse(source, field, f"is {shown(path)}, which is not a path", path)
        if not Path(path).exists():
            raise refuse(source, field, f"is {shown(str(path))}, which is not there", path)
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

"""What this process, its accelerators and files hold: the most memory, the size on disk."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from irbatch.efficiency.fields import field_error
from irbatch.errors import imported, shown

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

MEGA = 1e6  # bytes
INTERVAL = 0.01  # seconds from one look at the memory to the next


class Watch:
    """Tells the most memory that this process holds from now on; see `measure_search`.

    The system's mark of the most that was ever held is exact where it rises; else the most that was
    seen here counts. Of accelerators torch has a mark, which begins anew.
    """

    def __init__(self) -> None:
        self._process = imported("measuring", "efficiency", "psutil").Process()
        self._due = 0.0
        self._before, self._most = self.most_held(), self.held()
        for torch, device in _accelerators():
            torch.cuda.reset_peak_memory_stats(device)

    def held(self) -> float:
        """Return the memory that this process holds, in MB."""
        return self._process.memory_info().rss / MEGA

    def most_held(self) -> float:
        """Return the most that it ever held, in MB, as the system marks it; 0 if it doesn't."""
        if resource is None:
            return getattr(self._process.memory_info(), "peak_wset", 0) / MEGA
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024) / MEGA

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.monotonic()
        if now >= self._due:
            self._most = max(self._most, self.held())
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
        mark = self.most_held()
        gpus = sum(torch.cuda.max_memory_allocated(device) for torch, device in _accelerators())
        return {
            "peak_memory": mark if mark > self._before else self._most,
            "peak_gpu_memory": gpus / MEGA or None,
        }


def _accelerators() -> Iterator[tuple[Any, int]]:
    """Yield torch, if it is loaded, and the number of each accelerator that it uses."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        yield from ((torch, device) for device in range(torch.cuda.device_count()))


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

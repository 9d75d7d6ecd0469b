"""The memory that this process holds on accelerators: as torch tells, or else NVIDIA's driver."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from irbatch.efficiency.children import living_children
from irbatch.efficiency.quantities import MEGA

DRIVER = Path("/proc/driver/nvidia")


class GpuWatch:
    """Tells the most memory on accelerators from now on: of torch's tensors, where it uses some.

    Torch's marks of the most are read and left as they are, as `irbatch.efficiency.readings`
    explains of the system's. Without torch, it is the most that was seen of what NVIDIA's driver
    counts for this process and its children, where nvidia-ml-py is installed.
    """

    def __init__(self) -> None:
        torch = _torch()
        devices = range(torch.cuda.device_count()) if torch is not None else ()
        self._marks = [torch.cuda.max_memory_allocated(each) for each in devices]
        self._most = [torch.cuda.memory_allocated(each) for each in devices]
        self._driver = None if torch is not None else _nvml()
        self._seen = 0

    def look(self) -> None:
        """Look how much is held now."""
        torch = _torch()
        if torch is None:
            if self._driver is not None:
                self._seen = max(self._seen, _driver_bytes(self._driver))
            return
        for each, most in enumerate(self._most):
            self._most[each] = max(most, torch.cuda.memory_allocated(each))

    def read(self) -> float | None:
        """Return the most, in MB, that of several accelerators added up; None if it isn't told."""
        torch = _torch()
        if torch is None:
            return self._seen / MEGA if self._seen else None
        marks = [torch.cuda.max_memory_allocated(e) for e in range(torch.cuda.device_count())]
        if not self._marks:  # torch came to them since
            return float(sum(marks)) / MEGA
        both = zip(marks, self._marks, self._most, strict=True)
        return float(sum(mark if mark > before else most for mark, before, most in both)) / MEGA


def _torch() -> Any:
    """Return torch, if it is loaded and uses accelerators of NVIDIA (or AMD)."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def _nvml() -> Any:
    """Return NVIDIA's library if there is a driver and it is installed."""
    if not DRIVER.exists():
        return None
    try:
        library = importlib.import_module("pynvml")
        library.nvmlInit()
    except Exception:  # not installed, or of another version than the driver
        return None
    return library


def _driver_bytes(library: Any) -> int:
    """Return what the driver counts for this process and its children."""
    ours = {os.getpid(), *(living_children() or ())}
    total = 0
    try:
        for number in range(library.nvmlDeviceGetCount()):
            device = library.nvmlDeviceGetHandleByIndex(number)
            for each in library.nvmlDeviceGetComputeRunningProcesses(device):
                total += (each.usedGpuMemory or 0) if each.pid in ours else 0
    except library.NVMLError:
        return 0
    return total

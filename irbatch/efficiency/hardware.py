"""The machine that a system was measured on."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irbatch.efficiency.checks import check_fields, only_known
from irbatch.errors import printable

GIGA = 1e9


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What a system ran on; what isn't known is None.

    Attributes:
        instance: what a provider calls it, as in ``"c6g.xlarge"``.
        cpu: model of the processor.
        n_cpu: how many of its cores the system could use.
        gpu: model of the accelerator.
        n_gpu: how many of them.
        ram_gb: main memory in GB (10⁹ bytes).

    >>> str(Hardware(instance="c6g.xlarge", n_cpu=4, ram_gb=8))
    'c6g.xlarge, 4 CPU, 8 GB'
    """

    instance: str | None = None
    cpu: str | None = None
    n_cpu: int | None = None
    gpu: str | None = None
    n_gpu: int | None = None
    ram_gb: float | None = None

    def __post_init__(self) -> None:
        texts, counts = ("instance", "cpu", "gpu"), {"n_cpu": 0, "n_gpu": 0}
        check_fields(self, "hardware", texts=texts, counts=counts, quantities=["ram_gb"])

    @classmethod
    def here(cls, instance: str | None = None) -> Hardware:
        """Describe this machine as the system tells it; `instance` is its name at a provider."""
        gpus = _gpus()
        has_affinity = hasattr(os, "sched_getaffinity")  # the cores that this process may use
        return cls(
            instance=instance,
            cpu=_cpu(),
            n_cpu=len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count(),
            gpu=gpus[0] if gpus else None,
            n_gpu=len(gpus),
            ram_gb=_memory(),
        )

    def known(self) -> dict[str, Any]:
        """Return the fields that say something, by name."""
        return only_known(vars(self))

    def __str__(self) -> str:
        cpu, gpu = self.cpu, self.gpu
        if self.n_cpu is not None:
            named = cpu and not self.instance
            cpu = f"{self.n_cpu} cores of {cpu}" if named else f"{self.n_cpu} CPU"
        if self.n_gpu:
            gpu = f"{self.n_gpu} × {gpu}" if gpu else f"{self.n_gpu} GPU"
        ram = f"{self.ram_gb:.4g} GB" if self.ram_gb is not None else None
        return printable(", ".join(part for part in (self.instance, gpu, cpu, ram) if part))


def _cpu() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), platform.machine() or None)


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGA, 1)
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None


def _gpus() -> list[str]:
    """Name the accelerators: those that a loaded torch sees, or NVIDIA's driver lists."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return [str(torch.cuda.get_device_name(i)) for i in range(torch.cuda.device_count())]
    about = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    lines = (line for path in about for line in path.read_text(encoding="utf-8").splitlines())
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]

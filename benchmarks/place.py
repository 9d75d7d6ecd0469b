"""Where a comparison ran, and with what."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import irbatch
from benchmarks.timing import machine

__all__ = ["where"]

PACKAGES = (
    "numpy", "numba", "pytrec_eval-terrier", "ir_measures", "ranx", "polars", "duckdb",
    "pandas", "pyarrow", "torch", "torchmetrics", "scikit-learn", "sentence-transformers",
)  # fmt: skip


def where() -> str:
    """Name processor, cores, memory, Python and packages."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}; "
        f"irbatch {irbatch.__version__}, {machine(*PACKAGES)}"
    )


def _processor() -> str:
    """Return the processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()

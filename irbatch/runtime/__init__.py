"""How code runs: kernels, threads, files, progress, extras, exact sums, ragged arrays."""

from typing import TYPE_CHECKING

from irbatch.on_demand import load_on_demand

if TYPE_CHECKING:
    from irbatch.runtime.build_kernels import warmup

__all__ = ["warmup"]

__getattr__, __dir__ = load_on_demand(__name__, {"build_kernels": ("warmup",)})

"""Compile everything once and keep it, beside the package or in the cache.

example: RUN irbatch warmup, in a Dockerfile, behind the installation
"""

from __future__ import annotations

import argparse

from irbatch.cli import say
from irbatch.runtime import warmup
from irbatch.runtime.kernels import Kernel


def declare(_: argparse.ArgumentParser) -> None:
    """Take no options."""


def run(options: argparse.Namespace) -> int:
    print(f"kernels compiled: {len(warmup())}")
    if not Kernel.is_kept:
        say("error", "nothing can be kept; NUMBA_CACHE_DIR= names a folder that can be written to")
    return int(not Kernel.is_kept)

"""Work in fresh processes: what it takes, and how much memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.turns import PATIENCE

__all__ = ["Measured", "in_new_process", "measure_files", "print_of"]

Paths = tuple[Path, Path]


@dataclass(frozen=True)
class Measured:
    """A tool's values on files, its median seconds, and its largest memory in bytes."""

    values: dict[str, float]
    seconds: float
    peak: int


def print_of(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the last line that a Python command prints.

    Raises:
        RuntimeError: with the end of its error output, when it fails.
    """
    # As on anyone's machine, where Python keeps the bytecode of what it has imported before.
    inherited = {name: os.environ[name] for name in os.environ.keys() - {"PYTHONDONTWRITEBYTECODE"}}
    done = subprocess.run(
        [sys.executable, *command],
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr.strip()[-600:]}")
    return done.stdout.strip().splitlines()[-1]


def in_new_process(tool: str, files: Paths, small: Paths, names: list[str]) -> Measured:
    """Evaluate files with one tool in a process of its own."""
    paths = map(str, (*files, *small))
    found = json.loads(print_of(["-m", "benchmarks.one", tool, *paths, *names]))
    return Measured(found["values"], found["seconds"], found["peak"])


def measure_files(
    tools: list[str], files: Paths, small: Paths, names: list[str], rounds: int
) -> dict[str, Measured]:
    """Evaluate files with several tools in turn; what takes longer than patience only once."""
    found: dict[str, list[Measured]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool in tools:
            if not found[tool] or found[tool][0].seconds <= PATIENCE:
                found[tool].append(in_new_process(tool, files, small, names))
    return {
        tool: Measured(
            each[0].values,
            statistics.median(one.seconds for one in each),
            max(one.peak for one in each),
        )
        for tool, each in found.items()
    }

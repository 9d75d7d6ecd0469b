"""Work in fresh processes: what it takes, and how much memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.turns import PATIENCE, Timed

__all__ = ["TREC_EVAL", "in_new_process", "json_of", "measure_files", "output_of", "rounds_of",
           "trec_eval_program"]  # fmt: skip

Paths = tuple[Path, Path]
TREC_EVAL = "IRBATCH_TREC_EVAL"


def output_of(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Return what a command prints.

    Raises:
        RuntimeError: with the end of its error output, when it fails.
    """
    # As on anyone's machine, where Python keeps the bytecode of what it has imported before.
    inherited = {name: os.environ[name] for name in os.environ.keys() - {"PYTHONDONTWRITEBYTECODE"}}
    environment = {**inherited, **(environment or {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def json_of(arguments: list[str], environment: Mapping[str, str] | None = None) -> Any:
    """Return what the last line says that Python prints when it is started with arguments."""
    return json.loads(output_of([sys.executable, *arguments], environment).splitlines()[-1])


def rounds_of(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[Any]]:
    """Return what works return that time themselves, round by round: A B C, A B C.

    A first round, which fills caches of files and of compiled code, does not count.
    """
    found: dict[str, list[Any]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            result = work()
            if number:
                found[name].append(result)
    return found


def trec_eval_program() -> str | None:
    """Return the path of trec_eval's program: what the environment names, or what is on PATH."""
    return os.environ.get(TREC_EVAL) or shutil.which("trec_eval")


def in_new_process(tool: str, files: Paths, small: Paths, names: list[str]) -> Timed:
    """Evaluate files with one tool in a process of its own."""
    paths = map(str, (*files, *small))
    found = json_of(["-m", "benchmarks.one", tool, *paths, *names])
    return Timed(found["values"], (found["seconds"],), found["peak"])


def measure_files(
    tools: list[str], files: Paths, small: Paths, names: list[str], rounds: int
) -> dict[str, Timed]:
    """Evaluate files with several tools in turn; what takes longer than patience only once."""
    found: dict[str, list[Timed]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool in tools:
            if not found[tool] or found[tool][0].seconds <= PATIENCE:
                found[tool].append(in_new_process(tool, files, small, names))
    return {
        tool: Timed(each[0].result, tuple(one.seconds for one in each), max(o.peak for o in each))
        for tool, each in found.items()
    }

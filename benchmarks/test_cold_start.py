"""When compiling begins to be worth it, and what a new process can do without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.timing import machine, seconds
from benchmarks.workloads import sparse_matrix
from irbatch.measures import Plan, parse_measures
from irbatch.runtime.kernels import COMPILE_AFTER


def in_new_process(code: str, cache: Path, **environment: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    command = [sys.executable, "-c", code]
    return seconds(lambda: subprocess.run(command, env=environment, check=True))


def test_linear_algebra_and_leaving(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a command saves that has NumPy start no threads, and that leaves at once at its end."""
    imported = in_new_process("import numpy", tmp_path)
    alone = in_new_process("import numpy", tmp_path, OPENBLAS_NUM_THREADS="1")
    left = in_new_process("import numpy, os; os._exit(0)", tmp_path, OPENBLAS_NUM_THREADS="1")
    with capsys.disabled():
        print(f"\nnew process: numpy {imported:.3f} s, without threads {alone:.3f} s, and left at "
              f"once {left:.3f} s; {machine('irbatch')}")  # fmt: skip


def test_plain_python_speed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seconds of plain work before a kernel is compiled, which are `COMPILE_AFTER` cells."""
    from irbatch.runtime.kernels import Kernel

    monkeypatch.setenv("IRBATCH_JIT", "0")
    for each in Kernel._entries:
        monkeypatch.setattr(each, "_code", {})
    matrix = sparse_matrix(1_000, 1_000, judged=20)
    plan = Plan(parse_measures("AP nDCG P RR", cutoffs=[1, 3, 5, 10, 20, 30, 50, 100, 500, 1000]))
    spent = seconds(lambda: plan.values(matrix))
    cells = matrix.codes.nbytes // 8 + 10 * (int(matrix.judged.sum()) + 1_000) * 4
    with capsys.disabled():
        print(f"\nuncompiled: {spent / cells * 1e9:.0f} ns a cell, so that {COMPILE_AFTER:,} cells "
              f"take {spent / cells * COMPILE_AFTER:.2f} s")  # fmt: skip

"""What a new process pays before its first result, and when compiling begins to be worth it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.timing import machine, seconds
from benchmarks.workloads import sparse_matrix
from irbatch.measures import Plan, parse_measures
from irbatch.runtime.jit import COMPILE_AFTER

SMALL = (
    "import irbatch; irbatch.evaluate("
    "{f'q{i}': {'d1': 1, 'd7': 2} for i in range(50)},"
    "{f'q{i}': {f'd{j}': float(j) for j in range(100)} for i in range(50)}, 'nDCG@10 AP')"
)


def in_new_process(code: str, cache: Path, jit: str = "auto", **environment: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "IRBATCH_JIT": jit} | environment
    command = [sys.executable, "-c", code]
    return seconds(lambda: subprocess.run(command, env=environment, check=True))


def test_first_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A small evaluation in a new process: uncompiled, compiled afresh, and from the cache."""
    interpreter = in_new_process("import numpy", tmp_path)
    imported = in_new_process("import irbatch", tmp_path)
    small = in_new_process(SMALL, tmp_path)
    fresh = in_new_process(SMALL, tmp_path, jit="1")
    cached = in_new_process(SMALL, tmp_path, jit="1")
    with capsys.disabled():
        print(f"\nnew process: numpy {interpreter:.2f} s, import irbatch {imported:.2f} s, "
              f"first small result {small:.2f} s (compiled at once {fresh:.2f} s, from the "
              f"cache {cached:.2f} s); {machine('irbatch', 'numba')}")  # fmt: skip


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
    from irbatch.runtime.jit import Kernel

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

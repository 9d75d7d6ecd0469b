"""However the hot loops run - plain, compiled, cached or not, shared out - the bits are the same.

This module is also a program: ``python test_compiled_and_plain.py WAY`` prints the digest of the
values that an evaluation gives in a new process, used in one of the ways that `main` knows.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.random_problems import nasty_problems

import irbatch
from irbatch.data.cells import LabelRows
from irbatch.pack.labels import pack_labels
from irbatch.runtime.kernels import Kernel, open_library

pytestmark = pytest.mark.portable

MEASURES = irbatch.measures.parse_measures(
    "P R Rcap F F(beta=2) Success RR AP AP(rel=2) AP(norm=min) AP(norm=found) Rprec CG DCG IDCG "
    "DCG(discount=ln) nDCG nDCG(rel=2) Judged NumQ NumRet NumRel NumRelRet "
    "P@{1,3,10} R@{2,5} Rcap@3 F@5 Success@{1,4} RR@{2,10} AP@{1,5,100} AP(norm=min)@{3,9} "
    "AP(norm=found)@7 Rprec@4 CG@{1,6} DCG@{1,2,50} IDCG@{1,2,50} nDCG@{1,2,5,10,1000} "
    "nDCG(discount=jk2)@{3,20} nDCG(gain={1:3,2:2})@{2,8} Judged@{1,10} NumRet@5 NumRelRet@5 "
    "GMAP YAAP SetAP@3 RprecMult(times=2) IPrec(recall=0.4) IPrecAvg Bpref GMBpref@5 InfAP nDCGrel "
    "nDCGrel(gain=binary)@5 RnDCG RnDCG@4 G G(gain={1:0.3,2:2})@7 BinG RBP RBPresid@6 Unjudged@3 "
    "Utility NumNonRelRet"
)
TESTS = str(Path(__file__).parents[1])  # where this module's helpers are
TIMEOUT = 300  # seconds for a process that takes a few, or compiles for a minute
WORKERS = 8

Array = npt.NDArray[Any]


def digest(values: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def labels(grades: int, shape: tuple[int, int]) -> Array:
    """Grades among so many, mostly 0, each of them somewhere, and some negative ones."""
    rng = np.random.default_rng(grades)
    drawn = np.where(rng.random(shape) < 0.3, rng.integers(0, grades, shape), 0)
    drawn[rng.random(shape) < 0.05] = -2
    drawn.ravel()[rng.permutation(drawn.size)[:grades]] = np.arange(grades)
    return drawn


def some_values(threads: int | None = None) -> str:
    """Evaluate scored documents and labels, through every kernel there is; a digest of it all."""
    found = []
    for qrels, run in nasty_problems(seed=5, count=6):
        found.append(irbatch.evaluate(qrels, run, MEASURES, threads=threads).values)
    matrix = labels(5, (60, 40))
    found.append(irbatch.evaluate_matrix(matrix, MEASURES, threads=threads).values)
    return digest(np.concatenate(found))


# ---------------------------------------------------------------- plain and compiled


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """A choice between plain (True) and compiled kernels, whatever was compiled before."""

    def choose(wish: bool) -> None:
        monkeypatch.setenv("IRBATCH_JIT", "0" if wish else "1")
        for each in Kernel._entries if wish else ():
            monkeypatch.setattr(each, "_code", {})

    return choose


def compiled_kernels() -> set[str]:
    return {each.__name__ for each in Kernel._entries if each._code}


def both_ways(plain: Callable[[bool], None], evaluate: Callable[[], Array]) -> None:
    plain(True)
    uncompiled = evaluate()
    assert not compiled_kernels()
    plain(False)
    compiled = evaluate()
    assert "scan_rows" in compiled_kernels()
    assert digest(uncompiled) == digest(compiled)


@pytest.mark.parametrize(
    ("grades", "shape", "dtype"),
    [
        (2, (30, 50), np.int8),
        (127, (30, 70), np.int8),
        (128, (30, 70), np.int16),
        (900, (30, 70), np.int16),
        (33_000, (3, 14_000), np.int32),
    ],
)
def test_compiled_and_plain_agree_for_every_code_type(
    plain: Callable[[bool], None], grades: int, shape: tuple[int, int], dtype: type[np.generic]
) -> None:
    matrix = np.pad(labels(grades, shape), ((0, 0), (0, 9)))
    lengths = shape[1] + np.random.default_rng(1).integers(0, 10, shape[0])
    blocks = list(pack_labels(LabelRows(matrix, lengths)))
    assert {block.matrix.codes.dtype for block in blocks} == {np.dtype(dtype)}
    both_ways(plain, lambda: irbatch.evaluate_matrix(matrix, MEASURES, lengths=lengths).values)


def test_compiling_midway_does_not_show(
    plain: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(True)
    before = some_values()
    monkeypatch.delenv("IRBATCH_JIT")
    monkeypatch.setattr(Kernel, "_all_plain_cells", 0)
    for each in Kernel._entries:
        monkeypatch.setattr(each, "_plain_cells", 0)
    for limit in ("LOAD_AFTER", "COMPILE_AFTER", "COMPILE_AFTER_NUMBA"):
        monkeypatch.setattr(f"irbatch.runtime.kernels.{limit}", 100_000)
    for _ in range(3):
        assert some_values() == before
    midway = [each for each in Kernel._entries if each._code and each._plain_cells]
    assert "scan_rows" in [each.__name__ for each in midway]


# ---------------------------------------------------------------- threads and blocks


@pytest.mark.parametrize("uncompiled", [True, False])
def test_threads_do_not_show(plain: Callable[[bool], None], uncompiled: bool) -> None:
    plain(uncompiled)
    once = some_values(threads=1)
    assert uncompiled == (not compiled_kernels())
    for threads in (2, 3, 7, None):
        for _ in range(3):
            assert some_values(threads=threads) == once


@pytest.mark.parametrize("grades", [5, 900])
def test_block_size_does_not_show(monkeypatch: pytest.MonkeyPatch, grades: int) -> None:
    rng = np.random.default_rng(grades)
    queries = [str(query) for query in range(40)]
    qrels = {q: {str(d): int(rng.integers(-1, grades)) for d in range(25)} for q in queries}
    run = {q: {str(d): float(rng.integers(7)) for d in range(rng.integers(99))} for q in queries}
    matrix = labels(grades, (60, 70))
    readers = [
        module
        for name, module in sys.modules.items()
        if name.startswith("irbatch.") and hasattr(module, "BLOCK_BYTES")
    ]
    assert len(readers) >= 2
    found, blocks = set(), []
    for size in (1 << 30, 8000, 1500, 1):
        for module in readers:
            monkeypatch.setattr(module, "BLOCK_BYTES", size)
        steps: list[int] = []
        results = irbatch.evaluate(
            qrels, run, MEASURES, progress=lambda done, _, steps=steps: steps.append(done)
        )
        blocks.append(len(steps))
        found.add(digest(results.values) + digest(irbatch.evaluate_matrix(matrix, MEASURES).values))
    assert len(found) == 1
    assert blocks == sorted(blocks)
    assert blocks[0] < blocks[2] <= blocks[3] == len(queries)


# ---------------------------------------------------------------- new processes


def give_up_in_time() -> None:
    """End this process when it hangs: nobody else ends the children of one that timed out."""
    if hasattr(signal, "alarm"):
        signal.alarm(TIMEOUT)


def main(way: str) -> None:
    """Print the digest of values found in some way; or, for "small", whether Numba was needed."""
    give_up_in_time()
    if way == "small":
        some_values(threads=1)
        print("numba" in sys.modules)
    elif way == "threads":
        together = Barrier(WORKERS)
        with ThreadPoolExecutor(WORKERS) as pool:
            print(*set(pool.map(_after, [together] * WORKERS)))
    elif way in ("fork", "spawn", "forkserver"):
        before = some_values(threads=2)  # compiled, and a pool of threads that a fork leaves behind
        with multiprocessing.get_context(way).Pool(2, give_up_in_time) as pool:
            print(*{before, *pool.map(some_values, [1, 2, 3, 2]), some_values(threads=2)})
    else:
        print(some_values())


def _after(barrier: Barrier) -> str:
    barrier.wait()
    return some_values(threads=2)


def in_new_process(way: str, **environment: str | Path) -> str:
    """Run `main` in a new process; what it printed."""
    inherited = {name: value for name, value in os.environ.items() if name != "IRBATCH_JIT"}
    chosen = inherited | {name: str(value) for name, value in environment.items()}
    chosen["PYTHONPATH"] = os.pathsep.join(filter(None, [chosen.get("PYTHONPATH"), TESTS]))
    done = subprocess.run(
        [sys.executable, __file__, way],
        env=chosen,
        capture_output=True,
        text=True,
        timeout=TIMEOUT + 10,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def expected() -> str:
    """What every way must come to, computed by plain kernels."""
    return in_new_process("once", IRBATCH_JIT="0")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, expected: str) -> Path:
    """A folder with all that Numba compiles, if the library doesn't have it."""
    folder = tmp_path_factory.mktemp("numba")
    assert in_new_process("once", IRBATCH_JIT="1", NUMBA_CACHE_DIR=folder) == expected
    assert bool(list(folder.rglob("*.nbi"))) == (open_library()[0] is None)
    return folder


def test_small_evaluations_do_without_numba(tmp_path: Path) -> None:
    assert in_new_process("small", NUMBA_CACHE_DIR=tmp_path) == "False"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_numba_alone(tmp_path: Path, expected: str) -> None:
    """Compiled for processes that start at once, and kept for a later one."""
    with ThreadPoolExecutor(2) as pool:
        ways = [pool.submit(in_new_process, "once", IRBATCH_JIT="numba", NUMBA_CACHE_DIR=tmp_path)
                for _ in range(2)]  # fmt: skip
        assert {each.result() for each in ways} == {expected}
    assert in_new_process("once", IRBATCH_JIT="numba", NUMBA_CACHE_DIR=tmp_path) == expected


@pytest.mark.parametrize("jit", ["0", "1"])
def test_many_threads_at_once(cache: Path, expected: str, jit: str) -> None:
    assert in_new_process("threads", IRBATCH_JIT=jit, NUMBA_CACHE_DIR=cache) == expected


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_child_processes(cache: Path, expected: str, way: str) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {way}")
    assert in_new_process(way, IRBATCH_JIT="1", NUMBA_CACHE_DIR=cache) == expected


if __name__ == "__main__":
    main(*sys.argv[1:])

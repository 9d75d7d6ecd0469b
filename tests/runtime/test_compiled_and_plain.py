"""However the hot loops run, plain, compiled or in blocks of any size, the bits are the same."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.random_problems import nasty_problems

import irbatch
from irbatch.data.cells import LabelRows
from irbatch.engine import scan
from irbatch.pack.labels import pack_labels
from irbatch.runtime.kernels import Kernel

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


def some_values() -> str:
    """Evaluate scored documents and labels, through every kernel there is; a digest of it all."""
    found = []
    for qrels, run in nasty_problems(seed=5, count=6):
        found.append(irbatch.evaluate(qrels, run, MEASURES).values)
    matrix = labels(5, (60, 40))
    found.append(irbatch.evaluate_matrix(matrix, MEASURES).values)
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


def test_compiling_midway_does_not_show(
    plain: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(True)
    before = some_values()
    monkeypatch.delenv("IRBATCH_JIT")
    monkeypatch.setattr(Kernel, "_all_plain_cells", 0)
    for each in Kernel._entries:
        monkeypatch.setattr(each, "_plain_cells", 0)
    for limit in ("LOAD_AFTER", "COMPILE_AFTER"):
        monkeypatch.setattr(f"irbatch.runtime.kernels.{limit}", 100_000)
    for _ in range(3):
        assert some_values() == before
    midway = [each for each in Kernel._entries if each._code and each._plain_cells]
    assert "scan_rows" in [each.__name__ for each in midway]


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize(
    ("grades", "shape", "dtype"),
    [(127, (30, 70), "i1"), (128, (30, 70), "i2"), (33_000, (3, 14_000), "i4")],
)
def test_codes_are_as_wide_as_grades_are_many(
    grades: int, shape: tuple[int, int], dtype: str
) -> None:
    """Compiled kernels of each width give the bits of plain ones: see test_kernels.py."""
    blocks = pack_labels(LabelRows(labels(grades, shape), np.full(shape[0], shape[1])))
    assert {block.matrix.codes.dtype for block in blocks} == {np.dtype(dtype)}


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
        if size == 8000:  # and few rows and documents are one batch of a scan
            monkeypatch.setattr(scan, "ROWS_AT_ONCE", 4)
            monkeypatch.setattr(scan, "DOCUMENTS_AT_ONCE", 150)
        steps: list[int] = []
        results = irbatch.evaluate(
            qrels, run, MEASURES, progress=lambda done, _, steps=steps: steps.append(done)
        )
        blocks.append(len(steps))
        found.add(digest(results.values) + digest(irbatch.evaluate_matrix(matrix, MEASURES).values))
    assert len(found) == 1
    assert blocks == sorted(blocks)
    assert blocks[0] < blocks[2] <= blocks[3] == len(queries)

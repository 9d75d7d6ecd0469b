"""The scan of a relevance matrix against copying the matrix, the least any pass can cost.

Run with ``pytest benchmarks --benchmark-only``; the ratio is printed and kept in the benchmark's
extra information.
"""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.timing import machine, ratio
from benchmarks.workloads import sparse_matrix
from irbatch.measures import Plan, parse_measures
from irbatch.scan import scan

CUTOFFS = [1, 3, 5, 10, 20, 30, 50, 100, 500, 1000]


@pytest.mark.parametrize("threads", [1, 2])
def test_scan_against_copy(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], threads: int
) -> None:
    matrix = sparse_matrix(100_000, 1_000, judged=20)
    request = Plan(parse_measures("AP nDCG P RR Judged", cutoffs=[*CUTOFFS, None])).request
    found = scan(matrix, request, threads)
    few = sparse_matrix(200, 1_000, judged=20)
    expected = np.cumsum(few.codes >= 1, axis=1)[:, [k - 1 for k in CUTOFFS]]
    assert (scan(few, request).hits[0, :, : len(CUTOFFS)] == expected).all()
    assert found.hits.shape == (1, 100_000, len(CUTOFFS) + 1)

    benchmark(scan, matrix, request, threads)
    ours, copy, _ = ratio(lambda: scan(matrix, request, threads), matrix.codes.copy)
    benchmark.extra_info["times the copy"] = ours / copy
    with capsys.disabled():
        print(f"\nscan of 100,000 x 1,000 int8, {threads} threads: {ours * 1e3:.1f} ms, "
              f"{ours / copy:.2f} x its copy ({copy * 1e3:.1f} ms); "
              f"{machine('irbatch', 'numpy', 'numba')}")  # fmt: skip

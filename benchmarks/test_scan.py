"""What the scan gains by working many rows off together."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.names import usual
from benchmarks.timing import machine, ratio
from benchmarks.workloads import sparse_matrix
from irbatch.engine import scan as scan_module
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.scan import FULL_DEPTH, ScanRequest, scan
from irbatch.measures import Plan, parse_measures
from irbatch.measures import plan as plan_module
from irbatch.measures.parameters import make_weighting

CUTOFFS = (1, 3, 5, 10, 20, 30, 50, 100, 500, 1_000, FULL_DEPTH)


@pytest.mark.parametrize(
    ("setting", "values"),
    [("ROWS_AT_ONCE", (1, 16, 64, 512)), ("DOCUMENTS_AT_ONCE", (1 << 10, 1 << 16))],
)
def test_settings(
    setting: str, values: tuple[int, ...], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Time other values of a setting, one thread, in and far beyond the caches."""
    request = ScanRequest(CUTOFFS, [1.0], [make_weighting("linear", "log2", None)])
    chosen = getattr(scan_module, setting)
    for rows in (1_000, 50_000):
        matrix = sparse_matrix(rows, 1_000, 20)

        def work(value: int, matrix: RelevanceMatrix) -> None:
            monkeypatch.setattr(scan_module, setting, value)
            scan(matrix, request, 1)

        for value in values:
            ours, _, times = ratio(partial(work, chosen, matrix), partial(work, value, matrix), 15)
            with capsys.disabled():
                print(f"\n{setting} {chosen}: {ours / rows * 1e9:.0f} ns a row of {rows:,}; "
                      f"{value}: {times:.2f} times that", end="")  # fmt: skip


def test_documents_of_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Time rows of few and of many judged documents, which are found in two ways."""
    request = ScanRequest([1_000], [1.0], [make_weighting("linear", "log2", None)])
    for judged in (1, 20, 60, 70, 80, 100, 500):
        matrix = sparse_matrix(2_000, 1_000, judged)
        ours, _, _ = ratio(lambda m=matrix: scan(m, request, 1), lambda: np.empty(0), 15)
        with capsys.disabled():
            print(f"\n{judged} judged: {ours / 2_000 * 1e9:.0f} ns a row; {machine('irbatch')}")


def test_rows_of_formulas(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time formulas over more and fewer rows at once."""
    plan = Plan(parse_measures(usual(1_000)))
    matrix = sparse_matrix(50_000, 1_000, 20)
    chosen = plan_module.ROWS_AT_ONCE

    def work(rows: int) -> None:
        monkeypatch.setattr(plan_module, "ROWS_AT_ONCE", rows)
        plan.values(matrix, threads=1)

    for rows in (1_024, 4_096, 16_384, 50_000):
        ours, _, times = ratio(partial(work, chosen), partial(work, rows), 9)
        with capsys.disabled():
            print(f"\n{chosen} rows at once: {ours:.3f} s with the scan; {rows}: {times:.2f} times "
                  f"that", end="")  # fmt: skip

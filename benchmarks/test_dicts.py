"""Reading dictionaries by compiled kernels, and by Python's own means, which take all kinds.

Also where sorting a ranking that is not in order is sooner than counting for each judged document.
"""

from __future__ import annotations

import numpy as np
import pytest

import irbatch
from benchmarks.timing import machine, ratio, seconds
from benchmarks.workloads import CUTOFFS, dict_problem
from irbatch.data import dicts, qrels
from irbatch.pack import join as packed_runs

NAMES = ["AP", "RR", *(f"{name}@{k}" for name in ("nDCG", "P", "R") for k in CUTOFFS)]


@pytest.mark.parametrize("judged", [1, 20, 60])
def test_kernels_and_python(
    judged: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole of `evaluate`, both ways."""
    tables = dict_problem(6_980, 1_000, judged)

    def by_kernels() -> bytes:
        return irbatch.evaluate(*tables, NAMES).values.tobytes()

    def by_python() -> bytes:
        with monkeypatch.context() as patch:
            patch.setattr(qrels, "read_judgments", lambda *_: None)
            patch.setattr(packed_runs, "find_in_rankings", lambda *_: None)
            return by_kernels()

    assert by_kernels() == by_python()
    ours, others, times = ratio(by_kernels, by_python)
    with capsys.disabled():
        print(f"\n6,980 x 1,000 in dicts, {judged} judged: {ours * 1e3:.0f} ms, by Python "
              f"{others * 1e3:.0f} ms: {times:.1f} x; {machine('irbatch', 'numpy')}")  # fmt: skip


@pytest.mark.parametrize("depth", [100, 1_000, 10_000])
def test_counting_and_sorting(
    depth: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged documents from which sorting is sooner: `FEW_JUDGED` and `FEW_COMPARED`."""
    rng = np.random.default_rng(0)
    with capsys.disabled():
        for judged in (32, 64, 128, 256):
            relevant, run = dict_problem(max(200_000 // depth, 20), depth, judged)
            for query, documents in run.items():
                scores = rng.permutation(list(documents.values())).tolist()
                run[query] = dict(zip(documents, scores, strict=True))
            relevant = irbatch.Qrels(relevant)

            def work(relevant: irbatch.Qrels = relevant, run: object = run) -> None:
                irbatch.evaluate(relevant, run, "AP")

            took = []
            for most in (1 << 40, -1):
                monkeypatch.setattr(dicts, "FEW_JUDGED", most)
                monkeypatch.setattr(dicts, "FEW_COMPARED", most)
                monkeypatch.setattr(dicts._find_judged, "_code", {})
                monkeypatch.setenv("IRBATCH_JIT", "1")
                work()
                took.append(min(seconds(work) for _ in range(5)))
            print(f"\n{depth:,} documents not in order, {judged} judged: counted "
                  f"{took[0] * 1e3:.1f} ms, sorted {took[1] * 1e3:.1f} ms", end="")  # fmt: skip

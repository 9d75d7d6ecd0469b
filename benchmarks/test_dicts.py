"""Evaluation from dicts of dicts, against pytrec_eval-terrier, values checked equal first."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from pytest_benchmark.fixture import BenchmarkFixture

import irbatch
from benchmarks.timing import machine, ratio
from benchmarks.workloads import TREC_EVAL_NAMES, dict_problem


@pytest.mark.parametrize("judged", [1, 20, 100])
def test_dicts_against_pytrec_eval(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], judged: int
) -> None:
    """The size of MS MARCO's dev set, which has 1 judged passage a query."""
    qrels, run = dict_problem(6_980, 1_000, judged)

    def ours(score_dtype: str = "float64") -> irbatch.Results:
        return irbatch.evaluate(qrels, run, TREC_EVAL_NAMES, score_dtype=score_dtype)

    def theirs() -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL_NAMES)).evaluate(run)

    expected = theirs()
    found = ours("float32")  # what pytrec_eval compares scores in
    names = list(found.mean("trec_eval"))
    values = np.array([[expected[query][name] for name in names] for query in found.query_ids])
    assert np.abs(found.values - values).max() < 1e-14

    benchmark(ours)
    mine, other, times = ratio(ours, theirs)
    benchmark.extra_info["times faster"] = times
    with capsys.disabled():
        print(f"\n6,980 x 1,000 in dicts, {judged} judged: {mine * 1e3:.0f} ms, pytrec_eval "
              f"{other * 1e3:.0f} ms: {times:.1f} x faster; "
              f"{machine('irbatch', 'pytrec_eval-terrier', 'numpy', 'numba')}")  # fmt: skip

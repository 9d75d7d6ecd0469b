"""A script with its import changed: irbatch.integrations.pytrec_eval against pytrec_eval-terrier.

Values are checked equal first, and so are the names and the order of queries.
"""

from __future__ import annotations

import pytest
import pytrec_eval
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.timing import machine, ratio
from benchmarks.workloads import dict_problem
from irbatch.integrations import pytrec_eval as ours

USUAL = ("map", "ndcg_cut", "P", "recall", "recip_rank")
EVERYTHING = tuple(sorted(ours.supported_measures))

Values = dict[str, dict[str, float]]


@pytest.mark.parametrize(
    ("measures", "judged"),
    [(USUAL, 1), (USUAL, 20), (EVERYTHING, 1), (EVERYTHING, 20)],
    ids=["usual-1", "usual-20", "everything-1", "everything-20"],
)
def test_swapped_import(
    benchmark: BenchmarkFixture,
    capsys: pytest.CaptureFixture[str],
    measures: tuple[str, ...],
    judged: int,
) -> None:
    """The size of MS MARCO's dev set, which has 1 judged passage a query; dicts in and out."""
    qrels, run = dict_problem(6_980, 1_000, judged)

    def mine() -> Values:
        return ours.RelevanceEvaluator(qrels, set(measures)).evaluate(run)

    def theirs() -> Values:
        return pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)

    found, expected = mine(), theirs()
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert found[query] == pytest.approx(values, rel=1e-14), query

    benchmark(mine)
    seconds, other, times = ratio(mine, theirs)
    benchmark.extra_info["times faster"] = times
    with capsys.disabled():
        print(f"\n6,980 x 1,000 in dicts, {judged} judged, {len(measures)} measures: "
              f"{seconds * 1e3:.0f} ms, pytrec_eval {other * 1e3:.0f} ms: {times:.1f} x faster; "
              f"{machine('irbatch', 'pytrec_eval-terrier', 'numpy', 'numba')}")  # fmt: skip

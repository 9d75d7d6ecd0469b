"""Values don't depend on how many rows formulas read together, nor on threads."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from support.measure_variants import builtin_names

import irbatch
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.measures import Plan, parse_measures
from irbatch.measures import plan as plan_module
from irbatch.measures.declare import CATALOGUE


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_at_once(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(-2, 3, (50, 16)).astype(np.int8)
    judged = np.stack([(codes == level).sum(axis=1) for level in range(3)], axis=1)
    judged[7] = codes[7] = 0  # a query without relevant documents
    matrix = RelevanceMatrix(codes, np.arange(3.0), np.full(50, 16), judged)
    families = [
        f"{name}(max_grade=4)" if "max_grade" in CATALOGUE[name].parameters else name
        for name in sorted(builtin_names())
        if CATALOGUE[name].takes_cutoff
    ]
    measures = parse_measures([f"{name}@{k}" for k in (1, 5, 10) for name in families] + families)
    plan = Plan([*measures[1:], measures[0]])
    together = plan.values(matrix)
    monkeypatch.setattr(plan_module, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(plan.values(matrix, threads=threads), together)
    one_by_one = [Plan([each]).values(matrix)[:, 0] for each in plan.measures]
    np.testing.assert_array_equal(np.stack(one_by_one, axis=1), together)


SPLIT = "nDCG@{2,5} AP RR(rel=2) Bpref@{3,9} InfAP G@4 IPrec P@3"


def evaluate_all() -> list[irbatch.Results]:
    """Evaluate what comes in blocks of each kind, with ties and without."""
    rng = np.random.default_rng(6)
    labels = np.where(rng.random((23, 12)) < 0.3, rng.integers(1, 3, (23, 12)), 0)
    scores = np.round(rng.random((23, 12)), 1)
    names = [f"d{j}" for j in range(12)]
    qrels = {f"q{i}": dict(zip(names[:8], row.tolist(), strict=False))
             for i, row in enumerate(labels)}  # fmt: skip
    run = {f"q{i}": dict(zip(names, row, strict=True)) for i, row in enumerate(scores.tolist())}
    return [
        irbatch.evaluate_matrix(labels, SPLIT),
        irbatch.evaluate_matrix(rng.random((23, 12)), "nDCG DCG@5"),
        irbatch.evaluate_scores(scores, labels, SPLIT),
        irbatch.evaluate_scores(scores, labels, SPLIT, ties="index"),
        irbatch.evaluate(qrels, run, SPLIT, no_relevant="skip"),
        irbatch.evaluate(qrels, run, SPLIT, ties="expected", judged_only=True),
        irbatch.evaluate(qrels, run, SPLIT, ties="expected"),
    ]


@pytest.mark.parametrize("at_once", [1, 2000])
def test_blocks_in_parts_give_the_same_bits(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "0")
    expected = evaluate_all()
    monkeypatch.setattr(plan_module, "BYTES_AT_ONCE", at_once)
    plan_module._plan.cache_clear()
    for found, whole in zip(evaluate_all(), expected, strict=True):
        assert found.values.tobytes() == whole.values.tobytes()
        assert (found.marks == whole.marks).all()
        assert found.counts == whole.counts


@pytest.mark.parametrize(
    ("measure", "queries", "cutoffs"), [("nDCG", 200, 500), ("P", 200, 1000), ("Bpref", 40, 200)]
)
@pytest.mark.parametrize("tied", [False, True])
def test_memory_is_that_of_the_values_and_a_bounded_block(
    measure: str, queries: int, cutoffs: int, tied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_module, "BYTES_AT_ONCE", 1 << 19)
    measures = parse_measures(measure, range(1, cutoffs + 1))
    rng = np.random.default_rng(7)
    scores = np.round(rng.random((queries, 200)), 1 if tied else 9)
    positives = np.arange(queries)[:, None] % 200
    ties = "expected" if tied and measure != "Bpref" else "index"
    given: dict[str, Any] = {"positives": positives, "measures": measures, "ties": ties}
    monkeypatch.setenv("IRBATCH_JIT", "1")
    irbatch.evaluate_scores(scores, **given)  # compiled now, if not before
    tracemalloc.start()
    try:
        values = irbatch.evaluate_scores(scores, **given).values
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < values.nbytes + (8 << 20)

"""Values don't depend on how many rows formulas read together, nor on threads."""

from __future__ import annotations

import numpy as np
import pytest

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
    families = [name for name, each in CATALOGUE.items() if each.builtin and each.takes_cutoff]
    measures = parse_measures([f"{name}@{k}" for k in (1, 5, 10) for name in families] + families)
    plan = Plan([*measures[1:], measures[0]])
    together = plan.values(matrix)
    monkeypatch.setattr(plan_module, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(plan.values(matrix, threads=threads), together)
    one_by_one = [Plan([each]).values(matrix)[:, 0] for each in plan.measures]
    np.testing.assert_array_equal(np.stack(one_by_one, axis=1), together)

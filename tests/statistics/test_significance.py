"""Tests of differences against their definitions, drawn alike."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irbatch.statistics.power import equivalence_p
from irbatch.statistics.resampling import draw_counts
from irbatch.statistics.significance import Sample, p_values

TWO = np.array([[[0.25], [0.5]], [[0.5], [1.0]]])
PAIR = Sample(TWO, [(1, 0)], 1, 0)
MANY = Sample(np.arange(404.0).reshape(2, 202, 1), [(1, 0)], 1, 0)
NEEDS_SCIPY: dict[str, Callable[[], Any]] = {
    "the t-test": lambda: p_values(PAIR, "t"),
    "the Wilcoxon test of many queries": lambda: p_values(MANY, "wilcoxon"),
    "the sign test": lambda: p_values(PAIR, "sign"),
    "ANOVA": lambda: p_values(PAIR, "anova"),
    "power and equivalence": lambda: equivalence_p(PAIR.flat(), 0.1),
}


def test_bootstrap_studentises_what_is_drawn() -> None:
    """Of five queries some draws have no spread: then any mean but 0 is as large as can be."""
    values = np.random.default_rng(2).gamma(2, 1, (2, 5, 3))
    sample = Sample(values, [(1, 0)], 3000, 4)

    def studentised(differences: np.ndarray) -> float:
        if np.ptp(differences) == 0:
            return math.inf
        return abs(differences.mean()) / math.sqrt(differences.var(ddof=1) / 5)

    counts = np.concatenate(list(draw_counts(5, 3000, 4))).astype(int)
    assert (counts == 5).any(), "a draw without spread"
    expected = []
    for column in sample.flat().T:
        least = studentised(column) * (1 - 1e-9)
        centred = column - column.mean()
        as_large = sum(studentised(np.repeat(centred, often)) >= least for often in counts)
        expected.append((as_large + 1) / 3001)
    assert p_values(sample, "bootstrap")[0].tolist() == expected


def test_two_queries_are_enough_for_t() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = p_values(PAIR, "t")
    assert found == pytest.approx(stats.ttest_rel(*TWO[::-1, :, 0]).pvalue, rel=1e-12)


def test_variance_analysis_of_systems_that_differ_alike_on_every_query() -> None:
    pytest.importorskip("scipy.stats")
    queries = np.array([0.0, 0.25, 0.5, 0.125])
    values = np.stack([queries, queries + 0.5, queries])[..., None]
    assert p_values(Sample(values, [(0, 1), (0, 2)], 1, 0), "anova").tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize("purpose", NEEDS_SCIPY)
def test_scipy_is_named_where_it_is_lacking(purpose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("scipy", "scipy.stats", "scipy.special"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as refused:
        NEEDS_SCIPY[purpose]()
    assert str(refused.value) == f"for {purpose}: pip install 'irbatch[stats]'"

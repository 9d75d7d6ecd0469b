"""Tests of differences against their definitions, drawn alike."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.paired_tests import share_of_ranks, share_of_signs

from irbatch.statistics.intervals import detectable_difference
from irbatch.statistics.resampling import Sample, draw_counts
from irbatch.statistics.tests import TESTS, least_p, p_values

TWO = np.array([[[0.25], [0.5]], [[0.5], [1.0]]])
PAIR = Sample(TWO, [(1, 0)], 1, 0)
NEEDS_SCIPY: dict[str, Callable[[], Any]] = {
    "the sign test": lambda: p_values(PAIR, "sign"),
    "ANOVA": lambda: p_values(PAIR, "anova"),
    "power": lambda: detectable_difference(PAIR.flat(), 0.05),
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


# ---------------------------------------------------------------- one side


def one_sided(differences: np.ndarray, test: str, alternative: str) -> float:
    values = np.stack([differences, np.zeros_like(differences)])[..., None]
    return float(p_values(Sample(values, [(0, 1)], 4000, 0, alternative), test)[0, 0])


@pytest.mark.parametrize("seed", range(30))
def test_one_sided_tests_of_few_queries_are_enumerated(seed: int) -> None:
    """With ties and zeros."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 10))
    for some in random.integers(-3, 5, n) / 8, random.normal(0.3, 1, n):
        for alternative in ("greater", "less"):
            turned = some if alternative == "greater" else -some
            found = one_sided(some, "randomisation", alternative)
            assert found == pytest.approx(share_of_signs(turned), abs=1e-15)
            found = one_sided(some, "wilcoxon", alternative)
            assert found == pytest.approx(share_of_ranks(turned), abs=1e-13)
            wins, losses = int((turned > 0).sum()), int((turned < 0).sum())
            ways = sum(math.comb(wins + losses, k) for k in range(wins, wins + losses + 1))
            found = one_sided(some, "sign", alternative)
            assert found == pytest.approx(ways / 2 ** (wins + losses), rel=1e-12)


@pytest.mark.parametrize("n", [14, 60, 300])
def test_one_sided_tests_are_scipys(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    some = np.random.default_rng(n).normal(0.1, 1, n)
    method = "exact" if n <= 100 else "asymptotic"
    for alternative in ("greater", "less"):
        expected = stats.ttest_1samp(some, 0, alternative=alternative).pvalue
        assert one_sided(some, "t", alternative) == pytest.approx(expected, rel=1e-9)
        assert one_sided(some, "randomisation", alternative) == pytest.approx(expected, abs=0.03)
        assert one_sided(some, "bootstrap", alternative) == pytest.approx(expected, abs=0.04)
        expected = stats.wilcoxon(some, method=method, alternative=alternative).pvalue
        assert one_sided(some, "wilcoxon", alternative) == pytest.approx(expected, rel=1e-9)


def test_one_side_of_what_hardly_any_draw_reaches_is_half_of_both() -> None:
    some = np.random.default_rng(3).normal(0.9, 1, 80)
    both = one_sided(some, "randomisation", "two-sided")
    assert both < 1e-8
    assert one_sided(some, "randomisation", "greater") == both / 2
    assert one_sided(some, "randomisation", "less") == 1


@pytest.mark.parametrize("test", [each for each in TESTS if each not in ("tukey", "anova")])
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_side_of_no_difference_is_none(test: str, alternative: str) -> None:
    assert one_sided(np.zeros(30), test, alternative) == 1


def test_the_least_one_sided_p_value_is_half() -> None:
    sizes = {"pairs": 3, "queries": 9, "draws": 100}
    for test in ("randomisation", "wilcoxon", "sign"):
        assert least_p(test, "holm", **sizes, alternative="less") == 3 / 2**9
        assert least_p(test, "holm", **sizes) == 6 / 2**9
        assert one_sided(-np.arange(1.0, 10), test, "less") == 1 / 2**9

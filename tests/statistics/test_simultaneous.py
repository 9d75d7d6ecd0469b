"""Simultaneous intervals: as wide as they should be, and in agreement with p-values."""

from __future__ import annotations

import numpy as np
import pytest

from irbatch.comparing import compare_results
from irbatch.evaluation.results import Results
from irbatch.statistics.intervals import levels_of
from irbatch.statistics.tests import CORRECTIONS, TESTS

FOUND = np.array([[True], [False], [True], [False], [False]])


@pytest.mark.parametrize(
    ("correction", "found", "other"),
    [
        ("none", 0.05, 0.05),
        ("bonferroni", 0.01, 0.01),
        ("holm", 0.01, 0.05 / 3),
        ("bh", 0.02, 0.02),
        ("by", 0.02 * 60 / 137, 0.02 * 60 / 137),
    ],
)
def test_levels(correction: str, found: float, other: float) -> None:
    levels = levels_of(FOUND, correction, 0.05)
    assert levels.ravel() == pytest.approx([found, other, found, other, other])


@pytest.fixture(scope="module")
def systems() -> dict[str, Results]:
    import irbatch

    random = np.random.default_rng(3)
    found = {}
    for i in range(7):
        labels = random.random((40, 8)) < 0.25 + 0.03 * i
        found[f"s{i}"] = irbatch.evaluate_matrix(labels, "AP P@5 RR")
    return found


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("test", [each for each in TESTS if each not in ("wilcoxon", "sign")])
def test_intervals_and_p_values_seldom_disagree(
    systems: dict[str, Results], test: str, correction: str
) -> None:
    if test == "anova":
        pytest.importorskip("scipy.stats")
    found = compare_results(systems, test=test, correction=correction, draws=2000)
    low, high = np.moveaxis(found.difference_intervals, -1, 0)
    disagree = ((low <= 0) & (high >= 0)) == found.significant
    assert disagree.mean() < 0.1
    if test == "t" and correction in ("none", "bonferroni"):
        assert not disagree.any(), "one and the same formula"
    assert 0 < found.significant.mean() < 1
    assert ((low <= found.differences) & (found.differences <= high)).all()
    each = compare_results(systems, test=test, correction=correction, draws=2000,
                           simultaneous=False)  # fmt: skip
    assert (each.intervals == found.intervals).all(), "means have intervals of their own"
    assert "simultaneous" in found.caption()
    assert "simultaneous" not in each.caption() + each.signature


def test_honest_differences_are_tukeys(systems: dict[str, Results]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = compare_results(systems, test="anova")
    values = found.values[:, :, 0]
    residuals = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
    freedom = 6 * 39
    error = np.sqrt((residuals**2).sum() / freedom / 40)
    reach = stats.studentized_range.ppf(0.95, 7, freedom) * error
    widths = np.ptp(found.difference_intervals[:, 0], axis=1)
    untouched = np.abs(np.abs(found.differences[:, 0]) - reach) > 0.01
    assert widths[untouched] == pytest.approx(2 * reach, rel=1e-6)


def test_all_hold_what_they_promise() -> None:
    """Of families of six differences, all intervals hold the true ones in 95 of 100."""
    random = np.random.default_rng(6)
    truth = np.array([0.0, 0.0, 0.3, 0.8])
    missed = 0
    for _ in range(300):
        values = truth[:, None] + random.normal(0, 1, (4, 30))
        results = {str(i): _results(each) for i, each in enumerate(values)}
        found = compare_results(results, test="t")
        low, high = found.difference_intervals[:, 0].T
        true = np.array([truth[a] - truth[b] for a, b in found.pairs])
        missed += bool(((true < low) | (true > high)).any())
    assert missed / 300 < 0.08


def _results(values: np.ndarray) -> Results:
    import irbatch

    made = irbatch.evaluate_matrix(np.ones((values.size, 1)), "P@1")
    return Results(values[:, None], made.query_ids, made.columns, made.counts, made.settings)

"""Comparisons one-sided, against margins, of all measures together, and of weighted means."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle.paired_tests import p_of_two_one_sided

import irbatch
from irbatch import compare
from irbatch.comparing import Comparison
from irbatch.statistics.resampling import draw_counts
from irbatch.statistics.tests import CORRECTIONS, TESTS, correct

stats = pytest.importorskip("scipy.stats")

MEASURES = "RR AP nDCG@3"
ONE_SIDED = [each for each in TESTS if each not in ("tukey", "anova")]


def systems(queries: int = 40, count: int = 3) -> dict[str, irbatch.Results]:
    """Results of systems of which each is a little better than the one before."""
    random = np.random.default_rng(7)
    labels = random.random((queries, 8)) < 0.3
    return {
        f"s{number}": irbatch.evaluate_scores(
            labels * 0.2 * number + random.random(labels.shape), labels, MEASURES
        )
        for number in range(count)
    }


FOUR = systems(count=4)


def compared(results: dict[str, irbatch.Results] = FOUR, **options: Any) -> Comparison:
    return compare(results, draws=2000, **{"baseline": "s0", **options})


# ---------------------------------------------------------------- one side


@pytest.mark.parametrize("test", ONE_SIDED)
@pytest.mark.parametrize("correction", ["none", "holm", "bh"])
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_intervals_and_p_values_say_the_same(
    test: str, correction: str, alternative: str
) -> None:
    found = compared(test=test, correction=correction, alternative=alternative)
    turned = compared(test=test, correction=correction, alternative="less" if alternative ==
                      "greater" else "greater")  # fmt: skip
    assert ((found.p_values < 0.5) | (turned.p_values < 0.5)).all()
    low, high = np.moveaxis(found.difference_intervals, -1, 0)
    assert np.isinf(high if alternative == "greater" else low).all()
    beyond = low > 0 if alternative == "greater" else high < 0
    if test not in ("wilcoxon", "sign"):
        assert (beyond == found.significant).all()
    assert found.significant.any() == (alternative == "greater")
    assert "one-sided" in found.caption()
    assert f"alternative: {alternative}" in found.signature


def test_a_one_sided_interval_is_where_its_t_test_ends() -> None:
    found = compared(test="t", alternative="greater", simultaneous=False)
    a, b = (FOUR[name].values[:, 0] for name in ("s2", "s0"))
    expected = stats.ttest_rel(a, b, alternative="greater").confidence_interval(0.95)
    assert found.difference("s2", "s0", "RR").interval == pytest.approx(tuple(expected))
    assert found.difference("s0", "s2", "RR").interval[0] == -np.inf


def test_one_side_takes_fewer_queries() -> None:
    both, one = compared(), compared(alternative="greater")
    assert (one.detectable < both.detectable).all()
    assert one.least_p == both.least_p / 2


# ---------------------------------------------------------------- all measures


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("interval", ["t", "percentile"])
def test_all_pairs_on_all_measures_are_one_family(correction: str, interval: str) -> None:
    options: dict[str, Any] = {"correction": correction, "interval": interval, "baseline": None}
    found = compared(family="all", **options)
    alone = compared(**options)
    assert (found.p_values == alone.p_values).all()
    expected = correct(alone.p_values.reshape(-1, 1), correction).reshape(found.corrected.shape)
    assert (found.corrected == expected).all()
    low, high = np.moveaxis(found.difference_intervals, -1, 0)
    assert (((low <= 0) & (high >= 0)) == found.significant).mean() <= 0.25
    if correction == "bonferroni":
        assert found.levels == pytest.approx(0.05 / 18)
        assert found.least_p == pytest.approx(alone.least_p * 3)
        assert "18 pairs" in found.undecided
    if correction != "none":
        assert "for all measures together" in found.caption()
        assert "family: all" in found.signature


# ---------------------------------------------------------------- margins


@pytest.mark.parametrize("margin", [0.1, "20%"])
def test_equivalence_is_corrected_as_differences_are(margin: float | str) -> None:
    found = compared(margin=margin, baseline=None, margin_test="t")
    p = np.ones((6, 3))
    for row, (a, b) in enumerate(found.pairs):
        for k in range(3):
            x, y = (found.values[each, :, k] for each in (a, b))
            if margin == 0.1:
                p[row, k] = p_of_two_one_sided(x - y, 0.1)
            else:
                lower = stats.ttest_rel(x, 0.8 * y, alternative="greater").pvalue
                p[row, k] = max(lower, stats.ttest_rel(x, 1.2 * y, alternative="less").pvalue)
    assert found.equivalence_p == pytest.approx(correct(p, "holm"), rel=1e-7)
    assert found.not_worse_p is not None
    assert found.equivalence_p is not None
    assert (found.not_worse_p <= found.equivalence_p).all(), "half of it"


def test_margins_of_tests_of_all_systems_are_corrected_by_holm() -> None:
    both = [compared(margin=0.1, test=test) for test in ("tukey", "randomisation")]
    assert (both[0].equivalence_p == both[1].equivalence_p).all()


def test_what_is_not_worse_where_lower_is_better() -> None:
    runs = {
        "old": irbatch.evaluate_matrix([[1, 0, 0, 0]] * 40, "FirstRank"),
        "new": irbatch.evaluate_matrix([[0, 1, 0, 0], [0, 0, 1, 0]] * 20, "FirstRank"),
    }
    found = compare(runs, baseline="old", margin=0.5)
    assert found.not_worse_p is not None
    assert found.not_worse_p[0, 0] > 0.99
    turned = compare(runs, baseline="new", margin=0.5)
    assert turned.not_worse_p is not None
    assert turned.not_worse_p[0, 0] < 0.01


# ---------------------------------------------------------------- weighted means


def grouped(queries: int, seed: int = 3) -> dict[str, irbatch.Results]:
    """Results whose mean is weighted by how many candidates are relevant."""
    random = np.random.default_rng(seed)
    labels = random.random((queries, 7)) < random.random((queries, 1))
    return {
        name: irbatch.evaluate_scores(labels * gain + random.random(labels.shape), labels, "GAUC")
        for name, gain in (("old", 0.2), ("new", 0.8))
    }


def weights_of(results: irbatch.Results) -> np.ndarray:
    return np.asarray(results.of_queries.values[:, 1])


def test_ratios_of_sums_are_tested_by_every_exchange_of_values() -> None:
    runs = grouped(9)
    old, new = (each.values[:, 0] for each in runs.values())
    weights = weights_of(runs["old"])
    pairs = [[(Fraction(x), Fraction(y)) for x, y in ((a, b), (b, a))]
             for a, b in zip(new.tolist(), old.tolist(), strict=True)]  # fmt: skip
    whole = sum(map(Fraction, weights.tolist()))
    apart = [
        abs(sum(Fraction(w) * (x - y) for w, (x, y) in zip(weights, each, strict=True)) / whole)
        for each in itertools.product(*pairs)
    ]
    extreme = sum(each >= apart[0] - Fraction(1, 10**12) for each in apart)
    found = compare(runs)
    assert found.p_values[0, 0] == extreme / len(apart)
    assert found.means[:, 0] == pytest.approx([runs[name]["GAUC"] for name in runs], rel=1e-12)


def test_intervals_of_ratios_of_sums() -> None:
    """By the variance of a ratio estimator (Cochran 1977, section 6.4), and by its bootstrap."""
    runs = grouped(50)
    differences = (runs["new"].values - runs["old"].values)[:, 0]
    weights = weights_of(runs["old"])
    ratio = (weights * differences).sum() / weights.sum()
    squares = (weights**2 * (differences - ratio) ** 2).sum() * 50 / 49
    reach = stats.t.ppf(0.975, 49) * np.sqrt(squares) / weights.sum()
    found = compare(runs, simultaneous=False)
    assert found.difference("new", "old", "GAUC").interval == pytest.approx(
        (ratio - reach, ratio + reach), rel=1e-9
    )
    drawn = np.concatenate(list(draw_counts(50, 2000, 0)))
    means = (drawn * weights) @ differences / (drawn @ weights)
    found = compare(runs, simultaneous=False, interval="percentile", draws=2000)
    low, high = found.difference("new", "old", "GAUC").interval
    assert [low, high] == pytest.approx(np.quantile(means, [0.025, 0.975]).tolist(), rel=1e-9)
    bca = compare(runs, simultaneous=False, interval="bca", draws=2000)
    assert bca.difference("new", "old", "GAUC").interval == pytest.approx((low, high), abs=0.03)


@pytest.mark.parametrize("test", TESTS)
def test_every_test_compares_weighted_means(test: str) -> None:
    found = compare(grouped(60), test=test, draws=2000, margin="5%")
    told = found.difference("new", "old", "GAUC")
    assert told.significant
    assert told.interval[0] > 0
    assert found.not_worse_p is not None
    assert found.not_worse_p[0, 0] < 0.05
    groups = {query: "odd" if query % 2 else "even" for query in range(60)}
    parts = compare(grouped(60), test=test, draws=500, groups=groups).groups
    rows = np.arange(60) % 2 == 1
    runs = grouped(60)
    weights = weights_of(runs["new"])[rows]
    mean = (weights * runs["new"].values[rows, 0]).sum() / weights.sum()
    assert parts["odd"].means[1, 0] == pytest.approx(mean, rel=1e-12)

"""Tests of paired differences against other ways to the same p-values, and against a margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import reproducibility as twin
from oracle.paired_tests import p_of_two_one_sided, share_of_ranks, share_of_signs
from scipy import stats
from support.input_errors import input_error

from irbatch.array_types import Floats
from irbatch.statistics.agreement import effects, paired_p, rmse
from irbatch.statistics.resampling import Sample, draw_counts
from irbatch.statistics.tests import (
    TESTS,
    Margin,
    above_zero_p,
    beyond_margin,
    correct,
    ends_beyond,
    least_p,
    p_values,
    read_margin,
    share_of_flips,
    signed_ranks_p,
    tail_of_flips,
)


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
    for column in (values[1] - values[0]).T:
        least = studentised(column) * (1 - 1e-9)
        centred = column - column.mean()
        as_large = sum(studentised(np.repeat(centred, often)) >= least for often in counts)
        expected.append((as_large + 1) / 3001)
    assert p_values(sample, "bootstrap")[0].tolist() == expected


def test_variance_analysis_of_systems_that_differ_alike_on_every_query() -> None:
    queries = np.array([0.0, 0.25, 0.5, 0.125])
    values = np.stack([queries, queries + 0.5, queries])[..., None]
    assert p_values(Sample(values, [(0, 1), (0, 2)], 1, 0), "anova").tolist() == [[0.125], [1.0]]


# ---------------------------------------------------------------- one side


def one_sided(differences: np.ndarray, test: str, alternative: str) -> float:
    values = np.stack([differences, np.zeros_like(differences)])[..., None]
    return float(p_values(Sample(values, [(0, 1)], 4000, 0, alternative), test)[0, 0])


@pytest.mark.parametrize("seed", range(12))
def test_tests_of_few_queries_are_enumerated(seed: int) -> None:
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
        signs, ranks = (min(each(some), each(-some)) for each in (share_of_signs, share_of_ranks))
        assert share_of_flips(some) == pytest.approx(min(1, 2 * signs), abs=1e-15)
        assert signed_ranks_p(some) == pytest.approx(min(1, 2 * ranks), rel=1e-13)


@pytest.mark.parametrize("n", [14, 60, 300])
def test_tests_of_one_or_both_sides_are_scipys(n: int) -> None:
    some = np.random.default_rng(n).normal(0.1, 1, n)
    method = "exact" if n <= 100 else "asymptotic"
    expected = stats.wilcoxon(some, method=method).pvalue
    assert signed_ranks_p(some) == pytest.approx(expected, rel=1e-11)
    tied = np.rint(2 * some)
    expected = stats.wilcoxon(tied, method="asymptotic", zero_method="wilcox").pvalue
    tolerance = 1e-11 if np.count_nonzero(tied) > 100 else 0.25
    assert signed_ranks_p(tied) == pytest.approx(expected, rel=tolerance)
    for alternative in ("greater", "less"):
        expected = stats.ttest_1samp(some, 0, alternative=alternative).pvalue
        assert one_sided(some, "t", alternative) == pytest.approx(expected, rel=1e-9)
        assert one_sided(some, "randomisation", alternative) == pytest.approx(expected, abs=0.03)
        assert one_sided(some, "bootstrap", alternative) == pytest.approx(expected, abs=0.04)
        expected = stats.wilcoxon(some, method=method, alternative=alternative).pvalue
        assert one_sided(some, "wilcoxon", alternative) == pytest.approx(expected, rel=1e-9)


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


RANDOM = np.random.default_rng(8)


def convolved(numbers: np.ndarray) -> float:
    """Return that share for whole numbers, whose sums are counted."""
    chances = np.zeros(2 * np.abs(numbers).sum() + 1)
    middle = len(chances) // 2
    chances[middle] = 1.0
    for each in np.abs(numbers[numbers != 0]).tolist():
        chances = (np.roll(chances, each) + np.roll(chances, -each)) / 2
    total = abs(int(numbers.sum()))
    return float(chances[middle + total :].sum() + chances[: middle - total + 1].sum())


def test_no_difference_is_as_large_as_any() -> None:
    assert share_of_flips(np.zeros(5)) == 1
    assert share_of_flips(np.array([0.3, -0.3, 0.0])) == 1
    assert share_of_flips(np.array([])) == 1


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda n: RANDOM.integers(-3, 6, n), 0.02),  # as of P@10
        (lambda n: np.where(RANDOM.random(n) < 0.85, 1, -1), 0.15),  # as of Success
        (lambda n: RANDOM.integers(-40, 70, n), 0.05),
        (lambda n: np.where(RANDOM.random(n) < 0.5, RANDOM.integers(-30, 90, n), 0), 0.2),
        (lambda n: np.where(np.arange(n) % 9 == 0, 37, RANDOM.integers(-3, 5, n)), 0.35),
        (lambda n: np.append(RANDOM.integers(1, 9, n - 1), -3), 0.3),  # near the largest sum
    ],
    ids=["tenths", "signs", "hundredths", "zeros", "two sizes", "one loss"],
)
def test_tails(draw: Callable[[int], np.ndarray], most: float) -> None:
    """Down to 1e-12; the middle error is much smaller than the largest."""
    errors = []
    for _ in range(60):
        numbers = draw(int(RANDOM.integers(30, 90)))
        exact = convolved(numbers)
        if 1e-12 < exact < 0.02 and np.count_nonzero(numbers) > 24:
            (found,) = tail_of_flips(0.01 * numbers[:, None])
            errors.append(abs(found / exact - 1))
    assert len(errors) > 5
    assert max(errors) < most
    assert np.median(errors) < most / 3


def test_one_sign_is_exact() -> None:
    sizes = RANDOM.random((40, 3))
    sizes[30:, 1] = 0
    assert tail_of_flips(sizes).tolist() == [2.0**-39, 2.0**-29, 2.0**-39]
    assert tail_of_flips(-sizes).tolist() == tail_of_flips(sizes * 1e-300).tolist()


def test_draws_and_tail_meet() -> None:
    """Where draws can still tell, the approximation says the same."""
    differences = RANDOM.normal(0.42, 1, (60, 200))
    values = np.stack([differences, np.zeros_like(differences)])
    drawn = p_values(Sample(values, [(0, 1)], 40_000, 0), "randomisation")[0]
    found = tail_of_flips(differences)
    told = (drawn > 0.005) & (drawn < 0.05)
    spread = 5 * np.sqrt(drawn / 40_000)
    assert told.sum() > 30
    assert (np.abs(found - drawn)[told] < spread[told] + 0.02 * drawn[told]).all()


def test_many_pairs_that_differ_clearly_are_significant() -> None:
    """Ten thousand draws alone know no p-value that Holm's correction for 2,016 pairs leaves."""
    systems = 64
    values = RANDOM.random(60) * 0.2 + np.arange(systems)[:, None] / 100
    values += RANDOM.normal(0, 0.004, values.shape)
    pairs = [(a, b) for a in range(systems) for b in range(a)]
    p = p_values(Sample(values[..., None], pairs, 300, 0), "randomisation")
    assert (correct(p, "holm") < 0.001).all()


UP, DOWN = np.ones(3), -np.ones(3)
NEAR = np.random.default_rng(0).normal([[[0.52]], [[0.5]]], 0.1, (2, 9, 3))
A, B = NEAR


def p_of(margin: object, signs: np.ndarray = UP, test: str = "t", values: Any = NEAR) -> Any:
    beyond = beyond_margin(values, [(0, 1)], read_margin(margin), signs[: values.shape[2]])
    ends = np.tile([[-np.inf], [np.inf]], beyond.shape[2])
    vary = np.ptp(values[0] - values[1], axis=0)[None] > 0
    return above_zero_p(beyond, test, 2000, 0, ends, vary)[0]


def test_margins_are_numbers_and_shares() -> None:
    assert read_margin(0.01) == Margin(0.01, False)
    assert read_margin("2.5 %") == Margin(0.025, True)
    assert [str(read_margin(each)) for each in (0.01, "1%")] == ["0.01", "1%"]


@pytest.mark.parametrize("margin", [0, -1, np.nan, np.inf, True, None, "1", "0%", "100%", "-1%",
                                    "x%", "", [1], "1e-3%", "nan%"], ids=repr)  # fmt: skip
def test_what_is_no_margin(margin: object) -> None:
    input_error(lambda: read_margin(margin), "margin=", value=margin)


@pytest.mark.parametrize("margin", [0.02, 0.1])
def test_not_worse_is_a_one_sided_test_at_the_margin(margin: float) -> None:
    expected = stats.ttest_1samp(A - B, -margin, alternative="greater").pvalue
    assert p_of(margin) == pytest.approx(expected, rel=1e-7)
    expected = stats.ttest_1samp(A - B, margin, alternative="less").pvalue
    assert p_of(margin, DOWN) == pytest.approx(expected, rel=1e-7)
    both = np.maximum(p_of(margin), p_of(margin, DOWN))
    for k in range(3):
        assert both[k] == pytest.approx(p_of_two_one_sided(A[:, k] - B[:, k], margin), rel=1e-7)


def test_equivalence_is_statsmodels() -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    for k in range(3):
        expected = weightstats.ttost_paired(A[:, k], B[:, k], -0.05, 0.05)[0]
        assert max(p_of(0.05)[k], p_of(0.05, DOWN)[k]) == pytest.approx(expected, rel=1e-7)


def test_a_relative_margin_is_a_share_of_what_may_vary_itself() -> None:
    expected = stats.ttest_rel(A, 0.9 * B, alternative="greater").pvalue
    assert p_of("10%") == pytest.approx(expected, rel=1e-7)
    expected = stats.ttest_rel(A, 1.1 * B, alternative="less").pvalue
    assert p_of("10%", DOWN) == pytest.approx(expected, rel=1e-7)


def test_signs_are_flipped_around_the_margin() -> None:
    for k in range(3):
        one = share_of_signs(A[:, k] - B[:, k] + 0.02)
        assert p_of(0.02, test="randomisation")[k] == pytest.approx(one, abs=1e-12)
        other = share_of_signs(1.1 * B[:, k] - A[:, k])
        assert p_of("10%", DOWN, "randomisation")[k] == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_as_much_as_the_margin_is_not_within(test: str) -> None:
    """However decimal fractions are rounded."""
    values = np.stack([np.full((12, 3), [0.1, 0.35, 0.3]), np.full((12, 3), [0.2, 0.4, 0.4])])
    assert p_of(0.1, test=test, values=values).tolist() == [1, 1, 1], (
        "the second for want of spread"
    )
    values[0, ::2, 1] += 0.01
    assert p_of(0.1, test=test, values=values).tolist()[1] < 0.001
    b = np.random.default_rng(1).random((12, 3))
    assert p_of("10%", test=test, values=np.stack([0.9 * b, b])).tolist() == [1, 1, 1]


def test_a_mean_below_zero_has_no_share() -> None:
    input_error(lambda: p_of("1%", values=-NEAR), "no share", source="margin", value="1%")
    assert p_of(0.1, values=-NEAR).size == 3


def test_ends_are_those_of_all_values() -> None:
    """Of every corner of the range of two values."""
    ranges = np.array([[0.0, -1.0], [1.0, 2.0]])
    for signs in (np.ones(2), -np.ones(2)):
        for text in (0.1, "10%"):
            margin = read_margin(text)
            low, high = ends_beyond(ranges, margin, signs)
            for k, (least, most) in enumerate(ranges.T):
                of = margin.amount if margin.relative else 0.0
                plus = 0.0 if margin.relative else margin.amount
                corners = [signs[k] * (a - b) + of * b + plus for a in (least, most)
                           for b in (least, most)]  # fmt: skip
                assert [low[k], high[k]] == pytest.approx([min(corners), max(corners)])


def bounded_p(a: np.ndarray, b: np.ndarray, margin: object) -> Any:
    """p-values of ``(queries, columns)`` between 0 and 1."""
    columns = a.shape[1]
    read, signs = read_margin(margin), np.ones(columns)
    beyond = beyond_margin(np.stack([a, b]), [(0, 1)], read, signs)
    ends = ends_beyond(np.tile([[0.0], [1.0]], columns), read, signs)
    return above_zero_p(beyond, "bounded", 0, 0, ends, np.ptp(a - b, axis=0)[None] > 0)[0]


@pytest.mark.parametrize("queries", [2, 5, 10, 20, 50, 200])
@pytest.mark.parametrize(("share", "loss"), [(0.1, 0.2), (0.02, 1), (0.5, 0.04)])
def test_losses_that_were_not_seen_are_counted_on(queries: int, share: float, loss: float) -> None:
    """A candidate that is worse by the margin, 0.02 or 4% of a mean of 0.5, is rarely let pass."""
    random = np.random.default_rng(queries)
    b = np.where(random.random((queries, 3_000)) < 0.5, 1.0, 0.0) if loss == 1 else 0.5
    b = np.broadcast_to(b, (queries, 3_000))
    lost = random.random(b.shape) < (share * 2 if loss == 1 else share)
    a = np.where(lost & (b > 0), b - loss, b)
    for margin in (0.02, "4%"):
        assert (bounded_p(a, b, margin) <= 0.05).mean() <= 0.066


def test_identical_runs_pass_from_enough_queries_on() -> None:
    for queries, passes in ((2, False), (300, False), (368, True)):
        same = np.full((queries, 1), 0.5)
        assert (bounded_p(same, same, 0.01)[0] <= 0.05) == passes


def test_measures_without_a_range_take_thirty_queries_and_some_spread() -> None:
    random = np.random.default_rng(2)
    for queries, spread, passes in ((29, 1, False), (30, 1, True), (30, 0, False)):
        b = np.full((queries, 1), 8.0)
        values = np.stack([b + spread * random.random(b.shape), b])
        assert (p_of(0.5, test="bounded", values=values)[0] <= 0.05) == passes


@pytest.mark.parametrize("margin", [0.1, "10%"])
@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_at_the_margin_one_in_twenty_is_let_pass(test: str, margin: object) -> None:
    random = np.random.default_rng(5)
    b = random.normal(0.5, 0.1, (1, 60, 2000))
    a = b - (0.1 if margin == 0.1 else 0.1 * 0.5) + random.normal(0, 0.1, b.shape)
    p = p_of(margin, np.ones(2000), test, np.concatenate([a, b]))
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.015)


# ---------------------------------------------------------------- reproduced values


def some_values(seed: int, queries: int) -> Floats:
    """Values of a measure, in quarters as measures have them, and of another without ties."""
    draw = np.random.default_rng(seed)
    return np.stack([draw.integers(0, 5, queries) / 4, draw.random(queries)], axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_errors_and_effects_are_the_twin_s(seed: int) -> None:
    first, second, third, fourth = (some_values(4 * seed + k, 5 + seed) for k in range(4))
    second += 0.125  # the advanced run: of no effect there is no ratio
    means = np.array([[first.mean(axis=0), second.mean(axis=0)],
                      [third.mean(axis=0), fourth.mean(axis=0)]])  # fmt: skip
    for k in range(2):
        columns = [each[:, k].tolist() for each in (first, second, third, fourth)]
        original, reproduced = (columns[0], columns[1]), (columns[2], columns[3])
        assert rmse(first, second)[k] == pytest.approx(twin.rmse(*original), rel=1e-13)
        ratio = twin.effect_ratio(original, reproduced)
        change = twin.delta_relative_improvement(original, reproduced)
        assert effects(*means)[:, k] == pytest.approx([ratio, change], rel=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_those_of_scipy(seed: int) -> None:
    first, second = some_values(seed, 9), some_values(50 + seed, 9)
    assert paired_p(first, second) == pytest.approx(
        stats.ttest_rel(first, second).pvalue, rel=1e-11
    )


def test_what_has_no_spread_or_no_effect() -> None:
    values = np.array([[0.3], [0.8], [0.1]])
    assert paired_p(values, values).tolist() == [1.0]
    assert paired_p(values, values - 0.1).tolist() == [0.0], "the same decimal difference"
    means = np.array([[0.5, 0.0], [0.5, 0.25]])
    assert math.isnan(effects(means, means + 1.0)[0, 0])
    assert math.isnan(effects(means, means)[1, 1]), "the baseline is 0"

"""Tests against margins: SciPy's and statsmodels' t-tests, enumeration, and what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle.paired_tests import p_of_two_one_sided, share_of_signs
from support.input_errors import input_error

from irbatch.statistics.tests import Margin, above_zero_p, beyond_margin, read_margin

stats = pytest.importorskip("scipy.stats")
UP, DOWN = np.ones(3), -np.ones(3)
VALUES = np.random.default_rng(0).normal([[[0.52]], [[0.5]]], 0.1, (2, 9, 3))
A, B = VALUES


def p_of(margin: object, signs: np.ndarray = UP, test: str = "t", values: Any = VALUES) -> Any:
    beyond = beyond_margin(values, [(0, 1)], read_margin(margin), signs[: values.shape[2]])
    return above_zero_p(beyond, test, 2000, 0)[0]


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
    assert p_of(0.1, test=test, values=values).tolist()[0] == 1
    assert p_of(0.1, test=test, values=values).tolist()[2] == 1
    assert p_of(0.1, test=test, values=values).tolist()[1] < 0.001
    b = np.random.default_rng(1).random((12, 3))
    assert p_of("10%", test=test, values=np.stack([0.9 * b, b])).tolist() == [1, 1, 1]


def test_a_mean_below_zero_has_no_share() -> None:
    input_error(lambda: p_of("1%", values=-VALUES), "no share", source="margin", value="1%")
    assert p_of(0.1, values=-VALUES).size == 3


@pytest.mark.parametrize("margin", [0.1, "10%"])
@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_at_the_margin_one_in_twenty_is_let_pass(test: str, margin: object) -> None:
    random = np.random.default_rng(5)
    b = random.normal(0.5, 0.1, (1, 60, 2000))
    a = b - (0.1 if margin == 0.1 else 0.1 * 0.5) + random.normal(0, 0.1, b.shape)
    p = p_of(margin, np.ones(2000), test, np.concatenate([a, b]))
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.015)

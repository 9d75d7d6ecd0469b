"""Ranks of values that a quantile lies between: against the binomial distribution in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle.leaderboard import binomial_weights
from oracle.leaderboard import quantile_ranks as expected_ranks

from irbatch.statistics.intervals import quantile_ranks


@pytest.mark.parametrize("level", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_ranks_are_the_twins(percent: int, level: float) -> None:
    for n in (*range(1, 40), 71, 72, 367, 368, 526):
        expected = expected_ranks(n, Fraction(percent, 100), Fraction(level))
        assert quantile_ranks(n, percent / 100, level) == expected, n


@pytest.mark.parametrize(("percent", "least"), [(50, 6), (90, 36), (95, 72), (99, 368)])
def test_the_least_number_of_values(percent: int, least: int) -> None:
    assert quantile_ranks(least - 1, percent / 100, 0.05) is None
    assert quantile_ranks(least, percent / 100, 0.05) is not None


def test_a_chance_of_the_tail_itself_is_within() -> None:
    assert quantile_ranks(2, 0.5, 0.5) == (1, 2), "0.25 to either side"


@pytest.mark.parametrize(("n", "percent"), [(50, 90), (100, 95), (400, 99)])
def test_coverage_is_what_is_said(n: int, percent: int) -> None:
    lower, upper = quantile_ranks(n, percent / 100, 0.05) or (0, 0)
    weights = binomial_weights(n, Fraction(percent, 100))
    assert 0.95 <= Fraction(sum(weights[lower:upper]), sum(weights)) <= 0.99


@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_the_quantile_of_the_values_lies_between(percent: int) -> None:
    for n in range(1, 1500, 7):
        for level in (0.05, 0.5):
            ranks = quantile_ranks(n, percent / 100, level)
            if ranks is not None:
                assert ranks[0] <= 1 + percent / 100 * (n - 1) <= ranks[1], (n, level)


def test_many_values() -> None:
    lower, upper = quantile_ranks(1_000_000, 0.99, 0.05) or (0, 0)
    assert lower == pytest.approx(990_000 - 1.96 * 99.5, abs=2)
    assert upper == pytest.approx(990_001 + 1.96 * 99.5, abs=2)

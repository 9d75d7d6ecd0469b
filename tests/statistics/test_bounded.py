"""Tests and bounds of means of bounded values, against fractions and against what they promise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from irbatch.statistics.bounded import above_zero_bounded_p, bounded_intervals, least_queries

RNG = np.random.default_rng(7)
LEVEL = 0.05


def exact_p(values: list[float], lowest: float, highest: float) -> float:
    """The definition: one over the capital of a half on the largest stake, a tenth on five more."""
    most = -1 / lowest
    least = min(5 / ((highest - lowest) * len(values) ** 0.5), most)
    capital = Fraction(0)
    for i in range(6):
        product = Fraction(1, 10) if i else Fraction(1, 2)
        for value in values:
            product *= 1 + Fraction(value) * Fraction(most * (least / most) ** (i / 5))
        capital += product
    return float(min(Fraction(1), 1 / capital)) if capital > 0 else 1.0


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_p_is_the_definition(n: int) -> None:
    lowest, highest = -RNG.uniform(0.1, 2, 5), RNG.uniform(0.1, 2, 5)
    values = RNG.uniform(lowest, highest, (n, 5))
    expected = [exact_p(values[:, k].tolist(), lowest[k], highest[k]) for k in range(5)]
    assert above_zero_bounded_p(values, lowest, highest) == pytest.approx(expected, rel=1e-12)


def test_all_stakes_can_be_lost() -> None:
    ends = np.array([-0.5]), np.array([9.0])
    assert above_zero_bounded_p(np.array([[-0.5], [9.0]]), *ends).item() > 0.1
    assert above_zero_bounded_p(np.full((50, 1), -0.5), *ends) == 1
    assert above_zero_bounded_p(np.array([[np.nan], [1.0]]), *ends) == 1


@pytest.mark.parametrize("margin", [0.5, 0.05, 0.01])
def test_so_many_queries_without_a_loss_are_enough(margin: float) -> None:
    least = least_queries(margin, margin - 1, LEVEL)
    ends = np.array([margin - 1]), np.array([margin + 1])
    assert above_zero_bounded_p(np.full((least, 1), margin), *ends) <= LEVEL
    assert least <= 3.8 / margin  # the rule of three, and what the other stakes cost


def losses(share: float, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two values with their chances: most queries win what a few lose."""
    return np.array([-loss, share * loss / (1 - share)]), np.array([share, 1 - share])


@pytest.mark.parametrize("n", [2, 5, 10, 20, 50, 200])
@pytest.mark.parametrize(("share", "loss"), [(0.01, 1), (0.05, 0.4), (0.1, 0.4), (0.5, 0.5)])
def test_a_mean_of_zero_is_rarely_called_positive(n: int, share: float, loss: float) -> None:
    values, chances = losses(share, loss)
    drawn = RNG.choice(values, (n, 4_000), p=chances)
    p = above_zero_bounded_p(drawn, np.full(4_000, -1.0), np.ones(4_000))
    # The share of 4,000 columns: within four standard errors of the level, or below it.
    assert (p <= LEVEL).mean() <= LEVEL + 4 * (LEVEL * (1 - LEVEL) / 4_000) ** 0.5


@pytest.mark.parametrize("n", [3, 20, 120])
def test_intervals_hold(n: int) -> None:
    values = (RNG.random((n, 2_000)) < 0.9).astype(float)
    low, high = bounded_intervals(values, np.zeros(2_000), np.ones(2_000), 2 * LEVEL).T
    assert (low <= values.mean(axis=0)).all()
    assert (values.mean(axis=0) <= high).all()
    assert (low > 0.9).mean() <= LEVEL
    assert (high < 0.9).mean() <= LEVEL


def test_intervals_end_where_the_test_turns() -> None:
    values = RNG.random((40, 3))
    low, high = bounded_intervals(values, np.zeros(3), np.ones(3), 2 * LEVEL).T
    for step, rejected in ((-1e-9, True), (1e-9, False)):
        least = low + step
        p = above_zero_bounded_p(values - least, -least, 1 - least)
        assert ((p <= LEVEL) == rejected).all()
        most = high - step
        p = above_zero_bounded_p(most - values, most - 1, most)
        assert ((p <= LEVEL) == rejected).all()


def test_intervals_close_in() -> None:
    values = RNG.beta(5, 5, (7_000, 1))
    low, _ = bounded_intervals(values, np.zeros(1), np.ones(1), 0.05)[0]
    error = values.std() / 7_000**0.5
    assert 1.96 < (values.mean() - low) / error < 3.5

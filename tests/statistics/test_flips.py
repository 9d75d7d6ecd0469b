"""Randomisation without draws, against enumeration and exact convolution."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from irbatch.statistics.resampling import Sample
from irbatch.statistics.tests import correct, p_values, share_of_flips, tail_of_flips

RANDOM = np.random.default_rng(8)


def enumerated(differences: np.ndarray) -> float:
    """Return the share of assignments of signs whose sum is as large, one by one."""
    sums = np.array([abs(math.fsum(np.array(signs) * differences))
                     for signs in itertools.product((1, -1), repeat=differences.size)])  # fmt: skip
    return float((sums >= abs(math.fsum(differences)) - 1e-11).mean())


def convolved(numbers: np.ndarray) -> float:
    """Return that share for whole numbers, whose sums are counted."""
    chances = np.zeros(2 * np.abs(numbers).sum() + 1)
    middle = len(chances) // 2
    chances[middle] = 1.0
    for each in np.abs(numbers[numbers != 0]).tolist():
        chances = (np.roll(chances, each) + np.roll(chances, -each)) / 2
    total = abs(int(numbers.sum()))
    return float(chances[middle + total :].sum() + chances[: middle - total + 1].sum())


@pytest.mark.parametrize("seed", range(40))
def test_all_signs(seed: int) -> None:
    """With ties, zeros, no difference at all, and one query."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 11))
    tenths = random.integers(-4, 6, n) * 0.1
    numbers = random.normal(0.2, 1, n) * (random.random(n) < 0.8)
    for differences in (tenths, numbers):
        assert share_of_flips(differences) == enumerated(differences)


@pytest.mark.parametrize("queries", [1, 2, 15, 24])
def test_of_equal_differences_two_sums_are_the_largest(queries: int) -> None:
    assert share_of_flips(np.ones(queries)) == 2.0 ** (1 - queries)


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

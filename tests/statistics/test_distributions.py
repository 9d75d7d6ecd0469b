"""Tails and quantiles against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from irbatch.statistics.intervals import (
    normal_tail,
    student_quantile,
    student_tails,
)

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 1000, 6979])
def test_student_s_quantiles(freedom: int) -> None:
    for tail in (0.5, 0.4, 0.05, 0.025, 1e-4, 1e-9):
        expected = -special.stdtrit(freedom, tail)
        assert student_quantile(tail, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 99, 100, 101, 6979, 10**6])
def test_student_of_arrays(freedom: int) -> None:
    """From the smallest to the largest, where the one-by-one form has lost digits."""
    t = np.array([0.0, 1e-9, 1e-4, 0.3, 1.0, 3.0, 6.0, 37.0, 1e4, 1e10])
    t = np.concatenate([t, -t]).reshape(2, -1)
    expected = special.stdtr(freedom, -t)
    if freedom == 1:  # Cauchy's distribution, of which SciPy has nine digits here and there
        expected = np.arctan2(1, t) / np.pi
    found = student_tails(t, freedom)
    shown = expected > 1e-290
    assert found[shown] == pytest.approx(expected[shown], rel=1e-9 if freedom > 10**5 else 1e-11)
    assert (found[~shown] < 1e-290).all()
    assert found.ravel().tolist() == [float(student_tails(each, freedom)) for each in t.ravel()]
    ends = student_tails(np.array([np.inf, -np.inf, np.nan]), freedom)
    assert ends == pytest.approx([0.0, 1.0, np.nan], abs=1e-100, nan_ok=True)


def test_normal() -> None:
    z = np.array([[0.0, 1.0], [3.0, 37.0]])
    assert normal_tail(z) == pytest.approx(special.ndtr(-z), rel=1e-14)

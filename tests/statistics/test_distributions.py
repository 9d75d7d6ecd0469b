"""Tails and quantiles against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from irbatch.statistics.distributions import normal_tail, student_quantile, student_tail

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 1000, 6979])
def test_student(freedom: int) -> None:
    for t in (0.0, 0.01, 0.5, 1.0, 2.5, 6.0, 40.0):
        assert student_tail(t, freedom) == pytest.approx(special.stdtr(freedom, -t), rel=1e-10)
    for tail in (0.5, 0.4, 0.05, 0.025, 1e-4, 1e-9):
        expected = -special.stdtrit(freedom, tail)
        assert student_quantile(tail, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_normal() -> None:
    z = np.array([[0.0, 1.0], [3.0, 37.0]])
    assert normal_tail(z) == pytest.approx(special.ndtr(-z), rel=1e-14)

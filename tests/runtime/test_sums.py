"""Sums that are exact in any order, from parts, and rounded once."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from irbatch.runtime.sums import LIMBS, MANY, add_up, exact_mean, exact_sum, round_sum

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
    st.sampled_from([5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1e308, 0.0, -0.0]),
)


@settings(max_examples=300, derandomize=True)
@given(st.lists(NUMBERS, max_size=30), st.integers(0, 30))
def test_parts_add_up_to_the_rounded_sum(values: list[float], cut: int) -> None:
    column = np.array(values, np.float64).reshape(-1, 1)
    limbs = add_up(column[:cut]) + add_up(column[cut:])
    try:
        expected = math.fsum(values)
    except OverflowError:  # on the way, or in the end
        return
    assert round_sum(limbs[0]) == expected


def test_beyond_float64() -> None:
    assert round_sum(add_up(np.full((4, 1), 1e308))[0]) == math.inf
    assert round_sum(add_up(np.full((4, 1), -1e308))[0]) == -math.inf
    assert round_sum(add_up(np.array([[1e308], [1e308], [-1e308]]))[0]) == 1e308


def test_columns_apart_and_nan_left_out() -> None:
    limbs = add_up(np.array([[0.1, np.nan], [0.2, 3.0]]))
    assert limbs.shape == (2, LIMBS)
    assert [round_sum(each) for each in limbs] == [math.fsum([0.1, 0.2]), 3.0]
    assert not add_up(np.empty((0, 3))).any()


def test_of_few_and_of_many_alike() -> None:
    rng = np.random.default_rng(3)
    for size in (1, MANY - 1, MANY, 3 * MANY):
        values = rng.normal(size=size) * 10.0 ** rng.integers(-300, 300, size)
        assert exact_sum(values) == math.fsum(values)
        assert exact_mean(values[::-1]) == math.fsum(values) / size
        huge = np.full(size, 1e308)
        assert exact_mean(huge) == 1e308
        assert exact_sum(np.append(huge, 1e308)) == math.inf
        assert exact_sum(np.append(values, math.inf)) == math.inf

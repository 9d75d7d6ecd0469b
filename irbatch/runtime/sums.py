"""Sums of float64 that are exact whatever the order, in a state that adds up as whole numbers do.

A float64 is a whole number times 2^-1074. Written to base 2^32 it is a few limbs, and limbs add up
one by one, in any order and on any number of processes, until the sum is rounded. The limbs reach
from 2^-1074 to 2^1024, with room to carry; one holds the sums of 2^31 values and more.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from irbatch.array_types import Floats, Ints, Ints2
from irbatch.runtime.kernels import as_input, kernel

LIMBS = 67
BITS = 32
SMALLEST = 1074  # float64 are multiples of 2 to the minus this
MANTISSA = 52  # bits of a float64, below those of its exponent and its sign
INFINITE = 2047 << MANTISSA  # the bits of infinity; those of NaN are more, but for the sign
NO_SIGN = 2**63 - 1
MANY = 512  # values that `math.fsum` takes longer to sum


def exact_mean(values: Floats) -> float:
    """Return the exactly rounded sum of ``(n,)`` over their number, also beyond float64."""
    total = exact_sum(values)
    if math.isfinite(total) or not np.isfinite(values).all():
        return total / values.size
    return round_sum(add_up(values[:, None])[0], values.size)


def exact_sum(values: Floats) -> float:
    """Return the exactly rounded sum of float64 ``(n,)``; infinite where it is beyond that."""
    if values.size < MANY or not np.isfinite(values).all():
        with suppress(OverflowError):  # on the way, or in the end
            return math.fsum(values.data)
    return round_sum(add_up(values[:, None])[0])


def add_up(values: Floats) -> Ints:
    """Sum each column exactly.

    Args:
        values: float64 ``(n, columns)``, finite; NaN is left out.

    Returns:
        int64 ``(columns, LIMBS)``; such sums may be added to each other.

    >>> round_sum(add_up(np.array([[1e300], [1.0], [-1e300]]))[0])
    1.0
    """
    limbs = np.zeros((values.shape[1], LIMBS), np.int64)
    _add_limbs.run(10 * values.size, as_input(values).view(np.int64), limbs)
    return limbs


@kernel
def _add_limbs(bits: Ints2, limbs: Ints2) -> None:
    """Add numbers, as their bits are, to the limbs of their columns."""
    low = (1 << BITS) - 1
    for row in range(bits.shape[0]):
        for column in range(bits.shape[1]):
            size = bits[row, column] & NO_SIGN
            if size == 0 or size >= INFINITE:
                continue
            sign = -1 if bits[row, column] < 0 else 1
            exponent, whole = size >> MANTISSA, size & ((1 << MANTISSA) - 1)
            if exponent > 0:
                exponent, whole = exponent - 1, whole | 1 << MANTISSA
            limb, shift = exponent // BITS, exponent % BITS
            for part in range(2):
                moved = (whole >> part * BITS & low) << shift  # 32 bits by less than 32
                limbs[column, limb + part] += sign * (moved & low)
                limbs[column, limb + part + 1] += sign * (moved >> BITS)


def round_sum(limbs: Ints, divisor: int = 1) -> float:
    """Round a sum, or a part of it, to float64, once; infinite where it is beyond float64."""
    total = sum(limb << (BITS * i) for i, limb in enumerate(limbs.tolist()))
    try:
        return float(total / (divisor << SMALLEST))  # of whole numbers: rounded once
    except OverflowError:
        return math.inf if total > 0 else -math.inf

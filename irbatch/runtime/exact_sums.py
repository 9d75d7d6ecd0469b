"""Sums of float64 that are exact whatever the order, in a state that adds up as whole numbers do.

A float64 is a whole number times 2^-1074. Written to base 2^32 it is a few limbs, and limbs add up
one by one, in any order and on any number of processes, until the sum is rounded.
"""

from __future__ import annotations

import math

import numpy as np

from irbatch.array_types import Floats, Ints

# 2^-1074 to 2^1024, and room to carry. A limb holds the sums of 2^31 values and more.
LIMBS = 67
BITS = 32
SMALLEST = 1074  # float64 are multiples of 2 to the minus this
MANTISSA = 53


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
    rows, columns = np.nonzero(values)  # NaN among them
    found = values[rows, columns]
    kept = ~np.isnan(found)
    found, columns = found[kept], columns[kept]
    fractions, exponents = np.frexp(np.abs(found))
    whole = np.ldexp(fractions, MANTISSA).astype(np.int64)
    places = exponents.astype(np.int64) - MANTISSA + SMALLEST
    low = places < 0  # numbers so small that they have fewer bits
    whole[low] >>= -places[low]
    limb, shift = np.divmod(np.maximum(places, 0), BITS)
    sign = np.where(found < 0, -1, 1)
    mask = (1 << BITS) - 1
    for part, at in ((whole & mask, limb), (whole >> BITS, limb + 1)):
        moved = part << shift  # 32 bits moved by less than 32
        np.add.at(limbs, (columns, at), sign * (moved & mask))
        np.add.at(limbs, (columns, at + 1), sign * (moved >> BITS))
    return limbs


def round_sum(limbs: Ints, divisor: int = 1) -> float:
    """Round a sum, or a part of it, to float64, once; infinite where it is beyond float64."""
    total = sum(limb << (BITS * i) for i, limb in enumerate(limbs.tolist()))
    try:
        return float(total / (divisor << SMALLEST))  # of whole numbers: rounded once
    except OverflowError:
        return math.inf if total > 0 else -math.inf

"""What formulas share: arrays, the one rule for division, and logarithms of the C library."""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Floats
from irbatch.measures.define import define_measure

builtin = functools.partial(define_measure, builtin=True)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with 0 where the denominator is 0: nothing retrieved, or nothing to retrieve."""
    nothing = denominator == 0
    quotient: Floats = np.where(nothing, 0.0, numerator / np.where(nothing, 1.0, denominator))
    return quotient


def logarithm(values: Floats) -> Floats:
    """Take natural logarithms with `math.log`: NumPy's may differ from C's in the last bit."""
    return np.array([math.log(each) for each in values.ravel().tolist()]).reshape(values.shape)

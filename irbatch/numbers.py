"""Reading Python numbers into float64 as fast as CPython can, and refusing what is none."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

__all__ = ["NUMBER_ERRORS", "as_floats", "is_number"]

# What `as_floats` raises for values that are no float64 numbers.
NUMBER_ERRORS = (struct.error, OverflowError, TypeError, ValueError)


@functools.lru_cache(maxsize=4096)
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(f"{count}d").pack


def as_floats(values: Collection[object]) -> npt.NDArray[np.float64]:
    """Convert a collection of real numbers: float64 ``(n,)``, read-only.

    `struct` takes whatever is a real number (ints, floats, NumPy scalars) and refuses text and
    None, where NumPy's own conversions would parse the one and make NaN of the other. Called with
    one starred argument it is also the fastest: the values are collected once, in a tuple.

    Raises:
        one of `NUMBER_ERRORS`.
    """
    return np.frombuffer(_packer(len(values))(*values))


def is_number(value: object) -> bool:
    """Tell whether `as_floats` would take a value."""
    try:
        struct.pack("d", value)
    except NUMBER_ERRORS:
        return False
    return True

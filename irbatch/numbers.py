"""Reading Python numbers into float64 as fast as CPython can, and refusing what is none."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["NUMBER_ERRORS", "fill", "is_number"]

# What `fill` raises for values that are no float64 numbers.
NUMBER_ERRORS = (struct.error, OverflowError, TypeError, ValueError)


@functools.lru_cache(maxsize=4096)
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(f"{count}d").pack


def fill(target: npt.NDArray[np.float64], start: int, stop: int, values: Iterable[object]) -> None:
    """Write real numbers into ``target[start:stop]``.

    `struct` takes whatever is a real number (ints, floats, NumPy scalars) and refuses text and
    None, where NumPy's own conversions would parse the one and make NaN of the other. It is also
    the fastest (benchmarks/test_dicts.py).

    Raises:
        one of `NUMBER_ERRORS`.
    """
    target[start:stop] = np.frombuffer(_packer(stop - start)(*values))


def is_number(value: object) -> bool:
    """Tell whether `fill` would take a value."""
    try:
        struct.pack("d", value)
    except NUMBER_ERRORS:
        return False
    return True

"""Telling what is a number, and reading Python numbers into float64 as fast as CPython can."""

from __future__ import annotations

import functools
import math
import struct
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats
from irbatch.errors import shown

# What `as_floats` raises for values that float64 cannot stand for; NumPy only warns of some.
NUMBER_ERRORS = (struct.error, OverflowError, TypeError, ValueError, Warning)

# How a decimal number is written, as a regular expression: ASCII digits alone. Digits match in one
# way only: time is linear where what follows them does not match.
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

LARGEST_WHOLE = 2**53  # above it float64 no longer tells neighbouring whole numbers apart


@functools.lru_cache(maxsize=4096)
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(f"{count}d").pack


def pack_floats(values: Collection[object]) -> bytes:
    """Convert a collection of real numbers to the bytes of a float64 array.

    `struct` takes whatever is a real number (ints, floats, NumPy scalars) and refuses text and
    None, where NumPy's own conversions would parse the one and make NaN of the other; it then
    raises one of `NUMBER_ERRORS`. With one starred argument it is also the fastest.
    """
    return _packer(len(values))(*values)


def as_floats(values: Collection[object]) -> Floats:
    """Convert a collection of real numbers: float64 ``(n,)``, read-only.

    Raises:
        One of `NUMBER_ERRORS`: if a value is not a real number.
    """
    return np.frombuffer(pack_floats(values))


def exact_mean(values: Sequence[float]) -> float:
    """Return the exactly rounded mean, also where the sum is beyond float64."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # of the sum, not of the mean
        return math.fsum(value / len(values) for value in values)


def is_real(value: object) -> TypeGuard[float]:
    """Tell real numbers of Python and NumPy from all else, truth values too."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whole numbers of Python and NumPy from all else, truth values too."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell what float64 can stand for from all else: no NaN, truth values or text."""
    return not isinstance(value, bool) and number_problem(value) is None


def number_problem(value: object) -> str | None:
    """Say why a value is not a real number: ``'abc' is not a number``; None if it is one."""
    if isinstance(value, int) and value.bit_length() > 1024:
        # Python refuses to print numbers of more than a few thousand digits.
        digits = repr(value) if value.bit_length() < 10_000 else f"of {value.bit_length()} bits"
        return f"{digits} overflows float64"
    try:
        if isinstance(value, int | float | np.integer | np.floating):
            number = float(value)
        else:
            with warnings.catch_warnings():  # which makes Python show again what it has shown
                warnings.simplefilter("ignore")  # NumPy warns of masked values: they become NaN
                (number,) = struct.unpack("d", struct.pack("d", value))
    except NUMBER_ERRORS:
        number = math.nan
    is_other = isinstance(value, np.complexfloating) or (
        isinstance(value, np.ndarray) and value.ndim
    )
    if math.isnan(number) or is_other:
        return f"{shown(value)} is not a number"
    return None


def grade_problem(value: object) -> str | None:
    """Say why a value is not a grade: it is not a number, or beyond 2^53; None if it is one."""
    problem = number_problem(value)
    if problem is None and abs(value if is_whole(value) else float(value)) > LARGEST_WHOLE:  # type: ignore[arg-type]
        return f"{shown(value)} is beyond 2^53, where grades are no longer exact"
    return problem


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distinct numbers of an array without NaN, ascending.

    As `numpy.unique`, whose first call imports numpy.ma, which takes longer than small evaluations.
    """
    ordered = np.sort(values, axis=None)
    is_new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]

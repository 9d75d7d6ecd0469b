"""The arguments of a kernel, laid out for machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Arguments(NamedTuple):
    """A kernel's arguments as an entry takes them.

    Kinds are ``int``, ``float`` or ``bool`` of a number; of an array its data type and dimensions,
    negative if it is not contiguous; of a named tuple its class, its fields' kinds, and None.
    """

    kinds: tuple[Any, ...]
    numbers: list[Any]  # of each number and array: the number, the address of the array's object
    given: Sequence[Any]  # the arguments themselves, which keep the arrays alive


def flatten(given: Sequence[Any]) -> Arguments:
    """Lay arguments out for an entry.

    Raises:
        TypeError: if one is of a type that no entry takes.
    """
    kinds: list[Any] = []
    numbers: list[Any] = []
    _flatten(given, kinds, numbers)
    return Arguments(tuple(kinds), numbers, given)


def _flatten(given: Sequence[Any], kinds: list[Any], numbers: list[Any]) -> None:
    for value in given:
        kind = type(value)
        if kind is np.ndarray:
            flags = value.flags
            if flags.carray:  # contiguous and aligned, as most are
                kinds += value.dtype, value.ndim
            elif flags.aligned:
                kinds += value.dtype, value.ndim if flags.c_contiguous else -value.ndim
            else:
                raise TypeError("arrays of kernels are aligned")
            numbers.append(id(value))
        elif kind is int or kind is float or kind is bool:
            kinds.append(kind)
            numbers.append(value)
        elif isinstance(value, np.generic):
            _flatten((value.item(),), kinds, numbers)
        elif hasattr(kind, "_fields"):
            kinds.append(kind)
            _flatten(value, kinds, numbers)
            kinds.append(None)
        else:
            raise TypeError(f"kernels take no {kind.__name__}")


def is_number(kind: Any) -> bool:
    """Tell whether a part of `Arguments.kinds` stands for a number: an array's data type does."""
    return kind is int or kind is float or kind is bool or isinstance(kind, np.dtype)

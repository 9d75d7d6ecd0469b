"""Weights of axes, and what goes with them: checked, and as shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import is_number, is_real

__all__ = ["check_cutoff", "check_offsets", "check_weights"]


def check_weights(weights: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return shares that add up to 1, one an axis.

    Raises:
        InputError: naming the axis of a weight that is negative or no finite number; when none is
            above 0; for an axis that there is not.
    """
    if not isinstance(weights, Mapping):
        raise InputError(f"weights go from axes to numbers, not {shown(weights)}",
                         source="weights", value=weights)  # fmt: skip
    for axis, weight in weights.items():
        if axis not in axes:
            raise InputError(f"there is no axis {shown(axis)} in {', '.join(axes)}",
                             source="weights", value=axis)  # fmt: skip
        if not is_number(weight) or not 0 <= weight < math.inf:
            raise InputError(f"the weight of {axis} is {shown(weight)}, which is no number from 0 "
                             "on", source="weights", value=weight)  # fmt: skip
    given = np.array([float(weights.get(axis, 0.0)) for axis in axes])
    if not given.any():
        raise InputError("no weight is above 0", source="weights", value=weights)
    given /= given.max()  # the sum of huge ones is beyond float64
    return given / math.fsum(given.tolist())


def check_cutoff(cutoff: object) -> None:
    """Check the share of the highest performance below which there is no difference.

    Raises:
        InputError: for what is no number from 0 to less than 1.
    """
    if not is_real(cutoff) or not 0 <= cutoff < 1:
        raise InputError(f"cutoff={shown(cutoff)} must be a number from 0 to less than 1",
                         source="cutoff", value=cutoff)  # fmt: skip


def check_offsets(offsets: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return what is added to the values of each axis.

    Raises:
        InputError: naming the axis of an offset that is no finite number, or one without a weight.
    """
    for axis, offset in offsets.items():
        if axis not in axes:
            raise InputError(f"{axis} has an offset and no weight", source="offsets", value=axis)
        if not is_number(offset) or not math.isfinite(offset):
            raise InputError(f"the offset of {axis} is {shown(offset)}, which is no finite number",
                             source="offsets", value=offset)  # fmt: skip
    return np.array([float(offsets.get(axis, 0.0)) for axis in axes])

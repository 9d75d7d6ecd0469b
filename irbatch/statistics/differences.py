"""Paired differences, free of what subtracting decimal fractions in binary leaves over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irbatch.array_types import Floats

# Bits of a measure's largest value that differences keep. 0.3 - 0.2 and 0.8 - 0.7 differ in the
# 53rd: as such they would be ranked one above the other, and a constant difference would vary.
BITS = 46


def paired_differences(values: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Subtract the second systems' values from the first's, query by query.

    Args:
        values: float64 ``(systems, queries, measures)``.
        pairs: positions of systems.

    Returns:
        float64 ``(pairs, queries, measures)``, multiples of one power of two a measure.

    >>> values = np.array([[[0.3], [0.8]], [[0.2], [0.7]]])
    >>> first, second = paired_differences(values, [(0, 1)]).ravel().tolist()
    >>> first == second, 0.3 - 0.2 == 0.8 - 0.7
    (True, False)
    """
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    differences = values[firsts] - values[seconds]
    largest = np.abs(values).max(axis=(0, 1), initial=0.0)
    grain = np.ldexp(1.0, np.frexp(largest)[1] - BITS)
    usable = (largest > 0) & np.isfinite(largest) & (grain > 0)
    grain = np.where(usable, grain, 1.0)
    rounded: Floats = np.where(usable, np.rint(differences / grain) * grain, differences)
    return rounded

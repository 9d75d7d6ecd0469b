"""Confidence intervals of quantiles, whatever the distribution: from one of the values to another.

Of n independent values the number at or below the true quantile is binomial, so that the ranks of
two values, between which it lies with a given chance, are known before any is looked at (David and
Nagaraja, Order Statistics, 2003, section 7.1).
"""

from __future__ import annotations

import math

import numpy as np

from irbatch.array_types import Floats

ROUNDING = 1e-9  # of chances, that two equal ones are equal


def quantile_ranks(n: int, share: float, level: float) -> tuple[int, int] | None:
    """Return the ranks, from 1, of two of `n` values with the quantile at `share` between them.

    It lies below the one, and above the other, with a chance of `level` / 2 at most. None where n
    is too small for that.

    >>> quantile_ranks(400, 0.99, 0.05), quantile_ranks(300, 0.99, 0.05)
    ((392, 400), None)
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])  # of factorials
    few = np.arange(n + 1)
    log_chances = (
        logs[n] - logs - logs[::-1] + few * math.log(share) + few[::-1] * math.log1p(-share)
    )
    chances = np.exp(log_chances)
    lower, upper = _within(chances, level / 2), n + 1 - _within(chances[::-1], level / 2)
    return (lower, upper) if lower >= 1 and upper <= n else None


def _within(chances: Floats, tail: float) -> int:
    """Return how many of the first chances are `tail` at most together."""
    return int(np.searchsorted(np.cumsum(chances), tail * (1 + ROUNDING), side="right"))

"""What a comparison could have found: the least detectable difference, and queries needed.

By Student's t of paired differences (extra ``stats``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import imported

POWER = 0.8  # the chance to find a difference that there is

MOST_QUERIES = 1e9
FEW = 50  # queries up to which the usual approximation is off by one or more


def detectable_difference(
    differences: Floats, level: float | Floats, power: float = POWER
) -> Floats:
    """Find the least true difference that as many queries of this spread show with some power.

    A two-sided test of ``(queries, columns)`` finds by `level`, one or one a column, what is not
    there; a one-sided test by half of it.

    NaN where differences don't vary, so that nothing is known of their spread.
    """
    n = len(differences)
    error = differences.std(axis=0, ddof=1) / np.sqrt(n)
    return _reach(n - 1.0, level, power) * np.where(error > 0, error, np.nan)


def queries_needed(differences: Floats, level: float | Floats, power: float = POWER) -> Floats:
    """Find how many queries show the observed differences; infinite where there is none."""
    mean = np.abs(differences.mean(axis=0))
    spread = differences.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(mean > 0, spread / mean, np.inf)
    needed = np.full(mean.shape, 2.0)
    for _ in range(50):  # the t distribution depends on the number; a few rounds settle it
        freedom = np.minimum(needed, MOST_QUERIES) - 1
        before = needed
        needed = np.maximum(np.ceil((_reach(freedom, level, power) * ratio) ** 2), 2)
        if (before == needed).all():
            break
    # What that leaves of few queries is found by the exact power. Where two numbers lead to each
    # other, the larger one is enough.
    few = np.minimum(before, needed) < FEW
    needed = np.where(few, 2.0, np.maximum(before, needed))
    while (short := few & (_power(needed, ratio, level) < power)).any():
        needed[short] += 1
    return needed


def _power(queries: Floats, ratio: Floats, level: float | Floats) -> Floats:
    """Return the power of the two-sided t-test: by the non-central t distribution."""
    stats = _stats()
    queries = np.minimum(queries, 2 * FEW)  # of those that are many it isn't asked
    shift = np.sqrt(queries) / np.where(ratio > 0, ratio, 1.0)
    edge = stats.t.ppf(1 - level / 2, queries - 1)
    found: Floats = stats.nct.sf(edge, queries - 1, shift)
    return np.where(ratio > 0, found, 1.0)


def _reach(freedom: Any, level: float | Floats, power: float) -> Any:
    """Return how many standard errors a difference has to be."""
    t = _stats().t
    return t.ppf(1 - level / 2, freedom) + t.ppf(power, freedom)


def _stats() -> Any:
    return imported("power", "stats", "scipy.stats")

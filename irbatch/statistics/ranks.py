"""Wilcoxon's signed-rank test: exact up to a hundred queries that differ, with ties as without."""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.statistics.distributions import normal_tail

MOST_EXACT = 100  # queries that differ


def signed_ranks_p(differences: Floats, alternative: str = "two-sided") -> float:
    """Return the p-value of differences ``(queries,)``, of which zeros are left out.

    Differences of one size share the mean of their ranks. Up to `MOST_EXACT` queries the p-value
    is the share of all assignments of signs whose sum of ranks is as far from its mean, or for the
    alternatives ``"greater"`` and ``"less"`` as high, as low; beyond, by the normal approximation
    of that sum, whose variance is a quarter of the sum of squared ranks, shared ones among them.
    """
    some = differences[differences != 0]
    if not some.size:
        return 1.0
    doubled = _doubled_ranks(np.abs(some))
    if some.size > MOST_EXACT:
        return _approximate_p(doubled, some > 0, alternative)
    positive, every = int(doubled[some > 0].sum()), int(doubled.sum())
    shares = _shares_up_to(tuple(np.sort(doubled).tolist()))
    if alternative == "two-sided":
        return float(min(2.0 * shares[min(positive, every - positive)], 1.0))
    opposed = every - positive if alternative == "greater" else positive
    if 2 * opposed <= every:
        return float(shares[opposed])
    return float(1.0 - shares[every - opposed - 1]) if opposed < every else 1.0


def _approximate_p(doubled: Ints, positive: Bools, alternative: str) -> float:
    ranks = doubled.astype(np.float64)
    z = (2.0 * ranks[positive].sum() - ranks.sum()) / math.sqrt(np.square(ranks).sum())
    turned = {"two-sided": abs(z), "greater": z, "less": -z}[alternative]
    tail = float(normal_tail(np.array(turned)))
    return 2.0 * tail if alternative == "two-sided" else tail


def _doubled_ranks(sizes: Floats) -> Ints:
    """Return twice the ranks of sizes, from 1; whole numbers, as those of equals are means."""
    _, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    return np.asarray((2 * np.cumsum(counts) - counts + 1)[place], np.int64)


@functools.lru_cache(64)  # without ties all samples of a size share it
def _shares_up_to(doubled: tuple[int, ...]) -> Floats:
    """Return, for every sum up to half of all, the share of assignments with at most that sum."""
    shares = np.zeros(sum(doubled) // 2 + 1)
    shares[0] = 1.0
    for rank in doubled:
        if rank < shares.size:
            shares[rank:] += shares[:-rank].copy()
        shares /= 2.0
    return np.cumsum(shares)

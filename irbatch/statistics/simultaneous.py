"""Intervals of many differences that agree with the corrected p-values beside them.

An interval by itself misses by its level; of five hundred some two dozen do, and more of them leave
out 0 than differences are significant after correction. So each is as wide as the correction asks
for, and holds 0 where, and only where, the difference is not significant.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Bools, Floats

BEFORE = 1e-9  # of a difference: as near to 0 as its interval comes if it is significant


def levels_of(significant: Bools, correction: str, level: float, family: str = "pairs") -> Floats:
    """Return by how much each interval ``(pairs, measures)`` may miss.

    The `family` that is corrected for together: the pairs of a measure, or all of them.

    Bonferroni's all by the level over the number of pairs. So do Holm's of differences found; the
    others share the level among themselves, as in his procedure (Strassburger & Bretz 2008;
    Guilbaud 2008). With a chance of 1 - level none of them misses. After Benjamini & Hochberg, or
    Yekutieli, of those found the expected share that misses is at most the level (Benjamini &
    Yekutieli 2005).
    """
    if family == "all":
        return levels_of(significant.reshape(-1, 1), correction, level).reshape(significant.shape)
    pairs = len(significant)
    found = significant.sum(axis=0)
    levels = np.full(significant.shape, level)
    if correction == "bonferroni":
        levels /= pairs
    elif correction == "holm":
        levels /= np.where(significant, pairs, np.maximum(pairs - found, 1))
    elif correction in ("bh", "by"):
        levels *= np.maximum(found, 1) / pairs
        if correction == "by":
            levels /= (1.0 / np.arange(1, pairs + 1)).sum()
    return levels


def levels_of_all(significant: Bools, systems: int, level: float) -> Floats:
    """Return such levels beside a test of all systems at once: of every pair there is."""
    return np.full(significant.shape, level / (systems * (systems - 1) / 2))


def agree(intervals: Floats, differences: Floats, significant: Bools) -> Floats:
    """Return intervals ``(pairs, measures, 2)`` that hold 0 where a difference is not significant.

    What a test cannot tell from 0 is not told from it by another way to make intervals either: it
    ends at 0, and what the test can ends just before. Near the level alone the two ways disagree.
    """
    low, high = intervals[..., 0], intervals[..., 1]
    edge = BEFORE * differences
    low = np.where(significant & (edge > 0), np.maximum(low, edge), low)
    high = np.where(significant & (edge < 0), np.minimum(high, edge), high)
    low = np.where(significant, low, np.minimum(low, 0.0))
    high = np.where(significant, high, np.maximum(high, 0.0))
    return np.stack([low, high], axis=-1)

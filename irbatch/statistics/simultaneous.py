"""Levels of the intervals of many differences, which are corrected as the p-values are.

An interval by itself misses by its level; of five hundred some two dozen do, and more of them leave
out 0 than differences are significant after correction. So each is as wide as the correction asks
for. Near the level an interval and a test of another kind may disagree.
"""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Bools, Floats


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

"""Corrections for testing several pairs at once: p-values over the pairs of a measure."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats

CORRECTIONS = ("none", "bonferroni", "holm", "bh", "by")


def correct(p: Floats, correction: str) -> Floats:
    """Correct p-values ``(pairs, measures)`` over the first axis, by a name in `CORRECTIONS`.

    The chance of any false finding stays below the level by Bonferroni (1936; Dunn 1961), and
    stepwise from the smallest p-value up by Holm (1979); the expected share of false findings does
    by Benjamini & Hochberg (1995), and under any dependence by Benjamini & Yekutieli (2001).

    >>> correct(np.array([[0.01], [0.04], [0.03]]), "holm").ravel().tolist()
    [0.03, 0.06, 0.06]
    """
    n = len(p)
    if correction == "none":
        return p.copy()
    if correction == "bonferroni":
        return np.minimum(p * n, 1.0)
    ranks = np.arange(1.0, n + 1)
    factors = n + 1 - ranks if correction == "holm" else n / ranks
    if correction == "by":
        factors *= (1.0 / ranks).sum()
    order = np.argsort(p, axis=0, kind="stable")
    ordered = np.take_along_axis(p, order, axis=0) * factors[:, None]
    if correction == "holm":
        ordered = np.maximum.accumulate(ordered, axis=0)
    else:
        ordered = np.minimum.accumulate(ordered[::-1], axis=0)[::-1]
    corrected = np.empty_like(p)
    np.put_along_axis(corrected, order, np.minimum(ordered, 1.0), axis=0)
    return corrected

"""Corrections for testing several pairs at once: p-values over the pairs of a measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from irbatch.array_types import Floats


def correct(p: Floats, correction: str) -> Floats:
    """Correct p-values, over the first axis.

    Args:
        p: float64 ``(pairs, measures)``.
        correction: a name in `CORRECTIONS`.

    >>> correct(np.array([[0.01], [0.04], [0.03]]), "holm").ravel().tolist()
    [0.03, 0.06, 0.06]
    """
    return CORRECTIONS[correction](p)


def _none(p: Floats) -> Floats:
    return p.copy()


def _bonferroni(p: Floats) -> Floats:
    """Keep the chance of any false finding below the level (Bonferroni 1936; Dunn 1961)."""
    return np.minimum(p * len(p), 1.0)


def _holm(p: Floats) -> Floats:
    """Do the same stepwise, from the smallest p-value up (Holm 1979)."""
    n = len(p)
    return _stepwise(p, np.arange(n, 0, -1.0), np.maximum.accumulate)


def _benjamini_hochberg(p: Floats) -> Floats:
    """Keep the expected share of false findings below the level (Benjamini & Hochberg 1995)."""
    n = len(p)
    return _stepwise(p, n / np.arange(1, n + 1), _from_largest)


def _benjamini_yekutieli(p: Floats) -> Floats:
    """Do the same under any dependence (Benjamini & Yekutieli 2001)."""
    n = len(p)
    return _stepwise(p, n / np.arange(1, n + 1) * (1.0 / np.arange(1, n + 1)).sum(), _from_largest)


def _stepwise(p: Floats, factors: Floats, monotone: Callable[..., Floats]) -> Floats:
    """Multiply p-values by factors, the smallest by the first, and keep them in order."""
    order = np.argsort(p, axis=0, kind="stable")
    ordered = monotone(np.take_along_axis(p, order, axis=0) * factors[:, None], axis=0)
    corrected = np.empty_like(p)
    np.put_along_axis(corrected, order, np.minimum(ordered, 1.0), axis=0)
    return corrected


def _from_largest(p: Floats, axis: int) -> Floats:
    return np.flip(np.minimum.accumulate(np.flip(p, axis), axis=axis), axis)


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "none": _none,
    "bonferroni": _bonferroni,
    "holm": _holm,
    "bh": _benjamini_hochberg,
    "by": _benjamini_yekutieli,
}
"""The corrections by name."""

"""How alike two orders are, and how far reproduced values are from the original ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.concordance import Concordance, compare_pairs
from irbatch.errors import InputError, kind_of
from irbatch.runtime.numbers import check_choice, read_numbers
from irbatch.statistics.intervals import student_tails
from irbatch.statistics.resampling import ROUNDING


def kendall_tau(x: Sequence[float], y: Sequence[float], ties: str = "b") -> float:
    """Return Kendall's tau of two lists of scores ``(systems,)`` of the same systems.

    Pairs of systems in the same order less those in the opposite one, over all pairs (ties
    ``"a"``), or over the geometric mean of the numbers of pairs that either list doesn't tie
    (``"b"``): NaN where a list ties all systems.

    Raises:
        InputError: if the lists differ in length or have fewer than two scores, or a score is not a
            number.

    Source: M. G. Kendall, *The treatment of ties in ranking problems*, Biometrika 33(3), 1945.

    >>> lists = [0.9, 0.7, 0.7, 0.1], [0.8, 0.9, 0.6, 0.2]
    >>> round(kendall_tau(*lists), 4), round(kendall_tau(*lists, ties="a"), 4)
    (0.5477, 0.5)
    """
    check_choice("ties", ties, ("a", "b"))
    return float(_compare(x, y).kendall_tau(ties)[0])


def tau_ap(x: Sequence[float], y: Sequence[float], ties: str | None = None) -> float:
    """Return the AP correlation of a list of scores with the true ones: the top counts most.

    A system drawn at random from those that `y` does not rank first, and another from those that
    `y` ranks above it: the probability that `x` has them in that order too, scaled to -1 to 1.

    Args:
        x: the true scores ``(systems,)``, at least two; more is better.
        y: the estimated scores ``(systems,)``.
        ties: None rejects them; ``"a"`` is the mean over all orders of the systems that are tied in
            either list; ``"b"`` the mean of the correlation of `y` with `x` and of `x` with `y`, in
            each of which a system is compared with those that stand above its group of ties, and
            being tied in the other list is not being in the same order: NaN where a list ties all.

    Raises:
        InputError: if there are ties that `ties` doesn't take, and as `kendall_tau`.

    Source: E. Yilmaz, J. A. Aslam and S. Robertson, *A new rank correlation coefficient for
    information retrieval*, SIGIR 2008; ties: J. Urbano and M. Marrero, *The treatment of ties in AP
    correlation*, ICTIR 2017.

    >>> round(tau_ap([0.9, 0.7, 0.5, 0.1], [0.7, 0.9, 0.4, 0.2]), 4)
    0.3333
    >>> round(tau_ap([0.9, 0.7, 0.7, 0.1], [0.8, 0.9, 0.6, 0.2], ties="b"), 4)
    0.1667
    """
    check_choice("ties", ties, (None, "a", "b"))
    if ties == "b":
        both = (_compare(*pair).ap_correlation("b")[0] for pair in ((x, y), (y, x)))
        return float(sum(both)) / 2  # to the bit the same either way
    for name, scores in zip("xy", _scores(x, y) if ties is None else (), strict=False):
        values, counts = np.unique(scores, return_counts=True)
        if values.size < scores.size:
            value = float(values[counts > 1][0])
            problem = f"{name} has {value!r} more than once: ties='a' or 'b' takes that"
            raise InputError(problem, source=name, value=value)
    return float(_compare(x, y).ap_correlation("a")[0])


def _scores(x: Any, y: Any) -> tuple[Floats, Floats]:
    """Return two lists of scores as float64; reject what cannot be compared."""
    lists = []
    for name, scores in (("x", x), ("y", y)):
        try:
            listed = list(scores)
        except TypeError:
            problem = f"{name} is a list of scores, not {kind_of(scores)}"
            raise InputError(problem, source=name, value=scores) from None
        unnamed = itertools.repeat((None, None))
        lists.append(read_numbers("score", listed, unnamed, source=name))
    first, second = lists
    if first.size != second.size:
        sizes = f"x has {first.size} scores, y has {second.size}"
        raise InputError(f"{sizes}; they are of one list of systems")
    if first.size < 2:
        raise InputError(f"an order takes at least two systems, not {first.size}", source="x")
    return first, second


def _compare(x: Sequence[float], y: Sequence[float]) -> Concordance:
    """Compare systems by `x` in the order of `y`."""
    first, second = _scores(x, y)
    order = np.argsort(-second, kind="stable")
    ranked = -second[order]
    above = np.searchsorted(ranked, ranked, "left").astype(np.int64)
    return compare_pairs(np.array([0, second.size]), first[order], above)


def rmse(original: Floats, reproduced: Floats) -> Floats:
    """Return the root mean square error of values ``(queries, measures)``, ``(measures,)``."""
    squares = (original - reproduced) ** 2
    return np.array([math.sqrt(math.fsum(column) / len(column)) for column in squares.T.tolist()])


def effect_ratio(original: Floats, reproduced: Floats) -> Floats:
    """Return the effect in a reproduction over that in the experiment, ``(measures,)``.

    An effect is the mean of the advanced run less that of the baseline, of means ``(2, measures)``,
    the baseline's first; NaN where there was none.
    """
    return _divide(reproduced[1] - reproduced[0], original[1] - original[0])


def delta_relative_improvement(original: Floats, reproduced: Floats) -> Floats:
    """Return the relative improvement of an experiment less that of its reproduction.

    An improvement is an effect as a share of the baseline's mean; NaN where a baseline is 0.
    """
    first, other = (_divide(means[1] - means[0], means[0]) for means in (original, reproduced))
    return first - other


def paired_p(original: Floats, reproduced: Floats) -> Floats:
    """Test values ``(queries, measures)`` by Student's t; of constant differences p is 0, or 1."""
    differences = original - reproduced
    differences[np.abs(differences) <= ROUNDING * np.abs(original)] = 0.0
    n = len(differences)
    errors, sizes = differences.std(axis=0, ddof=1) / math.sqrt(n), np.abs(differences.mean(axis=0))
    tiny = errors <= ROUNDING * sizes
    tails = 2.0 * student_tails(sizes / np.where(tiny, 1.0, errors), n - 1)
    return np.where(tiny, np.where(sizes > 0, 0.0, 1.0), tails)


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator is 0."""
    return numerator / np.where(denominator == 0, np.nan, denominator)

"""Tests against a margin: whether one system is not worse than another, or as good.

A system is not worse by the margin if its mean, less the other's, is above the margin below 0:
a one-sided test (non-inferiority). Two systems are equivalent if neither is worse: two one-sided
tests, of which the larger p-value counts (Schuirmann 1987). A relative margin is a share of the
second system's mean, which is itself uncertain: a - (1 - share) b is tested against 0, query by
query (Sasabuchi 1988), instead of a - b against a number.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import check_number
from irbatch.statistics.differences import Pairs, on_one_grain
from irbatch.statistics.distributions import student_tails
from irbatch.statistics.significance import randomised_p

MARGIN_TESTS = ("t", "randomisation")
SHARE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%")


class Margin(NamedTuple):
    """How large a difference has to be to matter."""

    amount: float
    relative: bool  # whether that is a share of the second mean

    def __str__(self) -> str:
        """Write it: ``0.01``, or ``1%``."""
        return f"{100 * self.amount:g}%" if self.relative else f"{self.amount:g}"


def read_margin(margin: object) -> Margin:
    """Read a margin: a number above 0, or a text, a share of the second mean below 100%.

    >>> read_margin("1%")
    Margin(amount=0.01, relative=True)
    """
    if not isinstance(margin, str):
        return Margin(check_number("margin", margin, above=0), relative=False)
    share = SHARE.fullmatch(margin.strip())
    amount = float(share[1]) / 100 if share else math.nan
    if not 0 < amount < 1:
        problem = f"margin={shown(margin)} must be a number, or a share such as '1%' below 100%"
        raise InputError(problem, value=margin)
    return Margin(amount, relative=True)


def beyond_margin(values: Floats, pairs: Pairs, margin: Margin, signs: Floats) -> Floats:
    """Return by how much the first of each pair is not worse: ``(pairs, queries, measures)``.

    Of values ``(systems, queries, measures)`` of which higher ones are better where `signs`
    ``(measures,)`` are 1, and lower ones where they are -1. The means are above 0 where the first
    is not worse by the margin.

    Raises:
        InputError: if the margin is a share of a mean below 0.
    """
    firsts, seconds = (values[[pair[side] for pair in pairs]] for side in (0, 1))
    if not margin.relative:
        return on_one_grain((firsts - seconds) * signs + margin.amount, values)
    means = seconds.mean(axis=1)
    if means.size and means.min() < 0:
        problem = f"a mean of {means.min():g} has no share that could be a margin"
        raise InputError(problem, source="margin", value=str(margin))
    return on_one_grain((firsts - seconds) * signs + margin.amount * seconds, values)


def above_zero_p(beyond: Floats, test: str, draws: int, seed: int) -> Floats:
    """Test whether means of ``(pairs, queries, measures)`` are above 0: ``(pairs, measures)``.

    By Student's t, or by flipping signs: exact where differences scatter evenly around the margin,
    which those of few values, such as of P@5, do not.
    """
    pairs, n, measures = beyond.shape
    flat = np.ascontiguousarray(np.moveaxis(beyond, 1, 0)).reshape(n, -1)
    if test == "randomisation":
        p = randomised_p(flat, draws, seed, one_sided=True)
    else:
        mean, error = flat.mean(axis=0), flat.std(axis=0, ddof=1) / np.sqrt(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean / error
        p = np.where(error > 0, student_tails(t, n - 1), np.where(mean > 0, 0.0, 1.0))
    return np.asarray(p).reshape(pairs, measures)

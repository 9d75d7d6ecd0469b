"""Propensities: how likely an item that fits is to be known to fit, by how frequent it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.checks import check_number, read_numbers

SOURCE = "frequencies"  # what errors call them


def label_propensities(frequencies: Any, instances: float, a: float = 0.55, b: float = 1.5) -> Any:
    """Return each label's propensity: 1 / (1 + C (n + b)^-a), C = (ln instances - 1) (b + 1)^a.

    Args:
        frequencies: how many of the training instances have each label, n: a mapping of ids to
            numbers, or numbers ``(labels,)``.
        instances: how many training instances there are, 3 or more.
        a, b: as fits the data. The authors have a 0.5, b 0.4 for Wikipedia and 0.6, 2.6 for
            Amazon; the defaults are theirs for anything else.

    Returns:
        The propensities, above 0 and at most 1: a mapping of the same ids, or float64
        ``(labels,)``.

    Raises:
        InputError: if a frequency is negative or no number, or another number is out of range.

    Source: Jain, Prabhu & Varma 2016.

    >>> label_propensities({"common": 250, "rare": 1}, instances=610)
    {'common': 0.6999890020082942, 'rare': 0.15592210173613888}
    """
    size = check_number("instances", instances, least=3.0)
    a, b = check_number("a", a, least=0.0), check_number("b", b, above=0.0)
    scale = (math.log(size) - 1.0) * (b + 1.0) ** a
    return _of_each(frequencies, lambda n: 1.0 / (1.0 + scale * (n + b) ** -a))


def popularity_propensities(frequencies: Any, gamma: float = 2.0) -> Any:
    """Return each item's propensity by popularity: (n / the largest n)^((gamma + 1) / 2).

    Args:
        frequencies: how often each item was interacted with, n, above 0, as in
            `label_propensities`.
        gamma: how much more popular items are shown than they are liked, 0 or more; the authors
            look at 1.5 to 3.

    Returns, raises: as `label_propensities`.

    Source: Yang et al. 2018, whose propensities are these up to a factor, which SNIPS doesn't see.

    >>> popularity_propensities({"a": 100, "b": 25}, gamma=2)
    {'a': 1.0, 'b': 0.125}
    """
    power = (check_number("gamma", gamma, least=0.0) + 1.0) / 2.0

    def propensities(n: Floats) -> Floats:
        found: Floats = (n / n.max(initial=0.0)) ** power
        return found

    return _of_each(frequencies, propensities, above=0.0)


def _of_each(frequencies: Any, formula: Any, **limits: float) -> Any:
    """Apply a formula to frequencies, whatever they come in."""
    limits = limits or {"least": 0.0}
    if isinstance(frequencies, Mapping):
        ids = list(frequencies)
        numbers = read_numbers(
            "frequency", list(frequencies.values()), ((None, each) for each in ids), source=SOURCE
        )
    else:
        numbers = to_numpy(frequencies, SOURCE)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
            problem = f"numbers, one a label, not {numbers.dtype} of shape {numbers.shape}"
            raise InputError(problem, source=SOURCE)
        ids = list(range(numbers.size))
        numbers = numbers.astype(np.float64)
    wrong = ~np.isfinite(numbers) | (numbers < 0) | (("above" in limits) & (numbers == 0))
    for row in np.flatnonzero(wrong)[:1].tolist():
        try:
            check_number("frequency", float(numbers[row]), **limits)
        except InputError as problem:
            raise problem.with_fields(source=SOURCE, document=ids[row]) from None
    found: Floats = formula(numbers)
    if isinstance(frequencies, Mapping):
        return dict(zip(ids, found.tolist(), strict=True))
    return found

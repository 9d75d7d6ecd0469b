"""Propensities: how likely a relevant item is to be known as relevant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.labelled import by_label
from irbatch.engine.items import QueryPropensities
from irbatch.errors import InputError, shown
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import check_number, missed_limit, read_numbers

SOURCE = "frequencies"  # what errors call them
LIMITS = {"above": 0.0, "most": 1.0}  # of a propensity


def label_propensities(frequencies: Any, instances: float, a: float = 0.55, b: float = 1.5) -> Any:
    """Return each label's propensity: 1 / (1 + C (n + b)^-a), C = (ln instances - 1) (b + 1)^a.

    Args:
        frequencies: how many of the training instances have each label, n: a mapping of ids to
            numbers, which a series indexed by ids is, too, or numbers ``(labels,)``.
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
    return _of_each(frequencies, lambda n: 1.0 / (1.0 + scale * (n + b) ** -a), most=size)


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
        return (n / n.max(initial=0.0)) ** power

    return _of_each(frequencies, propensities, above=0.0)


def _of_each(frequencies: Any, formula: Any, **limits: float) -> Any:
    """Apply a formula to frequencies, whatever they come in."""
    limits = {"least": 0.0, **limits} if "above" not in limits else limits
    frequencies = by_label(frequencies)
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
    wrong |= numbers > limits.get("most", math.inf)
    for row in np.flatnonzero(wrong)[:1].tolist():
        try:
            check_number("frequency", float(numbers[row]), **limits)
        except InputError as problem:
            raise problem.with_fields(source=SOURCE, document=ids[row]) from None
    found: Floats = formula(numbers)
    if isinstance(frequencies, Mapping):
        return dict(zip(ids, found.tolist(), strict=True))
    return found


def are_by_query(given: object) -> TypeGuard[Mapping[Any, Mapping[Any, Any]]]:
    """Tell propensities of queries' items from those of items."""
    return isinstance(given, Mapping) and any(isinstance(each, Mapping) for each in given.values())


def propensity_ids(given: Mapping[Any, Any]) -> list[Any]:
    """List the items that have a propensity, in any query."""
    if not are_by_query(given):
        return list(given)
    listed = (item for query, each in given.items() for item in _items_of(each, query))
    return list(dict.fromkeys(listed))


def read_by_query(
    given: Mapping[Any, Mapping[Any, Any]],
    size: int,
    rows_of: Callable[[str, Sequence[Any]], Ints],
    id_at: Callable[[int], Any],
) -> QueryPropensities:
    """Read query to item to propensity.

    `rows_of` returns the rows of items in a catalogue of some size, and refuses others; `id_at` the
    other way round.
    """
    places = {query: place for place, query in enumerate(given)}
    pairs = [(query, item) for query, each in given.items() for item in _items_of(each, query)]
    listed = [value for each in given.values() for value in each.values()]
    source = "propensities"
    values = read_numbers("propensity", listed, pairs, source=source)
    for at in np.flatnonzero(~((values > 0) & (values <= 1)))[:1].tolist():
        query, item = pairs[at]
        problem = missed_limit(listed[at], **LIMITS)
        said = f"propensity {shown(listed[at])} must be {problem}"
        raise InputError(said, source=source, query=query, document=item, value=listed[at])
    rows = rows_of(source, [item for _, item in pairs])
    keys = np.array([places[query] for query, _ in pairs], np.int64) * size + rows
    order = np.argsort(keys, kind="stable")
    return QueryPropensities(size, places, keys[order], values[order], id_at)


def _items_of(given: Any, query: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        problem = f"propensities by query are items to numbers, not {shown(given)}"
        raise InputError(problem, source="propensities", query=query, value=given)
    return given

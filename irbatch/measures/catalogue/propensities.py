"""Measures in which items count the more, the less likely they are to be known to be relevant.

A relevant item weighs 1 / its propensity. A formula reads `ItemRanks` and returns one value for
each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.engine.items import ItemRanks
from irbatch.errors import InputError
from irbatch.measures.declare import Measure, builtin, ratio
from irbatch.measures.parameters import Choice, Discount, divisors_of
from irbatch.runtime.ragged import row_index_of

LOG2 = Discount("log2")
of_items = functools.partial(builtin, reads="items")


def _weights(r: ItemRanks, row_index: Ints, rows: Ints, relevant: Bools) -> Floats:
    """Return what items of queries weigh, 0 if they are not relevant: float64 ``(items,)``."""
    propensities = r.items.need("propensities")
    weights = np.zeros(rows.size)
    weights[relevant] = 1.0 / propensities.find(r.queries, row_index[relevant], rows[relevant])
    return weights


def _of_judged(r: ItemRanks) -> Floats:
    """Return what the judged items weigh; those that are not items weigh nothing."""
    starts, rows, grades = r.judged
    return _weights(r, row_index_of(starts), rows, (grades >= r.rel) & (rows >= 0))


def _gained(r: ItemRanks, discount: str = "none") -> Floats:
    """Add up what a ranking's items weigh, discounted."""
    divisors = divisors_of(discount, r.rows.shape[1])
    return r.add_up(_weights(r, r.row_index, r.listed, r.relevant) / divisors[r.ranks - 1])


def _ideal(r: ItemRanks, discount: str = "none") -> tuple[Floats, Floats]:
    """Add up what the heaviest of the relevant items weigh; also return how many there are."""
    starts = r.judged.starts
    queries, weights = row_index_of(starts), _of_judged(r)
    order = np.lexsort((-weights, queries))
    places = np.arange(order.size) - starts[queries]
    terms = weights[order] / divisors_of(discount, int(places.max(initial=0)) + 1)[places]
    terms[places >= r.cutoff] = 0.0
    size = starts.size - 1
    counts = np.bincount(queries[weights > 0], minlength=size).astype(np.float64)
    return np.bincount(queries, terms, size).astype(np.float64), counts


Parts = Callable[[ItemRanks], tuple[Floats, Floats, Floats]]
"""Returns what a ranking gets, what the ideal one gets, and what both are divided by."""


def of_means(name: str, *, in_order: bool = False) -> Callable[[Parts], Measure]:
    """Declare a measure that is a ratio of two means over queries."""

    def declare(parts: Parts) -> Measure:
        def share(r: ItemRanks, norm: str = Choice("ideal", ("ideal", "none"))) -> Floats:
            gained, best, divisor = parts(r)
            return ratio(gained, best if norm == "ideal" else divisor)

        def weight(r: ItemRanks, norm: str) -> Floats:
            _, best, divisor = parts(r)
            return ratio(best, divisor) if norm == "ideal" else np.ones_like(best)

        about = {"aggregate": "weighted", "in_order": in_order, "range": (0.0, math.inf)}
        return of_items(name, weight=weight, **about)(share)

    return declare


@of_means("PSP")
def scored_precision(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    if math.isinf(r.cutoff):
        raise InputError("PSP needs a cutoff, such as PSP@5", source="measures", value="PSP")
    best, _ = _ideal(r)
    return _gained(r), best, np.full(best.size, r.cutoff)


@of_means("PSnDCG", in_order=True)
def scored_ndcg(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    best, counts = _ideal(r, "log2")
    ranks = np.minimum(counts, r.cutoff).astype(np.int64)
    sums = np.cumsum(1.0 / divisors_of("log2", int(ranks.max(initial=1))))
    return _gained(r, "log2"), best, np.concatenate(([0.0], sums))[ranks]


@of_means("PSR")
def scored_recall(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    best, counts = _ideal(r)
    return _gained(r), best, counts


@of_items("IPS", in_order=True, range=(0.0, math.inf))
def inverse_propensity_score(r: ItemRanks, discount: str = LOG2) -> Floats:
    return _gained(r, discount)


def _whole(r: ItemRanks) -> Floats:
    """Add up what all relevant items of each query weigh."""
    starts = r.judged.starts
    sums = np.bincount(row_index_of(starts), _of_judged(r), starts.size - 1)
    return sums.astype(np.float64, copy=False)


def _weight_of_query(r: ItemRanks, over: str, discount: str) -> Floats:
    everything = _whole(r)
    return everything if over == "all" else np.ones_like(everything)


@of_items("SNIPS", aggregate="weighted", weight=_weight_of_query, in_order=True)
def self_normalised(
    r: ItemRanks, over: str = Choice("query", ("query", "all")), discount: str = LOG2
) -> Floats:
    return ratio(_gained(r, discount), _whole(r))

"""Measures beyond accuracy: what a run recommends, whoever finds it relevant.

A formula reads `ItemRanks` and returns one value for each ranking, float64 ``(queries,)``; one of
the whole run reads `ItemCounts` and returns one number. Ranks past the end don't count, and neither
do documents outside the catalogue.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import cast

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.items import ItemArrays, ItemCounts, ItemRanks
from irbatch.engine.similarity import (
    AS_GIVEN,
    SIMILARITIES,
    similarity_of_pairs,
    similarity_to_histories,
)
from irbatch.errors import InputError
from irbatch.measures.declare import AS_ANY_OTHER, Measure, builtin
from irbatch.measures.parameters import REL, Choice, Number

of_items = functools.partial(builtin, reads="items", parameters={}, no_relevant=AS_ANY_OTHER)
# The formula of a whole run's returns one number.
of_run = cast(
    Callable[..., Callable[[Callable[..., float]], Measure]],
    functools.partial(of_items, aggregate="run"),
)

INFINITE = (0.0, math.inf)
PADDING = Number(0.0, least=0.0)
"""Items that a tool's catalogue counts besides those listed."""
OF = Choice("interactions", ("interactions", "users"))
UNSEEN = Choice("once", ("once", "zero"))
BY = Choice("embeddings", SIMILARITIES)
TO_HISTORY = Choice(AS_GIVEN, (AS_GIVEN, *SIMILARITIES))


@of_run("CatalogueCoverage", range=INFINITE)
def catalogue_coverage(
    c: ItemCounts, of: str = Choice("catalogue", ("catalogue", "trained")), padding: float = PADDING
) -> float:
    size = c.items.size
    if of == "trained":
        size = int(np.count_nonzero(c.items.need("popularity")))
    return int(np.count_nonzero(c.counts)) / max(size + padding, 1)


@of_items("UserCoverage")
def user_coverage(r: ItemRanks, least: float = Number(1.0, least=1.0)) -> Floats:
    return (r.sizes >= least).astype(np.float64)


@of_run("Gini", better="lower")
def gini(c: ItemCounts, padding: float = PADDING) -> float:
    size, total = c.items.size + int(padding), c.total
    if not total:
        return 0.0
    ascending = np.sort(c.counts[c.counts > 0])
    places = np.arange(size - ascending.size + 1, size + 1)
    weighted = sum(map(int.__mul__, (2 * places - size - 1).tolist(), ascending.tolist()))
    return weighted / (size * total)


@of_run("Entropy", range=INFINITE)
def entropy(
    c: ItemCounts,
    unit: str = Choice("bits", ("bits", "nats")),
    per: str = Choice("run", ("run", "recommended", "most")),
) -> float:
    log = math.log2 if unit == "bits" else math.log
    counts, times = np.unique(c.counts[c.counts > 0], return_counts=True)
    shares = (count / c.total for count in counts.tolist())
    terms = (-n * share * log(share) for n, share in zip(times.tolist(), shares, strict=True))
    whole = math.fsum(terms)
    if per == "recommended":
        return whole / max(int(times.sum()), 1)
    return whole / log(max(c.items.size, 2)) if per == "most" else whole


@of_run("Personalisation")
def personalisation(c: ItemCounts) -> float:
    users, size = c.users, max(c.items.size, 1)
    lengths, rows = np.divmod(c.keys, size)
    # Vectors of length 1, added up: their products over pairs are |sum|^2 less one each.
    sums = np.bincount(rows, c.numbers / np.sqrt(np.maximum(lengths, 1)), size)
    own = users - int(c.lists[0])
    pairs = users * (users - 1)
    mean = (math.fsum((sums * sums).tolist()) - own) / pairs if pairs else 1.0
    return min(max(1.0 - mean, 0.0), 1.0)


@of_items("AvgPopularity", better="neither", range=INFINITE)
def average_popularity(r: ItemRanks, of: str = Choice("count", ("count", "users"))) -> Floats:
    if of == "users":
        return np.asarray(r.mean_of(_reach(r.items)) / r.items.need("users"))
    return r.mean_of(r.items.need("popularity"))


@of_items("TailShare", better="neither")
def tail_share(r: ItemRanks, tail: float = Number(0.1, above=0.0)) -> Floats:
    return r.mean_of(r.items.table(("tail", tail), lambda: _in_tail(r.items, tail)))


def _in_tail(items: ItemArrays, tail: float) -> Floats:
    """Tell of each item, 1 or 0, whether it is in the long tail."""
    popularity: Floats = items.need("popularity")
    trained = np.flatnonzero(popularity > 0)
    if tail > 1:
        return ((popularity > 0) & (popularity <= tail)).astype(np.float64)
    order = np.argsort(popularity[trained], kind="stable")
    in_tail = np.zeros(items.size)
    in_tail[trained[order[: max(int(tail * trained.size), 1)]]] = 1.0
    return in_tail


@of_items("Novelty", range=INFINITE)
def novelty(r: ItemRanks, of: str = OF, unseen: str = UNSEEN) -> Floats:
    return r.mean_of(_information(r.items, of, unseen))


@of_run("RunNovelty", range=INFINITE)
def run_novelty(c: ItemCounts, of: str = OF, unseen: str = UNSEEN) -> float:
    information = _information(c.items, of, unseen)
    return math.fsum((c.counts * information).tolist()) / max(c.total, 1)


def _reach(items: ItemArrays) -> Floats:
    """Return how many users had each item."""
    reach: Floats = items.need("popularity") if items.reach is None else items.reach
    if reach.size and reach.max() > items.need("users"):
        problem = f"an item has popularity {reach.max():g}, and there are {items.users:g} users"
        raise InputError(problem, source="items", value=float(reach.max()))
    return reach


def _information(items: ItemArrays, of: str, unseen: str) -> Floats:
    """Return each item's self-information."""

    def make() -> Floats:
        counts = items.need("popularity") if of == "interactions" else _reach(items)
        whole = math.fsum(counts.tolist()) if of == "interactions" else items.need("users")
        seen = counts if unseen == "zero" else np.where(counts > 0, counts, 1.0)
        shares = np.where(seen > 0, seen, max(whole, 1.0)) / max(whole, 1.0)
        return -np.log2(shares) + 0.0  # -0.0 is 0

    return items.table(("information", of, unseen), make)


@of_items("ILD", range=(-math.inf, math.inf))
def ild(r: ItemRanks, by: str = BY) -> Floats:
    return np.where(r.sizes > 1, 1.0 - similarity_of_pairs(r, by), 0.0)


@of_items("Unexpectedness", range=(-math.inf, math.inf))
def unexpectedness(r: ItemRanks, by: str = TO_HISTORY) -> Floats:
    return r.add_up(1.0 - similarity_to_histories(r, by)) / np.maximum(r.sizes, 1.0)


@of_items("Serendipity", parameters={"rel": REL}, range=(-math.inf, math.inf), no_relevant="0")
def serendipity(r: ItemRanks, by: str = TO_HISTORY) -> Floats:
    terms = (1.0 - similarity_to_histories(r, by)) * r.relevant
    return r.add_up(terms) / np.maximum(r.sizes, 1.0)

"""Measures of items: what a run recommends, to whom exposure goes, what is known of relevance.

A formula reads `ItemRanks`, and of exposure also `ItemRanks.others`, and returns one value for each
ranking, float64 ``(queries,)``; one of the whole run reads `ItemCounts` and returns one number.
Ranks past the end don't count, and neither do documents outside the catalogue.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import cast

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.engine.items import GroupShares, ItemArrays, ItemCounts, ItemRanks, expose
from irbatch.engine.kinds import check_summed
from irbatch.engine.similarity import (
    AS_GIVEN,
    SIMILARITIES,
    similarity_of_pairs,
    similarity_to_histories,
)
from irbatch.errors import InputError
from irbatch.measures.declare import AS_ANY_OTHER, Measure, builtin, ratio
from irbatch.measures.parameters import REL, Choice, Discount, Number, Parameter, Word, divisors_of
from irbatch.runtime.ragged import row_index_of

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


# ---------------- exposure: the attention that groups get, against what they should get


TARGET = Choice("given", ("given", "uniform", "relevant"))
AGAINST: dict[str, Parameter] = {"target": TARGET, "discount": Discount("jk2"), "rel": REL}
of_exposure = functools.partial(builtin, reads="items", in_order=True, no_relevant=AS_ANY_OTHER)


def _attention(discount: str, ranks: int) -> Floats:
    """Tabulate what ranks 1 … ranks get."""
    return 1.0 / divisors_of(discount, ranks)[: max(ranks, 1)]


def _exposure(r: ItemRanks, discount: str, of: str = "all") -> Floats:
    """Add up what groups get: float64 ``(queries, groups)``."""
    attention = _attention(discount, int(r.longest.max(initial=1)))
    return expose(r, attention, only_relevant=of == "relevant")


def _shares(amounts: Floats) -> Floats:
    """Divide each query's amounts by their sum; zeros stay zeros."""
    return ratio(amounts, np.broadcast_to(amounts.sum(axis=1, keepdims=True), amounts.shape))


def _target_shares(r: ItemRanks, target: str) -> Floats:
    """Return the share that each group should get: float64 ``(queries, groups)``."""
    groups: GroupShares = r.items.need("groups")
    if target == "given":
        return groups.targets_of(r.queries)
    if target == "uniform":
        return np.full((len(r.queries), len(groups.names)), 1.0 / len(groups.names))
    starts, rows, grades = r.read_judged()
    return _shares(groups.count_members(starts, np.where(grades >= r.rel, rows, -1)))


def _awrf(exposure: Floats, target: Floats, base: float) -> Floats:
    """Return 1 - the divergence of two shares of groups, or 0 where one of them is nothing."""
    between = (exposure + target) / 2.0

    def diverge(shares: Floats) -> Floats:
        some = shares > 0
        terms = np.zeros_like(shares)
        terms[some] = shares[some] * np.log(shares[some] / between[some])
        return terms.sum(axis=1)

    divergence = np.maximum(diverge(exposure) + diverge(target), 0.0) / (2.0 * math.log(base))
    return np.where(exposure.any(axis=1) & target.any(axis=1), 1.0 - divergence, 0.0)


@of_exposure("AWRF", parameters={**AGAINST, "base": Number(math.e, above=1.0)})
def awrf(r: ItemRanks, target: str, discount: str, base: float) -> Floats:
    return _awrf(_shares(_exposure(r, discount)), _target_shares(r, target), base)


@of_exposure("FairnDCG", parameters={**AGAINST, "base": Number(math.e, above=1.0)}, no_relevant="0")
def fair_ndcg(r: ItemRanks, target: str, discount: str, base: float) -> Floats:
    starts, _, grades = r.read_judged()
    relevant = np.bincount(row_index_of(starts), grades >= r.rel, starts.size - 1)
    best = np.minimum(relevant, r.cutoff).astype(np.int64)
    attention = _attention(discount, max(int(best.max(initial=1)), r.rows.shape[1]))
    gained = r.add_up(np.where(r.relevant, attention[r.ranks - 1], 0.0))
    ideal = np.concatenate(([0.0], np.cumsum(attention)))[best]
    fair = _awrf(_shares(_exposure(r, discount)), _target_shares(r, target), base)
    return ratio(gained, ideal) * fair


@of_exposure("Exposure", better="neither", parameters={})
def group_exposure(r: ItemRanks, group: str = Word(), discount: str = Discount("jk2")) -> Floats:
    return _shares(_exposure(r, discount))[:, r.items.need("groups").place_of(group)]


@of_exposure("ExposureRatio", better="neither", parameters=AGAINST, range=(0.0, math.inf))
def exposure_ratio(r: ItemRanks, target: str, discount: str, group: str = Word()) -> Floats:
    place = r.items.need("groups").place_of(group)
    return ratio(_shares(_exposure(r, discount))[:, place], _target_shares(r, target)[:, place])


@of_exposure("ExposureParity", parameters=AGAINST)
def exposure_parity(r: ItemRanks, target: str, discount: str) -> Floats:
    exposure, targets = _exposure(r, discount), _target_shares(r, target)
    ratios = ratio(exposure, targets)
    least = np.where(targets > 0, ratios, math.inf).min(axis=1)
    return ratio(np.where(targets.any(axis=1), least, 0.0), ratios.max(axis=1))


OF_EXPECTED: dict[str, Parameter] = {**AGAINST, "of": Choice("relevant", ("relevant", "all"))}


def _target_exposure(r: ItemRanks, target: str, discount: str) -> Floats:
    check_summed(r.cutoff)
    depth = r.longest if math.isinf(r.cutoff) else np.full(len(r.queries), int(r.cutoff))
    deepest = int(depth.max(initial=1))
    sums = np.concatenate(([0.0], np.cumsum(_attention(discount, deepest))))
    return _target_shares(r, target) * sums[depth, None]


of_expected = functools.partial(of_exposure, range=(0.0, math.inf))


@of_expected("EEL", better="lower", parameters=OF_EXPECTED)
def ee_loss(r: ItemRanks, target: str, discount: str, of: str) -> Floats:
    missed = _exposure(r, discount, of) - _target_exposure(r, target, discount)
    return (missed * missed).sum(axis=1)


@of_expected(
    "EED", better="neither", parameters={key: OF_EXPECTED[key] for key in ("discount", "rel", "of")}
)
def ee_disparity(r: ItemRanks, discount: str, of: str) -> Floats:
    exposure = _exposure(r, discount, of)
    return (exposure * exposure).sum(axis=1)


@of_expected("EER", parameters=OF_EXPECTED)
def ee_relevance(r: ItemRanks, target: str, discount: str, of: str) -> Floats:
    return (_exposure(r, discount, of) * _target_exposure(r, target, discount)).sum(axis=1)


IN_TURN = ("AWRF", "Exposure", "ExposureRatio", "ExposureParity", "EEL", "EED", "EER")
"""Measures of all rankings of a query together."""


# ---------------- propensities: items count the more, the less likely they are known


LOG2 = Discount("log2")
of_weights = functools.partial(builtin, reads="items")


def _weights_of(r: ItemRanks, rows: Ints, relevant: Bools) -> Floats:
    """Return what items weigh, 0 if they are not relevant: float64 ``(items,)``."""
    weights = np.zeros(rows.size)
    weights[relevant] = 1.0 / r.items.need("propensities")[rows[relevant]]
    return weights


def _weights_of_judged(r: ItemRanks) -> Floats:
    """Return what the judged items weigh; those that are not items weigh nothing."""
    _, rows, grades = r.read_judged()
    return _weights_of(r, rows, (grades >= r.rel) & (rows >= 0))


def _weight_gained(r: ItemRanks, discount: str = "none") -> Floats:
    """Add up what a ranking's items weigh, discounted."""
    divisors = divisors_of(discount, r.rows.shape[1])
    return r.add_up(_weights_of(r, r.listed, r.relevant) / divisors[r.ranks - 1])


def _ideal_weight(r: ItemRanks, discount: str = "none") -> tuple[Floats, Floats]:
    """Add up what the heaviest of the relevant items weigh; also return how many there are."""
    starts = r.read_judged().starts
    queries, weights = row_index_of(starts), _weights_of_judged(r)
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
        return of_weights(name, weight=weight, **about)(share)

    return declare


@of_means("PSP")
def scored_precision(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    if math.isinf(r.cutoff):
        raise InputError("PSP needs a cutoff, such as PSP@5", source="measures", value="PSP")
    best, _ = _ideal_weight(r)
    return _weight_gained(r), best, np.full(best.size, r.cutoff)


@of_means("PSnDCG", in_order=True)
def scored_ndcg(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    best, counts = _ideal_weight(r, "log2")
    ranks = np.minimum(counts, r.cutoff).astype(np.int64)
    sums = np.cumsum(1.0 / divisors_of("log2", int(ranks.max(initial=1))))
    return _weight_gained(r, "log2"), best, np.concatenate(([0.0], sums))[ranks]


@of_means("PSR")
def scored_recall(r: ItemRanks) -> tuple[Floats, Floats, Floats]:
    best, counts = _ideal_weight(r)
    return _weight_gained(r), best, counts


@of_weights("IPS", in_order=True, range=(0.0, math.inf))
def inverse_propensity_score(r: ItemRanks, discount: str = LOG2) -> Floats:
    return _weight_gained(r, discount)


def _weight_of_all(r: ItemRanks) -> Floats:
    """Add up what all relevant items of each query weigh."""
    starts = r.read_judged().starts
    sums = np.bincount(row_index_of(starts), _weights_of_judged(r), starts.size - 1)
    return sums.astype(np.float64, copy=False)


def _weight_of_query(r: ItemRanks, over: str, discount: str) -> Floats:
    everything = _weight_of_all(r)
    return everything if over == "all" else np.ones_like(everything)


@of_weights("SNIPS", aggregate="weighted", weight=_weight_of_query, in_order=True)
def self_normalised(
    r: ItemRanks, over: str = Choice("query", ("query", "all")), discount: str = LOG2
) -> Floats:
    return ratio(_weight_gained(r, discount), _weight_of_all(r))

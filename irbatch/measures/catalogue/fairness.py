"""Fairness of exposure: the attention that groups of items get, against what each should get.

A formula reads `ItemRanks`, and but for one also `ItemRanks.others`, and returns
one value for each query: float64 ``(queries,)``.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.items import GroupShares, ItemRanks, expose
from irbatch.engine.kinds import LARGEST_CUTOFF
from irbatch.errors import InputError
from irbatch.measures.declare import AS_ANY_OTHER, builtin, ratio
from irbatch.measures.parameters import (
    REL,
    Choice,
    Discount,
    Number,
    Parameter,
    Word,
    divisors_of,
)
from irbatch.runtime.ragged import row_index_of

TARGET = Choice("given", ("given", "uniform", "relevant"))
AGAINST: dict[str, Parameter] = {"target": TARGET, "discount": Discount("jk2"), "rel": REL}
of_exposure = functools.partial(builtin, reads="items", in_order=True, no_relevant=AS_ANY_OTHER)


def _attention(discount: str, ranks: int) -> Floats:
    """Tabulate what ranks 1 … ranks get."""
    return 1.0 / divisors_of(discount, ranks)[: max(ranks, 1)]


def _groups(r: ItemRanks) -> GroupShares:
    return r.items.need("groups")


def _exposure(r: ItemRanks, discount: str, of: str = "all") -> Floats:
    """Add up what groups get: float64 ``(queries, groups)``."""
    attention = _attention(discount, int(r.longest.max(initial=1)))
    return expose(r, attention, only_relevant=of == "relevant")


def _shares(amounts: Floats) -> Floats:
    """Divide each query's amounts by their sum; zeros stay zeros."""
    return ratio(amounts, np.broadcast_to(amounts.sum(axis=1, keepdims=True), amounts.shape))


def _target_shares(r: ItemRanks, target: str) -> Floats:
    """Return the share that each group should get: float64 ``(queries, groups)``."""
    groups = _groups(r)
    if target == "given":
        return groups.targets_of(r.queries)
    if target == "uniform":
        return np.full((len(r.queries), len(groups.names)), 1.0 / len(groups.names))
    starts, rows, grades = r.judged
    return _shares(groups.count_members(starts, np.where(grades >= r.rel, rows, -1)))


# ---------------------------------------------------------------- shares of the attention


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
    starts, _, grades = r.judged
    relevant = np.bincount(row_index_of(starts), grades >= r.rel, starts.size - 1)
    best = np.minimum(relevant, r.cutoff).astype(np.int64)
    attention = _attention(discount, max(int(best.max(initial=1)), r.rows.shape[1]))
    gained = r.add_up(np.where(r.relevant, attention[r.ranks - 1], 0.0))
    ideal = np.concatenate(([0.0], np.cumsum(attention)))[best]
    fair = _awrf(_shares(_exposure(r, discount)), _target_shares(r, target), base)
    return ratio(gained, ideal) * fair


@of_exposure("Exposure", better="neither", parameters={})
def group_exposure(r: ItemRanks, group: str = Word(), discount: str = Discount("jk2")) -> Floats:
    return _shares(_exposure(r, discount))[:, _groups(r).place_of(group)]


@of_exposure("ExposureRatio", better="neither", parameters=AGAINST, range=(0.0, math.inf))
def exposure_ratio(r: ItemRanks, target: str, discount: str, group: str = Word()) -> Floats:
    place = _groups(r).place_of(group)
    return ratio(_shares(_exposure(r, discount))[:, place], _target_shares(r, target)[:, place])


@of_exposure("ExposureParity", parameters=AGAINST)
def exposure_parity(r: ItemRanks, target: str, discount: str) -> Floats:
    exposure, targets = _exposure(r, discount), _target_shares(r, target)
    ratios = ratio(exposure, targets)
    least = np.where(targets > 0, ratios, math.inf).min(axis=1)
    return ratio(np.where(targets.any(axis=1), least, 0.0), ratios.max(axis=1))


# ---------------------------------------------------------------- expected exposure


OF_EXPECTED: dict[str, Parameter] = {**AGAINST, "of": Choice("relevant", ("relevant", "all"))}


def _target_exposure(r: ItemRanks, target: str, discount: str) -> Floats:
    endless = math.isinf(r.cutoff)
    if not endless and r.cutoff > LARGEST_CUTOFF:
        problem = f"cutoff {r.cutoff:.0f} is beyond {LARGEST_CUTOFF:,}: all ranks up to it count"
        raise InputError(problem, source="measures", value=r.cutoff)
    depth = r.longest if endless else np.full(len(r.queries), int(r.cutoff))
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

"""The slow twins of the measures of exposure, written from their papers and FAIR TREC 2022's rules.

`belongs` is document to group to share; a document that is not in it belongs to no group and gets
no exposure. A query may have several rankings, as a system that ranks at random returns: exposure
is their mean. Exposure is a sum of floats, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from oracle.base import DISCOUNTS

Shares = Mapping[str, float]
Belongs = Mapping[Any, Shares]
Rankings = Sequence[Sequence[Any]]


def attention(rank: int, discount: str) -> float:
    return 1 / DISCOUNTS[discount](rank)


def exposure(
    rankings: Rankings,
    belongs: Belongs,
    groups: Sequence[str],
    k: int | None,
    discount: str = "jk2",
    only: Collection[Any] | None = None,
) -> dict[str, float]:
    """Diaz et al. 2020: what each group's documents get, from those in `only`, if it is given."""
    found: dict[str, list[float]] = {group: [] for group in groups}
    for ranking in rankings:
        for rank, document in enumerate(ranking[:k], 1):
            if only is None or document in only:
                for group, share in belongs.get(document, {}).items():
                    found[group].append(attention(rank, discount) * share)
    return {group: math.fsum(some) / max(len(rankings), 1) for group, some in found.items()}


def shared(amounts: Shares) -> dict[str, float]:
    total = math.fsum(amounts.values())
    return {group: each / total for group, each in amounts.items()} if total else {}


def target_of(
    target: str,
    given: Shares | None,
    belongs: Belongs,
    groups: Sequence[str],
    some: Collection[Any],
) -> dict[str, float]:
    """The shares wanted: those given, the same for all, or as of `some` documents (the relevant).

    Nothing, if none of these belongs to a group.
    """
    if target == "uniform":
        return dict.fromkeys(groups, 1 / len(groups))
    if target == "given":
        return {group: (given or {}).get(group, 0.0) for group in groups}
    mine = [belongs[each] for each in some if each in belongs]
    sums = {group: math.fsum(each.get(group, 0.0) for each in mine) for group in groups}
    return shared(sums)


def divergence(some: Shares, others: Shares) -> float:
    """Jensen and Shannon's, in nats."""
    total = []
    for group in others:
        middle = (some[group] + others[group]) / 2
        total += [x / 2 * math.log(x / middle) for x in (some[group], others[group]) if x > 0]
    return math.fsum(total)


def awrf(exposed: Shares, wanted: Shares, base: float = math.e) -> float:
    """Sapiezynski et al. 2019, as FAIR TREC has it; 0 where nothing is exposed or wanted."""
    shares = shared(exposed)
    return 1 - divergence(shares, wanted) / math.log(base) if shares and wanted else 0.0


def ee_disparity(exposed: Shares) -> float:
    return math.fsum(each * each for each in exposed.values())


def ee_relevance(exposed: Shares, wanted: Shares, depth: int, discount: str) -> float:
    """`depth` is how many ranks there are to share."""
    there = math.fsum(attention(rank, discount) for rank in range(1, depth + 1))
    return math.fsum(exposed[group] * share * there for group, share in wanted.items())


def ee_loss(exposed: Shares, wanted: Shares, depth: int, discount: str) -> float:
    there = math.fsum(attention(rank, discount) for rank in range(1, depth + 1))
    return math.fsum(
        (each - wanted.get(group, 0.0) * there) ** 2 for group, each in exposed.items()
    )


def ratios(exposed: Shares, wanted: Shares) -> dict[str, float]:
    """The share of each group over the one wanted, of groups of which any is wanted."""
    shares = shared(exposed)
    return {group: shares.get(group, 0.0) / share for group, share in wanted.items() if share}


def parity(exposed: Shares, wanted: Shares) -> float:
    """The least of the ratios over the largest."""
    found = ratios(exposed, wanted).values()
    return min(found) / max(found) if found and max(found) else 0.0


def binary_ndcg(
    ranking: Sequence[Any], relevant: Collection[Any], k: int | None, discount: str
) -> float:
    ranks = range(1, (len(relevant) if k is None else min(k, len(relevant))) + 1)
    best = math.fsum(attention(rank, discount) for rank in ranks)
    found = (attention(r, discount) for r, each in enumerate(ranking[:k], 1) if each in relevant)
    return math.fsum(found) / best if best else 0.0

"""The slow twins of the measures weighted by propensities, written from their papers.

A ranking is a list of documents; `weights` are 1 / propensity of the relevant documents of a query
(or of those clicked on, or observed). Sums are of floats, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from oracle.base import DISCOUNTS

Weights = Mapping[Any, float]


def propensity(frequency: int, instances: int, a: float = 0.55, b: float = 1.5) -> float:
    """Jain, Prabhu & Varma 2016: of a label that so many of the training instances have."""
    c = (math.log(instances) - 1) * (b + 1) ** a
    return 1 / (1 + c * (frequency + b) ** -a)


def found_and_best(
    name: str, ranking: Sequence[Any], weights: Weights, k: int | None
) -> tuple[float, float]:
    """What a ranking gets, and what the best does: the propensity-scored P, nDCG or R."""
    depth = len(ranking) if k is None else k
    gained = [weights.get(document, 0.0) for document in ranking[:depth]]
    best = sorted(weights.values(), reverse=True)[: None if k is None else depth]
    if name == "PSnDCG":
        discounts = [DISCOUNTS["log2"](rank) for rank in range(1, max(len(best), len(gained)) + 1)]
        gained = [gain / d for gain, d in zip(gained, discounts, strict=False)]
        best = [gain / d for gain, d in zip(best, discounts, strict=False)]
        divisor = math.fsum(1 / d for d in discounts[: len(best)])
    else:
        divisor = depth if name == "PSP" else len(weights)
    if not divisor:
        return 0.0, 0.0
    return math.fsum(gained) / divisor, math.fsum(best) / divisor


def ratio_of_means(pairs: Sequence[tuple[float, float]]) -> float:
    best = math.fsum(each for _, each in pairs)
    return math.fsum(each for each, _ in pairs) / best if best else 0.0


def weighted(
    ranking: Sequence[Any], weights: Weights, k: int | None, discount: str = "log2"
) -> float:
    """IPS: Joachims, Swaminathan & Schnabel 2017; Yang et al. 2018."""
    pairs = enumerate(ranking[:k], 1)
    return math.fsum(weights.get(d, 0.0) / DISCOUNTS[discount](rank) for rank, d in pairs)


def self_normalised(
    ranking: Sequence[Any], weights: Weights, k: int | None, discount: str = "log2"
) -> float:
    """SNIPS: Swaminathan & Joachims 2015, for each user alone as in Yang et al. 2018."""
    everything = math.fsum(weights.values())
    return weighted(ranking, weights, k, discount) / everything if everything else 0.0

"""Twins of what is computed of several judges, from the papers' formulas, one number at a time.

Angelopoulos, Duchi & Zrnic, PPI++, 2023 (the mean, its weight); Cohen 1960 and 1968; Krippendorff,
Computing Krippendorff's Alpha-Reliability, 2011.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Numbers = Sequence[float]


def mean(values: Numbers) -> float:
    return math.fsum(values) / len(values)


def variance(values: Numbers, freedom: int) -> float:
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / freedom


def weight(people: Numbers, model: Numbers, others: Numbers) -> float:
    n, count = len(people), len(others)
    pooled = variance([*model, *others], n + count - 1)
    if pooled == 0:
        return 0.0
    middle, other = mean(people), mean(model)
    products = [(y - middle) * (f - other) for y, f in zip(people, model, strict=True)]
    return min(max(mean(products) / ((1 + n / count) * pooled), 0.0), 1.0)


def combined_mean(people: Numbers, model: Numbers, others: Numbers) -> tuple[float, float, float]:
    """Return the estimate, its standard error, and the degrees of freedom."""
    n, count = len(people), len(others)
    share = weight(people, model, others)
    left = [y - share * f for y, f in zip(people, model, strict=True)]
    estimated = 0 < share < 1
    freedom = n - 2 if estimated else n - 1
    around = math.fsum((f - mean(model)) ** 2 for f in model)
    far = (mean(model) - mean(others)) ** 2 / around if estimated and around else 0.0
    first = variance(left, freedom) * (1 / n + far)
    second = share**2 * variance(others, count - 1) / count
    parts = first**2 / freedom + second**2 / (count - 1)
    estimate = mean(left) + share * mean(others)
    return estimate, math.sqrt(first + second), (first + second) ** 2 / parts if parts else freedom


def kappa(first: Numbers, other: Numbers, weighted: bool) -> float:
    grades = sorted({*first, *other})
    place = {grade: k for k, grade in enumerate(grades)}

    def apart(one: float, two: float) -> float:
        return (place[one] - place[two]) ** 2 if weighted else float(one != two)

    seen = mean([apart(one, two) for one, two in zip(first, other, strict=True)])
    chance = mean([apart(one, two) for one in first for two in other])
    return 1 - seen / chance if chance else math.nan


def alpha(judged: Sequence[Numbers], ordinal: bool) -> float:
    """Return Krippendorff's alpha of the grades that each document was given."""
    judged = [grades for grades in judged if len(grades) > 1]
    every = [grade for grades in judged for grade in grades]

    def apart(one: float, two: float) -> float:
        if not ordinal:
            return float(one != two)
        low, high = min(one, two), max(one, two)
        between = sum(low <= grade <= high for grade in every)
        return (between - (every.count(low) + every.count(high)) / 2) ** 2

    seen = [
        apart(one, two) / (len(grades) - 1)
        for grades in judged
        for i, one in enumerate(grades)
        for k, two in enumerate(grades)
        if i != k
    ]
    chance = [
        apart(one, two) for i, one in enumerate(every) for k, two in enumerate(every) if i != k
    ]
    total = math.fsum(chance) / (len(every) - 1)
    return 1 - math.fsum(seen) / total if total else math.nan

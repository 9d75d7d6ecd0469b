"""Documents of equal scores once more, in slow and plain Python: the oracle of every policy.

Belongs to measures.py, which says how it is written and has the measures. A query is the scores
of its documents and, in the same order, their grades, None for an unjudged document. A *tie* is a
set of documents of one score. Every policy but one decides on a single ranking; "expected" is the
mean of the measure's value over all orders inside the ties, each as likely as the others (McSherry
& Najork 2008, Computing information retrieval performance measures efficiently in the presence of
tied scores). Here all of them are gone through; nothing is summed up in closed form.
"""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from oracle import measures as reference
from oracle.base import Cutoff, Grade, Query, Value

Column = int
Grades = Sequence[Grade | None]
Ids = Sequence[str | int]
Orders = Mapping[tuple[Grade | None, ...], int]  # rankings, and how many orders give each

# ---------------------------------------------------------------- ties


def ties(scores: Sequence[float]) -> list[list[Column]]:
    """The columns of each score there is, highest score first; inside, earlier columns first."""
    levels = sorted(set(scores), reverse=True)
    return [[column for column, s in enumerate(scores) if s == level] for level in levels]


def height(grade: Grade | None) -> float:
    """What a grade counts when ties are decided by it; an unjudged document is below all others."""
    return -math.inf if grade is None else grade


def decided(tie: list[Column], grades: Grades, policy: str, ids: Ids | None) -> list[Column]:
    """A tie in the one order that a policy decides on.

    Lower grades first (the lower bound of Cabanac et al. 2010), higher grades first (their upper
    bound), as the columns stand, or by id as text in code-point order, descending (trec_eval) or
    ascending.
    """
    keys: dict[str, Callable[[Column], Any]] = {
        "pessimistic": lambda column: height(grades[column]),
        "optimistic": lambda column: -height(grades[column]),
        "index": lambda column: column,
    }
    if policy in keys:
        return sorted(tie, key=keys[policy])
    assert ids is not None
    downwards = {"id": True, "id_ascending": False}[policy]
    return sorted(tie, key=lambda column: str(ids[column]), reverse=downwards)


# ---------------------------------------------------------------- rankings


@functools.cache
def every_order(groups: tuple[tuple[Grade | None, ...], ...]) -> Orders:
    """The rankings that all permutations inside groups give, best group first, and how often."""
    inside = (itertools.permutations(group) for group in groups)
    return Counter(tuple(itertools.chain(*order)) for order in itertools.product(*inside))


def rankings(
    scores: Sequence[float], grades: Grades, policy: str = "expected", ids: Ids | None = None
) -> Orders:
    """The rankings that a policy takes the mean over, and how often each counts."""
    groups = ties(scores)
    if policy == "expected":  # all orders are gone through: the one a group is given in is nothing
        known = [sorted((grades[column] for column in group), key=height) for group in groups]
        return every_order(tuple(map(tuple, known)))
    columns = itertools.chain(*(decided(group, grades, policy, ids) for group in groups))
    return {tuple(grades[column] for column in columns): 1}


def mean(orders: Orders, value: Callable[[tuple[Grade | None, ...]], Value]) -> Fraction:
    """The exact mean of what a measure says of each order (McSherry & Najork 2008)."""
    total = sum((n * Fraction(value(ranking)) for ranking, n in orders.items()), Fraction(0))
    return total / sum(orders.values())


# ---------------------------------------------------------------- measures


def evaluate(
    scores: Sequence[float],
    grades: Grades,
    name: str,
    k: Cutoff = None,
    *,
    policy: str = "expected",
    ids: Ids | None = None,
    unlisted: Sequence[Grade] = (),
    **params: Any,
) -> Value:
    """The value of one measure for one query; `unlisted` are grades of documents not retrieved."""
    judged = [grade for grade in grades if grade is not None] + list(unlisted)
    measure = reference.MEASURES[name]
    orders = rankings(scores, grades, policy, ids)
    return mean(orders, lambda ranking: measure(Query(ranking, judged, k), **params))

"""The slow twins of the measures beyond accuracy, written from their papers' formulas.

What is known of items: the catalogue in order, how often each was interacted with, who had what,
vectors or a matrix of similarity. Lists are of items in rank order, cut already.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Item = Any
List = Sequence[Item]


@dataclass
class Known:
    catalogue: List
    had: Mapping[Any, Sequence[Item]]  # user to items, of which some may come again
    vectors: Mapping[Item, Sequence[float]] = field(default_factory=dict)
    given: Mapping[tuple[Item, Item], float] = field(default_factory=dict)

    @property
    def popularity(self) -> Counter[Item]:
        return Counter(each for items in self.had.values() for each in items)

    def users_of(self, item: Item) -> set[Any]:
        return {user for user, items in self.had.items() if item in items}

    def similarity(self, one: Item, other: Item, by: str) -> float:
        if by == "similarity":
            return self.given[one, other]
        if by == "cooccurrence":
            both = len(self.users_of(one) & self.users_of(other))
            each = len(self.users_of(one)) * len(self.users_of(other))
            return both / math.sqrt(each) if each else 0.0
        first, second = self.vectors[one], self.vectors[other]
        lengths = math.hypot(*first) * math.hypot(*second)
        dot = math.fsum(a * b for a, b in zip(first, second, strict=True))
        return dot / lengths if lengths else 0.0


def mean(values: Sequence[Any]) -> float:
    """The mean, 0 of nothing."""
    if all(isinstance(each, int | Fraction) for each in values):
        return float(Fraction(sum(values)) / len(values)) if values else 0.0
    return math.fsum(values) / len(values) if values else 0.0


# Of one user's list.


def user_coverage(ranked: List, known: Known, least: int = 1) -> float:
    return float(len(ranked) >= least)


def average_popularity(ranked: List, known: Known, of: str = "count") -> float:
    """Yin et al. 2012."""
    if of == "users":
        return mean([Fraction(len(known.users_of(each)), len(known.had)) for each in ranked])
    return mean([Fraction(known.popularity[each]) for each in ranked])


def tail_share(ranked: List, known: Known, tail: float = 0.1) -> float:
    """As RecBole's TailPercentage."""
    seen = [each for each in known.catalogue if known.popularity[each]]
    if tail > 1:
        rare = [each for each in seen if known.popularity[each] <= tail]
    else:
        rare = sorted(seen, key=known.popularity.__getitem__)[: max(int(tail * len(seen)), 1)]
    return mean([int(each in rare) for each in ranked])


def information(item: Item, known: Known, of: str, unseen: str) -> float:
    """Zhou et al. 2010: of how much surprise it is that somebody has it."""
    by_users = of == "users"
    whole = len(known.had) if by_users else sum(known.popularity.values())
    count = len(known.users_of(item)) if by_users else known.popularity[item]
    count = count or {"once": 1, "zero": 0}[unseen]
    return -math.log2(count / whole) if count else 0.0


def novelty(ranked: List, known: Known, of: str = "interactions", unseen: str = "once") -> float:
    return mean([information(each, known, of, unseen) for each in ranked])


def ild(ranked: List, known: Known, by: str = "embeddings") -> float:
    """Ziegler et al. 2005: over unordered pairs, if both orders are as similar."""
    pairs = list(itertools.permutations(ranked, 2))
    return mean([1 - known.similarity(*pair, by) for pair in pairs])


def unexpected(item: Item, user: Any, known: Known, by: str) -> float:
    """Zhang et al. 2012: how unlike it is what the user had."""
    before = list(dict.fromkeys(known.had.get(user, ())))
    return 1 - mean([known.similarity(item, each, by) for each in before])


def unexpectedness(ranked: List, known: Known, user: Any, by: str = "cooccurrence") -> float:
    return mean([unexpected(each, user, known, by) for each in ranked])


def serendipity(
    ranked: List,
    known: Known,
    user: Any,
    grades: Mapping[Item, float],
    by: str = "cooccurrence",
    rel: float = 1,
) -> float:
    relevant = [grades.get(each, 0) >= rel for each in ranked]
    terms = zip(ranked, relevant, strict=True)
    return mean([unexpected(each, user, known, by) * good for each, good in terms])


OF_USERS: dict[str, Callable[..., float]] = {
    "UserCoverage": user_coverage,
    "AvgPopularity": average_popularity,
    "TailShare": tail_share,
    "Novelty": novelty,
    "ILD": ild,
    "Unexpectedness": unexpectedness,
    "Serendipity": serendipity,
}

# Of the lists of all users.


def counted(lists: Sequence[List]) -> Counter[Item]:
    return Counter(each for ranked in lists for each in ranked)


def item_coverage(
    lists: Sequence[List], known: Known, of: str = "catalogue", padding: int = 0
) -> float:
    size = len(known.popularity) if of == "trained" else len(known.catalogue)
    return len(counted(lists)) / (size + padding)


def gini(lists: Sequence[List], known: Known, padding: int = 0) -> float:
    """The mean absolute difference of two items' counts, over twice the mean count."""
    counts = [counted(lists)[each] for each in known.catalogue] + [0] * padding
    if not any(counts):
        return 0.0
    differences = sum(abs(a - b) for a, b in itertools.product(counts, repeat=2))
    return float(Fraction(differences, 2 * len(counts) * sum(counts)))


def entropy(lists: Sequence[List], known: Known, unit: str = "bits", per: str = "run") -> float:
    counts = counted(lists)
    log = {"bits": math.log2, "nats": math.log}[unit]
    whole = math.fsum(-n / counts.total() * log(n / counts.total()) for n in counts.values())
    divisors = {"run": 1.0, "recommended": max(len(counts), 1), "most": log(len(known.catalogue))}
    return whole / divisors[per]


def personalisation(lists: Sequence[List], known: Known) -> float:
    def cosine(one: List, other: List) -> float:
        lengths = math.sqrt(len(one) * len(other))
        return len(set(one) & set(other)) / lengths if lengths else 0.0

    pairs = list(itertools.combinations(lists, 2))
    return 1 - mean([cosine(*pair) for pair in pairs]) if pairs else 0.0


def run_novelty(
    lists: Sequence[List], known: Known, of: str = "interactions", unseen: str = "once"
) -> float:
    return mean([information(each, known, of, unseen) for ranked in lists for each in ranked])


OF_RUN: dict[str, Callable[..., float]] = {
    "CatalogueCoverage": item_coverage,
    "Gini": gini,
    "Entropy": entropy,
    "Personalisation": personalisation,
    "RunNovelty": run_novelty,
}

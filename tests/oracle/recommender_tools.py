"""What tools for recommenders compute under their names, as slow twins of their definitions.

Read off RecBole 1.2.1, recommenders 1.2.1, LensKit 2025.8, RecTools 0.19, Cornac 3.0, ranx 0.3.21,
sentence-transformers 6.2 and Elliot 0.3.1; the first five were run beside these, once. Everything
is of one example: each user's list in rank order, and the set of relevant items.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oracle import items as of_items
from oracle.items import Known, mean

Lists = list[list[Any]]


@dataclass
class Example:
    """Users' lists and relevant items, in the same order, and what is known of items."""

    ranked: Mapping[Any, Sequence[Any]]
    relevant: Mapping[Any, set[Any]]
    known: Known
    k: int

    @property
    def lists(self) -> Lists:
        return [list(each)[: self.k] for each in self.ranked.values()]

    def hits(self) -> list[tuple[list[int], int, int]]:
        """Of each user: the ranks of hits, how many are relevant, how many are listed."""
        found = []
        for user, listed in zip(self.ranked, self.lists, strict=True):
            ranks = [rank for rank, item in enumerate(listed, 1) if item in self.relevant[user]]
            found.append((ranks, len(self.relevant[user]), len(listed)))
        return found


def of_users(value: Callable[[list[int], int, int, int], float]) -> Callable[[Example], float]:
    """The mean over users of a function of the ranks of hits, relevant, listed, k."""
    return lambda e: mean([value(*each, e.k) for each in e.hits()])


def dcg(ranks: Sequence[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def dcg_of_lenskit(ranks: Sequence[int]) -> float:
    return math.fsum(1 / max(math.log2(rank), 1) for rank in ranks)


def precisions(ranks: Sequence[int]) -> float:
    return math.fsum(number / rank for number, rank in enumerate(ranks, 1))


def f1(ranks: list[int], r: int, n: int, k: int) -> float:
    return 2 * len(ranks) / (k + r)  # the harmonic mean of len / k and len / r


precision = of_users(lambda ranks, r, n, k: len(ranks) / k)
recall = of_users(lambda ranks, r, n, k: len(ranks) / r)
hit = of_users(lambda ranks, r, n, k: float(bool(ranks)))
hits = of_users(lambda ranks, r, n, k: float(len(ranks)))
mrr = of_users(lambda ranks, r, n, k: 1 / ranks[0] if ranks else 0.0)
ndcg = of_users(lambda ranks, r, n, k: dcg(ranks) / dcg(range(1, min(r, k) + 1)))
map_of_all = of_users(lambda ranks, r, n, k: precisions(ranks) / r)
map_of_most = of_users(lambda ranks, r, n, k: precisions(ranks) / min(r, k))


def gauc(e: Example) -> float:
    """RecBole's: areas under curves of all that is listed, weighted by the relevant ones there."""
    areas, weights = [], []
    for ranks, _, n in replace(e, k=max(map(len, e.ranked.values()))).hits():
        if 0 < len(ranks) < n:
            misses = set(range(1, n + 1)) - set(ranks)
            right = sum(hit < miss for hit in ranks for miss in misses)
            areas.append(right / (len(ranks) * len(misses)))
            weights.append(len(ranks))
    return math.fsum(a * w for a, w in zip(areas, weights, strict=True)) / sum(weights)


def r_precision(e: Example) -> float:
    """recommenders': of users who have a hit within rank R, no others."""
    found = ((sum(rank <= r for rank in ranks), r) for ranks, r, _ in e.hits())
    return mean([within / r for within, r in found if within])


def gini(e: Example) -> float:
    """Elliot's: 1 less the sum of (2 j - n - 1) p over n - 1."""
    counts = Counter(each for listed in e.lists for each in listed)
    n, total = len(e.known.catalogue), counts.total()
    ascending = sorted(counts[each] for each in e.known.catalogue)
    terms = ((2 * j - n - 1) * count / total for j, count in enumerate(ascending, 1))
    return 1 - math.fsum(terms) / (n - 1)


def long_tail(e: Example) -> float:
    """Elliot's APLT: the tail is what the most popular items with 80 % of interactions leave."""
    left, tail = 0.8 * e.known.popularity.total(), set()
    for item, count in e.known.popularity.most_common():
        if left <= 0:
            tail.add(item)
        left -= count
    return mean([len(tail & set(each)) / len(each) for each in e.lists])


def surprisal(e: Example) -> float:
    """RePlay's: an item's information, of its share of users, over the most there could be."""
    most = math.log2(len(e.known.had))
    return mean([of_items.novelty(each, e.known, "users") / most for each in e.lists])


def accuracy(e: Example) -> float:
    """RecTools': the share of the items that are rightly among the k, or rightly not."""
    n = len(e.known.catalogue)
    return mean([(2 * len(ranks) + n - e.k - r) / n for ranks, r, _ in e.hits()])


def serendipity_of_rectools(e: Example) -> float:
    """Of each hit what its rank is better than its place by popularity, over the items."""
    n = len(e.known.catalogue)
    counts = Counter(item for had in e.known.had.values() for item in had)
    places = {count: place for place, count in enumerate(sorted({*counts.values()})[::-1], 1)}
    values = []
    for user, listed in zip(e.ranked, e.lists, strict=True):
        gains = [
            max(places.get(counts[item], n + 1) - rank, 0) / n * (item in e.relevant[user])
            for rank, item in enumerate(listed, 1)
        ]
        values.append(math.fsum(gains) / len(listed))
    return mean(values)


def of_run(function: Callable[..., float], *given: Any) -> Callable[[Example], float]:
    return lambda e: function(e.lists, e.known, *given)


def of_lists(function: Callable[..., float], *given: Any) -> Callable[[Example], float]:
    return lambda e: mean([function(each, e.known, *given) for each in e.lists])


def distinct(e: Example) -> float:
    return float(len({each for listed in e.lists for each in listed}))


def serendipity(e: Example) -> float:
    """recommenders', without a column of relevance, which is 1 then."""
    pairs = zip(e.ranked, e.lists, strict=True)
    return mean([of_items.unexpectedness(listed, e.known, user) for user, listed in pairs])


coverage_and_padding = of_run(of_items.item_coverage, "catalogue", 1)
gini_and_padding = of_run(of_items.gini, 1)
entropy_of_recommended = of_run(of_items.entropy, "nats", "recommended")
popularity = of_lists(of_items.average_popularity)

# By tool and name, without the cutoff.
TOOLS: dict[str, dict[str, Callable[[Example], float]]] = {
    "RecBole": {
        "recall": recall, "hit": hit, "mrr": mrr, "ndcg": ndcg, "precision": precision,
        "gauc": gauc, "map": map_of_most,
        "itemcoverage": coverage_and_padding, "ItemCoverage": coverage_and_padding,
        "giniindex": gini_and_padding, "GiniIndex": gini_and_padding,
        "shannonentropy": entropy_of_recommended, "ShannonEntropy": entropy_of_recommended,
        "averagepopularity": popularity, "tailpercentage": of_lists(of_items.tail_share),
    },
    "recommenders": {
        "precision_at": precision, "recall_at": recall, "ndcg_at": ndcg, "map_at": map_of_most,
        "r_precision_at": r_precision,
        "catalog_coverage": of_run(of_items.item_coverage, "trained"),
        "distributional_coverage": of_run(of_items.entropy),
        "diversity": of_lists(of_items.ild, "cooccurrence"),
        "novelty": of_run(of_items.run_novelty, "interactions", "zero"),
        "serendipity": serendipity,
    },
    "LensKit": {
        "Hit": hit, "RecipRank": mrr, "ListGini": of_run(of_items.gini),
        "NDCG": of_users(
            lambda ranks, r, n, k: dcg_of_lenskit(ranks) / dcg_of_lenskit(range(1, min(r, k) + 1))
        ),
        "Recall": of_users(lambda ranks, r, n, k: len(ranks) / min(r, k)),
        "Precision": of_users(lambda ranks, r, n, k: len(ranks) / n),
        "AveragePrecision": of_users(lambda ranks, r, n, k: precisions(ranks) / min(r, n)),
    },
    "Elliot": {
        "HR": hit, "MRR": mrr, "nDCG": ndcg, "Precision": precision, "Recall": recall,
        "F1": of_users(f1), "ARP": popularity,
        "MAP": of_users(
            lambda ranks, r, n, k: mean([sum(e <= i for e in ranks) / i for i in range(1, k + 1)])
        ),
        "Gini": gini, "ItemCoverage": distinct, "APLT": long_tail,
        "UserCoverage": lambda e: float(sum(map(bool, e.lists))),
    },
    "RecTools": {
        "HitRate": hit, "MRR": mrr, "MAP": map_of_all, "Precision": precision, "Recall": recall,
        "NDCG": of_users(lambda ranks, r, n, k: dcg(ranks) / dcg(range(1, k + 1))),
        "CatalogCoverage": distinct, "Accuracy": accuracy, "Serendipity": serendipity_of_rectools,
        "MeanInvUserFreq": lambda e: math.log2(len(e.known.had)) * surprisal(e),
    },
    "Cornac": {
        "HitRatio": hit, "NDCG": ndcg, "Precision": precision, "Recall": recall,
        "F1": of_users(f1),
    },
    "RePlay": {"Surprisal": surprisal},
    "ranx": {
        "precision": precision, "recall": recall, "map": map_of_all, "mrr": mrr, "ndcg": ndcg,
        "hit_rate": hit, "f1": of_users(f1), "hits": hits,
    },
    "sentence-transformers": {
        "accuracy": hit, "precision": precision, "recall": recall, "mrr": mrr, "ndcg": ndcg,
        "map": map_of_most,
    },
}  # fmt: skip

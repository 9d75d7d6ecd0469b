"""What explains a query, once more, in slow and plain Python; see measures.py."""

import itertools
from collections.abc import Mapping, Sequence

from oracle.base import Cutoff, D, Grade, Judged, Query, Ranking, order
from oracle.measures import MEASURES


def ranking_of(
    scores: Mapping[D, float],
    grades: Mapping[D, Grade],
    score_dtype: str = "float64",
    max_depth: int | None = None,
    judged_only: bool = False,
) -> list[D]:
    """The documents of a query from the first to the last."""
    documents = order(scores, score_dtype)[:max_depth]
    return [d for d in documents if not judged_only or grades.get(d, -1) >= 0]


def where(document: D, ranking: Sequence[D]) -> int | None:
    """A document's rank, from 1."""
    return ranking.index(document) + 1 if document in ranking else None


def moved(first: int | None, second: int | None, k: Cutoff) -> str:
    """What became of a document, as far as a measure with this cutoff looks."""
    first, second = (
        rank if rank and (k is None or rank <= k) else None for rank in (first, second)
    )
    if first and second:
        return "same" if first == second else "up" if second < first else "down"
    return "lost" if first else "new" if second else "missed"


def terms(name: str, ranking: Ranking, judged: Judged, k: Cutoff) -> list[float]:
    """What each rank adds to a measure that is a sum over ranks.

    That is the value of the documents down to it less that of those above, as if what is below
    were not judged.
    """
    unjudged = [None] * len(ranking)
    shown = ([*ranking[:i], *unjudged[i:]] for i in range(len(ranking) + 1))
    values = [float(MEASURES[name](Query(each, judged, k))) for each in shown]
    return [down_to - above for above, down_to in itertools.pairwise(values)]

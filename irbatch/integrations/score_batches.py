"""What adapters of batches of scores share: their evaluator, and flat columns as matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.evaluation.batches import BatchEvaluator


def evaluator_without_ids(measures: Any, cutoffs: Any = None, **options: Any) -> BatchEvaluator:
    """Return an evaluator of scores of documents without ids; reject options before training."""
    evaluator = BatchEvaluator(measures, cutoffs, **options)
    evaluator.update([[0.0]], [[1]])
    evaluator.reset()
    return evaluator


def without_last_axis(scores: Any, labels: Any) -> Any:
    """Return scores in the labels' shape, where a last axis of 1 is too many."""
    shape = tuple(getattr(scores, "shape", ()))
    extra = shape[len(getattr(labels, "shape", (0, 0))) :]
    return scores[..., 0] if extra == (1,) else scores


def pad_queries(index: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Gather the documents of queries, similar sizes together; `index` is the query of each.

    Yields queries ``(queries,)``, the places in `index` of each one's documents, in their order,
    ``(queries, most)``, and how many they are; shorter rows repeat their last place.

    >>> for queries, places, lengths in pad_queries(np.array([7, 4, 7, 7, 4, 2])):
    ...     print(queries, places.tolist(), lengths)
    [2] [[5]] [1]
    [4 7] [[1, 4, 4], [0, 2, 3]] [2 3]
    """
    order = np.argsort(index, kind="stable")
    queries, starts, sizes = np.unique(index[order], return_index=True, return_counts=True)
    doublings = np.frexp(sizes)[1]
    for doubling in np.unique(doublings):
        group = np.flatnonzero(doublings == doubling)
        lengths = sizes[group]
        within = np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
        yield queries[group], order[starts[group][:, None] + within], lengths

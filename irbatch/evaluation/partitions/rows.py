"""Values of queries on their way to what is kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bytes, Floats
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.results import Results
from irbatch.evaluation.run_items import RunItems, join_items
from irbatch.evaluation.score_evaluator import ScoreBatch


class Rows(NamedTuple):
    """Values and marks of queries; values may have columns of weights, see `with_weights`."""

    values: Floats
    marks: Bytes
    items_of_queries: RunItems | None = None


class Addition(NamedTuple):
    """Queries to be added to what is kept; nothing of them is refused any more."""

    ids: Sequence[Hashable] | None  # different ones
    batch: Results | ScoreBatch | Rows  # their values and marks
    counts: Counts | None = None  # None: as they are marked
    fresh: int = 0  # how many of the queries are new
    repeats: int = 0  # how often a query came again


def join_rows(additions: Sequence[Addition]) -> Rows:
    """Put the values and marks of additions, at least one, one after the other."""
    batches = [each.batch for each in additions]
    ScoreBatch.compute_together([each for each in batches if isinstance(each, ScoreBatch)])
    values = np.concatenate([values_of(each) for each in batches])
    marks = np.concatenate([each.marks for each in batches])
    return Rows(values, marks, join_items(each.items_of_queries for each in batches))


def values_of(batch: Results | ScoreBatch | Rows) -> Floats:
    """Return values, and weights if there are any."""
    return batch.weighted_values if isinstance(batch, Results) else batch.values

"""Rankings in the order of evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.ties import by_id
from irbatch.errors import InputError
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats, number_problem

__all__ = ["order_documents"]


def order_documents(
    documents: Mapping[Any, Any], query: object = None, system: str | None = None
) -> list[Any]:
    """List a query's documents from the first to the last: trec_eval's order.

    By score, those of one score by id, both descending; ids that are numbers as their digits.

    Args:
        documents: document id to score.
        query, system: what errors call them.

    Raises:
        InputError: for a score that is not a number.

    >>> order_documents({"d1": 0.5, "d2": 0.7, "d3": 0.5})
    ['d2', 'd3', 'd1']
    """
    ids = list(documents)
    scores = _scores(documents, query, system)
    order = by_id.order_documents(np.zeros(len(ids), np.int64), scores, by_id.id_texts(ids))
    return [ids[place] for place in order.tolist()]


def _scores(documents: Mapping[Any, Any], query: object, system: str | None) -> Floats:
    values: Sequence[Any] = list(documents.values())
    try:
        scores = as_floats(values)
    except NUMBER_ERRORS:
        scores = np.full(len(values), np.nan)
    if np.isnan(scores).any():
        for document, value in documents.items():
            if reason := number_problem(value):
                raise InputError(f"score {reason}", source="run", path=system, query=query,
                                 document=document, value=value)  # fmt: skip
    return scores

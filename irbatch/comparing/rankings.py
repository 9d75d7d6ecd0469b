"""Rankings in the order of evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from irbatch.engine.ties import by_id
from irbatch.runtime.checks import read_numbers


def order_documents(
    documents: Mapping[Any, Any], query: object = None, system: str | None = None
) -> list[Any]:
    """List a query's documents from the first to the last: trec_eval's order.

    By score, those of one score by id, both descending; ids that are numbers as their digits.

    >>> order_documents({"d1": 0.5, "d2": 0.7, "d3": 0.5})
    ['d2', 'd3', 'd1']
    """
    ids = list(documents)
    names = ((query, document) for document in ids)
    scores = read_numbers("score", list(documents.values()), names, source="run", path=system)
    order = by_id.order_documents(np.zeros(len(ids), np.int64), scores, by_id.id_texts(ids))
    return [ids[place] for place in order.tolist()]

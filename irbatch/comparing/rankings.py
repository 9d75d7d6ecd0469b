"""Judgments and rankings as callers give them, and rankings in the order of evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.evaluate import Judgments, Rankings
from irbatch.formats import read_qrels, read_run
from irbatch.numbers import NUMBER_ERRORS, as_floats, number_problem
from irbatch.qrels import Qrels
from irbatch.runs import Run

__all__ = ["as_qrels", "as_run", "order_documents"]


def as_qrels(qrels: Judgments) -> Qrels:
    """Return judgments, whatever they come as, see `irbatch.evaluate`.

    Raises:
        InputError: as reading them does, and for a run in their place.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Run):
        raise InputError("a Run is given where judgments belong")
    if isinstance(qrels, str | os.PathLike):
        return read_qrels(qrels)
    return Qrels(qrels) if isinstance(qrels, Mapping) else Qrels.from_table(qrels)


def as_run(run: Rankings, name: str | None = None) -> Run:
    """Return rankings, whatever they come as, see `irbatch.evaluate`.

    Raises:
        InputError: as reading them does, and for judgments in their place.
    """
    if isinstance(run, Run):
        return run
    if isinstance(run, Qrels):
        raise InputError("Qrels are given where a run belongs")
    if isinstance(run, str | os.PathLike):
        return read_run(run)
    return Run(run, name) if isinstance(run, Mapping) else Run.from_table(run, name=name)


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
    if (scores[1:] < scores[:-1]).all():
        return ids
    order = np.argsort(-scores, kind="stable")
    tied = scores[order[1:]] == scores[order[:-1]]
    ordered = [ids[place] for place in order.tolist()]
    edges = np.flatnonzero(np.diff(tied, prepend=False, append=False))
    for first, last in edges.reshape(-1, 2).tolist():
        ordered[first : last + 1] = sorted(ordered[first : last + 1], key=str, reverse=True)
    return ordered


def _scores(
    documents: Mapping[Any, Any], query: object, system: str | None
) -> npt.NDArray[np.float64]:
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

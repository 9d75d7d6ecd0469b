"""Putting candidates without ids into the order of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.pack.rows import LabelRows, check_queries

__all__ = ["TIES", "rank_by_score"]

TIES = ("error", "pessimistic", "optimistic", "index")

Matrix = npt.NDArray[Any]


def rank_by_score(
    scores: Any, relevance: Any, ties: str, queries: Sequence[Any] | None
) -> LabelRows:
    """Order each query's labels by score, descending.

    Args:
        scores: array-like ``(queries, candidates)`` of real numbers, compared in their own type.
            Masked candidates, there or in `relevance`, are not there.
        relevance: array-like of the same shape, the candidates' labels.
        ties: what decides among equal scores: ``"pessimistic"`` puts lower labels first,
            ``"optimistic"`` higher ones, ``"index"`` earlier columns; ``"error"`` refuses ties
            among different labels.
        queries: the rows' ids; default their positions.

    Returns:
        The labels in rank order.

    Raises:
        InputError: for shapes that don't match, scores that are no numbers, or refused ties.
    """
    if ties not in TIES:
        raise InputError(f"ties={ties!r} must be one of {', '.join(TIES)}", value=ties)
    values, labels = _as_matrix(scores, "scores"), _as_matrix(relevance, "relevance")
    if values.ndim != 2 or values.shape != labels.shape:
        raise InputError(
            f"scores and relevance are matrices of one shape, queries x candidates, not "
            f"{values.shape} and {labels.shape}",
            source="scores",
        )
    queries = check_queries(queries, len(values), "scores")
    masked = np.ma.getmaskarray(scores) | np.ma.getmaskarray(relevance)
    _refuse_nan(values, masked, queries)
    second = {
        "error": labels,
        "optimistic": labels,
        "pessimistic": -labels.astype(np.float64),
        "index": np.broadcast_to(-np.arange(values.shape[1]), values.shape),
    }[ties]
    # Ascending and read backwards: negating scores would overflow unsigned and smallest integers.
    order = np.lexsort((second, values, ~masked), axis=-1)[:, ::-1]
    ranked = np.take_along_axis(labels, order, axis=1)
    lengths = (~masked).sum(axis=1)
    if ties == "error":
        _refuse_ties(np.take_along_axis(values, order, axis=1), ranked, lengths, queries)
    return LabelRows(ranked, lengths, queries)


def _as_matrix(values: Any, name: str) -> Matrix:
    try:
        matrix = np.asarray(np.ma.getdata(values))
    except ValueError:
        raise InputError("rows are not of one length", source=name) from None
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{name} are numbers, not {matrix.dtype.name}", source=name)
    return matrix


def _refuse_nan(scores: Matrix, masked: npt.NDArray[np.bool_], queries: Sequence[Any]) -> None:
    if scores.dtype.kind != "f":
        return
    bad = np.isnan(scores) & ~masked
    if bad.any():
        row, column = (int(each[0]) for each in np.nonzero(bad))
        raise InputError(
            f"score nan of candidate {column} is not a number",
            source="scores",
            query=queries[row],
            value=float("nan"),
        )


def _refuse_ties(
    scores: Matrix, ranked: Matrix, lengths: npt.NDArray[np.int64], queries: Sequence[Any]
) -> None:
    mixed = (scores[:, 1:] == scores[:, :-1]) & (ranked[:, 1:] != ranked[:, :-1])
    mixed &= np.arange(1, scores.shape[1]) < lengths[:, None]
    if mixed.any():
        row, column = (int(each[0]) for each in np.nonzero(mixed))
        raise InputError(
            f"candidates of different relevance share the score {scores[row, column]}: say what "
            "decides with ties='pessimistic', 'optimistic' or 'index'",
            source="scores",
            query=queries[row],
            value=float(scores[row, column]),
        )

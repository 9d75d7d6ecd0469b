"""Putting candidates without ids into the order of their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError

__all__ = ["TIES", "rank_by_score"]

TIES = ("error", "pessimistic", "optimistic", "index")


def rank_by_score(scores: Any, relevance: Any, ties: str) -> npt.NDArray[Any]:
    """Order each query's labels by score, descending.

    Args:
        scores: array-like ``(queries, candidates)`` of real numbers, compared in their own type.
        relevance: array-like of the same shape, the candidates' labels.
        ties: what decides among equal scores: ``"pessimistic"`` puts lower labels first,
            ``"optimistic"`` higher ones, ``"index"`` earlier columns; ``"error"`` refuses ties
            among different labels.

    Returns:
        The labels ``(queries, candidates)`` in rank order.

    Raises:
        InputError: for shapes that don't match, scores that are no numbers, or refused ties.
    """
    if ties not in TIES:
        raise InputError(f"ties={ties!r} must be one of {', '.join(TIES)}", value=ties)
    scores, relevance = np.asarray(scores), np.asarray(relevance)
    _check(scores, relevance)
    second = {
        "error": relevance,
        "optimistic": relevance,
        "pessimistic": -relevance.astype(np.float64),
        "index": np.broadcast_to(-np.arange(scores.shape[1]), scores.shape),
    }[ties]
    # Ascending and read backwards: negating scores would overflow unsigned and smallest integers.
    order = np.lexsort((second, scores), axis=-1)[:, ::-1]
    ranked = np.take_along_axis(relevance, order, axis=1)
    if ties == "error":
        _refuse_ties(np.take_along_axis(scores, order, axis=1), ranked)
    return ranked


def _check(scores: npt.NDArray[Any], relevance: npt.NDArray[Any]) -> None:
    if scores.ndim != 2 or scores.shape != relevance.shape:
        raise InputError(
            f"scores and relevance are matrices of one shape, queries x candidates, not "
            f"{scores.shape} and {relevance.shape}",
            source="scores",
        )
    for name, values in (("scores", scores), ("relevance", relevance)):
        if values.dtype.kind not in "biuf":
            raise InputError(f"{name} are numbers, not {values.dtype.name}", source=name)
    bad = np.isnan(scores) if scores.dtype.kind == "f" else np.zeros(0, bool)
    if bad.any():
        row, column = (int(each[0]) for each in np.nonzero(bad))
        raise InputError(
            f"score nan of candidate {column} is not a number", source="scores", query=row
        )


def _refuse_ties(scores: npt.NDArray[Any], ranked: npt.NDArray[Any]) -> None:
    mixed = (scores[:, 1:] == scores[:, :-1]) & (ranked[:, 1:] != ranked[:, :-1])
    if mixed.any():
        row, column = (int(each[0]) for each in np.nonzero(mixed))
        raise InputError(
            f"candidates of different relevance share the score {scores[row, column]}: say what "
            "decides with ties='pessimistic', 'optimistic' or 'index'",
            source="scores",
            query=row,
            value=float(scores[row, column]),
        )

"""Scores and labels in rows of different lengths, one a query: padded, with their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.runtime.arrays import to_numpy


def read_score_rows(scores: Any, relevance: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and lengths with ragged rows padded; anything else as it is.

    Ragged rows are lists of lists, arrays or tensors, or torch's nested tensors.

    Raises:
        InputError: if rows differ in length, and labels are no rows of the same lengths.
    """
    rows, labels = _as_rows(scores), _as_rows(relevance)
    if rows is None:
        return scores, relevance if labels is None else labels, lengths
    sizes = [len(row) for row in rows]
    if len(set(sizes)) < 2:
        return rows, relevance if labels is None else labels, lengths
    if labels is None or lengths is not None:
        some = ", ".join(map(str, sizes[:3])) + ", …" * (len(sizes) > 3)
        problem = "rows are not of one length: give labels in rows of the same lengths, or pad"
        raise InputError(f"{problem} both and say lengths=[{some}]", source="scores")
    others = [len(row) for row in labels]
    if len(others) != len(sizes):
        raise InputError(f"{len(sizes)} rows, but {len(others)} of labels", source="scores")
    for row, (size, other) in enumerate(zip(sizes, others, strict=True)):
        if size != other:
            problem = f"{other} labels for {size} scores"
            raise InputError(problem, source="relevance", query=row)
    return _pad(rows, "scores"), _pad(labels, "relevance"), np.array(sizes, np.int64)


def _as_rows(given: Any) -> list[Any] | None:
    """Return rows that may differ in length, or None of what has none."""
    if getattr(given, "is_nested", False):  # a tensor of torch
        return list(given.unbind())
    if not isinstance(given, list | tuple) or not given:
        return None
    rows = all(
        hasattr(each, "__len__") and not isinstance(each, str) and getattr(each, "ndim", 1) == 1
        for each in given
    )
    return list(given) if rows else None


def _pad(rows: list[Any], source: str) -> npt.NDArray[Any]:
    arrays = [to_numpy(row, source) for row in rows]
    try:
        dtype = np.result_type(*(each for each in arrays if each.size))
    except TypeError:  # of dates and numbers
        raise InputError("rows are not of one type", source=source) from None
    for row, each in enumerate(arrays):
        if each.ndim != 1:
            problem = f"a row is 1-D, not of shape {each.shape}"
            raise InputError(problem, source=source, query=row)
    padded = np.zeros((len(arrays), max(map(len, arrays))), dtype)
    for row, each in zip(padded, arrays, strict=True):
        row[: len(each)] = each
    return padded

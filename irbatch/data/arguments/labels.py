"""Rows of relevance labels in rank order, checked: rectangular or ragged, whole or masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Ints, Positions
from irbatch.data.arguments.arrays import check_real, find_bad_grade, read_lengths
from irbatch.data.arguments.ids import check_query_ids
from irbatch.errors import InputError, kind_of
from irbatch.runtime.arrays import to_numpy, without_mask

Labels = npt.NDArray[Any]


class LabelRows:
    """Labels, one row a query, rectangular or ragged, see `irbatch.evaluate_matrix`."""

    def __init__(
        self,
        labels: Any,
        lengths: Any = None,
        queries: Sequence[Any] | None = None,
        name: str = "relevance",
    ) -> None:
        self.name = name
        self.rows, unmasked = _read_rows(labels, name, queries)
        self.queries = check_query_ids(queries, len(self.rows), name)
        self.depths = unmasked
        if lengths is not None:
            widths = np.fromiter(map(len, self.rows), np.int64, len(self.rows))
            if (unmasked != widths).any():
                raise InputError("give a mask or lengths=, not both", source=name)
            self.depths = read_lengths(lengths, widths, self.queries, name)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, position: int) -> Labels:
        """Return the labels of one query: 1-D, without padding."""
        return self.rows[position][: self.depths[position]]

    def ends_in(self, label: int) -> bool:
        """Tell whether a row, of the first hundred, ends in some label."""
        rows = map(self.row, range(min(len(self), 100)))
        return any(row.size and row[-1] == label for row in rows)

    def block(self, picks: Positions) -> Labels:
        """Return some queries' labels, 2-D, padded with 0; refuse those that are no grades."""
        depth = int(self.depths[picks].max(initial=0))
        if isinstance(self.rows, np.ndarray):
            values = self.rows[picks, :depth]
        else:
            dtype = np.result_type(np.bool_, *(self.rows[pick].dtype for pick in picks))
            values = np.zeros((picks.size, depth), dtype)
            for i, pick in enumerate(picks):
                values[i, : self.depths[pick]] = self.row(pick)
        if picks.size and self.depths[picks].min() < depth:
            values[np.arange(depth) >= self.depths[picks, None]] = 0
        if values.dtype.kind == "f":
            values = values.astype(np.float64, copy=False)  # what levels are
        if (bad := find_bad_grade(values)) >= 0:
            row, column = divmod(bad, depth)
            label = values[row, column]
            problem = f"label {label} at rank {column + 1} is not a grade"
            query = self.queries[picks[row]]
            raise InputError(problem, source=self.name, query=query, value=label.item())
        return values


def _read_rows(
    labels: Any, name: str, queries: Sequence[Any] | None
) -> tuple[Labels | list[Labels], Ints]:
    """Return a 2-D array, or a list of 1-D arrays for ragged rows; and their unmasked lengths."""
    if hasattr(labels, "__array__"):
        matrix = to_numpy(labels, name)
        if matrix.ndim != 2:
            problem = f"labels are 2-D, queries x ranks, not of shape {matrix.shape}"
            raise InputError(problem, source=name)
        check_real(matrix, "labels", name, queries)
        return matrix, _count_unmasked(labels, matrix.shape, name)
    if isinstance(labels, str | AbstractSet | Mapping) or not hasattr(labels, "__iter__"):
        raise InputError(f"{kind_of(labels)} is no matrix of labels", source=name)
    rows, lengths = [], []
    for position, each in enumerate(labels):
        known = queries[position : position + 1] if queries is not None else ()
        row = _read_row(each, known[0] if known else position, name)
        rows.append(row)
        lengths.append(_count_unmasked(each, (1, row.size), name)[0])
    return rows, np.array(lengths, np.int64)


def _read_row(labels: Any, query: Any, name: str) -> Labels:
    """Return one query's labels, 1-D."""
    try:
        if isinstance(labels, str | AbstractSet | Mapping):
            raise TypeError
        row = without_mask(labels if hasattr(labels, "__array__") else list(labels))
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.ndim != 1:
        problem = "a row of labels is a list of numbers"
        raise InputError(problem, source=name, query=query, value=labels)
    row = row if row.size else row.astype(np.int64)
    check_real(row, "labels", name, [query])
    return row


def _count_unmasked(labels: Any, shape: tuple[int, ...], name: str) -> Ints:
    """Return how many cells of each row come before the masked ones."""
    if np.ma.getmask(labels) is np.ma.nomask:
        return np.full(shape[0], shape[1], np.int64)
    mask = np.ma.getmaskarray(labels).reshape(shape)
    lengths = (~mask).sum(axis=1, dtype=np.int64)
    if (mask != (np.arange(mask.shape[1]) >= lengths[:, None])).any():
        raise InputError("masked cells may only end a row: ranks have no gaps", source=name)
    return np.asarray(lengths)

"""Packing relevance labels that stand in rank order already."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError, InputWarning
from irbatch.jit import kernel
from irbatch.matrix import NEGATIVE, PAD, RelevanceMatrix, code_dtype, padded_depth, plan_blocks
from irbatch.pack.block import Block
from irbatch.qrels import LARGEST_GRADE

__all__ = ["LabelRows", "pack_labels"]

Labels = npt.NDArray[Any]
SMALL_LABEL = 126  # whole labels up to it are their own codes


class LabelRows:
    """Labels of ranked documents, one row a query, rectangular or ragged.

    Args:
        labels: 2-D array-like of bools or numbers, or a sequence of rows of different lengths.
            Masked cells of a masked array are not there; they may only end a row.
        lengths: how many cells of each row are documents; default all.
        name: what errors call it.

    Raises:
        InputError: for another shape, or labels that are not numbers.
    """

    def __init__(self, labels: Any, lengths: Any = None, name: str = "relevance") -> None:
        self.name = name
        if isinstance(labels, np.ma.MaskedArray):
            if lengths is None:
                lengths = _unmasked_lengths(labels, name)
            labels = np.ma.getdata(labels)
        self.rows = _as_rows(labels, name)
        widths = np.fromiter(map(len, self.rows), np.int64, len(self.rows))
        self.depths = widths if lengths is None else _check_lengths(lengths, widths, name)
        if lengths is None:
            self._warn_of_padding()

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, position: int) -> Labels:
        """Return the labels of one query: 1-D, without padding."""
        part: Labels = np.asarray(self.rows[position])[: self.depths[position]]
        return part

    def block(self, picks: npt.NDArray[np.intp]) -> Labels:
        """Return some queries' labels, 2-D, padded with 0 past each row's length."""
        depth = int(self.depths[picks].max(initial=0))
        if isinstance(self.rows, np.ndarray):
            values = self.rows[picks, :depth]
        else:
            dtype = np.result_type(np.bool_, *(self.rows[pick].dtype for pick in picks))
            values = np.zeros((picks.size, depth), dtype)
            for i, pick in enumerate(picks):
                values[i, : self.depths[pick]] = self.row(pick)
        self._check(values, picks)
        if picks.size and self.depths[picks].min() < depth:
            values[np.arange(depth) >= self.depths[picks, None]] = 0
        return values

    def _check(self, values: Labels, picks: npt.NDArray[np.intp]) -> None:
        if values.dtype.kind in "bu" or (values.dtype.kind == "i" and values.itemsize < 8):
            return
        inside = np.arange(values.shape[1]) < self.depths[picks, None]
        bad = inside & ~(np.abs(values) <= LARGEST_GRADE)
        if bad.any():
            row, column = (int(each[0]) for each in np.nonzero(bad))
            raise InputError(
                f"label {values[row, column]} at rank {column + 1} is not a grade",
                source=self.name,
                query=int(picks[row]),
                value=float(values[row, column]),
            )

    def _warn_of_padding(self) -> None:
        if any(len(row) and row[-1] == -1 for row in self.rows[:100]):
            warnings.warn(
                "rows end in label -1, which counts as a judged document of no use; "
                "if it is padding, say so with lengths=",
                InputWarning,
                stacklevel=4,
            )


def pack_labels(labels: LabelRows, judged: LabelRows | None = None) -> Iterator[Block]:
    """Pack labels in rank order.

    Args:
        labels: the ranked documents' grades.
        judged: for each query the grades of *all* its judged documents, ranked or not, in any
            order; default: those ranked are all there are.

    Yields:
        Blocks whose `rows` are positions in `labels`.

    Raises:
        InputError: when `judged` lacks documents that are ranked.
    """
    for picks in plan_blocks(labels.depths, SMALL_LABEL):
        values = labels.block(picks)
        everything = values if judged is None else judged.block(picks)
        levels = _levels(values, everything)
        retrieved = labels.depths[picks]
        codes = _encode(values, levels, retrieved)
        counts = _count(codes, levels)
        if judged is not None:
            listed = counts
            counts = _count(_encode(everything, levels, judged.depths[picks]), levels)
            _check_judged(listed, counts, levels, picks)
        yield Block(picks, RelevanceMatrix(codes, levels, retrieved, counts))


def _levels(*values: Labels) -> npt.NDArray[np.float64]:
    """Return the grades that occur, ascending; for small whole labels all up to the largest."""
    if all(each.dtype.kind in "biu" for each in values):
        largest = max((int(each.max(initial=0)) for each in values), default=0)
        if largest <= SMALL_LABEL:
            return np.arange(largest + 1, dtype=np.float64)
    grades = np.unique(np.concatenate([np.unique(each) for each in values]).astype(np.float64))
    return grades[grades >= 0]


def _encode(
    values: Labels, levels: npt.NDArray[np.float64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.signedinteger]:
    """Turn grades into codes, padded to whole words."""
    dtype = code_dtype(levels.size)
    codes = np.full((values.shape[0], padded_depth(values.shape[1], dtype)), PAD, dtype)
    part = codes[:, : values.shape[1]]
    if values.dtype.kind in "biu" and levels.size == (levels[-1] if levels.size else -1) + 1:
        part[:] = values
    else:
        part[:] = np.searchsorted(levels, values.astype(np.float64))
    if values.dtype.kind in "if":
        part[values < 0] = NEGATIVE
    if lengths.size and lengths.min() < values.shape[1]:
        part[np.arange(values.shape[1]) >= lengths[:, None]] = PAD
    return codes


def _count(
    codes: npt.NDArray[np.signedinteger], levels: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Count each row's codes by level, int64 ``(queries, levels)``."""
    counts = np.zeros((codes.shape[0], levels.size), np.int64)
    _count_levels.run(codes.size, codes, counts)
    return counts


@kernel
def _count_levels(codes: npt.NDArray[np.signedinteger], counts: npt.NDArray[np.int64]) -> None:
    """Add one to the row's count of each code that is a level."""
    for row in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if codes[row, i] >= 0:
                counts[row, codes[row, i]] += 1


def _as_rows(labels: Any, name: str) -> Labels | Sequence[Labels]:
    """Return a 2-D array, or a list of 1-D arrays for ragged rows."""
    if isinstance(labels, np.ndarray) or hasattr(labels, "__array__"):
        rows = np.asarray(labels)
        if rows.ndim != 2:
            raise InputError(
                f"labels are 2-D, queries x ranks, not of shape {rows.shape}", source=name
            )
        _check_kind(rows, name)
        return rows
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise InputError(f"a {type(labels).__name__} is no matrix of labels", source=name)
    parts = []
    for position, each in enumerate(labels):
        try:
            row = np.asarray(list(each) if not hasattr(each, "__array__") else each)
        except (TypeError, ValueError):
            row = np.empty((0, 0))
        if row.ndim != 1:
            raise InputError(
                "a row of labels is a list of numbers", source=name, query=position, value=each
            )
        parts.append(row if row.size else row.astype(np.int64))
        _check_kind(parts[-1], name, position)
    return parts


def _check_kind(values: Labels, name: str, query: int | None = None) -> None:
    if values.dtype.kind not in "biuf":
        raise InputError(f"labels are numbers, not {values.dtype.name}", source=name, query=query)


def _check_lengths(lengths: Any, widths: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.int64]:
    checked = np.asarray(lengths)
    if checked.shape != widths.shape or checked.dtype.kind not in "iu":
        raise InputError(
            f"lengths are {widths.size} whole numbers, one a row, not {checked.dtype.name} of "
            f"shape {checked.shape}",
            source=name,
        )
    bad = (checked < 0) | (checked > widths)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"length {checked[row]} is not within the row's {widths[row]} cells",
            source=name,
            query=row,
            value=int(checked[row]),
        )
    return checked.astype(np.int64)


def _unmasked_lengths(labels: np.ma.MaskedArray[Any, Any], name: str) -> npt.NDArray[np.int64]:
    mask = np.ma.getmaskarray(labels)
    if mask.ndim != 2:
        raise InputError(f"labels are 2-D, queries x ranks, not of shape {mask.shape}", source=name)
    lengths: npt.NDArray[np.int64] = (~mask).sum(axis=1)
    if (mask != (np.arange(mask.shape[1]) >= lengths[:, None])).any():
        raise InputError("masked cells may only end a row: ranks have no gaps", source=name)
    return lengths


def _check_judged(
    listed: npt.NDArray[np.int64],
    judged: npt.NDArray[np.int64],
    levels: npt.NDArray[np.float64],
    picks: npt.NDArray[np.intp],
) -> None:
    lacking = (listed > judged) & (levels > 0)
    if lacking.any():
        row, level = (int(each[0]) for each in np.nonzero(lacking))
        raise InputError(
            f"{listed[row, level]} documents of grade {levels[level]:g} are ranked, but only "
            f"{judged[row, level]} judged",
            source="judged",
            query=int(picks[row]),
            value=float(levels[level]),
        )

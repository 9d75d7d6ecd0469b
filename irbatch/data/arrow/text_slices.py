"""Texts in several arrays of bytes, before they are one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Ints
from irbatch.data.text_column import TextColumn
from irbatch.runtime.ragged import offsets_of


class RowError(Exception):
    """A row that cannot be read, counted in what was being read."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row, self.problem = row, problem


@dataclass(frozen=True)
class TextSlices:
    """Texts that are slices of several arrays of bytes: a `TextColumn` before these are joined."""

    pieces: list[Bytes]
    which: npt.NDArray[np.integer]  # of the pieces
    starts: npt.NDArray[np.integer]
    lengths: npt.NDArray[np.int32]

    def take(self, rows: npt.NDArray[np.integer]) -> TextSlices:
        """Return some of them."""
        return TextSlices(self.pieces, self.which[rows], self.starts[rows], self.lengths[rows])

    def extents(self) -> tuple[Ints, Ints]:
        """Return where the used part of each piece begins and ends."""
        low = np.full(len(self.pieces), np.iinfo(np.int64).max)
        high = np.zeros(len(self.pieces), np.int64)
        if len(self.pieces) == 1:
            low[0], high[0] = self.starts.min(), (self.starts + self.lengths).max()
        else:
            np.minimum.at(low, self.which, self.starts)
            np.maximum.at(high, self.which, self.starts + self.lengths)
        return low, high

    def check_utf8(self) -> None:
        """Raise `RowError` at the first text that is not UTF-8."""
        if all(piece.max(initial=0) < 128 for piece in self.pieces):
            return
        columns = self.which.tolist(), self.starts.tolist(), self.lengths.tolist()
        for row, (which, start, length) in enumerate(zip(*columns, strict=True)):
            try:
                str(self.pieces[which][start : start + length].data, "utf-8")
            except UnicodeDecodeError:
                raise RowError(row, "is not UTF-8") from None


def join_slices(parts: list[TextSlices]) -> TextColumn:
    """Lay the used part of every array of bytes one after the other, each array once.

    Chunks may share arrays, as those of one dictionary do: copying one for each chunk would be
    quadratic. A single array is not copied at all.
    """
    pieces: dict[int, Bytes] = {}
    for piece in (piece for part in parts for piece in part.pieces):
        pieces[piece.ctypes.data] = max(pieces.get(piece.ctypes.data, piece), piece, key=len)
    order = {address: i for i, address in enumerate(pieces)}
    numbers = [np.array([order[each.ctypes.data] for each in part.pieces]) for part in parts]
    low, high = np.full(len(pieces), np.iinfo(np.int64).max), np.zeros(len(pieces), np.int64)
    for part, number in zip(parts, numbers, strict=True):
        first, last = part.extents()
        np.minimum.at(low, number, first)
        np.maximum.at(high, number, last)
    ends = offsets_of(np.maximum(high - low, 0))
    shift = ends[:-1] - low
    used = [each[a:b] for each, a, b in zip(pieces.values(), low, high, strict=True) if a < b]
    starts = [part.starts + shift[n][part.which] for part, n in zip(parts, numbers, strict=True)]
    lengths = [part.lengths for part in parts]
    return TextColumn(
        used[0] if len(used) == 1 else np.concatenate(used or [np.empty(0, np.uint8)]),
        np.concatenate(starts or [np.empty(0, np.int64)]),
        np.concatenate(lengths or [np.empty(0, np.int32)]),
    )

"""A score for every candidate of every query: which of them are there, and blocks of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Ints, NDArray
from irbatch.data.cells import GradedCandidates, check_real, read_counts, read_excluded, read_mask
from irbatch.data.ids import check_query_ids
from irbatch.errors import InputError
from irbatch.runtime.arrays import is_on_accelerator, mask_of, to_numpy, widen

BLOCK_CELLS = 16 << 20  # of scores copied at once
BLOCK_CELLS_THERE = 64 << 20  # compared at once: the temporary masks are of this many bytes
# Scores on an accelerator up to which copying them and counting here takes less time than launching
# the work there: 32 x 1,000 take 0.9 ms instead of 1.2 (an H100's), 256 x 1,000 as long.
FEW_CELLS = 1 << 17
FLOATS = ("float64", "float32", "float16", "bfloat16")
COUNTED_THERE = (*FLOATS, "int64", "int32", "int16", "int8", "uint8")
UNCOPIED = (np.float32, np.float64, np.int64, np.uint64)


class Candidates:
    """Scores of candidates, checked but for NaN, which counting finds.

    Scores are array-like ``(queries, candidates)``, or a tensor on an accelerator, which stays
    there. Cells are candidates if they come before ``widths`` and are `kept` (None: all); ``sizes``
    are how many a query is left with.
    """

    def __init__(self, scores: Any, queries: Sequence[Any] | None) -> None:
        self.on_accelerator = False  # where numbers may be counted, rather than copied
        if is_on_accelerator(scores):
            name = str(scores.dtype).removeprefix("torch.")
            self.on_accelerator = name in COUNTED_THERE and scores.numel() >= FEW_CELLS
        self.scores: Any = scores.detach() if self.on_accelerator else to_numpy(scores, "scores")
        self.shape = tuple(self.scores.shape)
        if len(self.shape) != 2:
            problem = f"scores are a matrix, queries x candidates, not of shape {self.shape}"
            raise InputError(problem, source="scores")
        self.queries = check_query_ids(queries, self.shape[0], "scores")
        if not self.on_accelerator:
            check_real(self.scores, "scores", "scores", self.queries)
        self.sizes = self.widths = np.full(self.shape[0], self.shape[1], np.int64)
        self.kept: Bools | None = None
        self.whole = True  # whether every cell is a candidate
        if (mask := mask_of(scores)) is not None:
            self._keep(~mask)

    def score_of(self, row: int, column: int) -> float:
        """Return a candidate's score."""
        return float(self.scores[row, column])

    def put_nan_last(self) -> None:
        """Let scores that are NaN count as minus infinity."""
        if self.on_accelerator:
            self.scores = self.scores.nan_to_num(-math.inf, math.inf, -math.inf)
        elif self.scores.dtype.kind == "f":
            self.scores = np.where(np.isnan(self.scores), -np.inf, self.scores)

    def leave_out(
        self,
        kept: Bools | None,
        mask: Any = None,
        lengths: Any = None,
        exclude: Any = None,
        *,
        may_be_none: bool = False,
    ) -> None:
        """Leave out what labels or options of `irbatch.evaluate_scores` hide; count the rest.

        A query of which no candidate is left is rejected, unless `may_be_none`.
        """
        if kept is mask is lengths is exclude is self.kept is None:
            return
        if kept is not None:
            self._keep(kept)
        if mask is not None:
            self._keep(read_mask(mask, self.shape, "mask"))
        if lengths is not None:
            self.widths = read_counts("lengths", lengths, self.widths, self.queries)
            self.whole = False
        if exclude is not None:
            self._keep(read_excluded(exclude, self.shape, self.queries))
        self.sizes = self.widths
        if self.kept is not None:
            cells = self.kept
            if (self.widths < self.shape[1]).any():
                cells = self.are_candidates(0, self.shape[0])
            self.sizes = cells.sum(axis=1, dtype=np.int64)
        nothing = (self.sizes == 0) & (self.widths > 0)
        if nothing.any() and not may_be_none:
            query = self.queries[int(np.argmax(nothing))]
            problem = "none of the candidates is left: all are masked or excluded; "
            problem += "no_relevant='skip' leaves such a query out"
            raise InputError(problem, source="scores", query=query)

    def without_hidden(self, graded: GradedCandidates) -> GradedCandidates:
        """Return those graded that are candidates."""
        if self.whole:
            return graded
        shown: Bools = graded.columns < self.widths[graded.row_index]
        if self.kept is not None:
            shown &= self.kept[graded.row_index, graded.columns]
        return graded.where(shown)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Divide the rows so that no block that has to be copied is large."""
        at_once = max(self.shape[0], 1)
        copied = self.on_accelerator or not self.scores.flags.c_contiguous
        if copied or self.scores.dtype.newbyteorder("=") not in UNCOPIED:
            cells = BLOCK_CELLS_THERE if self.on_accelerator else BLOCK_CELLS
            at_once = max(cells // max(self.shape[1], 1), 1)
        for start in range(0, self.shape[0], at_once):
            yield start, min(start + at_once, self.shape[0])

    def block(self, start: int, stop: int) -> tuple[NDArray[Any], Bools | None]:
        """Return some rows' scores as kernels take them, and which cells are candidates.

        Whole numbers become int64 (uint64 stays), bools too, float16 float32: each exactly. Floats
        of more than 64 bits become their places in order, as float64.
        """
        part = self.scores[start:stop]
        kept = None if self.kept is None else np.ascontiguousarray(self.kept[start:stop])
        part = widen(to_numpy(part, "scores") if self.on_accelerator else part)
        dtype = part.dtype
        if dtype.kind == "f" and dtype.itemsize > 8:
            places = np.unique(part, return_inverse=True)[1].reshape(part.shape)
            part = np.where(np.isnan(part), np.nan, places.astype(np.float64))
        elif dtype.kind in "biu":
            part = part.astype(np.uint64 if dtype == np.uint64 else np.int64, copy=False)
        else:
            part = part.astype(np.float64 if dtype.itemsize >= 8 else np.float32, copy=False)
        return np.ascontiguousarray(part), kept

    def are_candidates(self, start: int, stop: int) -> Bools:
        """Tell which cells of some rows are candidates, bool ``(rows, candidates)``."""
        is_candidate: Bools = np.arange(self.shape[1]) < self.widths[start:stop, None]
        if self.kept is not None:
            is_candidate &= self.kept[start:stop]
        return is_candidate

    def _keep(self, cells: Bools) -> None:
        self.kept, self.whole = cells if self.kept is None else self.kept & cells, False


def part_of(starts: Ints, first: int, last: int) -> tuple[slice, Ints]:
    """Return where the items of rows `first` to `last` are, and where each row's are in there."""
    part = slice(int(starts[first]), int(starts[last]))
    return part, starts[first : last + 1] - part.start

"""A score for every candidate of every query: which of them are there, and blocks of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Ints
from irbatch.data.arguments.ids import check_query_ids
from irbatch.errors import InputError
from irbatch.pack.relevance import Listed, read_cells, read_columns
from irbatch.runtime.arrays import is_on_accelerator, is_sparse, to_numpy
from irbatch.runtime.ragged import offsets_of, row_index_of

__all__ = ["Candidates", "Excluded"]

BLOCK_CELLS = 16 << 20  # of scores copied at once
UNCOPIED = (np.float32, np.float64, np.int64, np.uint64)


class Excluded(NamedTuple):
    """Candidates to leave out, query after query.

    Args:
        starts: int64 ``(queries + 1,)``, where each query's begin and end.
        columns: int64 ``(excluded,)``.
    """

    starts: Ints
    columns: Ints


class Candidates:
    """Scores of candidates, checked but for NaN, which counting finds.

    Args:
        scores: array-like ``(queries, candidates)`` of real numbers, or a tensor on an
            accelerator, which stays there. Masked cells are no candidates.
        queries: the rows' ids; default their positions.

    Attributes:
        scores: as they came, a NumPy array or that tensor.
        widths: int64 ``(queries,)``; cells from there on are no candidates.
        there: bool ``(queries, candidates)``, which cells are candidates, or None if all are.
        excluded: candidates to leave out besides, or None.
        sizes: int64 ``(queries,)``, how many candidates are left.

    Raises:
        InputError: for scores that are no matrix of numbers.
    """

    def __init__(self, scores: Any, queries: Sequence[Any] | None) -> None:
        on_accelerator = is_on_accelerator(scores)
        self.scores = scores.detach() if on_accelerator else to_numpy(scores, "scores")
        self.shape = tuple(self.scores.shape)
        kind = "f" if on_accelerator else self.scores.dtype.kind
        if len(self.shape) != 2:
            raise InputError(
                f"scores are a matrix, queries x candidates, not of shape {self.shape}",
                source="scores",
            )
        if kind not in "biuf":
            raise InputError(f"scores are numbers, not {self.scores.dtype.name}", source="scores")
        self.queries = check_query_ids(queries, self.shape[0], "scores")
        self.widths = np.full(self.shape[0], self.shape[1], np.int64)
        self.there: Bools | None = None
        self.excluded: Excluded | None = None
        self.sizes = self.widths
        if np.ma.getmask(scores) is not np.ma.nomask:
            self.keep(~np.ma.getmaskarray(scores))

    @property
    def on_accelerator(self) -> bool:
        """Whether the scores are a tensor elsewhere."""
        return is_on_accelerator(self.scores)

    def keep(self, there: Bools) -> None:
        """Leave out the cells where `there` is False: bool ``(queries, candidates)``."""
        self.there = there if self.there is None else self.there & there

    def mask(self, mask: Any) -> None:
        """Leave out the cells that a caller's mask hides.

        Raises:
            InputError: for another shape, or what are no truth values.
        """
        self.keep(self._as_mask(mask, "mask"))

    def cut(self, lengths: Any) -> None:
        """Leave out cells from the query's length on.

        Raises:
            InputError: for lengths that are not within the rows.
        """
        given = to_numpy(lengths, "lengths")
        if given.shape != self.widths.shape or given.dtype.kind not in "iu":
            raise InputError(
                f"lengths are {self.widths.size} whole numbers, one a row, not {given.dtype.name} "
                f"of shape {given.shape}",
                source="lengths",
            )
        bad = (given < 0) | (given > self.shape[1])
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"length {given[row]} is not within the row's {self.shape[1]} cells",
                source="lengths",
                query=self.queries[row],
                value=int(given[row]),
            )
        self.widths = given.astype(np.int64)

    def exclude(self, excluded: Any) -> None:
        """Leave out what is to be excluded: a bool matrix, a sparse one, or lists of columns.

        Raises:
            InputError: for columns that there are not, or another shape.
        """
        if is_sparse(excluded):
            if tuple(excluded.shape) != self.shape:
                raise self._unlike("exclude", tuple(excluded.shape))
            rows, columns, values = read_cells(excluded, "exclude")
            rows, columns = rows[values != 0], columns[values != 0]
        elif (hasattr(excluded, "__array__") and np.ndim(excluded) == 2) or (
            not isinstance(excluded, Sequence) and hasattr(excluded, "__dlpack__")
        ):  # fmt: skip
            self.keep(~self._as_mask(excluded, "exclude"))
            return
        else:
            if isinstance(excluded, str) or not hasattr(excluded, "__len__"):
                raise InputError("columns to exclude are lists, one a query", source="exclude")
            rows, columns, _ = read_columns(excluded, self.shape, self.queries, "exclude")
        keys = np.unique(rows * max(self.shape[1], 1) + columns)  # each once
        rows, columns = np.divmod(keys, max(self.shape[1], 1))
        self.excluded = Excluded(offsets_of(np.bincount(rows, minlength=self.shape[0])), columns)

    def settle(self, listed: Listed) -> Listed:
        """Count the candidates left; return those listed that are among them.

        Raises:
            InputError: for a query all of whose candidates are hidden.
        """
        if self.excluded is not None:
            self.excluded = self._drop_hidden(self.excluded)
        self.sizes = self._count()
        nothing = (self.sizes == 0) & (self.widths > 0)
        if nothing.any():
            row = int(np.argmax(nothing))
            raise InputError("none of the candidates is left: all are masked or excluded",
                             source="scores", query=self.queries[row])  # fmt: skip
        return listed.without(self._is_hidden(listed.row_index, listed.columns))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Divide the rows so that no block that has to be copied is large."""
        at_once = max(self.shape[0], 1)
        copied = self.on_accelerator or not self.scores.flags.c_contiguous
        if copied or self.scores.dtype.newbyteorder("=") not in UNCOPIED:
            at_once = max(BLOCK_CELLS // max(self.shape[1], 1), 1)
        for start in range(0, self.shape[0], at_once):
            yield start, min(start + at_once, self.shape[0])

    def block(self, start: int, stop: int) -> tuple[npt.NDArray[Any], Bools | None]:
        """Return some rows' scores as kernels take them, and which cells are candidates.

        float16 becomes float32, whole numbers become int64 (uint64 stays), bools too: each
        exactly. Wider floats become their places in order, as float64.
        """
        part = to_numpy(self.scores[start:stop], "scores")
        dtype = part.dtype
        if dtype.kind == "f" and dtype.itemsize > 8:
            places = np.unique(part, return_inverse=True)[1].reshape(part.shape)
            part = np.where(np.isnan(part), np.nan, places.astype(np.float64))
        elif dtype.kind in "biu":
            part = part.astype(np.uint64 if dtype == np.uint64 else np.int64, copy=False)
        else:
            part = part.astype(np.float64 if dtype.itemsize >= 8 else np.float32, copy=False)
        there = None if self.there is None else np.ascontiguousarray(self.there[start:stop])
        return np.ascontiguousarray(part), there

    def are_candidates(self, start: int, stop: int) -> Bools:
        """Tell which cells of some rows are candidates, bool ``(rows, candidates)``."""
        there: Bools = np.arange(self.shape[1]) < self.widths[start:stop, None]
        if self.there is not None:
            there &= self.there[start:stop]
        if self.excluded is not None:
            starts, columns = self.excluded
            out = slice(int(starts[start]), int(starts[stop]))
            there[row_index_of(starts[start : stop + 1]), columns[out]] = False
        return there

    def _as_mask(self, mask: Any, name: str) -> Bools:
        cells = to_numpy(mask, name)
        if cells.shape != self.shape:
            raise self._unlike(name, cells.shape)
        if cells.dtype.kind in "iu" and np.isin(cells, (0, 1)).all():
            return cells.astype(bool)
        if cells.dtype.kind != "b":
            raise InputError(f"a mask has truth values, not {cells.dtype.name}", source=name)
        return cells

    def _unlike(self, name: str, shape: tuple[int, ...]) -> InputError:
        return InputError(
            f"it is of shape {shape}, the scores are of shape {self.shape}", source=name
        )

    def _is_hidden(self, rows: Ints, columns: Ints) -> Bools:
        """Tell which of some cells are no candidates."""
        hidden: Bools = columns >= self.widths[rows]
        if self.there is not None:
            hidden |= ~self.there[rows, columns]
        if self.excluded is not None and self.excluded.columns.size:
            starts, out = self.excluded
            keys = row_index_of(starts) * self.shape[1] + out
            wanted = rows * self.shape[1] + columns
            at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            hidden |= keys[at] == wanted
        return hidden

    def _drop_hidden(self, excluded: Excluded) -> Excluded:
        """Leave out what is hidden anyway."""
        rows = row_index_of(excluded.starts)
        self.excluded = None
        shown = ~self._is_hidden(rows, excluded.columns)
        counts = np.bincount(rows[shown], minlength=self.shape[0])
        return Excluded(offsets_of(counts), excluded.columns[shown])

    def _count(self) -> Ints:
        sizes = self.widths
        if self.there is not None:
            there = self.there
            if (self.widths < self.shape[1]).any():
                there = there & (np.arange(self.shape[1]) < self.widths[:, None])
            sizes = there.sum(axis=1, dtype=np.int64)
        if self.excluded is not None:
            sizes = sizes - np.diff(self.excluded.starts)
        return sizes

"""Reading what is said of the cells of a matrix, queries x candidates or queries x ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Ints, NDArray, Positions
from irbatch.data.columns import as_ids, read_compressed
from irbatch.data.id_lists import read_lists
from irbatch.data.ids import TextColumn, check_query_ids
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.runtime.arrays import (
    is_on_accelerator,
    is_sparse,
    is_tensor,
    mask_of,
    to_numpy,
    without_mask,
)
from irbatch.runtime.numbers import LARGEST_WHOLE, check_choice, number_problem
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of
from irbatch.runtime.threads import cached_property

# That a caller may say a query has: discounts are tabulated, and summed, up to there (80 MB).
MOST_RELEVANT = 10_000_000
IGNORED = -100  # the label that Hugging Face and torch give to padding

Queries = Sequence[Any]
Shape = tuple[int, int]
Labels = NDArray[Any]
NO_LABELS = np.empty(0, np.int64)


# ---------------------------------------------------------------- checks


def check_real(array: NDArray[Any], what: str, source: str, queries: Queries | None = None) -> None:
    """Reject an array of anything but real numbers and truth values.

    `what` is in it, in the plural; `queries` are those of its rows, or that of its only row.
    """
    kind = array.dtype.kind
    if kind in "biuf":
        return
    for place in np.ndindex(array.shape) if kind == "O" else ():
        if problem := number_problem(array[place]):
            row = place[0] if array.ndim == 2 else 0
            query = row if queries is None or row >= len(queries) else queries[row]
            problem = f"{what.removesuffix('s')} {problem}"
            raise InputError(problem, source=source, query=query, value=array[place])
    kind_of_values = "text" if kind in "SU" else array.dtype.name
    query = queries[0] if queries is not None and array.ndim == 1 else None
    raise InputError(f"{what} are numbers, not {kind_of_values}", source=source, query=query)


def check_shape(values: Any, shape: Shape, source: str) -> None:
    """Reject an array that has not the shape of the scores."""
    if tuple(values.shape) != shape:
        problem = f"it is of shape {tuple(values.shape)}, the scores are of shape {shape}"
        raise InputError(problem, source=source)


def find_bad_grade(grades: NDArray[Any]) -> int:
    """Return the flat place of the first real number that is NaN or beyond 2^53; -1 without one."""
    kind, size = grades.dtype.kind, grades.dtype.itemsize
    if not grades.size or kind == "b" or (kind in "iu" and size < 8):
        return -1
    if grades.min().item() >= -LARGEST_WHOLE and grades.max().item() <= LARGEST_WHOLE:
        return -1  # NaN would be both the least and the largest
    return int(np.argmin((grades <= LARGEST_WHOLE) & (grades >= -LARGEST_WHOLE)))


def read_mask(mask: Any, shape: Shape, source: str) -> Bools:
    """Read truth values, or 0 and 1, of every candidate: bool ``(queries, candidates)``."""
    cells = to_numpy(mask, source)
    check_shape(cells, shape, source)
    if cells.dtype.kind in "iu" and np.isin(cells, (0, 1)).all():
        return cells.astype(bool)
    if cells.dtype.kind != "b":
        raise InputError(f"a mask has truth values, not {cells.dtype.name}", source=source)
    return cells


def read_counts(name: str, counts: Any, most: Ints, queries: Queries) -> Ints:
    """Read a whole number of each query, from 0 to what it may have at `most`: int64 ``(n,)``."""
    numbers = to_numpy(counts, name)
    if numbers.shape != most.shape or numbers.dtype.kind not in "iu":
        kind = f"{numbers.dtype.name} of shape {numbers.shape}"
        problem = f"{name} are {most.size} whole numbers, one a query, not {kind}"
        raise InputError(problem, source=name)
    bad = (numbers < 0) | (numbers > most)
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"{numbers[row]} is not from 0 to {most[row]}"
        raise InputError(problem, source=name, query=queries[row], value=int(numbers[row]))
    return numbers.astype(np.int64)


def read_n_relevant(n_relevant: Any, queries: Queries) -> Ints:
    """Read how many relevant documents each query has in all: int64 ``(queries,)``."""
    return read_counts("n_relevant", n_relevant, np.full(len(queries), MOST_RELEVANT), queries)


# ---------------------------------------------------------------- graded candidates


@dataclass(frozen=True, eq=False)
class GradedCandidates:
    """Some cells of a matrix, queries x candidates, query after query, and a grade of each."""

    starts: Ints  # (rows + 1,): where each row's begin and end
    columns: Ints
    grades: Labels

    @cached_property
    def row_index(self) -> Ints:
        """The row of each."""
        return row_index_of(self.starts)

    @cached_property
    def all_one(self) -> bool:
        """Whether every grade is 1."""
        return bool((self.grades == 1).all())

    def where(self, kept: Bools) -> GradedCandidates:
        """Return those that are `kept`."""
        if kept.all():
            return self
        starts = offsets_of(kept)[self.starts]
        return GradedCandidates(starts, self.columns[kept], self.grades[kept])

    def as_grades(self, queries: Queries) -> GradedCandidates:
        """Return them with grades that are float64; reject NaN, and what is beyond 2^53."""
        if not self.all_one and (bad := find_bad_grade(self.grades)) >= 0:
            label, query = self.grades[bad], queries[self.row_index[bad]]
            problem = f"label {label} of candidate {self.columns[bad]} is not a grade"
            raise InputError(problem, source="relevance", query=query, value=label.item())
        grades = np.asarray(self.grades, np.float64)
        return self if grades is self.grades else replace(self, grades=grades)

    def check_columns(self, shape: Shape, queries: Queries, source: str) -> None:
        """Reject a cell outside the matrix."""
        outside = self.columns.view(np.uint64) >= shape[1]  # as negative ones are large there
        if np.count_nonzero(outside):
            place = np.argmax(outside)
            column, query = int(self.columns[place]), queries[self.row_index[place]]
            candidates = f"the {shape[1]} candidates, counted from 0; padding is {IGNORED}"
            problem = f"column {column} is not one of {candidates}"
            raise InputError(problem, source=source, query=query, value=column)


def _read_matrix(matrix: Any, shape: Shape, queries: Queries, source: str) -> GradedCandidates:
    """Read what is not 0 of numbers in an array or tensor, dense or sparse."""
    if not is_sparse(matrix) and not is_on_accelerator(matrix):
        values = to_numpy(matrix, source)
        check_shape(values, shape, source)
        check_real(values, "labels", source, queries)
        # Of bools: those of wider numbers are found twenty times as slowly.
        places = np.flatnonzero(values if values.dtype == bool else values != 0)
        begins = np.arange(shape[0] + 1) * shape[1]
        starts = np.searchsorted(places, begins)
        columns = places - np.repeat(begins[:-1], np.diff(starts))  # a third of a division's time
        return GradedCandidates(starts, columns, values.reshape(-1)[places])
    check_shape(matrix, shape, source)
    if is_tensor(matrix):
        tensor = matrix.detach().to_sparse_coo().coalesce()  # only what is not 0 travels
        rows, columns = to_numpy(tensor.indices(), source)
        grades = to_numpy(tensor.values(), source)
        if ((rows < 0) | (rows >= shape[0])).any():  # as if of another query
            problem = f"an entry is not in a matrix of shape {shape}"
            raise InputError(problem, source=source)
        starts = offsets_of(np.bincount(rows, minlength=shape[0]))
    else:
        compressed = read_compressed(matrix, source)
        starts, columns = compressed.indptr.astype(np.int64), compressed.indices.astype(np.int64)
        grades = compressed.data
    check_real(grades, "labels", source)
    cells = GradedCandidates(starts, columns, grades)
    cells.check_columns(shape, queries, source)
    return cells.where(grades != 0)


def _read_columns(columns: Any, shape: Shape, queries: Queries, source: str) -> GradedCandidates:
    """Read candidates by their columns, as of positives, see `irbatch.evaluate_scores`."""
    if getattr(columns, "dtype", None) == "object" and columns.ndim == 1:
        columns = list(columns)  # lists of each query, or numbers
    if isinstance(columns, Sequence) and any(
        hasattr(entry, "__len__") and getattr(entry, "ndim", 1) for entry in columns
    ):
        starts, flat = _read_lists(columns, shape, queries, source)
    else:
        array = to_numpy(columns, source)
        if (mask := mask_of(columns)) is not None and array.dtype.kind in "iu":
            array = np.where(mask, IGNORED, array.astype(np.int64))
        if array.size and array.dtype.kind not in "iu":
            raise InputError(f"columns are whole numbers, not {array.dtype}", source=source)
        if array.ndim not in (1, 2) or len(array) != shape[0]:
            expected = f"each of {many(shape[0], 'query')} has a column, or a row of them"
            problem = f"{expected}, not an array of shape {array.shape}"
            raise InputError(problem, source=source)
        flat = array.reshape(-1)
        starts = np.arange(shape[0] + 1) * (flat.size // max(shape[0], 1))
        if np.count_nonzero(counted := flat != IGNORED) < flat.size:
            starts, flat = offsets_of(counted)[starts], flat[counted]
    cells = GradedCandidates(starts, flat.astype(np.int64), np.ones(flat.size))
    cells.check_columns(shape, queries, source)
    return cells


def _read_lists(
    lists: Sequence[Any], shape: Shape, queries: Queries, source: str
) -> tuple[Ints, Labels]:
    """Return where the entries of each list begin and end, and the column of each."""
    if len(lists) != shape[0]:
        problem = f"{many(len(lists), 'list')} for {many(shape[0], 'query')}"
        raise InputError(problem, source=source)
    for query, entry in zip(queries, lists, strict=True):
        if isinstance(entry, Mapping):
            problem = "columns are a list; grades of candidates are given as relevance"
            raise InputError(problem, source=source, query=query, value=entry)
    table = read_lists(lists, as_ids(list(queries), "query", source), source)
    if not isinstance(table.documents, TextColumn):
        return table.starts, table.documents
    if len(table.documents):
        query, column = table.where(0)["query"], table.where(0)["document"]
        problem = f"column {shown(column)} is not a whole number"
        raise InputError(problem, source=source, query=query, value=column)
    return table.starts, NO_LABELS


def read_labels(
    labels: Any, shape: Shape, queries: Queries
) -> tuple[GradedCandidates, Bools | None]:
    """Read a label for every candidate: an array-like or a sparse matrix of the scores' shape.

    Returns candidates whose label is not 0, unchecked: those that are hidden may have any; and
    which cells are candidates, bool of the same shape, or None if all are.
    """
    cells, mask = _read_matrix(labels, shape, queries, "relevance"), mask_of(labels)
    hidden: Bools | None = None if mask is None else mask.copy()
    ignored = cells.grades == IGNORED
    if ignored.any():
        hidden = np.zeros(shape, bool) if hidden is None else hidden
        hidden[cells.row_index[ignored], cells.columns[ignored]] = True
    if hidden is None:
        return cells, None
    return cells.where(~hidden[cells.row_index, cells.columns]), ~hidden


def read_positives(positives: Any, shape: Shape, queries: Queries) -> GradedCandidates:
    """Read the relevant candidates' columns, see `irbatch.evaluate_scores`."""
    source = "positives"
    if isinstance(positives, str):
        check_choice(source, positives, ("diagonal", "first"))
        positives = np.arange(shape[0]) if positives == "diagonal" else np.zeros(shape[0], int)
    if getattr(positives, "shape", None) == shape and shape[0] > 1:
        problem = f"an array of shape {shape}, as the scores: labels of all are relevance"
        raise InputError(problem, source=source)
    cells = _read_columns(positives, shape, queries, source)
    if (cells.starts[1:] - cells.starts[:-1] < 2).all():
        return cells
    keys = np.sort(cells.row_index * shape[1] + cells.columns, kind="stable")
    for key in keys[1:][keys[1:] == keys[:-1]][:1].tolist():
        row, column = divmod(key, shape[1])
        problem = f"column {column} comes twice"
        raise InputError(problem, source=source, query=queries[row], value=column)
    return cells


def read_excluded(excluded: Any, shape: Shape, queries: Queries) -> Bools:
    """Read which candidates to leave out; tell which are left: bool ``(queries, candidates)``."""
    source = "exclude"
    if not is_sparse(excluded) and getattr(excluded, "ndim", 1) == 2:
        return ~read_mask(excluded, shape, source)
    read = _read_matrix if is_sparse(excluded) else _read_columns
    cells = read(excluded, shape, queries, source)
    kept = np.ones(shape, bool)
    kept[cells.row_index, cells.columns] = False
    return kept


# ---------------------------------------------------------------- labels in rank order


class LabelRows:
    """Labels, one row a query, rectangular or ragged; `depths` of each count."""

    def __init__(
        self,
        labels: Any,
        lengths: Any = None,
        queries: Queries | None = None,
        name: str = "relevance",
    ) -> None:
        self.name = name
        if hasattr(labels, "__array__"):
            self._labels = to_numpy(labels, name)  # 2-D; ragged rows 1-D, one after the other
            if self._labels.ndim != 2:
                problem = f"labels are 2-D, queries x ranks, not of shape {self._labels.shape}"
                raise InputError(problem, source=name)
            check_real(self._labels, "labels", name, queries)
            self.depths = _count_unmasked(labels, self._labels.shape, name)
        elif isinstance(labels, str | AbstractSet | Mapping) or not hasattr(labels, "__iter__"):
            raise InputError(f"{kind_of(labels)} is not a matrix of labels", source=name)
        else:
            rows = []
            for row, values in enumerate(labels):
                query = row if queries is None or row >= len(queries) else queries[row]
                rows.append(_read_row(values, name, query))
            self.depths = np.array([row.size for row in rows], np.int64)
            # Empty ones are left out: they would make floats of whole numbers.
            self._labels = np.concatenate([row for row in rows if row.size] or [NO_LABELS])
        self._starts = offsets_of(self.depths)
        self.queries = check_query_ids(queries, self.depths.size, name)
        if lengths is not None:
            self.depths = read_counts("lengths", lengths, self.depths, self.queries)

    def __len__(self) -> int:
        return self.depths.size

    def ends_in(self, label: int) -> bool:
        """Tell whether a row, of the first hundred, ends in some label."""
        rows = map(self.row, range(min(len(self), 100)))
        return any(row.size and row[-1] == label for row in rows)

    def row(self, position: int) -> Labels:
        """Return the labels of one query: 1-D, without padding."""
        if self._labels.ndim == 2:
            return self._labels[position, : self.depths[position]]
        return self._labels[self._starts[position] :][: self.depths[position]]

    def padded(self, picks: Positions) -> Labels:
        """Return some queries' labels, 2-D, padded with 0."""
        depths = self.depths[picks]
        depth = int(depths.max(initial=0))
        if self._labels.ndim == 2:
            values = self._labels[picks, :depth]
            if picks.size and depths.min() < depth:
                values[np.arange(depth) >= depths[:, None]] = 0
            return values
        values = np.zeros((picks.size, depth), self._labels.dtype)
        flat = self._labels[joined_ranges(self._starts[picks], depths)]
        values[np.arange(depth) < depths[:, None]] = flat
        return values

    def block(self, picks: Positions) -> Labels:
        """Return some queries' labels as `padded`; reject those that are not grades."""
        values = self.padded(picks)
        if values.dtype.kind == "f":
            values = values.astype(np.float64, copy=False)  # what levels are
        if (bad := find_bad_grade(values)) >= 0:
            row, column = divmod(bad, values.shape[1])
            label, query = values[row, column], self.queries[picks[row]]
            problem = f"label {label} at rank {column + 1} is not a grade"
            raise InputError(problem, source=self.name, query=query, value=label.item())
        return values


def _read_row(values: Any, source: str, query: Any) -> Labels:
    what = "scores" if source == "scores" else "labels"
    try:
        if isinstance(values, str | AbstractSet | Mapping):
            raise TypeError
        if is_tensor(values):
            row = to_numpy(values, source)
        else:
            row = without_mask(values if hasattr(values, "__array__") else list(values))
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.ndim != 1:
        problem = f"a row of {what} is a list of numbers"
        raise InputError(problem, source=source, query=query, value=values)
    if row.size:
        check_real(row, what, source, [query])
    if mask_of(values) is None:
        return row
    return row[: _count_unmasked(values, (1, row.size), source)[0]]


def _count_unmasked(labels: Any, shape: tuple[int, ...], name: str) -> Ints:
    """Return how many cells of each row come before the masked ones."""
    mask = mask_of(labels)
    if mask is None:
        return np.full(shape[0], shape[1], np.int64)
    mask = mask.reshape(shape)
    lengths = (~mask).sum(axis=1, dtype=np.int64)
    if (mask != (np.arange(mask.shape[1]) >= lengths[:, None])).any():
        raise InputError("masked cells may only end a row: ranks have no gaps", source=name)
    return np.asarray(lengths)


def read_score_rows(scores: Any, relevance: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and lengths with ragged rows padded; anything else as it is.

    Ragged rows are lists of lists, arrays or tensors, or torch's nested tensors.
    """
    both = [_as_rows(scores), _as_rows(relevance)]
    if len({len(row) for row in both[0] or ()}) < 2:
        return both[0] or scores, both[1] or relevance, lengths
    if both[1] is None or lengths is not None:
        problem = "rows are not of one length: give labels in rows of the same lengths, or pad"
        raise InputError(f"{problem} both and say lengths=", source="scores")
    rows, labels = LabelRows(both[0], name="scores"), LabelRows(both[1])
    if len(labels) != len(rows):
        raise InputError(f"{len(rows)} rows, but {len(labels)} of labels", source="scores")
    for query in np.flatnonzero(rows.depths != labels.depths)[:1].tolist():
        problem = f"{labels.depths[query]} labels for {rows.depths[query]} scores"
        raise InputError(problem, source="relevance", query=query)
    every = np.arange(len(rows))
    return rows.padded(every), labels.padded(every), rows.depths


def _as_rows(rows: Any) -> list[Any] | None:
    """Return rows that may differ in length, or None of what has none."""
    if getattr(rows, "is_nested", False):  # a tensor of torch
        return list(rows.unbind())
    if not isinstance(rows, list | tuple) or not rows:
        return None
    are_rows = all(
        hasattr(row, "__len__") and not isinstance(row, str) and getattr(row, "ndim", 1) == 1
        for row in rows
    )
    return list(rows) if are_rows else None

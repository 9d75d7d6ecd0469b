"""Reading what is said of the cells of a matrix, queries x candidates or queries x ranks."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.columns import as_compressed_rows
from irbatch.data.ids import check_query_ids
from irbatch.errors import ErrorsIn, InputError, kind_of, many, shown
from irbatch.runtime.arrays import (
    is_on_accelerator,
    is_sparse,
    is_tensor,
    mask_of,
    to_numpy,
    without_mask,
)
from irbatch.runtime.numbers import LARGEST_WHOLE, is_whole, number_problem, read_numbers
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of
from irbatch.runtime.threads import cached_property

# That a caller may say a query has: discounts are tabulated, and summed, up to there (80 MB).
MOST_RELEVANT = 10_000_000
IGNORED = -100  # the label that Hugging Face and torch give to padding

Queries = Sequence[Any]
Shape = tuple[int, int]
Labels = npt.NDArray[Any]


# ---------------------------------------------------------------- checks


def check_real(
    array: npt.NDArray[Any], what: str, source: str, queries: Queries | None = None
) -> None:
    """Reject an array of anything but real numbers and truth values.

    `what` is in it, in the plural; `queries` are those of its rows, or that of its only row.
    """
    kind = array.dtype.kind
    if kind in "biuf":
        return
    for place in np.ndindex(array.shape) if kind == "O" else ():
        if problem := number_problem(array[place]):
            row = place[0] if array.ndim == 2 else 0
            named = () if queries is None else queries[row : row + 1]  # not checked yet
            query = named[0] if len(named) else row if array.ndim == 2 else None
            problem = f"{what.removesuffix('s')} {problem}"
            raise InputError(problem, source=source, query=query, value=array[place])
    only = queries[0] if queries is not None and array.ndim == 1 else None
    kind_of_values = "text" if kind in "SU" else array.dtype.name
    raise InputError(f"{what} are numbers, not {kind_of_values}", source=source, query=only)


def check_shape(shape: tuple[int, ...], scores: Shape, source: str) -> None:
    """Reject what has not the shape of the scores."""
    if tuple(shape) != scores:
        problem = f"it is of shape {tuple(shape)}, the scores are of shape {scores}"
        raise InputError(problem, source=source)


def find_bad_grade(grades: npt.NDArray[Any]) -> int:
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
    check_shape(cells.shape, shape, source)
    if cells.dtype.kind in "iu" and np.isin(cells, (0, 1)).all():
        return cells.astype(bool)
    if cells.dtype.kind != "b":
        raise InputError(f"a mask has truth values, not {cells.dtype.name}", source=source)
    return cells


def read_lengths(lengths: Any, widths: Ints, queries: Queries, source: str) -> Ints:
    """Read how many cells of each row, of those that it has (`widths`), count: int64 ``(n,)``."""
    numbers = to_numpy(lengths, source)
    if numbers.shape != widths.shape or numbers.dtype.kind not in "iu":
        kind = f"{numbers.dtype.name} of shape {numbers.shape}"
        problem = f"lengths are {widths.size} whole numbers, one a row, not {kind}"
        raise InputError(problem, source=source)
    bad = (numbers < 0) | (numbers > widths)
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"length {numbers[row]} is not within the row's {widths[row]} cells"
        raise InputError(problem, source=source, query=queries[row], value=int(numbers[row]))
    return numbers.astype(np.int64)


def read_n_relevant(n_relevant: Any, queries: Queries) -> Ints:
    """Read how many relevant documents, from 0 on, each query has in all: int64."""
    numbers = to_numpy(n_relevant, "n_relevant")
    reject = functools.partial(InputError, source="n_relevant")
    if numbers.shape != (len(queries),) or numbers.dtype.kind not in "iu" or (numbers < 0).any():
        raise reject(f"n_relevant is one whole number a query, {len(queries)} in all")
    if numbers.size and numbers.max() > MOST_RELEVANT:
        row = int(numbers.argmax())
        problem = f"{numbers[row]} relevant documents are more than {MOST_RELEVANT:,}"
        raise reject(problem, query=queries[row], value=int(numbers[row]))
    return numbers.astype(np.int64)


# ---------------------------------------------------------------- cells


class Cells(NamedTuple):
    """Some cells of a matrix, and a number of each."""

    rows: Ints
    columns: Ints
    values: npt.NDArray[Any]

    @classmethod
    def of_sparse(cls, matrix: Any, shape: Shape, queries: Queries, source: str) -> Cells:
        """Read a sparse matrix, of SciPy or torch, of the shape of the scores."""
        if is_tensor(matrix):
            tensor = matrix.detach().to_sparse_coo().coalesce()
            rows, columns = to_numpy(tensor.indices(), source)
            cells = cls(rows, columns, to_numpy(tensor.values(), source))
            if rows.size and (rows.min() < 0 or rows.max() >= shape[0]):
                problem = f"an entry is not in a matrix of shape {shape}"
                raise InputError(problem, source=source)
        else:
            with ErrorsIn(source=source):
                compressed = as_compressed_rows(matrix)
            if not compressed.has_canonical_format:  # a cell twice stands for the sum of both
                compressed = compressed.copy()
                compressed.sum_duplicates()
            columns = compressed.indices.astype(np.int64)
            cells = cls(row_index_of(compressed.indptr), columns, compressed.data)
        cells.check_columns(shape, queries, source)
        return cells

    @classmethod
    def of_lists(cls, lists: Any, shape: Shape, queries: Queries, source: str) -> Cells:
        """Read one list or set of columns a query, or mapping of columns to grades; else 1."""
        if len(lists) != shape[0]:
            problem = f"{many(len(lists), 'list')} for {many(shape[0], 'query')}"
            raise InputError(problem, source=source)
        columns: list[Any] = []
        grades: list[Any] = []
        sizes = []
        for query, listed in zip(queries, lists, strict=True):
            if hasattr(listed, "__array__") and np.ndim(listed) == 1:
                listed = to_numpy(listed, source).tolist()
            if isinstance(listed, str) or not isinstance(listed, Mapping | Sequence | AbstractSet):
                problem = "columns are lists, one a query"
                raise InputError(problem, source=source, query=query, value=listed)
            columns.extend(listed)
            grades.extend(listed.values() if isinstance(listed, Mapping) else [1] * len(listed))
            sizes.append(len(listed))
        rows = np.repeat(np.arange(shape[0]), sizes)
        kinds = set(map(type, columns))
        if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
            row, column = next(
                each for each in zip(rows.tolist(), columns, strict=True) if not is_whole(each[1])
            )
            problem = f"column {shown(column)} is not a whole number"
            raise InputError(problem, source=source, query=queries[row], value=column)
        try:
            places = np.array(columns, np.int64)
        except OverflowError:
            places = np.array(columns, object)
        cells = cls(rows, places, np.empty(0))
        cells.check_columns(shape, queries, source)
        names = zip(map(queries.__getitem__, rows.tolist()), columns, strict=True)
        return cells._replace(values=read_numbers("grade", grades, names, source=source))

    def check_columns(self, shape: Shape, queries: Queries, source: str) -> None:
        """Reject a cell outside the matrix."""
        bad = (self.columns < 0) | (self.columns >= shape[1])
        if bad.any():
            first = int(np.argmax(bad))
            query, column = queries[self.rows[first]], int(self.columns[first])
            hint = f"; padding is {IGNORED}" if column == -1 and source == "positives" else ""
            problem = f"column {shown(column)} is not one of the {shape[1]} candidates{hint}"
            raise InputError(problem, source=source, query=query, value=column)

    def keys(self, shape: Shape) -> Ints:
        """Return numbers that tell cells of the matrix apart, ascending row by row."""
        return self.rows * max(shape[1], 1) + self.columns

    def where(self, some: Bools) -> Cells:
        """Return some of them."""
        return Cells(self.rows[some], self.columns[some], self.values[some])


@dataclass(frozen=True, eq=False)
class GradedCandidates:
    """Candidates whose grade is not 0, query after query, in any order within a query."""

    starts: Ints  # (queries + 1,), where each query's begin and end
    columns: Ints  # (graded,)
    grades: Floats  # (graded,)
    all_one: bool  # whether every grade is 1

    @cached_property
    def row_index(self) -> Ints:
        """The row of each."""
        return row_index_of(self.starts)

    @classmethod
    def from_cells(cls, cells: Cells, n_rows: int) -> GradedCandidates:
        """Sort cells by row; those of grade 0 are left out."""
        kept = np.asarray(cells.values) != 0
        rows, columns, grades = cells if kept.all() else cells.where(kept)
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            rows, columns, grades = rows[order], columns[order], grades[order]
        counts = np.bincount(rows, minlength=n_rows)
        grades = np.asarray(grades, np.float64)
        return cls(offsets_of(counts), columns, grades, bool((grades == 1).all()))

    @classmethod
    def one_each(cls, columns: Ints) -> GradedCandidates:
        """Give each row one candidate, of grade 1."""
        return cls(np.arange(columns.size + 1), columns, np.ones(columns.size), True)

    def without(self, hidden: Bools) -> GradedCandidates:
        """Return the others than some of them."""
        if not hidden.any():
            return self
        cells = Cells(self.row_index, self.columns, self.grades).where(~hidden)
        return GradedCandidates.from_cells(cells, self.starts.size - 1)

    def check_grades(self, queries: Queries) -> None:
        """Reject grades that are NaN or beyond 2^53."""
        if not self.all_one:
            _check_labels(Cells(self.row_index, self.columns, self.grades), queries)


def _check_labels(cells: Cells, queries: Queries) -> None:
    if (bad := find_bad_grade(cells.values)) >= 0:
        label, query = cells.values[bad], queries[cells.rows[bad]]
        problem = f"label {label} of candidate {cells.columns[bad]} is not a grade"
        raise InputError(problem, source="relevance", query=query, value=label.item())


def read_labels(
    labels: Any, shape: Shape, queries: Queries
) -> tuple[GradedCandidates, Bools | None]:
    """Read a label for every candidate: an array-like or a sparse matrix of the scores' shape.

    Returns candidates whose label is not 0, real numbers unchecked: those that are hidden may have
    any; and which cells are candidates, bool of the same shape, or None if all are.
    """
    hidden: Bools | None = None
    there = is_sparse(labels) or is_on_accelerator(labels)
    values = labels if there else to_numpy(labels, "relevance")
    if tuple(values.shape) != shape:
        hint = "; columns of relevant candidates are positives=" if values.ndim == 1 else ""
        wanted = "scores and relevance are matrices of one shape, queries x candidates"
        problem = f"{wanted}, not {shape} and {tuple(values.shape)}{hint}"
        raise InputError(problem, source="scores")
    if is_sparse(labels):
        cells = Cells.of_sparse(labels, shape, queries, "relevance")
    elif is_on_accelerator(labels):
        labels = labels.detach()
        places = (labels != 0).nonzero().T  # only what is not 0 travels
        rows, columns = to_numpy(places, "relevance")
        cells = Cells(rows, columns, to_numpy(labels[places[0], places[1]], "relevance"))
    else:
        check_real(values, "labels", "relevance", queries)
        # Of bools: those of wider numbers are found twenty times as slowly.
        places = np.flatnonzero(values != 0)
        begins = np.arange(shape[0] + 1) * shape[1]
        rows = row_index_of(np.searchsorted(places, begins))  # in a third of a division's time
        columns = places - begins[rows]
        in_order = values.flags.c_contiguous
        cells = Cells(
            rows, columns, values.reshape(-1)[places] if in_order else values[rows, columns]
        )
        mask = mask_of(labels)
        hidden = None if mask is None else mask.copy()
    check_real(cells.values, "labels", "relevance")
    if cells.values.dtype.kind == "f":
        cells = cells._replace(values=cells.values.astype(np.float64, copy=False))
    ignored = cells.values == IGNORED
    if ignored.any():
        hidden = np.zeros(shape, bool) if hidden is None else hidden
        hidden[cells.rows[ignored], cells.columns[ignored]] = True
    if hidden is not None:
        cells = cells.where(~hidden[cells.rows, cells.columns])
    if cells.values.dtype.kind in "iu":  # float64, which they become, may not hold them
        _check_labels(cells, queries)
    graded = GradedCandidates.from_cells(cells, shape[0])
    return graded, None if hidden is None else ~hidden


def read_positives(positives: Any, shape: Shape, queries: Queries) -> GradedCandidates:
    """Read the relevant candidates' columns.

    They are one column a query, or `IGNORED` for none; a matrix of columns in which that is
    padding; for each query a sequence or set of columns, or a mapping of columns to grades; or
    ``"diagonal"``, row i's is column i, or ``"first"``, column 0.
    """
    if isinstance(positives, str):
        return GradedCandidates.one_each(_read_word(positives, shape))
    if str(getattr(positives, "dtype", "")) == "object" and positives.ndim == 1:
        positives = list(positives)  # lists of each query, or numbers
    is_array = is_tensor(positives) or hasattr(positives, "__array__")
    if not is_array and not isinstance(positives, Sequence):
        problem = f"positives are a sequence, one entry a query, not {kind_of(positives)}"
        raise InputError(problem, source="positives")
    if not is_array and any(
        hasattr(each, "__len__") and getattr(each, "ndim", 1) for each in positives
    ):
        cells = Cells.of_lists(positives, shape, queries, "positives")
    else:
        cells = _read_columns(positives, shape)
        cells.check_columns(shape, queries, "positives")
        if cells.rows.size == shape[0] and (cells.rows == np.arange(shape[0])).all():
            return GradedCandidates.one_each(cells.columns)
    keys = np.sort(cells.keys(shape))
    again = keys[1:][keys[1:] == keys[:-1]]
    if again.size:
        row, column = divmod(int(again[0]), shape[1])
        problem = f"column {column} comes twice"
        raise InputError(problem, source="positives", query=queries[row], value=column)
    return GradedCandidates.from_cells(cells, shape[0])


def _read_word(positives: str, shape: Shape) -> Ints:
    if positives not in ("diagonal", "first"):
        problem = f"positives={positives!r} must be columns, 'diagonal' or 'first'"
        raise InputError(problem, value=positives)
    if positives == "diagonal" and shape[1] < shape[0]:
        raise InputError(f"scores of shape {shape} have no diagonal", source="positives")
    if positives == "first" and not shape[1]:
        raise InputError(f"scores of shape {shape} have no first column", source="positives")
    return np.arange(shape[0]) if positives == "diagonal" else np.zeros(shape[0], np.int64)


def _read_columns(positives: Any, shape: Shape) -> Cells:
    """Read one column a query, or a row of columns padded with `IGNORED`."""
    columns = to_numpy(positives, "positives")
    if (mask := mask_of(positives)) is not None and columns.dtype.kind in "iu":
        columns = np.where(mask, IGNORED, columns.astype(np.int64))
    problem = None
    if columns.shape == shape and shape[0] > 1:
        hint = "labels of all candidates are relevance"
        problem = f"an array of shape {shape}, as the scores: {hint}"
    elif columns.size and columns.dtype.kind not in "iu":
        problem = f"positives are whole numbers, not {columns.dtype.name}"
    elif columns.ndim not in (1, 2):
        problem = f"each query has a column, or a row of them, not an array of {columns.shape}"
    elif len(columns) != shape[0]:
        counts = f"{many(len(columns), 'entry')} for {many(shape[0], 'query')}"
        problem = f"each query has a column, or a row of them, but there are {counts}"
    if problem is not None:
        raise InputError(problem, source="positives")
    rows = np.repeat(np.arange(shape[0]), columns.size // max(shape[0], 1))
    flat = columns.ravel()
    kept = flat != IGNORED
    return Cells(rows[kept], flat[kept].astype(np.int64), np.ones(int(kept.sum())))


def read_excluded(excluded: Any, shape: Shape, queries: Queries) -> Bools | tuple[Ints, Ints]:
    """Read which candidates to leave out.

    Returns bool ``(queries, candidates)`` for a matrix; for a sparse matrix, or lists of columns,
    the cells' rows and columns, int64, each once, in order.
    """
    if is_sparse(excluded):
        check_shape(excluded.shape, shape, "exclude")
        cells = Cells.of_sparse(excluded, shape, queries, "exclude")
        cells = cells.where(cells.values != 0)
    elif (hasattr(excluded, "__array__") and np.ndim(excluded) == 2) or (
        not isinstance(excluded, Sequence) and hasattr(excluded, "__dlpack__")
    ):
        return read_mask(excluded, shape, "exclude")
    elif isinstance(excluded, str) or not hasattr(excluded, "__len__"):
        raise InputError("columns to exclude are lists, one a query", source="exclude")
    else:
        cells = Cells.of_lists(excluded, shape, queries, "exclude")
    rows, columns = np.divmod(np.unique(cells.keys(shape)), max(shape[1], 1))
    return rows, columns


# ---------------------------------------------------------------- rows that differ in length


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


def _read_row(values: Any, what: str, query: Any, source: str) -> Labels:
    """Return one query's numbers, 1-D."""
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
    row = row if row.size else row.astype(np.int64)
    check_real(row, what, source, [query])
    return row


def read_score_rows(scores: Any, relevance: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and lengths with ragged rows padded; anything else as it is.

    Ragged rows are lists of lists, arrays or tensors, or torch's nested tensors.

    Raises:
        InputError: if rows differ in length, and labels are not rows of the same lengths.
    """
    rows, labels = _as_rows(scores), _as_rows(relevance)
    sizes = [len(row) for row in rows or ()]
    if len(set(sizes)) < 2:
        return rows or scores, labels or relevance, lengths
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
    padded = (_pad(rows or [], "scores", "scores"), _pad(labels, "labels", "relevance"))
    return *padded, np.array(sizes, np.int64)


def _pad(rows: list[Any], what: str, source: str) -> Labels:
    arrays = [_read_row(row, what, query, source) for query, row in enumerate(rows)]
    dtype = np.result_type(*(row for row in arrays if row.size))
    padded = np.zeros((len(arrays), max(map(len, arrays))), dtype)
    for row, numbers in zip(padded, arrays, strict=True):
        row[: len(numbers)] = numbers
    return padded


class LabelRows:
    """Labels, one row a query, rectangular or ragged, see `irbatch.evaluate_matrix`.

    Attributes:
        queries: their ids.
        depths: int64 ``(queries,)``, how many labels of each count.
    """

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
            widths = np.full(len(self._labels), self._labels.shape[1], np.int64)
            unmasked = _count_unmasked(labels, self._labels.shape, name)
        elif isinstance(labels, str | AbstractSet | Mapping) or not hasattr(labels, "__iter__"):
            raise InputError(f"{kind_of(labels)} is not a matrix of labels", source=name)
        else:
            rows, lasts = [], []
            for row, values in enumerate(labels):
                query = row if queries is None or row >= len(queries) else queries[row]
                rows.append(_read_row(values, "labels", query, name))
                lasts.append(_count_unmasked(values, (1, rows[-1].size), name)[0])
            widths, unmasked = np.array(list(map(len, rows)), np.int64), np.array(lasts, np.int64)
            self._labels = np.concatenate(rows) if rows else np.empty(0, np.int64)
        self._starts = offsets_of(widths)
        self.queries = check_query_ids(queries, widths.size, name)
        self.depths = unmasked
        if lengths is not None:
            if (unmasked != widths).any():
                raise InputError("give a mask or lengths=, not both", source=name)
            self.depths = read_lengths(lengths, widths, self.queries, name)

    def __len__(self) -> int:
        return self.depths.size

    def ends_in(self, label: int) -> bool:
        """Tell whether a row, of the first hundred, ends in some label."""
        rows = map(self.row, range(min(len(self), 100)))
        return any(row.size and row[-1] == label for row in rows)

    def row(self, position: int) -> Labels:
        """Return the labels of one query: 1-D, without padding."""
        depth = self.depths[position]
        if self._labels.ndim == 2:
            return self._labels[position, :depth]
        return self._labels[self._starts[position] :][:depth]

    def block(self, picks: Positions) -> Labels:
        """Return some queries' labels, 2-D, padded with 0; reject those that are not grades."""
        depths = self.depths[picks]
        depth = int(depths.max(initial=0))
        if self._labels.ndim == 2:
            values = self._labels[picks, :depth]
            if picks.size and depths.min() < depth:
                values[np.arange(depth) >= depths[:, None]] = 0
        else:
            values = np.zeros((picks.size, depth), self._labels.dtype)
            there = np.arange(depth) < depths[:, None]
            values[there] = self._labels[joined_ranges(self._starts[picks], depths)]
        if values.dtype.kind == "f":
            values = values.astype(np.float64, copy=False)  # what levels are
        if (bad := find_bad_grade(values)) >= 0:
            row, column = divmod(bad, depth)
            label, query = values[row, column], self.queries[picks[row]]
            problem = f"label {label} at rank {column + 1} is not a grade"
            raise InputError(problem, source=self.name, query=query, value=label.item())
        return values


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

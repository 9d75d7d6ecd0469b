"""Which candidates of a score matrix are relevant, however it is said, as one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints
from irbatch.errors import InputError, shown
from irbatch.runtime.arrays import is_on_accelerator, is_sparse, is_tensor, to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, number_problem
from irbatch.runtime.ragged import offsets_of, row_index_of

__all__ = [
    "IGNORED",
    "Listed",
    "check_listed",
    "read_cells",
    "read_columns",
    "read_labels",
    "read_positives",
]

IGNORED = -100  # the label that Hugging Face and torch give to what is no document

Queries = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Listed:
    """Candidates that are worth naming, those whose grade is not 0, query after query.

    Args:
        starts: int64 ``(queries + 1,)``, where each query's begin and end.
        columns: int64 ``(listed,)``, in any order within a query.
        grades: float64 ``(listed,)``.
    """

    starts: Ints
    columns: Ints
    grades: Floats

    @cached_property
    def row_index(self) -> Ints:
        """The row of each, int64 ``(listed,)``."""
        return row_index_of(self.starts)

    @classmethod
    def of(cls, rows: Ints, columns: Ints, grades: Any, n_rows: int) -> Listed:
        """Sort cells by row; those of grade 0 are left out."""
        kept = np.asarray(grades) != 0
        if not kept.all():
            rows, columns, grades = rows[kept], columns[kept], grades[kept]
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            rows, columns, grades = rows[order], columns[order], grades[order]
        counts = np.bincount(rows, minlength=n_rows)
        return cls(offsets_of(counts), columns, np.asarray(grades, np.float64))

    def without(self, hidden: Bools) -> Listed:
        """Leave out some of them: bool ``(listed,)``."""
        if not hidden.any():
            return self
        rows = self.row_index[~hidden]
        return Listed.of(rows, self.columns[~hidden], self.grades[~hidden], self.starts.size - 1)


def read_labels(labels: Any, shape: tuple[int, int], queries: Queries) -> tuple[Listed, Any]:
    """Read a label for every candidate.

    Args:
        labels: array-like ``(queries, candidates)`` of bools or grades, or a sparse matrix.
        shape: the scores'.
        queries: the rows' ids, for errors.

    Returns:
        What is not 0; and which cells are candidates, bool of the same shape, or None if all are.

    Raises:
        InputError: for another shape, or labels that are no grades.
    """
    hidden: Bools | None = None
    if is_sparse(labels):
        _check_shapes(tuple(labels.shape), shape)
        rows, columns, grades = read_cells(labels, "relevance")
    elif is_on_accelerator(labels):
        labels = labels.detach()
        _check_shapes(tuple(labels.shape), shape)
        places = (labels != 0).nonzero().T  # only what is not 0 travels
        rows, columns = to_numpy(places, "relevance")
        grades = to_numpy(labels[places[0], places[1]], "relevance")
    else:
        values = to_numpy(labels, "relevance")
        _check_shapes(values.shape, shape)
        _check_numbers(values)
        # Of bools: those of wider numbers are found twenty times as slowly.
        rows, columns = np.divmod(np.flatnonzero(values != 0), max(shape[1], 1))
        grades = values[rows, columns]
        if np.ma.getmask(labels) is not np.ma.nomask:
            hidden = np.ma.getmaskarray(labels).copy()
    _check_numbers(grades)
    grades = grades.astype(np.float64) if grades.dtype.kind == "f" else grades
    ignored = grades == IGNORED
    if ignored.any():
        hidden = np.zeros(shape, bool) if hidden is None else hidden
        hidden[rows[ignored], columns[ignored]] = True
    if hidden is None:
        return _listed(rows, columns, grades, shape[0], queries), None
    kept = ~hidden[rows, columns]
    listed = _listed(rows[kept], columns[kept], grades[kept], shape[0], queries)
    return listed, ~hidden


def _listed(rows: Ints, columns: Ints, grades: Any, n_rows: int, queries: Queries) -> Listed:
    """List labels; whole numbers that float64 doesn't hold are refused here, NaN by `settle`."""
    if grades.dtype.kind in "iu":
        _check_grades(rows, columns, grades, queries)
    return Listed.of(rows, columns, grades, n_rows)


def check_listed(listed: Listed, queries: Queries) -> None:
    """Refuse grades that are none; those of candidates that are hidden are nobody's.

    Raises:
        InputError: naming query and candidate.
    """
    _check_grades(listed.row_index, listed.columns, listed.grades, queries)


def read_positives(positives: Any, shape: tuple[int, int], queries: Queries) -> Listed:
    """Read the relevant candidates' columns.

    Args:
        positives: one column a query; a matrix of columns in which `IGNORED` is padding; for each
            query a sequence or set of columns, or a mapping of columns to grades; or
            ``"diagonal"``, row i's is column i, or ``"first"``, column 0.
        shape: the scores'.
        queries: the rows' ids, for errors.

    Raises:
        InputError: for columns that there are not, that come twice, or for too few or many rows.
    """
    if isinstance(positives, str):
        return _named_positives(positives, shape)
    if not is_tensor(positives) and not hasattr(positives, "__array__"):
        if not isinstance(positives, Sequence):
            raise InputError(
                f"positives are a sequence, one entry a query, not a {type(positives).__name__}",
                source="positives",
            )
        if any(hasattr(each, "__len__") and getattr(each, "ndim", 1) for each in positives):
            return Listed.of(*read_columns(positives, shape, queries, "positives"), shape[0])
    columns = to_numpy(positives, "positives")
    if np.ma.getmask(positives) is not np.ma.nomask and columns.dtype.kind in "iu":
        columns = np.where(np.ma.getmaskarray(positives), IGNORED, columns.astype(np.int64))
    if columns.shape == shape and shape[0] > 1:
        raise InputError(f"an array of shape {shape}, as the scores: labels of all candidates are "
                         "relevance", source="positives")  # fmt: skip
    if columns.size and columns.dtype.kind not in "iu":
        raise InputError(f"positives are whole numbers, not {columns.dtype.name}",
                         source="positives")  # fmt: skip
    if columns.ndim not in (1, 2) or len(columns) != shape[0]:
        raise InputError(
            f"positives are one column, or one row of columns, a query: {shape[0]} in all, not an "
            f"array of shape {columns.shape}",
            source="positives",
        )
    rows = np.repeat(np.arange(shape[0]), columns.size // max(shape[0], 1))
    flat = columns.ravel()
    kept = flat != IGNORED
    rows, flat = rows[kept], flat[kept].astype(np.int64)
    _check_columns(rows, flat, shape, queries, "positives")
    return Listed.of(rows, flat, np.ones(flat.size), shape[0])


def read_columns(
    lists: Any, shape: tuple[int, int], queries: Queries, source: str
) -> tuple[Ints, Ints, Floats]:
    """Read one list of columns a query, or mappings of columns to grades.

    Returns:
        Row and column of each, int64, and its grade, float64 (1 where none is given).

    Raises:
        InputError: see `read_positives`.
    """
    if len(lists) != shape[0]:
        raise InputError(f"{len(lists)} lists for {shape[0]} queries", source=source)
    columns: list[Any] = []
    grades: list[Any] = []
    counts = np.zeros(shape[0], np.int64)
    for row, each in enumerate(lists):
        if isinstance(each, Mapping):
            grades.extend(each.values())
        elif isinstance(each, Sequence | AbstractSet) and not isinstance(each, str):
            grades.extend([1] * len(each))
        elif hasattr(each, "__array__") and np.ndim(each) == 1:
            each = to_numpy(each, source).tolist()
            grades.extend([1] * len(each))
        else:
            raise InputError("columns are lists, one a query", source=source, query=queries[row],
                             value=each)  # fmt: skip
        columns.extend(each)
        counts[row] = len(each)
    rows = np.repeat(np.arange(shape[0]), counts)
    for row, column, grade in zip(rows.tolist(), columns, grades, strict=True):
        if not isinstance(column, int | np.integer) or isinstance(column, bool):
            raise InputError(f"column {column!r} is not a whole number", source=source,
                             query=queries[row], value=column)  # fmt: skip
        problem = number_problem(grade)
        if problem is not None or abs(grade) > LARGEST_WHOLE:
            raise InputError(f"grade {problem or f'{shown(grade)} is beyond 2^53'}", source=source,
                             query=queries[row], value=grade)  # fmt: skip
    try:
        found = np.array(columns, np.int64).reshape(-1)
    except OverflowError:
        raise InputError(f"column {max(columns, key=abs)} is out of range", source=source) from None
    _check_columns(rows, found, shape, queries, source)
    return rows, found, np.array(grades, np.float64).reshape(-1)


def read_cells(matrix: Any, source: str) -> tuple[Ints, Ints, npt.NDArray[Any]]:
    """Read a sparse matrix, of SciPy or torch: row, column and value of its cells."""
    if is_tensor(matrix):
        cells = matrix.detach().to_sparse_coo().coalesce()
        rows, columns = to_numpy(cells.indices(), source)
        return rows, columns, to_numpy(cells.values(), source)
    cells = matrix.tocoo(copy=True)
    cells.sum_duplicates()  # a cell twice stands for the sum of both
    return cells.row.astype(np.int64), cells.col.astype(np.int64), cells.data


def _named_positives(positives: str, shape: tuple[int, int]) -> Listed:
    rows = np.arange(shape[0])
    if positives not in ("diagonal", "first"):
        raise InputError(
            f"positives={positives!r} must be columns, 'diagonal' or 'first'", value=positives
        )
    if positives == "diagonal" and shape[1] < shape[0]:
        raise InputError(f"scores of shape {shape} have no diagonal", source="positives")
    if positives == "first" and not shape[1]:
        raise InputError(f"scores of shape {shape} have no first column", source="positives")
    columns = rows if positives == "diagonal" else np.zeros_like(rows)
    return Listed.of(rows, columns, np.ones(rows.size), shape[0])


def _check_shapes(labels: tuple[int, ...], scores: tuple[int, int]) -> None:
    if labels != scores:
        hint = "; columns of relevant candidates are positives=" if len(labels) == 1 else ""
        raise InputError(
            f"scores and relevance are matrices of one shape, queries x candidates, not "
            f"{scores} and {labels}{hint}",
            source="scores",
        )


def _check_numbers(values: npt.NDArray[Any]) -> None:
    if values.dtype.kind not in "biuf":
        raise InputError(f"relevance are numbers, not {values.dtype.name}", source="relevance")


def _check_grades(rows: Ints, columns: Ints, grades: npt.NDArray[Any], queries: Queries) -> None:
    """Refuse what float64 doesn't hold exactly, or is no number."""
    if grades.dtype.kind == "b":
        return
    if grades.dtype.kind == "u":
        bad = ~(grades <= LARGEST_WHOLE)
    else:
        bad = ~((grades <= LARGEST_WHOLE) & (grades >= -LARGEST_WHOLE))
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"label {grades[first]} of candidate {columns[first]} is not a grade",
            source="relevance",
            query=queries[rows[first]],
            value=grades[first].item(),
        )


def _check_columns(
    rows: Ints, columns: Ints, shape: tuple[int, int], queries: Queries, source: str
) -> None:
    """Refuse columns that there are not, or that a query has twice."""
    bad = (columns < 0) | (columns >= shape[1])
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"column {columns[first]} is not one of the {shape[1]} candidates",
            source=source,
            query=queries[rows[first]],
            value=int(columns[first]),
        )
    if source != "positives":
        return
    keys = rows * max(shape[1], 1) + columns
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if again.size:
        row, column = divmod(int(again[0]), shape[1])
        raise InputError(
            f"column {column} comes twice", source=source, query=queries[row], value=column
        )

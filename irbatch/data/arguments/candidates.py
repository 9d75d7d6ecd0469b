"""Reading what is said of the candidates of a score matrix: which are relevant, which excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.arguments.arrays import check_real, check_shape, find_bad_grade, read_mask
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.runtime.arrays import is_on_accelerator, is_sparse, is_tensor, to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, grade_problem, is_whole
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import cached_property

IGNORED = -100  # the label that Hugging Face and torch give to padding

Queries = Sequence[Any]
Shape = tuple[int, int]


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
    def from_cells(cls, rows: Ints, columns: Ints, grades: Any, n_rows: int) -> GradedCandidates:
        """Sort cells by row; those of grade 0 are left out."""
        kept = np.asarray(grades) != 0
        if not kept.all():
            rows, columns, grades = rows[kept], columns[kept], grades[kept]
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
        kept = ~hidden
        cells = self.row_index[kept], self.columns[kept], self.grades[kept]
        return GradedCandidates.from_cells(*cells, self.starts.size - 1)

    def check_grades(self, queries: Queries) -> None:
        """Refuse grades that are NaN or beyond 2^53."""
        if not self.all_one:
            _check_grades(self.row_index, self.columns, self.grades, queries)


def read_labels(
    labels: Any, shape: Shape, queries: Queries
) -> tuple[GradedCandidates, Bools | None]:
    """Read a label for every candidate: an array-like or a sparse matrix of the scores' shape.

    Returns candidates whose label is not 0, real numbers unchecked: those that are hidden may have
    any; and which cells are candidates, bool of the same shape, or None if all are.
    """
    hidden: Bools | None = None
    if is_sparse(labels):
        _check_labels_shape(labels.shape, shape)
        rows, columns, grades = _read_cells(labels, "relevance")
    elif is_on_accelerator(labels):
        labels = labels.detach()
        _check_labels_shape(labels.shape, shape)
        places = (labels != 0).nonzero().T  # only what is not 0 travels
        rows, columns = to_numpy(places, "relevance")
        grades = to_numpy(labels[places[0], places[1]], "relevance")
    else:
        values = to_numpy(labels, "relevance")
        _check_labels_shape(values.shape, shape)
        check_real(values, "labels", "relevance", queries)
        # Of bools: those of wider numbers are found twenty times as slowly.
        places = np.flatnonzero(values != 0)
        begins = np.arange(shape[0] + 1) * shape[1]
        rows = row_index_of(np.searchsorted(places, begins))  # in a third of a division's time
        columns = places - begins[rows]
        grades = values.reshape(-1)[places] if values.flags.c_contiguous else values[rows, columns]
        if np.ma.getmask(labels) is not np.ma.nomask:
            hidden = np.ma.getmaskarray(labels).copy()
    check_real(grades, "labels", "relevance")
    grades = grades.astype(np.float64) if grades.dtype.kind == "f" else grades
    ignored = grades == IGNORED
    if ignored.any():
        hidden = np.zeros(shape, bool) if hidden is None else hidden
        hidden[rows[ignored], columns[ignored]] = True
    if hidden is not None:
        kept = ~hidden[rows, columns]
        rows, columns, grades = rows[kept], columns[kept], grades[kept]
    if grades.dtype.kind in "iu":  # float64, which they become, may not hold them
        _check_grades(rows, columns, grades, queries)
    graded = GradedCandidates.from_cells(rows, columns, grades, shape[0])
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
    if _are_lists(positives):
        rows, columns, grades = _read_lists(positives, shape, queries, "positives")
    else:
        rows, columns = _read_matrix(positives, shape)
        grades = np.ones(rows.size)
        _check_columns(rows, columns, shape, queries, "positives")
        if rows.size == shape[0] and (rows == np.arange(rows.size)).all():
            return GradedCandidates.one_each(columns)
    keys = np.sort(rows * max(shape[1], 1) + columns)
    again = keys[1:][keys[1:] == keys[:-1]]
    if again.size:
        row, column = divmod(int(again[0]), shape[1])
        problem = f"column {column} comes twice"
        raise InputError(problem, source="positives", query=queries[row], value=column)
    return GradedCandidates.from_cells(rows, columns, grades, shape[0])


def read_excluded(excluded: Any, shape: Shape, queries: Queries) -> Bools | tuple[Ints, Ints]:
    """Read which candidates to leave out.

    Returns bool ``(queries, candidates)`` for a matrix; for a sparse matrix, or lists of columns,
    the cells' rows and columns, int64, each once, in order.
    """
    if is_sparse(excluded):
        check_shape(excluded.shape, shape, "exclude")
        rows, columns, values = _read_cells(excluded, "exclude")
        rows, columns = rows[values != 0], columns[values != 0]
    elif (hasattr(excluded, "__array__") and np.ndim(excluded) == 2) or (
        not isinstance(excluded, Sequence) and hasattr(excluded, "__dlpack__")
    ):
        return read_mask(excluded, shape, "exclude")
    else:
        if isinstance(excluded, str) or not hasattr(excluded, "__len__"):
            raise InputError("columns to exclude are lists, one a query", source="exclude")
        rows, columns, _ = _read_lists(excluded, shape, queries, "exclude")
    width = max(shape[1], 1)
    rows, columns = np.divmod(np.unique(rows * width + columns), width)
    return rows, columns


def _read_word(positives: str, shape: Shape) -> Ints:
    if positives not in ("diagonal", "first"):
        problem = f"positives={positives!r} must be columns, 'diagonal' or 'first'"
        raise InputError(problem, value=positives)
    if positives == "diagonal" and shape[1] < shape[0]:
        raise InputError(f"scores of shape {shape} have no diagonal", source="positives")
    if positives == "first" and not shape[1]:
        raise InputError(f"scores of shape {shape} have no first column", source="positives")
    return np.arange(shape[0]) if positives == "diagonal" else np.zeros(shape[0], np.int64)


def _are_lists(positives: Any) -> bool:
    """Tell lists or mappings of columns, one a query, from arrays of columns."""
    if is_tensor(positives) or hasattr(positives, "__array__"):
        return False
    if not isinstance(positives, Sequence):
        kind = kind_of(positives)
        problem = f"positives are a sequence, one entry a query, not {kind}"
        raise InputError(problem, source="positives")
    return any(hasattr(each, "__len__") and getattr(each, "ndim", 1) for each in positives)


def _read_matrix(positives: Any, shape: Shape) -> tuple[Ints, Ints]:
    """Read one column a query, or a row of columns padded with `IGNORED`."""
    columns = to_numpy(positives, "positives")
    if np.ma.getmask(positives) is not np.ma.nomask and columns.dtype.kind in "iu":
        columns = np.where(np.ma.getmaskarray(positives), IGNORED, columns.astype(np.int64))
    problem = None
    if columns.shape == shape and shape[0] > 1:
        hint = "labels of all candidates are relevance"
        problem = f"an array of shape {shape}, as the scores: {hint}"
    elif columns.size and columns.dtype.kind not in "iu":
        problem = f"positives are whole numbers, not {columns.dtype.name}"
    elif columns.ndim not in (1, 2) or len(columns) != shape[0]:
        wanted = "each has one column, or one row of columns"
        given = f"not an array of shape {columns.shape}"
        if columns.ndim in (1, 2):
            given = f"but there are {many(len(columns), 'entry')} for {many(shape[0], 'query')}"
        problem = f"{wanted}, {given}"
    if problem is not None:
        raise InputError(problem, source="positives")
    rows = np.repeat(np.arange(shape[0]), columns.size // max(shape[0], 1))
    flat = columns.ravel()
    kept = flat != IGNORED
    return rows[kept], flat[kept].astype(np.int64)


def _read_lists(
    lists: Any, shape: Shape, queries: Queries, source: str
) -> tuple[Ints, Ints, Floats]:
    """Read one list of columns a query, or mappings to grades: rows, columns and grades (or 1)."""
    if len(lists) != shape[0]:
        raise InputError(f"{many(len(lists), 'list')} for {many(shape[0], 'query')}", source=source)
    columns: list[Any] = []
    grades: list[Any] = []
    sizes = []
    for query, each in zip(queries, lists, strict=True):
        if hasattr(each, "__array__") and np.ndim(each) == 1:
            each = to_numpy(each, source).tolist()
        if isinstance(each, str) or not isinstance(each, Mapping | Sequence | AbstractSet):
            problem = "columns are lists, one a query"
            raise InputError(problem, source=source, query=query, value=each)
        columns.extend(each)
        grades.extend(each.values() if isinstance(each, Mapping) else [1] * len(each))
        sizes.append(len(each))
    rows = np.repeat(np.arange(shape[0]), sizes)
    plain = _plain_arrays(columns, grades)
    if plain is None:
        _refuse_items(rows, columns, grades, queries, source)
    found, numbers = plain or (np.array(columns, np.int64), np.array(grades, np.float64))
    _check_columns(rows, found, shape, queries, source)
    return rows, found, numbers


def _plain_arrays(columns: list[Any], grades: list[Any]) -> tuple[Ints, Floats] | None:
    """Return columns and grades as arrays, or None if one of them has to be looked at."""
    kinds = set(map(type, columns))
    whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    try:
        found, numbers = np.array(columns, np.int64), as_floats(grades)
    except NUMBER_ERRORS:
        return None
    return (found, numbers) if whole and (np.abs(numbers) < LARGEST_WHOLE).all() else None


def _refuse_items(
    rows: Ints, columns: list[Any], grades: list[Any], queries: Queries, source: str
) -> None:
    """Refuse the first column or grade that is none."""
    for row, column, grade in zip(rows.tolist(), columns, grades, strict=True):
        where = {"source": source, "query": queries[row]}
        if not is_whole(column):
            raise InputError(f"column {column!r} is not a whole number", **where, value=column)
        if not -(2**63) <= column < 2**63:
            raise InputError(f"column {shown(column)} is out of range", **where, value=column)
        if why := grade_problem(grade):
            raise InputError(f"grade {why}", **where, value=grade)


def _read_cells(matrix: Any, source: str) -> tuple[Ints, Ints, npt.NDArray[Any]]:
    """Read a sparse matrix, of SciPy or torch: row, column and value of its cells."""
    if is_tensor(matrix):
        cells = matrix.detach().to_sparse_coo().coalesce()
        rows, columns = to_numpy(cells.indices(), source)
        return rows, columns, to_numpy(cells.values(), source)
    cells = matrix.tocoo(copy=True)
    cells.sum_duplicates()  # a cell twice stands for the sum of both
    return cells.row.astype(np.int64), cells.col.astype(np.int64), cells.data


def _check_labels_shape(labels: tuple[int, ...], scores: Shape) -> None:
    if tuple(labels) != scores:
        hint = "; columns of relevant candidates are positives=" if len(labels) == 1 else ""
        shapes = f"{scores} and {tuple(labels)}"
        wanted = "scores and relevance are matrices of one shape, queries x candidates"
        raise InputError(f"{wanted}, not {shapes}{hint}", source="scores")


def _check_grades(rows: Ints, columns: Ints, grades: npt.NDArray[Any], queries: Queries) -> None:
    if (bad := find_bad_grade(grades)) >= 0:
        problem = f"label {grades[bad]} of candidate {columns[bad]} is not a grade"
        query = queries[rows[bad]]
        raise InputError(problem, source="relevance", query=query, value=grades[bad].item())


def _check_columns(rows: Ints, columns: Ints, shape: Shape, queries: Queries, source: str) -> None:
    bad = (columns < 0) | (columns >= shape[1])
    if bad.any():
        first = int(np.argmax(bad))
        column = int(columns[first])
        hint = f"; padding is {IGNORED}" if column == -1 and source == "positives" else ""
        problem = f"column {column} is not one of the {shape[1]} candidates{hint}"
        raise InputError(problem, source=source, query=queries[rows[first]], value=column)

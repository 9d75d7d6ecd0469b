"""Reading what is said of the cells of a matrix, queries x candidates or queries x ranks."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Floats, Ints, Positions
from irbatch.data.columns import as_compressed_rows
from irbatch.data.ids import check_query_ids
from irbatch.errors import ErrorsIn, InputError, kind_of, many, shown
from irbatch.runtime.arrays import (
    is_masked,
    is_on_accelerator,
    is_sparse,
    is_tensor,
    to_numpy,
    without_mask,
)
from irbatch.runtime.numbers import (
    LARGEST_WHOLE,
    NUMBER_ERRORS,
    as_floats,
    grade_problem,
    is_whole,
    number_problem,
)
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import cached_property

# That a caller may say a query has: discounts are tabulated, and summed, up to there (80 MB).
MOST_RELEVANT = 10_000_000


def check_real(
    array: npt.NDArray[Any], what: str, source: str, queries: Sequence[Any] | None = None
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
    given = "text" if kind in "SU" else array.dtype.name
    raise InputError(f"{what} are numbers, not {given}", source=source, query=only)


def check_shape(given: tuple[int, ...], scores: tuple[int, int], source: str) -> None:
    """Reject what has not the shape of the scores."""
    if tuple(given) != scores:
        problem = f"it is of shape {tuple(given)}, the scores are of shape {scores}"
        raise InputError(problem, source=source)


def find_bad_grade(grades: npt.NDArray[Any]) -> int:
    """Return the flat place of the first real number that is NaN or beyond 2^53; -1 without one."""
    kind, size = grades.dtype.kind, grades.dtype.itemsize
    if not grades.size or kind == "b" or (kind in "iu" and size < 8):
        return -1
    if grades.min().item() >= -LARGEST_WHOLE and grades.max().item() <= LARGEST_WHOLE:
        return -1  # NaN would be both the least and the largest
    return int(np.argmin((grades <= LARGEST_WHOLE) & (grades >= -LARGEST_WHOLE)))


def read_mask(mask: Any, shape: tuple[int, int], source: str) -> Bools:
    """Read truth values, or 0 and 1, of every candidate: bool ``(queries, candidates)``."""
    cells = to_numpy(mask, source)
    check_shape(cells.shape, shape, source)
    if cells.dtype.kind in "iu" and np.isin(cells, (0, 1)).all():
        return cells.astype(bool)
    if cells.dtype.kind != "b":
        raise InputError(f"a mask has truth values, not {cells.dtype.name}", source=source)
    return cells


def read_lengths(lengths: Any, widths: Ints, queries: Sequence[Any], source: str) -> Ints:
    """Read how many cells of each row, of those that it has (`widths`), count: int64 ``(n,)``."""
    given = to_numpy(lengths, source)
    if given.shape != widths.shape or given.dtype.kind not in "iu":
        kind = f"{given.dtype.name} of shape {given.shape}"
        problem = f"lengths are {widths.size} whole numbers, one a row, not {kind}"
        raise InputError(problem, source=source)
    bad = (given < 0) | (given > widths)
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"length {given[row]} is not within the row's {widths[row]} cells"
        raise InputError(problem, source=source, query=queries[row], value=int(given[row]))
    return given.astype(np.int64)


def read_n_relevant(n_relevant: Any, queries: Sequence[Any]) -> Ints:
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
        """Reject grades that are NaN or beyond 2^53."""
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
        if is_masked(labels) and np.ma.getmask(labels) is not np.ma.nomask:
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
    if is_masked(positives) and columns.dtype.kind in "iu":
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
        _reject_items(rows, columns, grades, queries, source)
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


def _reject_items(
    rows: Ints, columns: list[Any], grades: list[Any], queries: Queries, source: str
) -> None:
    """Reject the first column or grade that is none."""
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
        values = to_numpy(cells.values(), source)
        outside = (rows < 0) | (rows >= matrix.shape[0]) | (columns < 0)
        if (outside | (columns >= matrix.shape[1])).any():
            problem = f"an entry is not in a matrix of shape {tuple(matrix.shape)}"
            raise InputError(problem, source=source)
        return rows, columns, values
    with ErrorsIn(source=source):
        cells = as_compressed_rows(matrix).tocoo(copy=True)
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
        """Return some queries' labels, 2-D, padded with 0; reject those that are no grades."""
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

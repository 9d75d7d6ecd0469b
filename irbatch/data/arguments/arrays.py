"""Reading arrays that say something of every query or of every candidate."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Ints
from irbatch.errors import InputError
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, number_problem

# That a caller may say a query has: discounts are tabulated, and summed, up to there (80 MB).
MOST_RELEVANT = 10_000_000


def check_real(
    array: npt.NDArray[Any], what: str, source: str, queries: Sequence[Any] | None = None
) -> None:
    """Refuse an array of anything but real numbers and truth values.

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
    """Refuse what has not the shape of the scores."""
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
    refuse = functools.partial(InputError, source="n_relevant")
    if numbers.shape != (len(queries),) or numbers.dtype.kind not in "iu" or (numbers < 0).any():
        raise refuse(f"n_relevant is one whole number a query, {len(queries)} in all")
    if numbers.size and numbers.max() > MOST_RELEVANT:
        row = int(numbers.argmax())
        problem = f"{numbers[row]} relevant documents are more than {MOST_RELEVANT:,}"
        raise refuse(problem, query=queries[row], value=int(numbers[row]))
    return numbers.astype(np.int64)

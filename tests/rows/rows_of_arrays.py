"""Rows 58 and 83 to 98: arrays, their shapes, layouts and types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rows.problem import Problem, Refused, Row, Values

GOOD = Values({"q1": 1.0, "q2": 0.5})
COLUMNS = ("from_columns, arrays",)


def given(arrange: Callable[[Any], Any]) -> Problem:
    return Problem(arrange=arrange)


def frozen(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def strided(array: Any) -> Any:
    """Put a gap between all rows and all columns."""
    for axis in range(array.ndim):
        array = np.repeat(array, 2, axis)
    return array[tuple(slice(None, None, 2) for _ in range(array.ndim))]


def backwards(array: Any) -> Any:
    flipped = tuple(slice(None, None, -1) for _ in range(array.ndim))
    return np.ascontiguousarray(array[flipped])[flipped]


def with_column(filler: dict[str, float], *, masked: bool) -> Callable[[Any], Any]:
    """Add a column, of one filler among scores and another among labels; hidden if masked."""

    def arrange(array: Any) -> Any:
        wider = np.hstack([array, np.full((len(array), 1), filler[array.dtype.kind], array.dtype)])
        return np.ma.array(wider, mask=[[0, 0, 1]] * len(wider)) if masked else wider

    return arrange


def of_kind(kind: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change arrays of one kind only: labels are of kind i, scores of kind f."""
    return lambda array: change(array) if array.dtype.kind == kind else array


NO_LABELS = dict.fromkeys(("evaluate_matrix, array",), "it is given labels alone")
AS_COLUMNS = dict.fromkeys(COLUMNS, "columns are no matrix")
ROWS = [
    Row(
        58,
        "labels of more queries than scores",
        given(of_kind("i", lambda a: np.repeat(a, 25, 0))),
        Refused("50|25"),
        cannot={**AS_COLUMNS, "evaluate_scores, positives": "positives have no shape"},
    ),
    Row(
        83,
        "rankings of several lengths",
        Problem(
            judged=(("q1", "d1", 1), ("q2", "d3", 1), ("q3", "d2", 1)),
            ranked=(
                ("q1", "d1", 1.0),
                *(("q2", f"d{i}", -float(i)) for i in (1, 2, 3)),
                ("q3", "d2", 2.0),
                ("q3", "d9", 3.0),
            ),
        ),
        Values({"q1": 1.0, "q2": 1 / 3, "q3": 0.5}),
    ),
    Row(84, "Fortran's order", given(np.asfortranarray), GOOD),
    Row(84, "gaps between cells", given(strided), GOOD),
    Row(84, "backwards", given(backwards), GOOD),
    Row(
        84,
        "the other byte order",
        given(lambda a: a if a.dtype.kind == "U" else a.astype(a.dtype.newbyteorder("S"))),
        GOOD,
    ),
    Row(85, "arrays that cannot be written to", given(frozen), GOOD),
    Row(86, "unsorted arrays", Problem(arrange=lambda a: a), GOOD),
    Row(
        87,
        "one dimension where there are two",
        given(np.ravel),
        Refused(r"\(4,\)"),
        cannot={**AS_COLUMNS, "BatchEvaluator.update": "see evaluate_scores"},
    ),
    Row(
        87,
        "two dimensions where there is one",
        given(lambda a: a.reshape(2, 2)),
        Refused(r"\(2, 2\)|1-D|dimension"),
        cannot=dict.fromkeys(
            (
                "evaluate_matrix, array",
                "evaluate_scores",
                "evaluate_scores, ties by id",
                "evaluate_scores, positives",
                "BatchEvaluator.update",
            ),
            "two dimensions are right here",
        ),
    ),
    Row(
        88,
        "labels of another shape",
        given(of_kind("i", lambda a: a[:, :1])),
        Refused(r"\(2, 1\)|\(1, 1\)"),
        cannot={**AS_COLUMNS, **NO_LABELS, "evaluate_scores, positives": "positives have no shape"},
    ),
    Row(
        88,
        "columns of other lengths",
        given(of_kind("f", lambda a: a[:-1])),
        Refused("4 .*3|3 .*4"),
        cannot=dict.fromkeys(
            (
                "evaluate_matrix, array",
                "evaluate_scores",
                "evaluate_scores, ties by id",
                "evaluate_scores, positives",
                "BatchEvaluator.update",
            ),
            "columns are meant",
        ),
    ),
    Row(
        89,
        "masked cells",
        given(with_column({"f": 9.0, "i": 3}, masked=True)),
        GOOD,
        cannot={
            **AS_COLUMNS,
            "evaluate_scores, ties by id": "ids are of all candidates",
            "evaluate_scores, positives": "see evaluate_scores",
        },
    ),
    Row(
        90,
        "a column of label -1",
        given(with_column({"f": -np.inf, "i": -1}, masked=False)),
        replace(GOOD, warns="rows end in label -1"),
        dict.fromkeys(
            ("evaluate_scores", "evaluate_scores, positives", "BatchEvaluator.update"),
            (GOOD, "scores of -inf are ranked last, whoever they are of"),
        ),
        {**AS_COLUMNS, "evaluate_scores, ties by id": "ids are of all candidates"},
    ),
    Row(
        91,
        "one document",
        Problem(
            judged=(("q1", "d1", 1), ("q2", "d1", 0)), ranked=(("q1", "d1", 0.5), ("q2", "d1", 0.5))
        ),
        Values({"q1": 1.0, "q2": 0.0}),
    ),
    Row(
        92,
        "no candidates",
        given(lambda a: a[:, :0]),
        Values({"q1": 0.0, "q2": 0.0}),
        cannot={
            **AS_COLUMNS,
            "evaluate_scores, ties by id": "ids are of all candidates",
            "evaluate_scores, positives": "a positive is a candidate",
        },
    ),
    Row(
        96,
        "labels of 2^24 and 2^24+1",
        Problem(
            judged=(("q1", "d1", 2**24), ("q1", "d2", 2**24 + 1), ("q2", "d1", 1)),
            ranked=(("q1", "d1", 2.0), ("q1", "d2", 1.0), ("q2", "d1", 1.0)),
            measures=(f"RR(rel={2**24 + 1})",),
        ),
        Values({"q1": 0.5, "q2": 0.0}),
    ),
    Row(
        97,
        "columns of objects",
        given(lambda a: a.astype(object)),
        GOOD,
        cannot=dict.fromkeys(
            (
                "evaluate_matrix, array",
                "evaluate_scores",
                "evaluate_scores, ties by id",
                "evaluate_scores, positives",
                "BatchEvaluator.update",
            ),
            "a matrix of objects is refused: see the tests of matrices",
        ),
    ),
]

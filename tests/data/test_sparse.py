"""Sparse matrices of users and items as judgments and rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.input_errors import input_error

from irbatch import Qrels, Run, evaluate, evaluate_scores

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
CELLS = ([3.0, 0.0, -1.5, 2.0], ([0, 0, 2, 2], [4, 1, 0, 3]))
DICT = {0: {4: 3.0, 1: 0.0}, 2: {0: -1.5, 3: 2.0}}


def stored(kind: Any = sp.coo_array) -> Any:
    return kind(CELLS, shape=(4, 5))


@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("form", FORMATS)
def test_formats(kind: Any, form: str) -> None:
    matrix = stored(kind).asformat(form)
    nonzero = {q: {d: v for d, v in each.items() if v} for q, each in DICT.items()}
    kept = nonzero if form == "dia" else DICT  # it knows no stored zeros from others
    assert Run.from_sparse(matrix).to_dict() == {1: {}, 3: {}} | kept
    assert Qrels.from_sparse(matrix).to_dict() == kept


def test_ids_are_given() -> None:
    texts = ["a", "b", "c", "d"], ["v", "w", "x", "y", "é"]
    run = Run.from_sparse(stored(), query_ids=texts[0], document_ids=texts[1], name="mine")
    assert run.to_dict() == {
        "a": {"é": 3.0, "w": 0.0},
        "b": {},
        "c": {"v": -1.5, "y": 2.0},
        "d": {},
    }
    assert run.name == "mine"
    numbers = np.array([10, 20, 30, 40, 50], np.uint16)
    qrels = Qrels.from_sparse(stored(), query_ids=texts[0], document_ids=numbers)
    assert qrels.to_dict() == {"a": {50: 3, 20: 0}, "c": {10: -1.5, 40: 2}}


def test_zeros_are_judged_and_absent_cells_are_not() -> None:
    qrels = Qrels.from_sparse(sp.coo_array(([1, 0], ([0, 0], [1, 2])), shape=(2, 4)))
    assert qrels.to_dict() == {0: {1: 1, 2: 0}}
    run = Run.from_sparse(sp.csr_array([[0.4, 0.3, 0.2, 0.1], [0, 0, 0, 1]]))
    assert evaluate(qrels, run, "RR Judged@4").mean() == {"RR": 0.5, "Judged@4": 0.5}


def test_a_cell_twice_is_the_sum() -> None:
    twice = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Run.from_sparse(twice).to_dict() == {0: {1: 3.0}, 1: {0: 4.0}}
    rows = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])))
    before = rows.data.copy(), rows.indices.copy(), rows.indptr.copy()
    assert Run.from_sparse(rows).to_dict() == {0: {1: 3.0}, 1: {0: 4.0}}
    after = rows.data, rows.indices, rows.indptr
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
def test_kinds_of_values(dtype: Any) -> None:
    matrix = sp.csr_array(np.array([[1, 0], [1, 1]], dtype))
    assert Qrels.from_sparse(matrix).to_dict() == {0: {0: 1}, 1: {0: 1, 1: 1}}


def test_a_matrix_with_room_to_spare() -> None:
    matrix = sp.csr_array(np.array([[1.0, 2.0]]))
    matrix.data, matrix.indices = np.append(matrix.data, np.nan), np.append(matrix.indices, 0)
    assert Run.from_sparse(matrix).to_dict() == {0: {0: 1.0, 1: 2.0}}


def test_what_is_no_matrix() -> None:
    for wrong in (None, [[1]], np.eye(2), {0: {0: 1}}):
        input_error(lambda wrong=wrong: Run.from_sparse(wrong), "run", type(wrong).__name__)
    input_error(lambda: Qrels.from_sparse(sp.coo_array(np.ones(3))), "2-D", "(3,)", source="qrels")
    input_error(lambda: Qrels.from_sparse(sp.csr_array((2, 3))), "no queries", source="qrels")


def test_ids_that_do_not_fit() -> None:
    matrix = stored()
    input_error(lambda: Run.from_sparse(matrix, query_ids=["a"]), "4 rows need 4", "query", "not 1")
    input_error(lambda: Run.from_sparse(matrix, document_ids=list("vwxyy")), "5 columns", "not 4")
    input_error(lambda: Run.from_sparse(matrix, document_ids=[*"vwxy", None]), "row 4", "None")
    input_error(lambda: Run.from_sparse(matrix, query_ids=[1.0, 2.0, 3.0, 4.0]), "query id")


def test_values_that_are_none() -> None:
    nan = sp.csr_array(np.array([[0, 1.0], [np.nan, 0]]))
    found = input_error(lambda: Run.from_sparse(nan, name="m"), "score nan", query=1, document=0)
    assert found.path == "m"
    named = {"query_ids": ["a", "b"], "document_ids": ["x", "y"]}
    input_error(lambda: Run.from_sparse(nan, **named), "score nan", query="b", document="x")
    large = sp.csr_array(np.array([[1, 2**53 + 1]]))
    input_error(lambda: Qrels.from_sparse(large), str(2**53 + 1), query=0, document=1)
    assert Run.from_sparse(large).to_dict() == {0: {0: 1.0, 1: 2.0**53}}
    input_error(lambda: Run.from_sparse(sp.csr_array(np.array([[1j]]))), "complex128")


@pytest.mark.parametrize("kind", [Run, Qrels])
@pytest.mark.parametrize("named", [False, True])
def test_entries_beyond_the_shape(kind: Any, named: bool) -> None:
    """SciPy checks them only when it makes a matrix, and then not always."""
    ids = {"query_ids": ["a", "b"], "document_ids": ["x", "y", "z"]} if named else {}
    made = sp.coo_array(([1.0, 2.0], ([0, 1], [0, 2])), shape=(2, 3))
    for form, part in (("csr", "indices"), ("csc", "indices"), ("coo", "col"), ("coo", "row")):
        for place in (-1, 7):
            matrix = sp.coo_matrix(made).asformat(form)
            setattr(matrix, part, np.array([0, place], np.int32))
            said = "a matrix of shape (2, 3) is not sound"
            input_error(lambda m=matrix: kind.from_sparse(m, **ids), said)
            for argument in ("relevance", "exclude"):
                given = {"relevance": np.ones((2, 3), int), argument: matrix}
                input_error(
                    lambda g=given: evaluate_scores(np.eye(2, 3), measures="RR", **g),
                    said, source=argument,
                )  # fmt: skip
    for ends in ([0, 2, 1], [1, 1, 2], [0, 2], [0, 1, 5], [0, -1, 2]):
        matrix = made.tocsr()
        matrix.indptr = np.array(ends, np.int32)
        input_error(lambda m=matrix: kind.from_sparse(m, **ids), "not sound", "(2, 3)")

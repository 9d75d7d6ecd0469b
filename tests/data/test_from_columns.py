"""Judgments and rankings of columns, as callers have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.input_errors import input_error

from irbatch import Qrels, Run
from irbatch.data.columns import as_ids
from irbatch.data.ids import TextColumn

QUERIES, DOCUMENTS, SCORES = ["q2", "q1", "q2"], ["é", "d1", "d1"], [0.5, 2, -1.5]
TEXTS = {
    "list": list,
    "tuple": tuple,
    "fixed width": np.array,
    "other byte order": lambda ids: np.array(ids).astype(">U9"),
    "every other": lambda ids: np.repeat(np.array(ids), 2)[::2],
    "object": lambda ids: np.array(ids, object),
    "variable width": lambda ids: np.array(ids, np.dtypes.StringDType()),
    "pandas": pd.Series,
    "pandas object": lambda ids: pd.Series(ids, dtype=object),
    "pandas category": lambda ids: pd.Series(ids, dtype="category"),
    "pandas arrow": lambda ids: pd.Series(ids, dtype="string[pyarrow]"),
    "polars": pl.Series,
    "texts": TextColumn.encode,
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("documents", [DOCUMENTS, ["d3", "d10", "d1"]], ids=["any", "ascii"])
def test_texts(kind: str, documents: list[str]) -> None:
    if kind == "variable width" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy has them from version 2 on")
    make = TEXTS[kind]
    run = Run.from_columns(make(QUERIES), make(documents), SCORES)
    expected: dict[str, dict[str, float]] = {}
    for query, document, score in zip(QUERIES, documents, SCORES, strict=True):
        expected.setdefault(query, {})[document] = score
    assert run.to_dict() == expected
    assert list(run.rankings) == ["q2", "q1"]
    assert {type(d) for each in run.to_dict().values() for d in each} == {str}


def test_a_column_of_which_its_library_panics() -> None:
    class Panicking(list[str]):
        def to_numpy(self) -> Any:
            raise pl.exceptions.PanicException("pointer is null")

    input_error(
        lambda: Run.from_columns(["q", "q"], Panicking(["d", "e"]), [1.0, 2.0]),
        "its library failed: pointer is null",
        source="run",
    )


@pytest.mark.parametrize(
    "texts", [["a", ""], ["a\0b", "ab"], ["", ""], ["é", "\ud800"], ["x" * 300, "😀"]], ids=repr
)
def test_any_text_is_kept(texts: list[str]) -> None:
    for column in (texts, np.array(texts), np.array(texts, object)):
        found = as_ids(column, "query", "run")
        assert isinstance(found, TextColumn)
        assert found.tolist() == texts


@pytest.mark.parametrize("dtype", ["i1", "u1", ">i4", "u8", object, "Int64", "pyarrow"])
def test_whole_numbers(dtype: Any) -> None:
    if dtype in ("Int64", "pyarrow"):
        ids = pd.Series([7, 100, 7]).astype("Int64" if dtype == "Int64" else "int64[pyarrow]")
    else:
        ids = np.array([7, 100, 7], dtype)
    run = Run.from_columns(ids, [2**63 - 1, -(2**63), 0], SCORES)
    assert run.to_dict() == {7: {2**63 - 1: 0.5, 0: -1.5}, 100: {-(2**63): 2.0}}
    assert {type(q) for q in run.to_dict()} == {int}


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i1", "u4", "?", object, "Float64"])
def test_values(dtype: Any) -> None:
    values = pd.Series([1, 0, 1], dtype=dtype) if dtype == "Float64" else np.array([1, 0, 1], dtype)
    assert Run.from_columns(QUERIES, DOCUMENTS, values).to_dict() == {
        "q2": {"é": 1.0, "d1": 1.0},
        "q1": {"d1": 0.0},
    }
    assert Qrels.from_columns(QUERIES, DOCUMENTS, values).to_dict()["q1"] == {"d1": 0}


@pytest.mark.parametrize(
    ("columns", "facts"),
    [
        ((["q", "q"], ["a"], [1.0]), ("2 queries, 1 documents, 1 scores",)),
        ((["q", "q"], ["a", "a"], [1, 2]), ("(query 'q', document 'a')", "rows 0 and 1")),
        (([1, 2, 1], [7, 7, 7], [1, 2, 3]), ("(query 1, document 7)", "rows 0 and 2")),
        ((["q", "q"], ["a", 1], [1, 2]), ("two kinds",)),
        ((["q"], np.array([b"a"]), [1]), ("document ids", "|S1")),
        ((["q"], np.array([1.0]), [1]), ("document ids", "float64")),
        ((["q", "q"], np.array([1.0, np.nan]), [1, 2]), ("row 1", "document id is missing")),
        ((["q"], np.array([True]), [1]), ("document ids", "bool")),
        (([2**63], [1], [1]), ("row 0", str(2**63), "int64")),
        ((np.array([0, 2**63], np.uint64), [1, 2], [1, 2]), ("row 1", str(2**63), "int64")),
        ((["q"], ["a"], np.array(["1"])), ("scores are real numbers", "<U1")),
        (("q", ["a"], [1]), ("query ids", "str")),
        ((["q"], {"a"}, [1]), ("document ids", "set")),
        ((["q"], {"a": 1}, [1]), ("document ids", "dict")),
        ((["q"], 5, [1]), ("document ids", "int")),
        ((["q"], ["a"], np.ones((1, 1))), ("scores", "(1, 1)")),
        ((["q"], ["a"], np.ma.array([1.0], mask=[True])), ("row 0", "missing")),
        ((pd.Series(["q", None]), ["a", "b"], [1, 2]), ("row 1",)),
        ((["q"], pd.Series([None], dtype="Int64"), [1]), ("row 0",)),
        ((["q"], ["a"], pd.Series([None], dtype="Float64")), ("row 0",)),
    ],
    ids=repr,
)
def test_bad_columns(columns: tuple[Any, Any, Any], facts: tuple[str, ...]) -> None:
    input_error(lambda: Run.from_columns(*columns, name="mine"), "run 'mine'", *facts, source="run")

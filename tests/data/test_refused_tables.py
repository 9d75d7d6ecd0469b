"""Tables, records and Parquet files that leave open which column is what, or cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import Qrels, Run
from irbatch.data.column_names import choose_columns

RUN: dict[str, list[Any]] = {
    "qid": ["q1", "q1", "q2"],
    "docno": ["d1", "d2", "d1"],
    "score": [1.0, 2.5, -0.5],
}
ROLES = ("query", "document", "score"), ("query", "document", "grade")


@pytest.mark.parametrize(
    ("names", "source", "found"),
    [
        ("query_id doc_id score", "run", (0, 1, 2)),
        ("query_id doc_id relevance iteration", "qrels", (0, 1, 2)),
        ("qid docid docno rank score query", "run", (0, 2, 4)),
        ("label docno qid", "qrels", (2, 1, 0)),
        ("q_id doc_id score", "qrels", (0, 1, 2)),
        ("query-id corpus-id score", "qrels", (0, 1, 2)),
        ("query-id corpus_id score", "qrels", (0, 1, 2)),
        ("qid pid score", "run", (0, 1, 2)),
        ("qid docid score", "run", (0, 1, 2)),
        ("query document grade", "qrels", (0, 1, 2)),
        ("query document score", "run", (0, 1, 2)),
        ("qid query document doc_id score", "run", (0, 3, 4)),
        ("UserID MovieID Rating Timestamp", "qrels", (0, 1, 2)),
        ("USER_ID Item_Id score", "run", (0, 1, 2)),
        ("user_id:token item_id:token rating:float", "qrels", (0, 1, 2)),  # RecBole
        ("userID itemID rating prediction", "run", (0, 1, 3)),  # recommenders, Spark
        ("user_id query_id doc_id score", "run", (1, 2, 3)),  # a search log
        ("query_id item_id score", "run", (0, 1, 2)),
    ],
)
def test_names_that_are_known(names: str, source: str, found: tuple[int, ...]) -> None:
    columns = names.split()
    roles = ROLES[source == "qrels"]
    expected = {role: columns[i] for role, i in zip(roles, found, strict=True)}
    assert choose_columns(columns, source, {}) == expected


@pytest.mark.parametrize(
    ("names", "given", "facts"),
    [
        ("qid query_id docno score", {}, ("'qid', 'query_id'", "query='qid'")),
        ("qid docno doc_id score", {}, ("'docno', 'doc_id'", "document=")),
        ("qid docno Points", {}, ("no column is the score", "'Points'")),
        ("QID Query_ID docno score", {}, ("'QID', 'Query_ID'", "query='QID'")),
        ("USER_ID user_id Item_Id score", {}, ("'USER_ID', 'user_id'", "say which")),
        ("q docno score", {}, ("no column is the query", "'q'")),
        ("qid docno score", {"query": "q"}, ("query: the table has no column 'q'", "'docno'")),
        ("qid docno docno score", {}, ("2 columns 'docno'",)),
        ("user_id uid item_id score", {}, ("'user_id', 'uid'", "say which")),
        ("qid docno score", {"document": "qid", "query": "qid"}, ("'qid'", "cannot be two")),
        ("", {}, ("no column is the query",)),
    ],
)
def test_names_that_decide_nothing(names: str, given: dict[str, str], facts: list[str]) -> None:
    input_error(lambda: choose_columns(names.split(), "run", given), *facts, source="run")


def test_names_that_are_given_decide() -> None:
    given = {"query": "pid", "document": "doc_id", "score": "score"}
    assert choose_columns(["pid", "doc_id", "score"], "run", {"query": "pid"}) == given
    run = {**RUN, "query_id": ["x", "y", "z"], "rsv": [3, 2, 1]}
    found = Run.from_table(run, query="query_id", score="rsv", name="mine")
    assert found.to_dict() == {"x": {"d1": 3.0}, "y": {"d2": 2.0}, "z": {"d1": 1.0}}
    assert found.name == "mine"
    graded = Qrels.from_table({**RUN, "label": [1, 2, 3]}, grade="label")
    assert graded.to_dict() == {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 3}}
    facts = "'score', 'label'", "grade="
    input_error(lambda: Qrels.from_table({**RUN, "label": [1, 2, 3]}, name="n"), *facts, path="n")


@pytest.mark.parametrize(
    "wrong", [None, 5, "qid", b"qid", [("q1", "d1", 1.0)], {1, 2}, np.zeros((2, 3)), object],
    ids=repr,
)  # fmt: skip
def test_what_is_no_table(wrong: Any) -> None:
    input_error(lambda: Run.from_table(wrong), "run", type(wrong).__name__, source="run")
    input_error(lambda: Qrels.from_table(wrong), "qrels", type(wrong).__name__, source="qrels")


@pytest.mark.parametrize(
    ("records", "facts"),
    [
        ([], ("a list has no records",)),
        (pl.Series([1]), ("Series",)),
        ([("q1", "d1", 1.0)], ("row 0", "('q1', 'd1', 1.0)", "tuple")),
        ([5], ("row 0", "5", "int")),
        ([{"qid": 1, "docno": 2}], ("no column is the score", "'docno'")),
        ([{"qid": 1, "docno": 2, "score": 3}, {"qid": 1, "docno": 2}], ("row 1", "lacks")),
        ([{"qid": 1, "docno": 2, "score": 3}, None], ("row 1", "None")),
    ],
    ids=repr,
)
def test_bad_records(records: Any, facts: tuple[str, ...]) -> None:
    input_error(lambda: Run.from_table(records, name="mine"), "run 'mine'", *facts, path="mine")


def test_bad_parquet(tmp_path: Path) -> None:
    path = tmp_path / "[x] *.parquet"
    path.write_bytes(b"PAR1\0 but not really PAR1")
    input_error(lambda: irbatch.read_run(path), "run", path=str(path))
    pl.DataFrame({"qid": ["a"], "other": ["b"]}).write_parquet(path)
    input_error(lambda: irbatch.read_run(path), "no column", "'other'", path=str(path))
    pl.DataFrame({"qid": ["a"], "docno": ["b"], "score": [1], "more": [[1]]}).write_parquet(path)
    assert irbatch.read_run(path).to_dict() == {"a": {"b": 1.0}}
    input_error(Run({"q": {"\udc80": 1}}).to_arrow, "UTF-8", source="run")
    input_error(Run({"q": {2**70: 1}}).to_arrow, "int64", source="run")


def test_panics_of_polars_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: Any, **__: Any) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    frame = pl.DataFrame({"qid": ["q"], "docno": ["d"], "score": [1.0]})
    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    said = "its library failed: index out of bounds"
    input_error(lambda: Run.from_table(frame.lazy(), name="bm25"), "'bm25'", said, source="run")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", ""])
def test_frames_of_no_rows(make: Any) -> None:
    """Whatever types their columns have, for lack of a value."""
    names = ("qid", "docno", "score")
    run = Run.from_table(make({name: [] for name in names}))
    assert run.to_dict() == {}
    with pytest.warns(irbatch.InputWarning, match="run is empty: every query scores 0"):
        assert irbatch.evaluate({"q": {"d": 1}}, run, "AP").mean() == {"AP": 0}
    input_error(
        lambda: Qrels.from_table(make({name: [] for name in names})), "there are no queries"
    )
    input_error(lambda: Run.from_table(make()), "no column is the query", "there are no columns")

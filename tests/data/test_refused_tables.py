"""Tables and records that leave open which column is what, and cells that are no id or number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
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
        ("USER_ID user_id Item_Id score", "run", (1, 2, 3)),
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
    if not isinstance(wrong, str | bytes):
        input_error(
            lambda: irbatch.evaluate({"q": {"d": 1}}, wrong, "RR"), "neither a table", source="run"
        )
        fact = "None is given" if wrong is None else "neither a table"
        input_error(lambda: irbatch.evaluate(wrong, {"q": {"d": 1}}, "RR"), fact, source="qrels")


def test_records_are_no_table() -> None:
    input_error(lambda: Run.from_table([{"qid": 1}]), "list", "from_records")
    input_error(lambda: Run.from_table(iter([])), "from_records")
    input_error(lambda: Run.from_table(pl.Series([1])), "Series")


@pytest.mark.parametrize(
    ("records", "facts"),
    [
        (None, ("NoneType",)),
        ("text", ("a str is not a series of records",)),
        ({"q1": {}}, ("a dict is not a series of records",)),
        ([("q1", "d1", 1.0)], ("row 0", "('q1', 'd1', 1.0)", "tuple")),
        ([5], ("row 0", "5", "int")),
        ([{"qid": 1, "docno": 2}], ("no column is the score", "'docno'")),
        ([{"qid": 1, "docno": 2, "score": 3}, {"qid": 1, "docno": 2}], ("row 1", "lacks")),
        ([{"qid": 1, "docno": 2, "score": 3}, None], ("row 1", "None")),
        ([{"qid": 1, "docno": None, "score": 3}], ("row 0", "document id None")),
        ([{"qid": "1", "docno": "2", "score": "x"}], ("row 0", "score 'x'")),
    ],
    ids=repr,
)
def test_bad_records(records: Any, facts: tuple[str, ...]) -> None:
    input_error(lambda: Run.from_records(records, name="mine"), "run 'mine'", *facts, path="mine")


def test_no_rows() -> None:
    assert Run.from_records([]).to_dict() == {}
    assert Run.from_table(pl.DataFrame(schema=dict.fromkeys(RUN, pl.String)).cast({"score": float}),
                          ).to_dict() == {}  # fmt: skip
    input_error(lambda: Qrels.from_records([]), "no queries", source="qrels")


def test_what_makes_records_may_fail_itself() -> None:
    def broken() -> Iterator[Any]:
        yield {"qid": 1, "docno": 2, "score": 3}
        raise KeyError("theirs")

    with pytest.raises(KeyError, match="theirs"):
        Run.from_records(broken())

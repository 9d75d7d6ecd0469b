"""Names that callers give to columns, and tables that lack one: of grades, or of scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.comparing.rankings import overlap, ranking_correlation, tau_union
from irbatch.partial import evaluate_partition

JUDGED: dict[str, list[Any]] = {
    "who": ["a", "a", "b"],
    "thing": ["x", "y", "x"],
    "stars": [1, 0, 2],
}
RANKED: dict[str, list[Any]] = {
    "who": ["a", "a", "b"],
    "thing": ["y", "x", "x"],
    "yhat": [0.9, 0.8, 0.7],
}
NAMES = {"user": "who", "item": "thing", "rating": "stars", "score": "yhat"}
OTHER_WORDS = {"query": "who", "document": "thing", "relevance": "stars", "score": "yhat"}
EXPECTED = {"a": {"RR": 0.5}, "b": {"RR": 1.0}}


def to_rows(table: dict[str, list[Any]]) -> np.ndarray:
    """Return a structured array."""
    return np.rec.fromarrays([np.array(each) for each in table.values()], names=list(table))


KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "arrow": pa.table,
    "rows": to_rows,
}  # fmt: skip


def write(path: Path, table: dict[str, list[Any]]) -> Path:
    """Write a table as the file's name says."""
    frame = pl.DataFrame(table)
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="," if path.suffix == ".csv" else "\t")
    return path


@pytest.mark.parametrize("names", [NAMES, OTHER_WORDS], ids=["users", "queries"])
@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind: str, names: dict[str, str]) -> None:
    qrels, run = KINDS[kind](JUDGED), KINDS[kind](RANKED)
    assert irbatch.evaluate(qrels, run, "RR", columns=names).to_dict() == EXPECTED
    apart = {"qrels": {"user": "who"}, "run": {"user": "who"}, **names}
    del apart[next(iter(names))]
    assert irbatch.evaluate(qrels, run, "RR", columns=apart).to_dict() == EXPECTED


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_files(tmp_path: Path, ending: str) -> None:
    qrels, run = write(tmp_path / f"q.{ending}", JUDGED), write(tmp_path / f"r.{ending}", RANKED)
    assert irbatch.evaluate(qrels, run, "RR", columns=NAMES).to_dict() == EXPECTED
    own = {role: NAMES[role] for role in ("user", "item", "rating")}
    expected = {"a": {"x": 1, "y": 0}, "b": {"x": 2}}
    assert irbatch.read_qrels(qrels, columns=own).to_dict() == expected
    own = {role: NAMES[role] for role in ("user", "item", "score")}
    expected = {"a": {"y": 0.9, "x": 0.8}, "b": {"x": 0.7}}
    assert irbatch.read_run(run, columns=own).to_dict() == expected
    lacks = "no column is the query, the document or the grade: say which, columns={'query': '…'"
    input_error(lambda: irbatch.evaluate(qrels, run, "RR"), lacks, "'stars'", path=str(qrels))
    lacks = "score: the table has no column 'x'; the columns are ['who', 'thing', 'yhat']"
    wrong = {**NAMES, "score": "x"}
    said = lacks, "where judgments and runs have others, columns={'qrels': {'query': '…'}, 'run'"
    input_error(lambda: irbatch.evaluate(qrels, run, "RR", columns=wrong), *said, path=str(run))


def test_every_entrance() -> None:
    qrels, run = pl.DataFrame(JUDGED), pl.DataFrame(RANKED)
    other = run.with_columns(yhat=-pl.col("yhat"))
    given: dict[str, Any] = {"columns": NAMES}
    runs = {"one": run, "other": other}
    results = irbatch.evaluate_runs(qrels, runs, "RR", **given)
    assert results["one"].to_dict() == EXPECTED
    assert irbatch.compare(qrels, runs, "RR", **given).means.tolist() == [[0.75], [1.0]]
    explained = irbatch.explain(qrels, run, other, "RR", **given)
    assert (explained.worse, explained.better) == (0, 1)
    part = evaluate_partition(qrels, run, "RR", **given)
    judgments = irbatch.Qrels.from_table(qrels, query="who", document="thing", grade="stars")
    assert part.results(judgments).to_dict() == EXPECTED
    parts = [run.filter(pl.col("who") == query) for query in "ab"]
    for executor in (None, ThreadPoolExecutor(2)):
        found = irbatch.evaluate(qrels, parts, "RR", executor=executor, **given)
        assert found.to_dict() == EXPECTED
    ranked = {role: NAMES[role] for role in ("user", "item", "score")}
    assert overlap(run, other, columns=ranked).query_ids == ["a", "b"]
    assert ranking_correlation(run, other, columns=ranked).mean() == -1
    assert tau_union(run, run, columns=ranked)["a"] == 1
    refused = {"score": "yhat", "grade": "stars"}
    input_error(
        lambda: overlap(run, other, columns=refused), "'grade' is none of", source="columns"
    )


@pytest.mark.parametrize(
    ("columns", "fact"),
    [
        ("who", "are a mapping of roles to names"),
        ({"usr": "who"}, "'usr' is none of query, document, grade"),
        ({"user": "who", "query": "q"}, "the query is named twice"),
        ({"user": ["who"]}, "the query is ['who'], which is not a name"),
        ({"qrels": "who"}, "are a mapping of roles to names"),
        ({"run": {"grade": "stars"}}, "'grade' is none of query, document, score, rank"),
    ],
    ids=repr,
)
def test_what_is_no_mapping_of_roles(columns: Any, fact: str) -> None:
    qrels, run = pl.DataFrame(JUDGED), pl.DataFrame(RANKED)
    said = fact, "columns"
    for call in (irbatch.evaluate, evaluate_partition):
        input_error(lambda call=call: call(qrels, run, "RR", columns=columns), *said)
    input_error(lambda: irbatch.evaluate_runs(qrels, {"a": run}, "RR", columns=columns), *said)
    input_error(lambda: irbatch.explain(qrels, run, run, columns=columns), *said)


@pytest.mark.parametrize(
    ("names", "options", "grade"),
    [
        ("user_id item_id", {}, 1),
        ("user_id item_id timestamp", {}, 1),
        ("user_id item_id rating timestamp", {}, 3),
        ("user_id item_id clicks", {"grade": 1}, 1),
        ("user_id item_id rating", {"grade": 2.0}, 2),
        ("user_id item_id clicks", {"grade": "clicks"}, 3),
    ],
)
def test_judgments_without_grades(names: str, options: dict[str, Any], grade: float) -> None:
    rows: dict[str, Any] = {name: ["x"] for name in names.split()}
    rows |= {name: [3] for name in ("rating", "clicks") if name in rows}
    assert irbatch.Qrels.from_table(rows, **options).to_dict() == {"x": {"x": grade}}


def test_another_column_may_be_the_grade() -> None:
    rows = {"user_id": ["a"], "item_id": ["x"], "clicks": [5]}
    said = "no column is the grade: say which, columns={'grade': '…'}, or grade=1 if all are 1"
    input_error(lambda: irbatch.Qrels.from_table(rows), said, source="qrels")
    input_error(lambda: irbatch.evaluate(pl.DataFrame(rows), {"a": {"x": 1}}, "RR"), said)
    records = [{"user": 1, "item": 2, "n": 3}]
    input_error(lambda: irbatch.Qrels.from_table(records), "no column is")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_files_without_grades_and_scores(tmp_path: Path, ending: str) -> None:
    judged, ranked = JUDGED.copy(), {**RANKED, "rank": [2, 1, 1]}
    del judged["stars"], ranked["yhat"]
    qrels, run = write(tmp_path / f"q.{ending}", judged), write(tmp_path / f"r.{ending}", ranked)
    names = {"user": "who", "item": "thing"}
    expected = {"a": {"x": 1, "y": 1}, "b": {"x": 1}}
    assert irbatch.read_qrels(qrels, columns=names).to_dict() == expected
    names["grade"] = 3
    assert irbatch.read_qrels(qrels, columns=names).to_dict()["b"] == {"x": 3}
    assert irbatch.evaluate(qrels, run, "RR", columns=names)["RR"] == 1
    del names["grade"]
    expected = {"a": {"y": -2, "x": -1}, "b": {"x": -1}}
    assert irbatch.read_run(run, columns=names).to_dict() == expected
    table = pl.DataFrame(ranked)
    found = irbatch.evaluate(qrels, table, "RR", columns=names)
    assert found.to_dict() == {"a": {"RR": 1.0}, "b": {"RR": 1.0}}


def test_order_of_a_table_that_has_scores_and_ranks() -> None:
    run = pl.DataFrame({**RANKED, "place": [2, 1, 1]})
    columns = {**NAMES, "rank": "place"}
    ordered = [
        irbatch.evaluate(pl.DataFrame(JUDGED), run, "RR", columns=columns, order_by=each)["RR"]
        for each in irbatch.engine.ties.ORDERS
    ]
    assert ordered == [0.75, 1.0]
    del columns["score"]
    assert irbatch.evaluate(pl.DataFrame(JUDGED), run, "RR", columns=columns)["RR"] == 1.0
    wrong = run.with_columns(place=pl.Series([1.5, 1.0, 1.0]))
    said = "row 0: rank 1.5 is not a whole number from 0"
    input_error(lambda: irbatch.evaluate({"a": {"x": 1}}, wrong, "RR", columns=columns), said)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_that_contradict_scores(kind: str) -> None:
    rows = {"qid": ["a", "a", "b", "b"], "docno": list("xyxy"), "score": [2.0, 1.0, 3.0, 2.0]}
    for ranks, contradicts in (([1, 2, 7, 8], False), ([1, 2, 2, 1], True)):
        run = KINDS[kind]({**rows, "rank": ranks})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert irbatch.evaluate({"b": {"y": 1}}, run, "RR")["RR"] == 0.5
        said = ["run: in query 'b' ranks and scores contradict each other; scores decide"]
        assert [str(each.message).rpartition(",")[0] for each in caught] == said * contradicts
        assert irbatch.evaluate({"b": {"y": 1}}, run, "RR", order_by="rank")["RR"] == (
            1.0 if contradicts else 0.5
        )


def test_paths_are_read_by_others() -> None:
    said = "files are read by irbatch.read_run"
    input_error(lambda: irbatch.Run.from_table("run.csv", query="who"), said, source="run")
    input_error(lambda: irbatch.Qrels.from_table(Path("q.parquet"), marks="subtopics"), said)


@pytest.mark.parametrize("ending", ["frame", "parquet"])
def test_judgments_that_say_more(tmp_path: Path, ending: str) -> None:
    rows = {"who": ["a", "a"], "thing": ["x", "y"], "aim": ["1", "2"]}
    names = {"user": "who", "item": "thing", "subtopic": "aim"}
    qrels = pl.DataFrame(rows) if ending == "frame" else write(tmp_path / "q.parquet", rows)
    found = irbatch.evaluate(qrels, {"a": {"x": 1.0}}, "StRecall@5", columns={**names, "grade": 1})
    assert found["StRecall@5"] == 0.5
    lacks = "no column is the query, the document, the grade or the subtopic: say which, columns="
    input_error(lambda: irbatch.evaluate(qrels, {"a": {"x": 1.0}}, "StRecall@5"), lacks)

"""Spark with two executors on this machine: the same bits as one process, one killed or not."""

from __future__ import annotations

import functools
import math
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.paths import REFERENCE_DATA, REPOSITORY
from support.shuffled_rows import (
    ITEMS,
    MEASURES,
    OPTIONS,
    DyingOnce,
    assert_same,
    assert_same_means,
    cut,
    marked,
    output_of_example,
    problem,
    rows,
)

import irbatch
from irbatch.errors import InputError
from irbatch.measures import MARKED

pyspark = pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")
spark = pytest.importorskip("irbatch.integrations.spark")
if not (shutil.which("java") or "JAVA_HOME" in os.environ):
    pytest.skip("Spark runs on Java, which is not here", allow_module_level=True)

# Of pandas, which Spark wants to be there and which is not used.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

FEW = "nDCG@10 AP RR(rel=2)@5"
Session = Any


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'tests'}",
        "spark.log.level": "OFF",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "70",
        "spark.sql.shuffle.partitions": "5",
        "spark.task.maxFailures": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=options)
    started = builder.getOrCreate()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def frames(session: Session) -> tuple[Any, Any]:
    """Return judgments and a run with ids that are text."""
    qrels, run = problem()
    return frame(session, rows(qrels, "relevance")), frame(session, rows(run, "score"))


def frame(session: Session, columns: dict[str, list[Any]]) -> Any:
    """Return rows as a frame of odd partitions."""
    schema = pa.table(columns).schema
    parts = [session.createDataFrame(pa.table(each, schema)).coalesce(1) for each in cut(columns)]
    return functools.reduce(lambda some, more: some.union(more), parts)


@pytest.mark.smoke
def test_frames_of_text(frames: tuple[Any, Any]) -> None:
    right = irbatch.evaluate(*problem(), MEASURES)
    assert_same(spark.evaluate(*frames, MEASURES), right)
    assert_same_means(spark.evaluate(*frames, MEASURES, keep="sums", partitions=3), right)


def test_numbers_and_judgments_that_are_here(session: Session) -> None:
    qrels, run = problem("numbers")
    qrels = {**qrels, 10**6: {}}  # no document of it is judged
    right = irbatch.evaluate(qrels, run, MEASURES)
    rankings = frame(session, rows(run, "score"))
    assert_same(spark.evaluate(qrels, rankings, MEASURES), right)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_those_of_one_process(frames: tuple[Any, Any], name: str) -> None:
    right = irbatch.evaluate(*problem(), FEW, **OPTIONS[name])
    assert_same(spark.evaluate(*frames, FEW, **OPTIONS[name]), right)


@pytest.mark.parametrize("reads", MARKED)
def test_judgments_of_more_than_grades(session: Session, reads: str) -> None:
    made = marked(reads)
    run = frame(session, made.run_rows)
    right = irbatch.evaluate(made.judgments, made.run, made.measures)
    for given in (made.judgments, frame(session, made.judgment_rows)):
        assert_same(spark.evaluate(given, run, made.measures), right)


def test_measures_of_the_whole_run(frames: tuple[Any, Any]) -> None:
    right = irbatch.evaluate(*problem(), ITEMS.measures, items=ITEMS.known)
    for keep, check in (("queries", assert_same), ("sums", assert_same_means)):
        check(spark.evaluate(*frames, ITEMS.measures, items=ITEMS.known, keep=keep), right)


def test_real_runs(session: Session) -> None:
    folder = REFERENCE_DATA / "dl19_passage"
    if not folder.exists():
        pytest.skip("without the data")
    qrels = next(folder.glob("qrels.*"))
    run = irbatch.read_run(min((folder / "runs").iterdir()))
    right = irbatch.evaluate(qrels, run, MEASURES)
    assert_same(
        spark.evaluate(qrels, frame(session, rows(run.to_dict(), "score")), MEASURES), right
    )


@pytest.mark.parametrize("victim", [None, "java"], ids=["worker", "executor"])
def test_one_that_is_killed_changes_nothing(
    frames: tuple[Any, Any], victim: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = irbatch.evaluate(*problem(), FEW)
    monkeypatch.setattr(spark, "_evaluate_pair", DyingOnce(spark._evaluate_pair, tmp_path, victim))
    assert_same(spark.evaluate(*frames, FEW, partitions=6), right)
    assert len(list(tmp_path.iterdir())) > 6, "no task was done again"


TWO = {"query_id": ["a", "a"], "doc_id": ["x", "y"]}
BAD_ROWS = {
    "NaN": ({**TWO, "score": [1.0, math.nan]}, "query 'a', document 'y'.*score nan is not"),
    "null": ({**TWO, "score": [1.0, None]}, "score"),
    "no document": (
        {"query_id": ["a"], "doc_id": pa.array([None], pa.string()), "score": [1.0]},
        "document id is missing",
    ),
    "twice": ({**TWO, "doc_id": ["x", "x"], "score": [1.0, 2.0]}, "query 'a', document 'x'.*rows"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_named(session: Session, name: str) -> None:
    columns, told = BAD_ROWS[name]
    run = session.createDataFrame(pa.table(columns))
    with pytest.raises(InputError, match=f"run.*{told}"):
        spark.evaluate({"a": {"x": 1}}, run, FEW)


def test_grades_that_are_inexact(session: Session) -> None:
    qrels = session.createDataFrame(pa.table({**TWO, "relevance": [1, 2**53 + 1]}))
    run = session.createDataFrame(pa.table({**TWO, "score": [1, 2]}))
    with pytest.raises(InputError, match=r"qrels \(query 'a', document 'y'\): .* beyond 2\^53"):
        spark.evaluate(qrels, run, FEW)


def test_what_only_all_queries_together_can_tell(session: Session) -> None:
    run = session.createDataFrame(pa.table({**TWO, "score": [1.0, 2.0]}))
    with pytest.raises(InputError, match="no query of it is judged"):
        spark.evaluate({"b": {"x": 1}}, run, FEW)
    with pytest.raises(InputError, match="missing"):
        spark.evaluate({"a": {"x": 1}, "b": {"x": 1}}, run, FEW, missing="error")
    with pytest.warns(UserWarning, match="empty"):
        spark.evaluate({"b": {"x": 1}}, run.limit(0), FEW)


REJECTED: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"columns": {"run": {"score": "points"}}}, "no column 'points'"),
    "order": ({"ties": "index"}, "ties='index' has no meaning"),
    "option": ({"missing": "never"}, "missing"),
    "keep": ({"keep": "all"}, "keep"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_before_a_job_starts(session: Session, name: str) -> None:
    options, match = REJECTED[name]
    never = "raise_error('a job was started')"
    run = session.range(1).selectExpr(f"string({never}) qid", "'d' docno", "0.5d score")
    with pytest.raises(InputError, match=match):
        spark.evaluate({"q": {"d": 1}}, run, FEW, **options)
    with pytest.raises(InputError, match="not a DataFrame of Spark"):
        spark.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, FEW)


def test_columns_of_types_that_are_not_ids_or_numbers(session: Session) -> None:
    run = session.range(1).selectExpr(
        "'q' qid", "'d' docno", "0.5d score", "1 number", "current_date() when"
    )
    for columns, told in (({"query": "when"}, "query"), ({"query": "number"}, "whole numbers in")):
        with pytest.raises(InputError, match=told):
            spark.evaluate({"q": {"d": 1}}, run, FEW, columns={"run": columns})


def test_the_example() -> None:
    assert "as in one process: True" in output_of_example("evaluate_with_spark.py")

"""Spark with two executors on this machine: the same bits as one process, one killed or not."""

from __future__ import annotations

import functools
import itertools
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


def has_values(per_query: Any, right: irbatch.Results) -> bool:
    """Tell whether a frame of values by query has those of some results."""
    table = per_query.toArrow()
    ids, *columns = (table[name].to_pylist() for name in table.column_names)
    assert table.column_names == ["query_id", *right.measures]
    by_query = dict(zip(ids, zip(*columns, strict=True), strict=True))
    assert by_query.keys() == set(right.query_ids)
    return [by_query[each] for each in right.query_ids] == list(map(tuple, right.values.tolist()))


@pytest.mark.smoke
def test_frames_of_text(frames: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    right = irbatch.evaluate(*problem(), MEASURES)
    assert_same(spark.evaluate(*frames, MEASURES), right)
    monkeypatch.setattr(spark, "ROWS", 100)  # so that tasks have several parts
    assert_same_means(spark.evaluate(*frames, MEASURES, keep="sums", partitions=3), right)
    assert has_values(spark.per_query(*frames, MEASURES), right)


def test_numbers_and_judgments_that_are_here(session: Session) -> None:
    qrels, run = problem("numbers")
    qrels = {**qrels, 10**6: {}}  # no document of it is judged
    right = irbatch.evaluate(qrels, run, MEASURES)
    rankings = frame(session, rows(run, "score"))
    assert_same(spark.evaluate(qrels, rankings, MEASURES), right)
    few = irbatch.evaluate(qrels, run, FEW)
    assert has_values(spark.per_query(qrels, rankings, FEW, partitions=9), few)


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
    monkeypatch.setattr(spark, "_partials", DyingOnce(spark._partials, tmp_path, victim))
    assert_same(spark.evaluate(*frames, FEW, partitions=6), right)
    assert len(list(tmp_path.iterdir())) > 6, "no task was done again"


TWO = {"query_id": ["a", "a"], "doc_id": ["x", "y"]}
BAD_ROWS = {
    "NaN": ({**TWO, "score": [1.0, math.nan]}, "y", "score nan is not a number"),
    "null": ({**TWO, "score": [1.0, None]}, "y", "the score is missing"),
    "no document": (
        {"query_id": ["a"], "doc_id": pa.array([None], pa.string()), "score": [1.0]}, None,
        "the document is missing",
    ),
    "twice": (
        {**TWO, "doc_id": ["x", "x"], "score": [1.0, 2.0]}, "x",
        "this document stands there twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ROWS)
def test_errors_of_tasks_name_query_and_document(session: Session, name: str) -> None:
    columns, document, problem = BAD_ROWS[name]
    run = session.createDataFrame(pa.table(columns))
    with pytest.raises(InputError) as caught:
        spark.evaluate({"a": {"x": 1}}, run, FEW)
    told = caught.value
    assert (told.source, told.query, told.document, told.message) == ("run", "a", document, problem)


def test_errors_of_a_frame_of_values(session: Session) -> None:
    run = session.createDataFrame(pa.table(BAD_ROWS["NaN"][0]))
    grades = {**TWO, "relevance": [1, 2**53 + 1]}
    qrels = session.createDataFrame(pa.table(grades))
    values, where = spark.per_query({"a": {"x": 1}}, run, FEW), r"\(query 'a', document 'y'\): "
    with pytest.raises(InputError, match=f"run {where}score nan is not"), spark.input_errors():
        values.collect()
    fine = session.createDataFrame(pa.table({**TWO, "score": [1, 2]}))
    with pytest.raises(InputError, match=rf"qrels {where}.* beyond 2\^53"):
        spark.evaluate(qrels, fine, FEW)
    with pytest.raises(pyspark.errors.PySparkException), spark.input_errors():
        run.selectExpr("raise_error('of another kind')").collect()


def test_a_session_that_was_stopped(
    frames: tuple[Any, Any], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.sparkContext, "_jsc", None)  # all that stopping leaves of it
    qrels, run = frames
    for call in (spark.evaluate, spark.per_query):
        with pytest.raises(InputError, match="run: the session of its DataFrame was stopped"):
            call(qrels, run, FEW)


def test_tasks_that_cannot_run_irbatch(session: Session) -> None:
    versions = {"worker_version": "3.8", "driver_version": "3.11"}
    told = r"run Python 3\.8, and this is Python 3\.11: PYSPARK_PYTHON"
    with pytest.raises(RuntimeError, match=told), spark.input_errors():
        raise pyspark.errors.PySparkRuntimeError(
            errorClass="PYTHON_VERSION_MISMATCH", messageParameters=versions
        )

    def absent(batches: Any) -> Any:
        import irbatch_that_is_not_there  # noqa: F401

        return batches

    told = r"lack what they need \(No module named 'irbatch_that_is_not_there'\): install it"
    with pytest.raises(ImportError, match=told), spark.input_errors():
        session.range(1).mapInArrow(absent, "id long").collect()


def test_what_only_all_queries_together_can_tell(session: Session) -> None:
    run = session.createDataFrame(pa.table({**TWO, "score": [1.0, 2.0]}))
    with pytest.raises(InputError, match="no query of it is judged"):
        spark.evaluate({"b": {"x": 1}}, run, FEW)
    with pytest.raises(InputError, match="missing"):
        spark.evaluate({"a": {"x": 1}, "b": {"x": 1}}, run, FEW, missing="error")
    with pytest.warns(UserWarning, match="empty"):
        spark.evaluate({"b": {"x": 1}}, run.limit(0), FEW)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"run_columns": {"score": "points"}}, "no column 'points'"),
    "no text": (
        {"run_columns": {"query": "when"}},
        "column of the query is of type date, not text",
    ),
    "decimal": ({"run_columns": {"score": "price"}}, r"of type decimal\(5,2\), not numbers"),
    "other ids": ({"run_columns": {"query": "number"}}, "text in the qrels and whole numbers in"),
    "order": ({"ties": "index"}, "ties='index' has no meaning"),
    "ranks": ({"order_by": "rank"}, "order_by= is for files"),
    "progress": ({"progress": print}, "own progress"),
    "option": ({"missing": "never"}, "missing"),
    "keep": ({"keep": "all"}, "keep"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_a_job_starts(session: Session, name: str) -> None:
    options, match = REFUSED[name]
    never = "raise_error('a job was started')"
    run = session.range(1).selectExpr(
        f"string({never}) qid", "'d' docno", "0.5d score", "1 number", "current_date() when",
        "cast(1 as decimal(5, 2)) price",
    )  # fmt: skip
    with pytest.raises(InputError, match=match):
        spark.evaluate({"q": {"d": 1}}, run, FEW, **options)
    with pytest.raises(InputError, match="no DataFrame of Spark"):
        spark.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, FEW)


def test_rows_are_cut_where_a_query_ends() -> None:
    queries = ["a", "a", "b", "c", "c", "c", "c", "c", "d"]
    table = pa.table({"query": queries})
    for size in (1, 2, 3, 7, 20):
        for batch in (1, 2, 4, 9):
            parts = list(spark._whole_queries(table.to_batches(batch), size))
            found = [each["query"].to_pylist() for each in parts]
            assert [*itertools.chain.from_iterable(found)] == queries
            assert all(one[-1] != other[0] for one, other in itertools.pairwise(found))
            assert len(found) == 1 or all(len(each) >= size for each in found[:-1])


def test_the_example() -> None:
    assert "as in one process: True" in output_of_example("evaluate_with_spark.py")

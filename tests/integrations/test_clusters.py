"""Dask and Spark with two workers on this machine: the bits of one process, one killed or not."""

from __future__ import annotations

import functools
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from support.input_errors import input_error
from support.paths import REFERENCE_DATA, REPOSITORY
from support.shuffled_rows import (
    ITEMS,
    MEASURES,
    OPTIONS,
    Columns,
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
from irbatch.measures import MARKED

FEW = "nDCG@10 AP RR(rel=2)@5"

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sending large graph", "ignore::DeprecationWarning:distributed",
    "ignore:PySpark does not yet fully support pandas",
)  # fmt: skip


class Engine(NamedTuple):
    """An engine that has started, and its frames."""

    name: str
    module: ModuleType
    cut_frame: Callable[[Columns], Any]  # of rows in partitions of odd sizes
    frame: Callable[[Columns], Any]
    never: Any  # a frame that fails when it is computed

    def evaluate(self, *inputs: Any, **options: Any) -> Any:
        return self.module.evaluate(*inputs, **options)


@contextmanager
def dask() -> Iterator[Engine]:
    delayed = pytest.importorskip("dask").delayed
    distributed = pytest.importorskip("distributed")
    frames = pytest.importorskip("dask.dataframe")
    module = pytest.importorskip("irbatch.integrations.dask")
    import pandas as pd

    def cut_frame(columns: Columns) -> Any:
        empty = pd.DataFrame(columns).iloc[:0]
        parts = [delayed(pd.DataFrame(part).astype(empty.dtypes)) for part in cut(columns)]
        return frames.from_delayed(parts, meta=empty, verify_meta=False)

    def fail(part: Any) -> Any:
        raise AssertionError("something was computed")

    few = pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5]})
    never = frames.from_pandas(few).map_partitions(fail, meta=few)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield Engine("Dask", module, cut_frame,
                     lambda columns: frames.from_pandas(pd.DataFrame(columns), npartitions=2),
                     never)  # fmt: skip


@contextmanager
def spark() -> Iterator[Engine]:
    pyspark, pa = pytest.importorskip("pyspark"), pytest.importorskip("pyarrow")
    module = pytest.importorskip("irbatch.integrations.spark")
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        pytest.skip("Spark runs on Java, which is not here")
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
    session = builder.getOrCreate()

    def cut_frame(columns: Columns) -> Any:
        schema = pa.table(columns).schema
        tables = [pa.table(part, schema) for part in cut(columns)]
        parts = [session.createDataFrame(table).coalesce(1) for table in tables]
        return functools.reduce(lambda some, more: some.union(more), parts)

    fails = "string(raise_error('a job was started')) qid"
    never = session.range(1).selectExpr(fails, "'d' docno", "0.5d score")
    yield Engine("Spark", module, cut_frame,
                 lambda columns: session.createDataFrame(pa.table(columns)), never)  # fmt: skip
    session.stop()


ENGINES = {"dask": dask, "spark": spark}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Start an engine; pytest sorts the tests by it, so one has ended before the next starts."""
    with ENGINES[request.param]() as started:
        yield started


def text_frames(engine: Engine) -> tuple[Any, Any]:
    """Return judgments and a run with ids that are text."""
    qrels, run = problem()
    return engine.cut_frame(rows(qrels, "relevance")), engine.cut_frame(rows(run, "score"))


@pytest.fixture(scope="module")
def both(engine: Engine) -> tuple[Any, Any]:
    return text_frames(engine)


@pytest.mark.smoke
def test_frames_of_text(engine: Engine, both: tuple[Any, Any]) -> None:
    right = irbatch.evaluate(*problem(), MEASURES)
    assert_same(engine.evaluate(*both, MEASURES), right)
    assert_same_means(engine.evaluate(*both, MEASURES, keep="sums", partitions=3), right)


def test_numbers_and_judgments_that_are_here(engine: Engine) -> None:
    qrels, run = problem("numbers")
    qrels = {**qrels, 10**6: {}}  # no document of it is judged
    right = irbatch.evaluate(qrels, run, MEASURES)
    assert_same(engine.evaluate(qrels, engine.cut_frame(rows(run, "score")), MEASURES), right)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_those_of_one_process(engine: Engine, both: tuple[Any, Any], name: str) -> None:
    right = irbatch.evaluate(*problem(), FEW, **OPTIONS[name])
    assert_same(engine.evaluate(*both, FEW, **OPTIONS[name]), right)


@pytest.mark.parametrize("reads", MARKED)
def test_judgments_of_more_than_grades(engine: Engine, reads: str) -> None:
    made = marked(reads)
    run = engine.cut_frame(made.run_rows)
    right = irbatch.evaluate(made.judgments, made.run, made.measures)
    for judgments in (made.judgments, engine.cut_frame(made.judgment_rows)):
        assert_same(engine.evaluate(judgments, run, made.measures), right)


def test_measures_of_the_whole_run(engine: Engine, both: tuple[Any, Any]) -> None:
    right = irbatch.evaluate(*problem(), ITEMS.measures, items=ITEMS.known)
    for keep, check in (("queries", assert_same), ("sums", assert_same_means)):
        check(engine.evaluate(*both, ITEMS.measures, items=ITEMS.known, keep=keep), right)


def test_real_runs(engine: Engine) -> None:
    folder = REFERENCE_DATA / "dl19_passage"
    if not folder.exists():
        pytest.skip("without the data")
    qrels = next(folder.glob("qrels.*"))
    run = irbatch.read_run(min((folder / "runs").iterdir()))
    right = irbatch.evaluate(qrels, run, MEASURES)
    ranked = engine.cut_frame(rows(run.to_dict(), "score"))
    assert_same(engine.evaluate(qrels, ranked, MEASURES), right)


TWO = {"query_id": ["a", "a"], "doc_id": ["x", "y"]}
BAD_ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({**TWO, "score": [1.0, math.nan]}, "score"),
    "null": ({**TWO, "score": [1.0, None]}, "score"),
    "no document": ({**TWO, "doc_id": ["x", None], "score": [1.0, 2.0]}, "document id is missing"),
    "no query": ({**TWO, "query_id": ["a", None], "score": [1.0, 2.0]}, "query id is missing"),
    "twice": ({**TWO, "doc_id": ["x", "x"], "score": [1.0, 2.0]}, "query 'a', document 'x'"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_named(engine: Engine, name: str) -> None:
    columns, told = BAD_ROWS[name]
    run = engine.frame(columns)
    fields = {"query": "a", "document": "y"} if name == "NaN" else {}
    input_error(lambda: engine.evaluate({"a": {"x": 1}}, run, FEW), "run", told, **fields)


def test_what_all_rows_together_tell(engine: Engine) -> None:
    large = engine.frame({**TWO, "relevance": [1, 2**53 + 1]})
    run = engine.frame({**TWO, "score": [1.0, 2.0]})
    told = "qrels (query 'a', document 'y')", "beyond 2^53"
    input_error(lambda: engine.evaluate(large, run, FEW), *told)
    input_error(lambda: engine.evaluate({"b": {"x": 1}}, run, FEW), "no query of it is judged")
    two = {"a": {"x": 1}, "b": {"x": 1}}
    input_error(lambda: engine.evaluate(two, run, FEW, missing="error"), "missing")
    with pytest.warns(UserWarning, match="empty"):
        engine.evaluate({"b": {"x": 1}}, run[run["score"] > 2], FEW)


REJECTED: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"columns": {"run": {"score": "points"}}}, "no column 'points'"),
    "order": ({"ties": "index"}, "ties='index' has no meaning"),
    "ranks": ({"order_by": "rank"}, "order_by= is for files"),
    "progress": ({"progress": print}, "own progress"),
    "option": ({"missing": "never"}, "missing"),
    "keep": ({"keep": "all"}, "keep"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_before_anything_is_computed(engine: Engine, name: str) -> None:
    options, said = REJECTED[name]
    judged = {"q": {"d": 1}}
    input_error(lambda: engine.evaluate(judged, engine.never, FEW, **options), said)
    said = f"not a DataFrame of {engine.name}"
    input_error(lambda: engine.evaluate(judged, {"q": {"d": 1.0}}, FEW), said)


def test_columns_of_types_that_are_not_ids_or_numbers(engine: Engine) -> None:
    few = {"qid": ["q"], "docno": ["d"], "score": [0.5], "number": [1], "called": ["d"]}
    run = engine.frame({**few, "when": [datetime(2020, 1, 1)]})
    for columns, said in (
        ({"query": "when"}, "query"),
        ({"score": "called"}, "score"),
        ({"query": "number"}, "text in the qrels and whole numbers in the run"),
    ):
        wrong = {"columns": {"run": columns}}
        input_error(lambda wrong=wrong: engine.evaluate({"q": {"d": 1}}, run, FEW, **wrong), said)


def test_the_example(engine: Engine) -> None:
    printed = output_of_example(f"evaluate_with_{engine.name.lower()}.py")
    assert "as in one process: True" in printed


# Killed workers, and what Dask alone has


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
@pytest.mark.parametrize("victim", [None, "java"], ids=["worker", "executor"])
def test_one_of_spark_that_is_killed_changes_nothing(
    engine: Engine, victim: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = DyingOnce(engine.module._evaluate_pair, tmp_path, victim)
    monkeypatch.setattr(engine.module, "_evaluate_pair", dying)
    results = engine.evaluate(*text_frames(engine), FEW, partitions=6)
    assert_same(results, irbatch.evaluate(*problem(), FEW))
    assert len(list(tmp_path.iterdir())) > 6, "no task was done again"


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
@pytest.mark.parametrize("at", ["_hash", "evaluate_bucket"])
def test_a_worker_of_dask_that_is_killed_changes_nothing(
    engine: Engine, at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = engine.module.Task if hasattr(engine.module.Task, at) else engine.module
    monkeypatch.setattr(owner, at, DyingOnce(getattr(owner, at), tmp_path))
    assert_same(engine.evaluate(*text_frames(engine), FEW), irbatch.evaluate(*problem(), FEW))
    assert len(list(tmp_path.iterdir())) > 5, "no task was done again"


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_a_run_of_whole_queries_is_not_shuffled(engine: Engine, keep: str) -> None:
    from dask import config, dataframe

    qrels, run = problem()
    parts = [{query: run[query] for query in list(run)[i::20]} for i in range(20)]
    columns = [engine.frame(rows(part, "score")).repartition(npartitions=1) for part in parts]
    with config.set({"dataframe.shuffle.method": "none at all"}):
        results = engine.evaluate(qrels, dataframe.concat(columns), FEW, keep=keep)
        with pytest.raises(ValueError, match="none at all"):
            engine.evaluate(qrels, dataframe.concat([*columns, columns[3]]), FEW, keep=keep)
    check = assert_same if keep == "queries" else assert_same_means
    check(results, irbatch.evaluate(qrels, run, FEW))


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_clients_schedulers_and_executors_of_dask(engine: Engine, tmp_path: Path) -> None:
    from dask import config
    from distributed import get_client

    both, right = text_frames(engine), irbatch.evaluate(*problem(), FEW)
    with get_client().as_current():
        assert_same(engine.evaluate(*both, FEW), right)
    with config.set(scheduler="threads"):
        assert_same(engine.evaluate(*both, FEW), right)
    qrels, run = problem()
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        irbatch.Run({query: run[query] for query in list(run)[i::3]}).to_polars().write_parquet(
            path
        )
    with get_client().get_executor() as executor:
        results = irbatch.evaluate(qrels, paths, MEASURES, executor=executor)
    assert_same(results, irbatch.evaluate(qrels, paths, MEASURES))

"""Dask with two worker processes: the same bits as one process, one killed or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.paths import REFERENCE_DATA
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

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")
engine = pytest.importorskip("irbatch.integrations.dask")
import pandas as pd  # noqa: E402 - it is there where Dask's frames are

FEW = "nDCG@10 AP RR(rel=2)@5"

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sending large graph", "ignore::DeprecationWarning:distributed"
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as started:
        yield started


def frame(columns: dict[str, list[Any]]) -> Any:
    """Return rows as a frame of odd partitions."""
    empty = pd.DataFrame(columns).iloc[:0]
    parts = [dask.delayed(pd.DataFrame(each).astype(empty.dtypes)) for each in cut(columns)]
    return frames.from_delayed(parts, meta=empty, verify_meta=False)


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    """Return judgments and a run with ids that are text."""
    qrels, run = problem()
    return frame(rows(qrels, "relevance")), frame(rows(run, "score"))


@pytest.mark.smoke
def test_frames_of_text(both: tuple[Any, Any], client: Any) -> None:
    right = irbatch.evaluate(*problem(), MEASURES)
    assert_same(engine.evaluate(*both, MEASURES, client=client), right)
    assert_same_means(engine.evaluate(*both, MEASURES, keep="sums", partitions=3), right)


def test_numbers_and_judgments_that_are_here(client: Any) -> None:
    qrels, run = problem("numbers")
    qrels = {**qrels, 10**6: {}}  # no document of it is judged
    right = irbatch.evaluate(qrels, run, MEASURES)
    rankings = frame(rows(run, "score"))
    assert_same(engine.evaluate(qrels, rankings, MEASURES), right)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_those_of_one_process(both: tuple[Any, Any], name: str, client: Any) -> None:
    right = irbatch.evaluate(*problem(), FEW, **OPTIONS[name])
    assert_same(engine.evaluate(*both, FEW, **OPTIONS[name]), right)


@pytest.mark.parametrize("reads", MARKED)
def test_judgments_of_more_than_grades(reads: str, client: Any) -> None:
    made = marked(reads)
    right = irbatch.evaluate(made.judgments, made.run, made.measures)
    for given in (made.judgments, frame(made.judgment_rows)):
        assert_same(engine.evaluate(given, frame(made.run_rows), made.measures), right)


def test_measures_of_the_whole_run(both: tuple[Any, Any], client: Any) -> None:
    right = irbatch.evaluate(*problem(), ITEMS.measures, items=ITEMS.known)
    for keep, check in (("queries", assert_same), ("sums", assert_same_means)):
        check(engine.evaluate(*both, ITEMS.measures, items=ITEMS.known, keep=keep), right)


def test_real_runs(client: Any) -> None:
    folder = REFERENCE_DATA / "dl19_passage"
    if not folder.exists():
        pytest.skip("without the data")
    qrels = next(folder.glob("qrels.*"))
    run = irbatch.read_run(min((folder / "runs").iterdir()))
    right = irbatch.evaluate(qrels, run, MEASURES)
    assert_same(engine.evaluate(qrels, frame(rows(run.to_dict(), "score")), MEASURES), right)


def test_clients_executor(client: Any, tmp_path: Path) -> None:
    qrels, run = problem()
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        irbatch.Run({query: run[query] for query in list(run)[i::3]}).to_parquet(path)
    with client.get_executor() as executor:
        found = irbatch.evaluate(qrels, paths, MEASURES, executor=executor)
    assert_same(found, irbatch.evaluate(qrels, paths, MEASURES))


def test_without_a_scheduler(both: tuple[Any, Any]) -> None:
    with dask.config.set(scheduler="threads"):
        assert_same(engine.evaluate(*both, FEW), irbatch.evaluate(*problem(), FEW))


@pytest.mark.parametrize("at", ["_hash", "evaluate_bucket"])
def test_a_worker_that_is_killed_changes_nothing(
    both: tuple[Any, Any], at: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = engine.Task if hasattr(engine.Task, at) else engine
    monkeypatch.setattr(owner, at, DyingOnce(getattr(owner, at), tmp_path))
    assert_same(engine.evaluate(*both, FEW, client=client), irbatch.evaluate(*problem(), FEW))
    assert len(list(tmp_path.iterdir())) > 5, "no task was done again"


def test_what_is_no_client(both: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match=r"client: is a distributed.Client, not an int"):
        engine.evaluate(*both, FEW, client=3)


TWO = {"query_id": ["a", "a"], "doc_id": ["x", "y"]}
BAD_ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({**TWO, "score": [1.0, math.nan]}, "query 'a', document 'y'.*score is missing"),
    "no document": ({**TWO, "doc_id": ["x", None], "score": [1, 2]}, "document id is missing"),
    "no query": ({**TWO, "query_id": ["a", None], "score": [1, 2]}, "query id is missing"),
    "twice": ({**TWO, "doc_id": ["x", "x"], "score": [1, 2]}, "query 'a', document 'x'.*rows"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_named(name: str, client: Any) -> None:
    columns, told = BAD_ROWS[name]
    run = frames.from_pandas(pd.DataFrame(columns), npartitions=2)
    with pytest.raises(InputError, match=f"run.*{told}"):
        engine.evaluate({"a": {"x": 1}}, run, FEW)


def test_grades_that_are_inexact(client: Any) -> None:
    large = frames.from_pandas(pd.DataFrame({**TWO, "relevance": [1, 2**53 + 1]}))
    run = frames.from_pandas(pd.DataFrame({**TWO, "score": [1, 2]}))
    with pytest.raises(InputError, match=r"qrels \(query 'a', document 'y'\): .* beyond 2\^53"):
        engine.evaluate(large, run, FEW)


def test_what_only_all_queries_together_can_tell(client: Any) -> None:
    run = frames.from_pandas(pd.DataFrame({**TWO, "score": [1.0, 2.0]}))
    with pytest.raises(InputError, match="no query of it is judged"):
        engine.evaluate({"b": {"x": 1}}, run, FEW)
    with pytest.raises(InputError, match="missing"):
        engine.evaluate({"a": {"x": 1}, "b": {"x": 1}}, run, FEW, missing="error")
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
def test_rejected_before_anything_is_computed(name: str) -> None:
    options, match = REJECTED[name]
    few = pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5]})

    def fail(part: Any) -> Any:
        raise AssertionError("something was computed")

    run = frames.from_pandas(few).map_partitions(fail, meta=few)
    with pytest.raises(InputError, match=match):
        engine.evaluate({"q": {"d": 1}}, run, FEW, **options)
    with pytest.raises(InputError, match="not a DataFrame of Dask"):
        engine.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, FEW)


def test_columns_of_types_that_are_not_ids_or_numbers(client: Any) -> None:
    few = {"qid": ["q"], "docno": ["d"], "score": [0.5], "number": [1], "called": ["d"]}
    when = pd.to_datetime(["2020-01-01"])
    run = frames.from_pandas(pd.DataFrame({**few, "when": when}), npartitions=1)
    for columns, told in (
        ({"query": "when"}, "query"),
        ({"score": "called"}, "score"),
        ({"query": "number"}, "text in the qrels and whole numbers in the run"),
    ):
        with pytest.raises(InputError, match=told):
            engine.evaluate({"q": {"d": 1}}, run, FEW, columns={"run": columns})


def test_the_example() -> None:
    assert "as in one process: True" in output_of_example("evaluate_with_dask.py")

"""Dask with two worker processes: the same bits as one process, one killed or not."""

from __future__ import annotations

import math
import threading
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
from irbatch.integrations.shuffled import Task
from irbatch.measures import MARKED

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")
engine = pytest.importorskip("irbatch.integrations.dask")
dask_rows = pytest.importorskip("irbatch.integrations.dask_rows")
pytest.importorskip("dask.tokenize")
import pandas as pd  # noqa: E402 - it is there where Dask's frames are

FEW = "nDCG@10 AP RR(rel=2)@5"

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sending large graph", "ignore::DeprecationWarning:distributed"
)


def test_tasks_are_told_apart() -> None:
    """By what is sent, not by hashing formulas, which Dask cannot do once kernels are loaded."""
    guard = threading.Lock()

    @irbatch.define_measure("Guarded", definition="A test.")
    def guarded(s: Any) -> Any:
        with guard:
            return s.hits * 1.0

    def token(*asked: Any) -> str:
        task = Task.choose(*asked, "queries")
        return str(dask.tokenize.tokenize(task, ensure_deterministic=True))

    assert token("Guarded AP", None) == token("Guarded AP", None) != token("Guarded AP", 3)


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


def has_values(per_query: Any, right: irbatch.Results) -> bool:
    """Tell whether a frame of values by query has those of some results."""
    found = per_query.compute().set_index("query_id")
    assert per_query.columns.tolist() == ["query_id", *right.measures]
    assert sorted(found.index) == sorted(right.query_ids)
    return found.loc[right.query_ids].to_numpy().tobytes() == right.values.tobytes()


@pytest.mark.smoke
def test_frames_of_text(both: tuple[Any, Any], client: Any) -> None:
    right = irbatch.evaluate(*problem(), MEASURES)
    assert_same(engine.evaluate(*both, MEASURES, client=client), right)
    assert_same_means(engine.evaluate(*both, MEASURES, keep="sums", partitions=3), right)
    assert has_values(engine.per_query(*both, MEASURES), right)


def test_numbers_and_judgments_that_are_here(client: Any) -> None:
    qrels, run = problem("numbers")
    qrels = {**qrels, 10**6: {}}  # no document of it is judged
    right = irbatch.evaluate(qrels, run, MEASURES)
    rankings = frame(rows(run, "score"))
    assert_same(engine.evaluate(qrels, rankings, MEASURES), right)
    assert has_values(engine.per_query(qrels, rankings, MEASURES), right)


def test_bags_and_delayed_parts(client: Any, tmp_path: Path) -> None:
    qrels, run = problem()
    right = irbatch.evaluate({**qrels, "empty": {"x": 1}}, {**run, "empty": {}}, FEW)
    dicts = [{query: run[query] for query in list(run)[i::3]} for i in range(3)]
    qrels = {**qrels, "empty": {"x": 1}}
    table = rows(run, "score")
    irbatch.Run(dicts[0]).to_parquet(tmp_path / "run")
    ways = [
        [dicts[0], dicts[1], {**dicts[2], "empty": {}}],
        [tmp_path / "run", irbatch.Run(dicts[1]), {**dicts[2], "empty": {}}],
        [irbatch.Run.from_table(each).to_arrow() for each in cut(table) if each["score"]]
        + [{"empty": {}}],
    ]
    for way in ways:
        found = engine.evaluate(qrels, [dask.delayed(each) for each in way], FEW)
        assert_same(found, right)
    del qrels["empty"]
    records = pd.DataFrame(table).to_dict("records")
    found = engine.evaluate(qrels, dask.bag.from_sequence(records, npartitions=4), FEW)
    assert_same(found, irbatch.evaluate(qrels, run, FEW))


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


@pytest.mark.parametrize("at", ["_lay_out", "_partial"])
def test_a_worker_that_is_killed_changes_nothing(
    both: tuple[Any, Any], at: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = dask_rows if at == "_lay_out" else engine
    monkeypatch.setattr(module, at, DyingOnce(getattr(module, at), tmp_path))
    assert_same(engine.evaluate(*both, FEW, client=client), irbatch.evaluate(*problem(), FEW))
    assert len(list(tmp_path.iterdir())) > 6, "no task was done again"


def test_a_scheduler_that_is_not_there(
    both: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", "1s")
    with pytest.raises(
        ConnectionError, match=r"no scheduler of Dask's answers at tcp://127.0.0.1:9"
    ):
        engine.evaluate(*both, FEW, client="tcp://127.0.0.1:9")
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(**options)
    with distributed.Client(cluster, set_as_default=False) as client:
        assert engine.evaluate(*both, "RR", client=cluster.scheduler_address)["RR"] > 0
        cluster.close()
        with pytest.raises(ConnectionError, match=r"doesn't answer|is closed"):
            engine.evaluate(*both, FEW, client=client)


def test_clients(both: tuple[Any, Any]) -> None:
    right = irbatch.evaluate(*problem(), FEW)
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        assert_same(engine.evaluate(*both, FEW, client=cluster), right)
        with distributed.Client(cluster, set_as_default=False) as client:
            values = engine.per_query(*both, FEW, client=client)
            found = client.compute(values).result().set_index("query_id")
            assert found.loc[right.query_ids].to_numpy().tobytes() == right.values.tobytes()
        for call in (engine.evaluate, engine.per_query):
            with pytest.raises(ConnectionError, match="the client of Dask's is closed"):
                call(*both, FEW, client=client)
            with pytest.raises(InputError, match=r"client: is a Client, .* not an int"):
                call(*both, FEW, client=3)
    with pytest.raises(ConnectionError, match="no scheduler of Dask's answers at"):
        engine.evaluate(*both, FEW, client=cluster)


TWO = {"query_id": ["a", "a"], "doc_id": ["x", "y"]}
BAD_ROWS: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "NaN": ({**TWO, "score": [1.0, math.nan]}, "a", "y", "the score is missing"),
    "no document": (
        {**TWO, "doc_id": ["x", None], "score": [1.0, 2.0]}, "a", None, "the document is missing"
    ),
    "no query": (
        {**TWO, "query_id": ["a", None], "score": [1, 2]}, None, "y", "the query is missing"
    ),
    "twice": (
        {**TWO, "doc_id": ["x", "x"], "score": [1.0, 2.0]}, "a", "x",
        "this document stands there twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ROWS)
def test_errors_of_tasks_name_query_and_document(name: str, client: Any) -> None:
    columns, query, document, problem = BAD_ROWS[name]
    run = frames.from_pandas(pd.DataFrame(columns), npartitions=2)
    for evaluate in (engine.evaluate, lambda *given: engine.per_query(*given).compute()):
        with pytest.raises(InputError) as caught:
            evaluate({"a": {"x": 1}}, run, FEW)
        told = caught.value
        assert (told.source, told.query, told.document, told.message) == (
            "run", query, document, problem
        )  # fmt: skip


def test_parts_of_two_kinds(client: Any) -> None:
    parts = [dask.delayed({"a": {"x": 1.0}}), dask.delayed({"a": {7: 1.0}})]
    with pytest.raises(InputError, match="document ids are whole numbers in one part and text in"):
        engine.evaluate({"a": {"x": 1}}, parts, FEW)
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


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"run_columns": {"score": "points"}}, "no column 'points'"),
    "no text": ({"run_columns": {"query": "when"}}, "column of the query is of type timestamp"),
    "one": ({"run_columns": {"score": "qid", "query": "qid"}}, "one column cannot be two"),
    "text": ({"run_columns": {"score": "called"}}, "column of the score is of type .*string, not"),
    "other ids": ({"run_columns": {"query": "number"}}, "text in the qrels and whole numbers in"),
    "order": ({"ties": "index"}, "ties='index' has no meaning"),
    "ranks": ({"order_by": "rank"}, "order_by= is for files"),
    "progress": ({"progress": print}, "own progress"),
    "option": ({"missing": "never"}, "missing"),
    "keep": ({"keep": "all"}, "keep"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_anything_is_computed(name: str) -> None:
    options, match = REFUSED[name]
    columns = {"qid": ["q"], "docno": ["d"], "score": [0.5], "number": [1], "called": ["d"]}
    few = pd.DataFrame({**columns, "when": pd.to_datetime(["2020-01-01"])})

    def fail(part: Any) -> Any:
        raise AssertionError("something was computed")

    run = frames.from_pandas(few).map_partitions(fail, meta=few.iloc[:0])
    with pytest.raises(InputError, match=match):
        engine.evaluate({"q": {"d": 1}}, run, FEW, **options)
    with pytest.raises(InputError, match="no frame, bag or list of delayed parts"):
        engine.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, FEW)


def test_the_example() -> None:
    assert "as in one process: True" in output_of_example("evaluate_with_dask.py")

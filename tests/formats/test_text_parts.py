"""Folders and patterns of text files: read as one run, or as one set of judgments."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.input_errors import input_error

import irbatch

PARTS = {
    "a.run": "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d1 1 1 t\n",
    "b.run": "q2 Q0 d2 2 .5 t\nq3 Q0 d1 1 2 t\n",
}
QRELS = {"q1": {"d2": 1}, "q2": {"d2": 1}, "q3": {"d1": 1}}
RUN = {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 1, "d2": 0.5}, "q3": {"d1": 2}}
pytestmark = pytest.mark.usefixtures("reader")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PARTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_parts_are_one_run(folder: Path) -> None:
    expected = irbatch.evaluate(QRELS, RUN, "RR nDCG").to_dict()
    for given in (folder, str(folder / "*.run")):
        run = irbatch.read_run(given)
        assert (run.to_dict(), run.tag, run.name) == (RUN, "t", str(given))
        assert irbatch.evaluate(QRELS, given, "RR nDCG").to_dict() == expected
        found = irbatch.evaluate(QRELS, given, "RR nDCG", executor=ThreadPoolExecutor(2))
        assert found.to_dict() == expected


def test_each_part_has_its_header(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("user,item,rating\na,x,1\n")
    (tmp_path / "2.tsv").write_text("item\tuser\trating\ny\ta\t2\n")
    seen: list[tuple[int, int]] = []
    qrels = irbatch.read_qrels(tmp_path, progress=lambda *done: seen.append(done))
    assert qrels.to_dict() == {"a": {"x": 1, "y": 2}}
    assert seen[-1] == (sum(each.stat().st_size for each in tmp_path.iterdir()),) * 2


def test_a_part_may_be_empty(folder: Path) -> None:
    (folder / "_SUCCESS").touch()
    (folder / "c.run").touch()
    assert irbatch.read_run(folder).to_dict() == RUN
    assert irbatch.evaluate(QRELS, folder, "RR")["RR"] == 2 / 3


def test_what_is_wrong_is_named_by_file_and_line(folder: Path) -> None:
    (folder / "d.run").write_text("q9 Q0 d1 1 2 t\nq1 Q0 d1 1 9 t\n")
    said = "this document was given before, in line 1 of", repr(str(folder / "a.run"))
    fields = {"path": str(folder / "d.run"), "line": 2, "query": "q1", "document": "d1"}
    input_error(lambda: irbatch.read_run(folder), *said, **fields)
    input_error(lambda: irbatch.evaluate(QRELS, folder, "RR"), *said, **fields)
    (folder / "b.run").write_text("q2 Q0 d2 2 x t\n")
    (folder / "d.run").unlink()
    path = str(folder / "b.run")
    input_error(lambda: irbatch.read_run(folder), "score 'x' is not", path=path, line=1)
    for name in PARTS:
        (folder / name).write_text("\n")
    (folder / "d.run").write_text("")
    input_error(lambda: irbatch.read_run(folder), "there are no data lines", path=str(folder))


def test_parquet_parts_are_one_table(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    first = {"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [1.0, 2.0]}
    other = {"query_id": ["q1"], "docno": ["d3"], "score": [1.0]}
    again = {"qid": ["q1"], "docno": ["d1"], "score": [1.0]}
    path = str(tmp_path / "b.parquet")
    pl.DataFrame(first).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(other).write_parquet(path)
    input_error(lambda: irbatch.evaluate(QRELS, tmp_path, "RR"), "['query_id'", path=path)
    pl.DataFrame(again).write_parquet(path)
    for executor in (None, ThreadPoolExecutor(2)):
        call = lambda e=executor: irbatch.evaluate(QRELS, tmp_path, "RR", executor=e)  # noqa: E731
        input_error(call, path=path, query="q1", document="d1")

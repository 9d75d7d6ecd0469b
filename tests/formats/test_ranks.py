"""MS MARCO's three columns, and runs whose order ranks say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.file_readers import refused_by_all
from support.input_errors import input_error

from irbatch import evaluate, read_run

Write = Callable[..., str]
pytestmark = pytest.mark.usefixtures("reader")


@pytest.mark.parametrize("order_by", ["score", "rank"])
@pytest.mark.parametrize("first", [0, 1, 5])
def test_marco(write_lines: Write, first: int, order_by: str) -> None:
    path = write_lines(*(f"q{q}\td{i}\t{first + i}" for q in (1, 2) for i in range(30)))
    ranking = {f"d{i}": -float(first + i) for i in range(30)}
    assert read_run(path, order_by=order_by).to_dict() == {"q1": ranking, "q2": ranking}
    qrels = {"q1": {"d3": 1}, "q2": {"d0": 1}}
    assert evaluate(qrels, path, "RR", order_by=order_by)["RR"] == (1 / 4 + 1) / 2


def test_marco_equal_ranks(write_lines: Write) -> None:
    """Documents of one rank stand in the order of ids, as those of one score."""
    path = write_lines("q1 a 1", "q1 b 1", "q1 c 2")
    assert evaluate({"q1": {"a": 1}}, path, "RR")["RR"] == 1 / 2
    assert evaluate({"q1": {"b": 1}}, path, "RR")["RR"] == 1


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("q1 d9 -1", "rank -1 is not a whole number"), ("q1 d9 1.5", "rank 1.5 is not"),
        ("q1 d9 x", "rank 'x' is not a number"), ("q1 d9 inf", "rank inf"),
        ("q1 d9 9007199254740993", "beyond 2^53"), ("q1 d9", "2 columns where 3"),
        ("q1 Q0 d9 1 2 t", "6 columns where 3"), ("q1 d9 1 t", "4 columns where 3"),
        ("q1 d\x009 1", "NUL"), (b"q1 d\xe9 1", "UTF-8"),
    ],
    ids=repr,
)  # fmt: skip
def test_marco_bad_line(write_lines: Write, line: str, fact: str) -> None:
    path = write_lines(*(f"q1 m{i} {i}" for i in range(30)), line, "q2 d 1")
    refused_by_all("run", path, fact, line=31)
    path = write_lines(line, *(f"q1 m{i} {i}" for i in range(30)))
    input_error(lambda: read_run(path), "run", path=path)


def test_order_by_rank(write_lines: Write) -> None:
    rows = [f"q1 Q0 d{i} {i + 1} {i} t" for i in range(30)]
    path = write_lines(*rows)
    expected = {f"d{i}": -float(i + 1) for i in range(30)}
    assert read_run(path, order_by="rank").to_dict() == {"q1": expected}
    found = evaluate({"q1": {"d1": 1}}, path, "RR", order_by="rank")
    assert found["RR"] == 0.5
    assert "rank ascending" in str(found.settings)
    # What a score is doesn't matter then.
    path = write_lines(*rows, "q1 Q0 e 31 none t")
    assert len(read_run(path, order_by="rank").to_dict()["q1"]) == 31
    refused_by_all("run", path, "score 'none' is not a number", line=31)


@pytest.mark.parametrize("rank", ["-1", "1.5", "x", "inf", "nan", "9007199254740993"])
def test_bad_ranks(write_lines: Write, rank: str) -> None:
    path = write_lines(*(f"q1 Q0 m{i} {i} {-i} t" for i in range(30)), f"q1 Q0 d {rank} 1 t")
    fields = {"order_by": "rank", "line": 31, "query": "q1"}
    refused_by_all("run", path, "rank", rank[:16], **fields)


def test_other_orders(write_lines: Write) -> None:
    path = write_lines("q1 Q0 d1 1 1 t")
    input_error(
        lambda: read_run(path, order_by="tag"), "order_by='tag' must be one of 'score', 'rank'"
    )
    input_error(
        lambda: evaluate({"q1": {"d1": 1}}, path, "RR", order_by=""), "order_by='' must be one of"
    )
    run = read_run(path)
    input_error(lambda: evaluate({"q1": {"d1": 1}}, run, "RR", order_by="rank"), "is for files")


def test_ranks_in_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "run.parquet")
    rows = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0], "rank": [1, 2]}
    parquet.write_table(pyarrow.table(rows), path)
    assert evaluate({"q": {"a": 1}}, path, "RR", order_by="rank")["RR"] == 1.0
    assert read_run(path, order_by="rank").to_dict() == {"q": {"a": -1.0, "b": -2.0}}
    assert evaluate({"q": {"a": 1}}, path, "RR")["RR"] == 0.5
    parquet.write_table(pyarrow.table(rows | {"rank": [1, 1.5]}), path)
    said = "column 'rank', row 1: rank 1.5 is not a whole number from 0"
    input_error(lambda: read_run(path, order_by="rank"), said, source="run", path=path)

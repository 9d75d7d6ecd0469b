"""Faults found in reading files and not mended yet; whoever mends one moves its test away."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from doors import WAYS, piped_input, refused_everywhere, take
from refusal import refused

from irbatch import evaluate, read_qrels, read_run
from irbatch.formats import streams

RANKED = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n"
Write = Callable[[bytes], str]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    take(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(data: bytes) -> str:
        (tmp_path / "file").write_bytes(data)
        return str(tmp_path / "file")

    return written


@pytest.mark.usefixtures("way")
def test_104_run_with_line_ends_of_old_macs(write: Write) -> None:
    refused_everywhere("run", write(RANKED.replace(b"\n", b"\r")), "old Macs")


@pytest.mark.usefixtures("way")
def test_104_large_file_with_line_ends_of_old_macs(write: Write) -> None:
    refused_everywhere("qrels", write(b"q1 0 d1 1\r" * 200_000), "old Macs")


@pytest.mark.usefixtures("way")
def test_100_document_with_a_space_and_a_number(write: Write) -> None:
    refused_everywhere("run", write(b"q1 Q0 doc 5 1 2.5 t\n"), "contain a space")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_json_query_that_is_a_sign(write: Write, read: Callable[[str], object]) -> None:
    row = b'{"query-id": "%s", "corpus-id": "d", "score": 1}\n'
    path = write(row % b"a" + row % b"#")
    assert list(read(path).to_dict()) == ["a", "#"]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("way")
def test_json_bad_value_of_a_query_with_a_sign(write: Write) -> None:
    row = b'{"query-id": "%s", "corpus-id": "d", "score": %s}\n'
    refused_everywhere("run", write(row % (b"a", b"1") + row % (b"#1", b'"x"')), "'x'", line=2)


@pytest.mark.usefixtures("way")
def test_json_score_that_overflows(write: Write) -> None:
    row = b'{"query-id": "q1", "corpus-id": "d", "score": 1e400}\n'
    refused_everywhere("run", write(row), "overflows")


@pytest.mark.usefixtures("way")
def test_json_deep(write: Write) -> None:
    refused_everywhere("run", write(b'{"a":' + b"[" * 100_000 + b"\n"))


@pytest.mark.parametrize("way", ["parser", "pieces"])
def test_json_escaped_document_twice(
    write: Write, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(way, monkeypatch)
    row = b'{"query-id": "q1", "corpus-id": "\\u00e9", "score": %d}\n'
    path = write(row % 2 + row % 1)
    refused(lambda: read_run(path), "in line 1", line=2, document="é")


@pytest.mark.usefixtures("way")
def test_number_of_many_zeros(write: Write) -> None:
    path = write(b"q1 0 d1 " + b"0" * 4990 + b"9007199254740992\n")
    assert read_qrels(path).to_dict() == {"q1": {"d1": 2**53}}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "data", [b"1 2 1\n", b"qid\tdocno\tscore\n1\t2\t-1\n"], ids=["MS MARCO", "header"]
)
def test_109_comment_without_a_space_first(write: Write, data: bytes) -> None:
    assert read_run(write(b"#comment\n" + data)).to_dict() == {"1": {"2": -1}}


@pytest.mark.usefixtures("way")
def test_109_comment_before_json(write: Write) -> None:
    row = b'{"query-id": "q1", "corpus-id": "d", "score": 1}\n'
    assert read_run(write(b"# comment\n" + row)).to_dict() == {"q1": {"d": 1}}


def test_a_file_twice_is_refused_quickly(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    take("lines", monkeypatch)
    data = b"".join(b"q%d Q0 d%d 1 %d.5 t\n" % (i % 7, i, -i) for i in range(5000))
    path = write(data * 2)
    start = time.perf_counter()
    refused(lambda: read_run(path), "line 5001", "before, in line 1")
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("way", ["parser", "pieces"])
def test_all_documents_given_twice_are_listed(
    write: Write, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(way, monkeypatch)
    path = write(b"".join(b"%s 0 d1 1\n" % query for query in (b"a", b"b", b"b", b"a")))
    error = refused(lambda: read_qrels(path), path=path)
    assert [each.line for each in error.problems] == [3, 4]


def test_header_alone_in_a_piece(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    take("parser", monkeypatch)
    path = write(b"qid\tdocno\tscore\nq1\td1")
    refused(lambda: read_run(path), "2 columns", line=2)


def test_119_giant_blank_line(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    take("parser", monkeypatch)
    path = write(RANKED + b" " * (3 << 20) + b"\n" + RANKED.replace(b"q1", b"q2"))
    refused(lambda: read_run(path), "1 MiB", line=3)


@pytest.mark.parametrize("place", [0, 2, 300])
@pytest.mark.parametrize("way", ["parser", "pieces"])
def test_119_number_of_a_giant_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, way: str, place: int
) -> None:
    take(way, monkeypatch)
    rows = b"".join(b"q1 Q0 d%d 1 1 t\n" % i for i in range(place))
    path = write(rows + b"q2 Q0 " + b"x" * (5 << 20) + b" 1 1 t\n")
    refused(lambda: read_run(path), f"line {place + 1}", line=place + 1)


def test_119_problem_before_a_giant_line(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    take("parser", monkeypatch)
    path = write(b"q1 Q0 d1 1 x t\n" + b"x" * (5 << 20))
    refused(lambda: read_run(path), "score 'x' is not a number")


@pytest.mark.parametrize("way", ["parser", "pieces"])
def test_120_bomb_through_a_pipe(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    take(way, monkeypatch)
    monkeypatch.setattr(streams, "PIECE", 1 << 16)
    monkeypatch.setattr(streams, "BOMB_BYTES", 1 << 18)
    with piped_input(bz2.compress(RANKED + b"\n" * (8 << 20)), monkeypatch):
        refused(lambda: read_run("-"), "trap")


def test_116_archive_whose_first_byte_comes_alone(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = gzip.compress(RANKED)

    def write() -> None:
        with path.open("wb", buffering=0) as stream:
            stream.write(data[:1])
            time.sleep(0.3)
            stream.write(data[1:])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert read_run(path).to_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}
    finally:
        thread.join()


def test_standard_input_that_somebody_put_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RANKED)))
    assert read_run("-").to_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BufferedReader(io.BytesIO(RANKED))
    stream.close()
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
    refused(lambda: read_run("-"), path="-")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="Linux has it")
def test_file_that_cannot_be_read() -> None:
    refused(lambda: read_run("/proc/self/mem"), "/proc/self/mem")


@pytest.mark.usefixtures("way")
def test_query_that_starts_like_parquet(write: Write) -> None:
    assert read_run(write(RANKED.replace(b"q1", b"PAR1"))).to_dict().keys() == {"PAR1"}


@pytest.mark.parametrize("order_by", ["rank", "nonsense"])
def test_order_of_parquet(tmp_path: Path, order_by: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "run.parquet")
    rows = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0], "rank": [1, 2]}
    parquet.write_table(pyarrow.table(rows), path)
    refused(lambda: evaluate({"q": {"a": 1}}, path, "RR", order_by=order_by))


@pytest.mark.usefixtures("way")
def test_scores_that_count_beside_no_ranks(write: Write) -> None:
    read_run(write(b"qid\tdocno\tscore\nq1\td1\t1\nq1\td2\t2\nq1\td3\t3\n"))


SIGNS_OF_ONE_WAY = [
    pytest.param(
        b"q1 Q0 a 1 3 t\nq1 Q0 b 2 2 u\nq1 Q0 c 3 1 t\n", "parser", id="a tag inside a query"
    ),
    pytest.param(
        b"".join(b"q%d Q0 a 1.5 3 t\n" % i for i in range(9))
        + b"".join(b"r%d Q0 a 1 3 t\n" % i for i in range(9)),
        "pieces",
        id="points in some ranks",
    ),
    pytest.param(
        b"".join(b"q%d Q0 a 1 1 t\nq%d Q0 b 1 2 t\n" % (i, i) for i in range(5))
        + b"r Q0 a 1 9 t\nr Q0 b 2 7 t\n",
        "pieces",
        id="some scores count",
    ),
]


@pytest.mark.parametrize(("data", "way"), SIGNS_OF_ONE_WAY)
def test_signs_are_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch, data: bytes, way: str
) -> None:
    path = write(data)
    said = []
    for each in ("lines", way):
        take(each, monkeypatch)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            read_run(path)
        said.append([str(one.message) for one in found])
    assert said[0] == said[1]

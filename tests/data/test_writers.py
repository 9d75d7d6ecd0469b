"""Files that are written: read back they are the same, and there is a whole one or none."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.input_errors import input_error

import irbatch
from irbatch import InputWarning, Qrels, Run

RUN = {"q1": {"d1": 0.5, "d2": 2, "d10": 0.5, "é": 0.5}, "q2": {"d1": -1e-300}}
RUN_LINES = (
    "q1 Q0 d2 1 2 mine\n"
    "q1 Q0 é 2 0.5 mine\n"
    "q1 Q0 d10 3 0.5 mine\n"
    "q1 Q0 d1 4 0.5 mine\n"
    "q2 Q0 d1 1 -1e-300 mine\n"
)  # fmt: skip
QRELS = {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 0.5}}
QRELS_LINES = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d1 0.5\n"

as_columns: dict[str, Callable[[Any, Any], Any]] = {
    "mapping": lambda kind, each: kind(each),
    "columns": lambda kind, each: kind.from_columns(
        *zip(*((q, d, v) for q, row in each.items() for d, v in row.items()), strict=True)
    ),
}
containers = pytest.mark.parametrize("container", as_columns)


@containers
def test_lines(tmp_path: Path, container: str) -> None:
    as_columns[container](Run, RUN).to_trec(tmp_path / "run", "mine")
    as_columns[container](Qrels, QRELS).to_trec(tmp_path / "qrels")
    assert (tmp_path / "run").read_text() == RUN_LINES
    assert (tmp_path / "qrels").read_text() == QRELS_LINES
    assert irbatch.read_run(tmp_path / "run").to_dict() == RUN
    assert irbatch.read_qrels(tmp_path / "qrels").to_dict() == QRELS


@containers
def test_frames(tmp_path: Path, container: str) -> None:
    run, qrels = as_columns[container](Run, RUN), as_columns[container](Qrels, QRELS)
    path = tmp_path / "file.parquet"
    pyarrow.parquet.write_table(run.to_arrow(), path)
    assert irbatch.read_run(path).to_dict() == RUN
    assert run.to_arrow().column_names == ["query_id", "doc_id", "score"]
    numbers = as_columns[container](Qrels, {7: {2**40: 1, 3: -1}}).to_polars()
    assert [str(kind) for kind in numbers.dtypes] == ["Int64"] * 3
    for table in (run.to_arrow(), run.to_polars(), run.to_pandas()):
        assert Run.from_table(table).to_dict() == RUN
        assert list(table["doc_id"].to_numpy()) == ["d2", "é", "d10", "d1", "d1"]
    for table in (qrels.to_arrow(), qrels.to_polars(), qrels.to_pandas()):
        assert Qrels.from_table(table).to_dict() == QRELS
    whole = Qrels({"q": {"d": 1.0}}).to_pandas()
    assert whole["relevance"].dtype == np.int64


UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".run": bytes,
}  # fmt: skip


@pytest.mark.parametrize("suffix", UNPACK)
def test_archives(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"mine{suffix}"
    Run(RUN, tag="mine").to_trec(path)
    content = path.read_bytes()
    assert UNPACK[suffix](content).decode() == RUN_LINES
    assert irbatch.read_run(path).to_dict() == RUN
    monkeypatch.setattr("time.time", lambda: 2e9)
    Run(RUN, tag="mine").to_trec(str(path))
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_tags(tmp_path: Path) -> None:
    for run, tag, expected in (
        (Run(RUN, "name", "tag"), "mine", "mine"),
        (Run(RUN, "name", "tag"), None, "tag"),
        (Run(RUN, "name"), None, "name"),
        (Run(RUN), None, "irbatch"),
    ):
        run.to_trec(tmp_path / "run", tag)
        assert irbatch.read_run(tmp_path / "run").tag == expected


words = st.text(
    st.characters(exclude_characters=" \t\n\r\0", exclude_categories=["Cs"]), min_size=1
)
queries = words.filter(lambda text: text != "#" and not text.startswith(("\ufeff", "BZh")))
scores = st.floats(allow_nan=False) | st.integers(-(2**53), 2**53) | st.sampled_from([0.0, -0.0, 1])
some = {"min_size": 1, "max_size": 5}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.dictionaries(queries, st.dictionaries(words, scores, **some), **some), st.booleans())
def test_a_run_comes_back(tmp_path_factory: Any, rankings: Any, as_table: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "run"
    as_columns["columns" if as_table else "mapping"](Run, rankings).to_trec(path)
    assert_same_numbers(irbatch.read_run(path).to_dict(), rankings)
    for line_ids, query in zip(ranking_in(path), rankings, strict=True):
        pairs = [(float(rankings[query][d]), d) for d in line_ids]
        assert pairs == sorted(pairs, reverse=True)


def ranking_in(path: Path) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for i, line in enumerate(path.read_bytes().decode().split("\n")[:-1]):
        query, _, document, rank, _, _ = line.split(" ")
        found.setdefault(query, []).append(document)
        assert rank == str(len(found[query])), i
    return list(found.values())


def assert_same_numbers(found: Any, expected: Any) -> None:
    assert found == expected
    for query, documents in expected.items():
        for document, value in documents.items():
            assert math.copysign(1, found[query][document]) == math.copysign(1, value)


grades = st.integers(-(2**53), 2**53) | st.floats(-(2**53), 2**53)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(queries, st.dictionaries(words, grades, **some), **some), st.booleans())
def test_judgments_come_back(tmp_path_factory: Any, judgments: Any, as_table: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "qrels"
    qrels = as_columns["columns" if as_table else "mapping"](Qrels, judgments)
    assert qrels.to_dict() == judgments
    qrels.to_trec(path)
    assert irbatch.read_qrels(path).to_dict() == judgments
    for line in path.read_bytes().decode().split("\n")[:-1]:
        assert not line.endswith(".0"), "trec_eval reads whole grades only"


def test_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irbatch.data.export.CHUNK", 100)
    rng = random.Random(1)
    run = {q: {d: rng.choice([0.5, 1.25, rng.random()]) for d in range(rng.randint(1, 70))}
           for q in range(60)}  # fmt: skip
    Run(run).to_trec(tmp_path / "run")
    found = irbatch.read_run(tmp_path / "run")
    assert found.to_dict() == {str(q): {str(d): s for d, s in v.items()} for q, v in run.items()}
    ranks = [line.split()[3] for line in (tmp_path / "run").read_text().splitlines()]
    assert ranks == [str(i + 1) for each in run.values() for i in range(len(each))]
    first = (tmp_path / "run").read_text().splitlines()[: len(run[0])]
    order = sorted(run[0], key=lambda d: (run[0][d], d), reverse=True)
    assert [line.split()[2] for line in first] == list(map(str, order)), "numbers are no texts"


BAD_IDS = ["", "a b", "a\tb", "a\nb", "a\rb", "a\0b", "\udc80"]


@containers
@pytest.mark.parametrize("bad", BAD_IDS, ids=repr)
def test_ids_that_would_be_read_as_something_else(tmp_path: Path, bad: str, container: str) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    for kind, write in ((Run, Run.to_trec), (Qrels, Qrels.to_trec)):
        make = as_columns[container]
        in_documents = make(kind, {"q0": {"d": 1}, "q1": {"d": 1, bad: 1}})
        input_error(lambda m=in_documents, w=write: w(m, path), query="q1", document=bad)
        in_queries = make(kind, {"q0": {"d": 1}, bad: {"d": 1}})
        input_error(lambda m=in_queries, w=write: w(m, path), "query", query=bad)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("bad", ["#", "\ufeffq1"])
def test_queries_that_would_be_read_as_something_else(tmp_path: Path, bad: str) -> None:
    input_error(lambda: Run({bad: {"d": 1}}).to_trec(tmp_path / "run"), query=bad)
    Run({"#1": {"#": 1.0}}).to_trec(tmp_path / "run")
    assert irbatch.read_run(tmp_path / "run").to_dict() == {"#1": {"#": 1.0}}


@pytest.mark.parametrize("tag", ["a b", "a\n", "\udc80"], ids=repr)
def test_tags_are_one_word(tmp_path: Path, tag: str) -> None:
    input_error(lambda: Run(RUN).to_trec(tmp_path / "run", tag), "tag=", source="run")
    input_error(lambda: Run(RUN, name=tag).to_trec(tmp_path / "run"), "tag=", repr(tag))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("score", "fact"), [(math.nan, "nan"), (None, "None"), ("1", "'1'")])
def test_scores_that_are_none(tmp_path: Path, score: Any, fact: str) -> None:
    run = Run({"q1": {"d1": 1}, "q2": {"d1": score}}, name="mine")
    input_error(lambda: run.to_trec(tmp_path / "run"), fact, query="q2", document="d1", path="mine")
    input_error(
        lambda: Run({"q": {"d": 1, 5: 1}}).to_trec(tmp_path / "run"), "two kinds", query="q"
    )
    input_error(lambda: Run({"q": {1.5: 1}}).to_trec(tmp_path / "run"), "1.5", query="q")
    input_error(lambda: Run({"q": {1: 1}, "r": {"1": 1}}).to_trec(tmp_path / "run"), "text in")
    assert not list(tmp_path.iterdir())


def test_queries_without_documents(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="2 queries of the run .* such as 'q2'"):
        Run({"q1": {"d1": 1}, "q2": {}, "q3": {}}).to_trec(tmp_path / "run")
    assert irbatch.read_run(tmp_path / "run").to_dict() == {"q1": {"d1": 1}}
    with pytest.warns(InputWarning, match="1 queries of the qrels"):
        Qrels({"q1": {"d1": 1}, "q2": {}}).to_trec(tmp_path / "qrels")
    (tmp_path / "run").unlink()
    input_error(lambda: Run({"q1": {}}, "a").to_trec(tmp_path / "run"), "no documents", path="a")
    assert not (tmp_path / "run").exists()


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "run", tmp_path / "link"
    target.write_text("old")
    link.symlink_to("folder/run")
    Run(RUN).to_trec(link)
    assert link.is_symlink()
    assert irbatch.read_run(target).to_dict() == RUN
    target.unlink()
    Run(RUN).to_trec(link)  # it leads nowhere
    assert irbatch.read_run(target).to_dict() == RUN
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["folder", "link", "run"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    Run(RUN).to_trec(pipe)
    found = os.read(reader, 1 << 16)
    os.close(reader)
    Run(RUN).to_trec(tmp_path / "file")
    assert found == (tmp_path / "file").read_bytes()
    assert pipe.is_fifo()
    Run(RUN).to_trec("/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_what_is_printed_goes_on_to_stdout(tmp_path: Path) -> None:
    """Also where that is a file, which must not be replaced while others write to it."""
    code = (
        "import irbatch; print('before', flush=True); "
        f"irbatch.Run({RUN!r}).to_trec('/dev/stdout'); print('after')"
    )
    with (tmp_path / "out").open("ab") as out:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=out)
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[0] == "before"
    assert lines[1].startswith("q1 Q0")
    assert lines[-1] == "after"


def test_long_names_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / ("名" * 83)
    umask = os.umask(0o027)
    try:
        Run(RUN).to_trec(path)
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    Run(RUN).to_trec(path)
    assert path.stat().st_mode & 0o777 == 0o604


def test_what_replaces_a_private_file_is_private_from_its_first_byte(tmp_path: Path) -> None:
    from irbatch.runtime.files import replacing

    (tmp_path / "run").touch(0o600)
    with replacing(tmp_path / "run"):
        (beside,) = tmp_path.glob(".irbatch-*")
        assert beside.stat().st_mode & 0o777 == 0o600

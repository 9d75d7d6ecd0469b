"""Judgments and rankings as frames, and as Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import Qrels, Run

RUN = {"q1": {"d1": 0.5, "d2": 2, "d10": 0.5, "é": 0.5}, "q2": {"d1": -1e-300}}
QRELS: dict[str, dict[str, float]] = {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 0.5}}


def kept(kind: Any, values: Any, container: str) -> Any:
    """Return a run or judgments that are kept as a mapping or as columns."""
    rows = [(q, d, v) for q, each in values.items() for d, v in each.items()]
    return kind.from_columns(*zip(*rows, strict=True)) if container == "columns" else kind(values)


containers = pytest.mark.parametrize("container", ["mapping", "columns"])


@containers
def test_parquet(tmp_path: Path, container: str) -> None:
    path = tmp_path / "file.parquet"
    kept(Run, RUN, container).to_parquet(path)
    assert path.read_bytes()[:4] == b"PAR1"
    assert irbatch.read_run(path).to_dict() == RUN
    assert pl.read_parquet(path).columns == ["query_id", "doc_id", "score"]
    assert pl.read_parquet(path)["doc_id"].to_list() == ["d2", "é", "d10", "d1", "d1"]
    kept(Qrels, QRELS, container).to_parquet(path)
    assert irbatch.read_qrels(path).to_dict() == QRELS
    kept(Qrels, {7: {2**40: 1, 3: -1}}, container).to_parquet(path)
    assert irbatch.read_qrels(path).to_dict() == {7: {2**40: 1, 3: -1}}
    assert [str(kind) for kind in pl.read_parquet(path).dtypes] == ["Int64"] * 3
    assert irbatch.read_qrels(path).to_dict() == {7: {2**40: 1, 3: -1}}
    assert list(tmp_path.iterdir()) == [path]


def test_bad_parquet(tmp_path: Path) -> None:
    path = tmp_path / "[x] *.parquet"
    path.write_bytes(b"PAR1\0 but not really PAR1")
    input_error(lambda: irbatch.read_run(path), "run", path=str(path))
    pl.DataFrame({"qid": ["a"], "other": ["b"]}).write_parquet(path)
    input_error(lambda: irbatch.read_run(path), "no column", "'other'", path=str(path))
    pl.DataFrame({"qid": ["a"], "docno": ["b"], "score": [1], "more": [[1]]}).write_parquet(path)
    assert irbatch.read_run(path).to_dict() == {"a": {"b": 1.0}}
    input_error(lambda: Run({"q": {"\udc80": 1}}).to_parquet(path), "UTF-8", source="run")
    input_error(lambda: Run({"q": {2**70: 1}}).to_parquet(path), "int64", source="run")
    assert pl.read_parquet(path, glob=False).width == 4, "the old file is still there"


def test_parquet_of_text_that_is_not_utf8(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    bad = pa.Array.from_buffers(pa.string(), 2, pa.array([b"d1", b"a\x80b"]).buffers())
    path = tmp_path / "run.parquet"
    for name in ("qid", "docno"):
        columns = {"qid": ["q", "q"], "docno": ["d1", "d2"], "score": [2.0, 1.0]} | {name: bad}
        pq.write_table(pa.table(columns), path)
        said = f"column {name!r}, an array of Arrow is not sound: Invalid UTF8"
        input_error(lambda: irbatch.read_run(path), "run", said, path=str(path))
        pq.write_table(pa.table(columns | {name: bad.cast(pa.binary())}), path)
        input_error(lambda: irbatch.read_run(path), f"column {name!r}", "decode it first")


def test_panics_of_polars_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: Any, **__: Any) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    frame = pl.DataFrame({"qid": ["q"], "docno": ["d"], "score": [1.0]})
    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    said = "its library failed: index out of bounds"
    input_error(lambda: Run.from_table(frame.lazy(), name="bm25"), "'bm25'", said, source="run")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", ""])
def test_frames_of_no_rows(make: Any) -> None:
    """Whatever types their columns have, for lack of a value."""
    names = ("qid", "docno", "score")
    run = Run.from_table(make({name: [] for name in names}))
    assert run.to_dict() == {}
    with pytest.warns(irbatch.InputWarning, match="run is empty: every query scores 0"):
        assert irbatch.evaluate({"q": {"d": 1}}, run, "AP").mean() == {"AP": 0}
    input_error(
        lambda: Qrels.from_table(make({name: [] for name in names})), "there are no queries"
    )
    input_error(lambda: Run.from_table(make()), "no column is the query", "there are no columns")


def test_frames() -> None:
    run, qrels = Run(RUN), Qrels(QRELS)
    for table in (run.to_arrow(), run.to_polars(), run.to_pandas()):
        assert Run.from_table(table).to_dict() == RUN
        assert list(table["doc_id"].to_numpy()) == ["d2", "é", "d10", "d1", "d1"]
    for table in (qrels.to_arrow(), qrels.to_polars(), qrels.to_pandas()):
        assert Qrels.from_table(table).to_dict() == QRELS
    whole = Qrels({"q": {"d": 1.0}}).to_pandas()
    assert whole["relevance"].dtype == np.int64

"""Tables of any framework: which column is what, and the same bits from wherever they come."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import duckdb
import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import irbatch
from irbatch import Qrels, Run

pytestmark = pytest.mark.portable

Columns = dict[str, list[Any]]
Dict = dict[Any, dict[Any, Any]]

MEASURES = "AP nDCG@10 nDCG RR P@5 Bpref InfAP Judged@10 NumRet RBP SetF"
RUN = {"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d1"], "score": [1.0, 2.5, -0.5]}
RUN_DICT = {"q1": {"d1": 1.0, "d2": 2.5}, "q2": {"d1": -0.5}}


def problem(seed: int = 5, *, ints: bool = False) -> tuple[Dict, Dict]:
    """Judgments and rankings with ties, ids beyond ASCII, and queries on one side only."""
    rng = random.Random(seed)
    queries: list[Any] = list(range(30)) if ints else [f"topic-{i}" for i in range(28)] + ["é", "ß"]
    documents: list[Any] = list(range(90))
    if not ints:
        documents = [f"msmarco_v2.1_doc_{i:05d}#{i}" for i in range(80)] + list("é日b😀aZ~ü\uffffÿ")
    qrels = {q: {d: rng.randint(-1, 3) for d in rng.sample(documents, 12)} for q in queries[2:]}
    scores = [0.25 * i for i in range(-5, 20)]
    run = {q: {d: rng.choice(scores) for d in rng.sample(documents, 40)} for q in queries[:-2]}
    return qrels, run


def as_columns(mapping: Dict, *names: str) -> Columns:
    rows = [(q, d, v) for q, each in mapping.items() for d, v in each.items()]
    random.Random(1).shuffle(rows)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def as_frame(columns: Columns) -> pd.DataFrame:
    return pd.DataFrame({**columns, "query": "the text", "rank": 0})


def as_structure(columns: Columns) -> np.ndarray:
    parts = [np.array(each) for each in columns.values()]
    kinds = [(name, part.dtype) for name, part in zip(columns, parts, strict=True)]
    return np.array(list(zip(*columns.values(), strict=True)), kinds)


TABLES: dict[str, Callable[[Columns], Any]] = {
    "arrow": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(max_chunksize=100),
    "batch": lambda columns: pa.table(columns).to_batches()[0],
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pandas": as_frame,
    "pandas object": lambda columns: as_frame(columns).astype({"qid": object, "docno": object}),
    "pandas category": lambda columns: as_frame(columns).astype({"qid": "category"}),
    "pandas arrow": lambda columns: as_frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda columns: as_frame(columns).convert_dtypes(),
    "pandas rows": lambda columns: as_frame(columns).set_index(["qid", "docno"]),
    "pandas repeated rows": lambda columns: as_frame(columns).set_index("rank"),
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
    "structured": as_structure,
}


@pytest.mark.parametrize("ints", [False, True], ids=["text", "ints"])
@pytest.mark.parametrize("kind", TABLES)
def test_tables_have_the_same_bits(kind: str, ints: bool) -> None:
    qrels, run = problem(ints=ints)
    expected = irbatch.evaluate(qrels, run, MEASURES)
    make = TABLES[kind]
    tables = (
        make(as_columns(qrels, "qid", "docno", "label")),
        make(as_columns(run, "qid", "docno", "score")),
    )
    found = irbatch.evaluate(*tables, MEASURES)
    assert_same(found, expected)
    if kind != "reader":
        assert_same(irbatch.evaluate(Qrels.from_table(tables[0]), tables[1], MEASURES), expected)


def assert_same(found: irbatch.Results, expected: irbatch.Results) -> None:
    """Compare values by query, bit by bit: the order of queries is that of the rows."""
    places = [found.query_ids.index(query) for query in expected.query_ids]
    assert len(found.query_ids) == len(places)
    assert found.values[places].tobytes() == expected.values.tobytes()
    assert found.mean() == expected.mean()
    assert found.counts == expected.counts


def as_records(columns: Columns, make: Callable[..., Any]) -> Iterator[Any]:
    return (make(*row) for row in zip(*columns.values(), strict=True))


OURS = ("query", "document", "grade"), ("query", "document", "score")
RECORDS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "ir_datasets": (
        lambda q, d, g: ir_datasets.formats.TrecQrel(q, d, g, "0"),
        ir_datasets.formats.GenericScoredDoc,
    ),
    "ir_measures": (ir_measures.Qrel, ir_measures.ScoredDoc),
    "dictionaries": tuple(lambda *r, names=n: dict(zip(names, r, strict=True)) for n in OURS),
    "objects": tuple(
        lambda *r, names=n: SimpleNamespace(**dict(zip(names, r, strict=True))) for n in OURS
    ),
}  # type: ignore[assignment]


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("ints", [False, True], ids=["text", "ints"])
def test_records_have_the_same_bits(kind: str, ints: bool) -> None:
    qrels, run = problem(ints=ints)
    judged = as_records(as_columns(qrels, *OURS[0]), RECORDS[kind][0])
    ranked = as_records(as_columns(run, *OURS[1]), RECORDS[kind][1])
    found = irbatch.evaluate(judged, ranked, MEASURES)
    assert_same(found, irbatch.evaluate(qrels, run, MEASURES))


def test_datasets_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({**RUN, "other": [[1], [], [2]]})
    assert Run.from_table(dataset).to_dict() == RUN_DICT
    assert Run.from_table(dataset.select([2, 0])).to_dict() == {"q2": {"d1": -0.5}, "q1": {"d1": 1}}
    assert Run.from_table(dataset.to_iterable_dataset()).to_dict() == RUN_DICT


@pytest.mark.parametrize("object_ids", [False, True])
def test_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch, object_ids: bool) -> None:
    frame = as_frame(RUN).set_index("qid").astype({"docno": object if object_ids else "str"})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError):
        frame.__arrow_c_stream__()
    assert Run.from_table(frame).to_dict() == RUN_DICT


def test_columns_that_arrow_has_no_type_for_do_not_matter() -> None:
    odd = as_frame(RUN).assign(odd=[1, "text", object()])
    assert Run.from_table(odd).to_dict() == RUN_DICT
    assert Run.from_table(pl.DataFrame({**RUN, "odd": [[1], [2], []]})).to_dict() == RUN_DICT


def test_lazy_frames_read_only_what_is_needed() -> None:
    def fail(column: pl.Series) -> pl.Series:
        raise AssertionError("this column is not needed")

    lazy = pl.LazyFrame(RUN).with_columns(
        pl.col("score").map_batches(fail, pl.Float64).alias("costly")
    )
    assert Run.from_table(lazy).to_dict() == RUN_DICT

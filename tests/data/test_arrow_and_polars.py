"""Tables of every library, by any producer: what is handed over is what is read."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.data.columns import as_column, as_ids
from irbatch.data.frames import read_all
from irbatch.data.ids import TextColumn

Columns = dict[str, list[Any]]
TEXTS = ["", "a", "éü", "x" * 12, "y" * 13, "🙂" * 4, "日本語", "x" * 12, "", "doc-1", "z" * 300]
COLUMNS: Columns = {
    "query": ["q1", "q1", "a query of some length", "q1", "", "é", "q1", "q1", "r", "q1", ""],
    "doc": TEXTS,
    "rank": [0, 1, 127, 3, 5, 100, 7, 9, 2, 4, 6],
    "score": [0.0, -1.5, 0.25, 3.0, 1e3, -0.0, 2.0, 7.5, 9.0, 11.0, 0.5],
    "good": [True, False, False, True, True, True, False, True, False, False, True],
}


def arrow(kind: str, *, index: str = "", rows: int = 0, cut: int = 0) -> Callable[[Columns], Any]:
    """Make pyarrow tables: of a type of text, in chunks of some rows, some rows cut off."""
    text = getattr(pa, kind)()
    text = pa.dictionary(getattr(pa, index)(), text) if index else text

    def produce(columns: Columns) -> Any:
        arrays = {}
        for name, values in columns.items():
            junk = values[-1:] * cut
            of = text if isinstance(values[0], str) else None
            arrays[name] = pa.array(junk + values + junk, of)
        table = pa.table(arrays)
        batches = table.slice(cut, table.num_rows - 2 * cut).to_batches(rows or None)
        return pa.Table.from_batches(batches, table.schema)

    return produce


def arrow_own_chunks(columns: Columns) -> Any:
    """Make a pyarrow table whose chunks share no memory, not even dictionaries."""
    parts = []
    for first in range(0, len(TEXTS), 3):
        chunk = {name: pa.array(values[first : first + 3]) for name, values in columns.items()}
        parts.append(pa.table(chunk | {"query": chunk["query"].dictionary_encode()}))
    return pa.concat_tables(parts)


def polars_chunks(columns: Columns) -> Any:
    frame = pl.DataFrame(columns)
    return pl.concat([frame[:4], frame[4:]], rechunk=False)


PRODUCERS: dict[str, Callable[[Columns], Any]] = {
    **{kind: arrow(kind) for kind in ("string", "large_string", "string_view")},
    "chunks": arrow("string", rows=3),
    "large chunks": arrow("large_string", cut=9, rows=1),
    "view chunks": arrow("string_view", cut=5, rows=2),
    "sliced": arrow("string", cut=3),
    "reader": lambda columns: arrow("string", rows=5)(columns).to_reader(),
    "own chunks": arrow_own_chunks,
    **{
        f"dictionary {sign}int{bits}": arrow("string", index=f"{sign}int{bits}", rows=5, cut=2)
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "polars": pl.DataFrame,
    "polars sliced": lambda columns: pl.concat([pl.DataFrame(columns)] * 2)[len(TEXTS) :],
    "polars chunks": polars_chunks,
    "polars categorical": lambda columns: pl.DataFrame(columns).cast({"query": pl.Categorical}),
    "polars gathered": lambda columns: pl.DataFrame(columns).reverse().reverse(),
    "pandas": pd.DataFrame,
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"query": "category"}),
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def read(table: Any) -> dict[Any, Any]:
    return read_all(table, "run")


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_every_producer_hands_over_what_it_was_given(produce: Callable[[Columns], Any]) -> None:
    columns = read(produce(COLUMNS))
    assert {name: column.tolist() for name, column in columns.items()} == COLUMNS
    for name in ("query", "doc"):
        column = as_ids(columns[name], "query", "run")
        assert isinstance(column, TextColumn)
        arrays = column.text, column.starts, column.lengths
        assert [array.dtype for array in arrays] == [np.uint8, np.int64, np.int32]
        assert all(array.flags.c_contiguous for array in arrays)
    assert (columns["score"].dtype, columns["good"].dtype) == (np.float64, np.bool_)


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
          "float32", "float64", "bool"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_keep_their_type(dtype: str) -> None:
    low, high = (0, 1) if dtype == "bool" else (-2, 1.5)
    if np.dtype(dtype).kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array([low, high, 0, 1] * 3, dtype)
    column = pa.array(values)
    tables = [pa.table({"x": column}), pl.DataFrame({"x": values}), pd.DataFrame({"x": values})]
    if dtype != "float16":  # of which there are no dictionaries
        tables.append(pa.table({"x": column.dictionary_encode()}))
    for table in tables:
        found = read(table)["x"]
        assert (found.dtype, found.tobytes()) == (values.dtype, values.tobytes())


def test_one_chunk_is_not_copied() -> None:
    number, text = pa.array([1.5, 2.5]), pa.array(["a", "b"])
    columns = read(pa.table({"n": number, "x": text}))
    assert columns["n"].ctypes.data == number.buffers()[1].address
    assert columns["x"].text.ctypes.data == text.buffers()[2].address


def test_short_texts_are_read_in_views(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irbatch.data.columns.MANY_ROWS", 0)  # so few rows of polars, too
    short = [text for text in TEXTS if len(text.encode()) <= 12]
    views, series = pa.array(short, pa.string_view()), pl.Series(short)
    for column in (views, views[3:], series, series[2:], series.cast(pl.Categorical)):
        assert as_ids(column, "document", "run").tolist() == np.asarray(column).tolist()
    text = as_ids(views, "document", "run").text
    assert text.ctypes.data == views.buffers()[1].address


def test_arrays_outlive_their_producer() -> None:
    values = [f"a document of some length {i}" for i in range(20_000)]
    columns = read(pa.table({"x": values, "n": range(20_000)}))
    junk = [pa.array(range(20_000)) for _ in range(20)]  # over memory that was freed too early
    del junk
    assert columns["x"].tolist() == values
    assert columns["n"].tolist() == [*range(20_000)]


KINDS = ["string", "large_string", "string_view", "dictionary"]


@pytest.mark.parametrize("kind", [*KINDS, "int64", "bool_"])
def test_no_rows_and_missing_values(kind: str) -> None:
    values = {"int64": [1, 0], "bool_": [True, False]}.get(kind, ["a", "b" * 20])
    of = pa.string() if kind == "dictionary" else getattr(pa, kind)()
    column = pa.array([None, *values * 3, None, *values], of)
    column = column.dictionary_encode() if kind == "dictionary" else column
    table = pa.table({"x": column})
    assert read(table[1:4])["x"].tolist() == [*values, values[0]]
    input_error(lambda: read(table), "row 0: the value of 'x' is missing")
    input_error(lambda: read(table[1:]), "row 6: the value of 'x' is missing")
    input_error(lambda: read(pa.table({"x": pa.nulls(2)})), "row 0: the value of 'x' is missing")
    assert len(read(table[:0])["x"]) == 0
    assert len(read(pa.table({"x": pa.chunked_array([], column.type)}))["x"]) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [b"a\x80b", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3"])
def test_text_that_is_not_utf8_is_rejected(kind: str, bad: bytes) -> None:
    texts = [b"a", "日本".encode(), bad, b"long enough to be no inline"]
    of = "string" if kind == "dictionary" else kind
    column = pa.array(texts, getattr(pa, of.replace("string", "binary"))())
    column = pa.Array.from_buffers(getattr(pa, of)(), len(texts), column.buffers())
    if kind == "dictionary":
        column = pa.DictionaryArray.from_arrays(pa.array(range(4), pa.int32()), column)
    input_error(lambda: as_ids(column, "query", "run"), "not sound", "UTF8")
    if kind != "dictionary":
        assert as_column(column[3:], "value", "run").tolist() == [texts[3].decode()]


def test_arrays_that_are_not_sound_are_rejected() -> None:
    texts = pa.array(["a", "b"])
    odd = [pa.DictionaryArray.from_arrays(pa.array(p), texts, safe=False) for p in ([-1], [0, 2])]
    for offsets in ([1, 0, 2], [0, 2, 1]):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"ab")]
        odd.append(pa.Array.from_buffers(pa.string(), 2, buffers))
    for column in odd:
        scores = [1.0] * len(column)
        input_error(lambda ids=column, x=scores: irbatch.Run.from_columns(ids, ids, x), "not sound")


def test_what_is_neither_text_nor_numbers_nor_a_table() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
            raise OSError("disk on fire")

    input_error(lambda: read(Broken()), "a Broken is not a table of columns: disk on fire")
    for values in ([b"d1"], [datetime.date(2020, 1, 1)], [[1]], [{"a": 1}]):
        column = pa.array(values)
        input_error(lambda ids=column: as_ids(ids, "query", "run"), "text or whole numbers")

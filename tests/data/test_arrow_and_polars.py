"""Tables of every library, by any producer: what is handed over is what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import InputError
from irbatch.data.columns import as_column, as_ids
from irbatch.data.frames import read_all
from irbatch.data.ids import TextColumn

TEXTS = ["", "a", "éü", "x" * 12, "y" * 13, "🙂" * 4, "日本語", "x" * 12, "", "doc-1", "z" * 300]
QUERIES = ["q1", "q1", "a query of some length", "q1", "", "é"] * 2
INTS = [0, 1, 127, 3, 5, 100, 7, 9, 2, 4, 6]
FLOATS = [0.0, -1.5, 0.25, 3.0, 1e3, -0.0, 2.0, 7.5, 9.0, 11.0, 0.5]
BOOLS = [True, False, False, True, True, True, False, True, False, False, True]

Producer = Callable[[dict[str, list[Any]]], Any]


def arrow(
    kind: str, *, index: str = "", rows: int = 0, cut: int = 0, reader: bool = False
) -> Producer:
    """Make pyarrow tables: of a type of text, in chunks of some rows, some rows cut off."""

    def produce(columns: dict[str, list[Any]]) -> Any:
        pa = pytest.importorskip("pyarrow")
        text = getattr(pa, kind)()
        text = pa.dictionary(getattr(pa, index)(), text) if index else text
        junk = {name: values[-1:] * cut for name, values in columns.items()}
        table = pa.table(
            {
                name: pa.array(
                    junk[name] + values + junk[name],
                    text if isinstance(values[0], str) else None,
                )
                for name, values in columns.items()
            }
        )
        table = table.slice(cut, table.num_rows - 2 * cut)
        batches = table.to_batches(max_chunksize=rows or None)
        if reader:
            return pa.RecordBatchReader.from_batches(table.schema, iter(batches))
        return pa.Table.from_batches(batches, table.schema)

    return produce


def arrow_own_chunks(columns: dict[str, list[Any]]) -> Any:
    """Make a pyarrow table whose chunks share no memory, not even dictionaries."""
    pa = pytest.importorskip("pyarrow")
    parts = [
        pa.table(
            {
                name: pa.array(values[i : i + 3]).dictionary_encode()
                if name == "query"
                else pa.array(values[i : i + 3])
                for name, values in columns.items()
            }
        )
        for i in range(0, len(columns["query"]), 3)
    ]
    return pa.concat_tables(parts)


def polars(change: Callable[[Any, Any], Any] = lambda frame, _: frame) -> Producer:
    def produce(columns: dict[str, list[Any]]) -> Any:
        pl = pytest.importorskip("polars")
        return change(pl.DataFrame(columns), pl)

    return produce


def pandas(columns: dict[str, list[Any]]) -> Any:
    pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas").DataFrame(columns)


def pandas_categories(columns: dict[str, list[Any]]) -> Any:
    return pandas(columns).astype({"query": "category"})


def duckdb_literal(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value}::double"  # it would be a decimal
    return f"'{value}'" if isinstance(value, str) else str(value)


def duckdb(columns: dict[str, list[Any]]) -> Any:
    module = pytest.importorskip("duckdb")
    rows = ", ".join(
        "(" + ", ".join(duckdb_literal(v) for v in row) + ")"
        for row in zip(*columns.values(), strict=True)
    )
    return module.sql(f"select * from (values {rows}) t({', '.join(columns)})")


def in_two(frame: Any, pl: Any) -> Any:
    return pl.concat([frame[:4], frame[4:]], rechunk=False)


PRODUCERS: dict[str, Producer] = {
    "arrow": arrow("string"),
    "arrow large": arrow("large_string"),
    "arrow view": arrow("string_view"),
    "arrow chunks": arrow("string", rows=3),
    "arrow large chunks": arrow("large_string", rows=1),
    "arrow view chunks": arrow("string_view", rows=4),
    "arrow sliced": arrow("string", cut=3),
    "arrow large sliced": arrow("large_string", cut=9, rows=4),
    "arrow view sliced": arrow("string_view", cut=5, rows=2),
    "arrow reader": arrow("string", rows=5, reader=True),
    "arrow own chunks": arrow_own_chunks,
    **{
        f"arrow dictionary {index}": arrow("string", index=index, rows=5, cut=2)
        for index in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    },
    "polars": polars(),
    "polars sliced": polars(lambda frame, pl: pl.concat([frame, frame])[frame.height :]),
    "polars chunks": polars(in_two),
    "polars categorical": polars(
        lambda f, pl: f.with_columns(pl.col("query").cast(pl.Categorical))
    ),
    "polars gathered": polars(lambda f, _: f.reverse().reverse()),
    "pandas": pandas,
    "pandas categories": pandas_categories,
    "duckdb": duckdb,
}


def read(table: Any) -> dict[Any, Any]:
    return read_all(table, "run")


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_every_producer_hands_over_what_it_was_given(produce: Producer) -> None:
    given = {
        "query": QUERIES[: len(TEXTS)], "doc": TEXTS, "rank": INTS, "score": FLOATS, "good": BOOLS,
    }  # fmt: skip
    columns = read(produce(given))
    assert {name: column.tolist() for name, column in columns.items()} == given
    for name in ("query", "doc"):
        column = as_ids(columns[name], "query", "run")
        assert isinstance(column, TextColumn)
        arrays = column.text, column.starts, column.lengths
        assert [each.dtype for each in arrays] == [np.uint8, np.int64, np.int32]
        assert all(each.flags.c_contiguous for each in arrays)
    assert (columns["score"].dtype, columns["good"].dtype) == (np.float64, np.bool_)


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
          "float32", "float64", "bool"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("maker", ["arrow", "arrow dictionary", "polars", "pandas"])
def test_numbers_keep_their_type(maker: str, dtype: str) -> None:
    pa = pytest.importorskip("pyarrow")
    if dtype == "float16" and maker == "arrow dictionary":
        pytest.skip("has no such type")
    low, high = (0, 1) if dtype == "bool" else (-2, 1.5)
    if np.dtype(dtype).kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array([low, high, 0, 1] * 3, dtype)
    if maker == "polars":
        table = pytest.importorskip("polars").DataFrame({"x": values})
    elif maker == "pandas":
        table = pandas({"x": values})
    else:
        column = pa.array(values)
        table = pa.table({"x": column.dictionary_encode() if "dict" in maker else column})
    found = read(table)["x"]
    assert (found.dtype, found.tobytes()) == (values.dtype, values.tobytes())


def test_one_chunk_is_not_copied() -> None:
    pa = pytest.importorskip("pyarrow")
    number, text = pa.array([1.5, 2.5]), pa.array(["a", "b"])
    columns = read(pa.table({"n": number, "x": text}))
    assert columns["n"].ctypes.data == number.buffers()[1].address
    assert columns["x"].text.ctypes.data == text.buffers()[2].address


def test_arrays_outlive_their_producer() -> None:
    pa = pytest.importorskip("pyarrow")
    values = [f"a document of some length {i}" for i in range(20_000)]
    columns = read(pa.table({"x": values, "n": range(20_000)}))
    junk = [pa.array(range(20_000)) for _ in range(20)]  # over memory that was freed too early
    del junk
    assert columns["x"].tolist() == values
    assert columns["n"].tolist() == [*range(20_000)]


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "dictionary", "int64", "bool_", "null"]
)
def test_no_rows_and_missing_values(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    values = {"int64": [1, 0], "bool_": [True, False]}.get(kind, ["a", "b" * 20])
    values = [None, None] if kind == "null" else values
    of = pa.string() if kind == "dictionary" else getattr(pa, kind)()
    column = pa.array([None, *values * 3, None, *values], of)
    column = column.dictionary_encode() if kind == "dictionary" else column
    table = pa.table({"x": column})
    row = 1 if kind == "null" else 7
    for given, place in ((table, 0), (table[1:4], 0), (table[1:], row - 1)):
        if kind != "null" and given.num_rows == 3:
            assert read(given)["x"].tolist() == [*values, values[0]]
            continue
        place = 0 if kind == "null" else place
        with pytest.raises(InputError, match=f"row {place}: the value of 'x' is missing"):
            read(given)
    assert len(read(table[:0])["x"]) == 0
    assert len(read(pa.table({"x": pa.chunked_array([], column.type)}))["x"]) == 0


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("bad", [b"a\x80b", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3"])
def test_text_that_is_not_utf8_is_rejected(kind: str, bad: bytes) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = [b"a", "日本".encode(), bad, b"long enough to be no inline"]
    of = "string" if kind == "dictionary" else kind
    column = pa.array(texts, getattr(pa, of.replace("string", "binary"))())
    column = pa.Array.from_buffers(getattr(pa, of)(), len(texts), column.buffers())
    if kind == "dictionary":
        column = pa.DictionaryArray.from_arrays(pa.array(range(4), pa.int32()), column)
    with pytest.raises(InputError, match=r"row 2: the query id is not UTF-8|not sound: .*UTF8"):
        as_ids(column, "query", "run")
    if kind != "dictionary":
        assert as_column(column[3:], "value", "run").tolist() == [texts[3].decode()]


def test_arrays_that_are_not_sound_are_rejected() -> None:
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["a", "b"])
    odd = [pa.DictionaryArray.from_arrays(pa.array(p), texts, safe=False) for p in ([-1], [0, 2])]
    offsets = [np.array([1, 0, 2], np.int32), np.array([0, 2, 1], np.int32)]
    for each in offsets:
        buffers = [None, pa.py_buffer(each.tobytes()), pa.py_buffer(b"ab")]
        odd.append(pa.Array.from_buffers(pa.string(), 2, buffers))
    for column in odd:
        with pytest.raises(InputError, match="not sound"):
            irbatch.Run.from_columns(column, column, [1.0] * len(column))


def test_types_that_are_neither_text_nor_numbers() -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime

    for values in ([b"d1"], [datetime.date(2020, 1, 1)], [[1]], [{"a": 1}]):
        # As whatever Python has of them.
        with pytest.raises(InputError, match="ids are text or whole numbers"):
            as_ids(pa.array(values), "query", "run")


def test_what_is_not_a_table() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
            raise OSError("disk on fire")

    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="a Broken is not a table of columns: disk on fire"):
        read(Broken())

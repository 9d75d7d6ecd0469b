"""Tables read through Arrow's C interface: what every producer hands over, and who frees it."""

from __future__ import annotations

import ctypes
import errno
import gc
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irbatch import InputError
from irbatch.arrow import ArrowTable, Column
from irbatch.arrow.structs import Array, Get, Release, Schema, Stream, Text, stream_address
from irbatch.texts import Texts

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
    "arrow binary": arrow("binary"),
    "arrow large binary": arrow("large_binary"),
    "arrow binary view": arrow("binary_view"),
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


def lists(columns: dict[str, Column]) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in columns.items()}


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_every_producer_hands_over_what_it_was_given(produce: Producer) -> None:
    given = {
        "query": QUERIES[: len(TEXTS)], "doc": TEXTS, "rank": INTS, "score": FLOATS, "good": BOOLS,
    }  # fmt: skip
    table = ArrowTable(produce(given))
    assert table.names == list(given)
    read = table.read()
    assert lists(read) == given
    assert all(isinstance(read[name], Texts) for name in ("query", "doc"))
    assert getattr(read["score"], "dtype", None) == np.float64
    assert getattr(read["good"], "dtype", None) == np.bool_


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_only_what_is_wanted_is_read(produce: Producer) -> None:
    given = {"query": QUERIES[:3], "score": FLOATS[:3], "doc": TEXTS[:3]}
    read = ArrowTable(produce(given)).read(["doc", "query"])
    assert list(read) == ["doc", "query"]
    assert lists(read) == {"doc": given["doc"], "query": given["query"]}
    assert ArrowTable(produce(given)).read([]) == {}


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
          "float32", "float64", "bool"]  # fmt: skip


def number_table(maker: str, values: np.ndarray[Any, Any]) -> Any:
    """Make a table with a column ``x`` of numbers, in two chunks, of which one has an offset."""
    if maker == "pandas":
        return pandas({"x": values})
    if maker == "duckdb":
        kinds = {"int8": "tinyint", "int16": "smallint", "int32": "integer", "int64": "bigint",
                 "float32": "real", "float64": "double", "bool": "bool"}  # fmt: skip
        name = values.dtype.name
        kind = kinds[name] if name in kinds else "u" + kinds[name.removeprefix("u")]
        return pytest.importorskip("duckdb").sql(
            f"select unnest({values.tolist()})::{kind} as x".replace("nan", "'nan'")
        )
    if maker == "polars":
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"x": values})
        return pl.concat([frame, frame], rechunk=False)[3 : 3 + values.size]
    pa = pytest.importorskip("pyarrow")
    column = pa.array(values)
    if maker == "arrow dictionary":
        column = column.dictionary_encode()
    table = pa.table({"x": column})
    return pa.concat_tables([table, table]).slice(3, values.size)


@pytest.mark.parametrize("maker", ["arrow", "arrow dictionary", "polars", "pandas", "duckdb"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_keep_their_type(maker: str, dtype: str) -> None:
    if dtype == "float16" and maker in ("duckdb", "arrow dictionary"):
        pytest.skip("has no such type")
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        values = np.array([limits.min, limits.max, 0, 1, 77] * 3, dtype)
    else:
        values = np.array([0, 1, 0, 1.5, -2, 1, 1, 0, 0, 7, 0] * 2).astype(dtype)
    read = ArrowTable(number_table(maker, values)).read()["x"]
    expected = values if maker in ("pandas", "duckdb") else np.roll(values, -3)
    assert isinstance(read, np.ndarray)
    assert (read.dtype, read.shape) == (expected.dtype, expected.shape)
    assert read.tobytes() == expected.tobytes()


@given(st.lists(st.text(max_size=15)), st.lists(st.integers(0, 12)), st.data())
def test_any_text_in_any_chunks(texts: list[str], cuts: list[int], data: st.DataObject) -> None:
    pa = pytest.importorskip("pyarrow")
    kind = data.draw(st.sampled_from(["string", "large_string", "string_view", "dictionary"]))
    if kind == "dictionary":
        column = pa.array(texts, pa.string()).dictionary_encode()
    else:
        column = pa.array(texts, getattr(pa, kind)())
    places = [0, *sorted(cuts)]
    chunks = [column.slice(a, b - a) for a, b in itertools.pairwise(places)]
    table = pa.table({"x": pa.chunked_array(chunks, column.type)})
    assert ArrowTable(table).read()["x"].tolist() == texts[: places[-1]]


@pytest.mark.parametrize("count", [1, 200])
def test_views_into_many_buffers(count: int) -> None:
    """Rows in random order over many buffers, as after a join: no buffer is copied twice."""
    pl = pytest.importorskip("polars")
    chooser = random.Random(7)
    size = 400
    parts = [
        [f"{part} {'long ' * chooser.randrange(5)}{i}" for i in range(size)] for part in range(30)
    ]
    frame = pl.concat([pl.DataFrame({"x": each}) for each in parts])
    order = chooser.sample(range(frame.height), frame.height)
    frame = frame[order]
    step = frame.height // count
    frame = pl.concat([frame[i : i + step] for i in range(0, frame.height, step)], rechunk=False)
    texts = [each for part in parts for each in part]
    read = ArrowTable(frame).read()["x"]
    assert read.tolist() == [texts[i] for i in order]
    assert isinstance(read, Texts)
    assert read.text.size < 2 * (16 * frame.height + sum(map(len, texts)))


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_chunks_of_one_buffer_are_not_copied_more_than_once(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = [f"doc {i}" for i in range(1000)]
    column = pa.array(texts)
    column = (
        column.dictionary_encode() if kind == "dictionary" else column.cast(getattr(pa, kind)())
    )
    table = pa.table({"x": column})
    read = ArrowTable(pa.Table.from_batches(table.to_batches(max_chunksize=2))).read()["x"]
    assert isinstance(read, Texts)
    assert read.tolist() == texts
    assert read.text.size == sum(map(len, texts))
    backwards = [table.slice(i, 2) for i in range(998, -1, -2)]
    other = ArrowTable(pa.concat_tables(backwards)).read()["x"]
    assert isinstance(other, Texts)
    assert sorted(other.tolist()) == sorted(texts)
    assert other.text.size == sum(map(len, texts))
    few = ArrowTable(table.slice(10, 3)).read()["x"]
    assert isinstance(few, Texts)
    assert few.text.size == 18


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "dictionary", "int8", "float64", "bool"]
)
@pytest.mark.parametrize("batches", [0, 2])
def test_no_rows_are_empty_columns(kind: str, batches: int) -> None:
    pa = pytest.importorskip("pyarrow")
    kind = (
        pa.dictionary(pa.int32(), pa.string())
        if kind == "dictionary"
        else getattr(pa, {"bool": "bool_"}.get(kind, kind))()
    )
    schema = pa.schema([("x", kind)])
    empty = pa.RecordBatch.from_arrays([pa.array([], kind)], schema=schema)
    read = ArrowTable(pa.RecordBatchReader.from_batches(schema, [empty] * batches)).read()["x"]
    assert len(read) == 0
    assert read.tolist() == []
    if isinstance(read, np.ndarray):
        assert read.dtype == kind.to_pandas_dtype()
    else:
        arrays = read.text, read.starts, read.lengths
        assert [each.dtype for each in arrays] == [np.uint8, np.int64, np.int32]


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_texts_have_the_types_kernels_take(produce: Producer) -> None:
    read = ArrowTable(produce({"query": ["a", "a" * 20]})).read()["query"]
    assert isinstance(read, Texts)
    arrays = read.text, read.starts, read.lengths
    assert [each.dtype for each in arrays] == [np.uint8, np.int64, np.int32]
    assert all(each.flags.c_contiguous for each in arrays)


# Errors


def refused(table: Any, wanted: Sequence[str] | None = None, source: str = "run") -> str:
    with pytest.raises(InputError) as caught:
        ArrowTable(table, source).read(wanted)
    assert caught.value.source == source
    return str(caught.value)


@pytest.mark.parametrize(
    "kind",
    ["string", "large_string", "string_view", "binary", "dictionary", "int64", "float32", "bool_"],
)
def test_a_null_is_refused_by_column_and_row(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    values = {"int64": [1, 0, 1], "float32": [0.5] * 3, "bool_": [True] * 3}.get(
        kind, ["a", "b", "c" * 20]
    )
    of = pa.string() if kind == "dictionary" else getattr(pa, kind)()
    column = pa.array([None, *values * 5, None, *values, None], of)
    column = column.dictionary_encode() if kind == "dictionary" else column
    table = pa.table({"x": column, "y": range(21)})
    chunks = pa.Table.from_batches(table.slice(1).to_batches(max_chunksize=4))
    assert refused(chunks) == "run: column 'x' row 15 is null"
    assert refused(table) == "run: column 'x' row 0 is null"
    assert ArrowTable(chunks).read(["y"])["y"].tolist() == list(range(1, 21))
    assert len(ArrowTable(table.slice(1, 15)).read()["x"]) == 15


def test_nulls_of_other_producers() -> None:
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    db = pytest.importorskip("duckdb")
    for table in (
        pl.DataFrame({"x": ["a", None]}),
        pl.DataFrame({"x": ["a", None]}, schema={"x": pl.Categorical}),
        pl.DataFrame({"x": [1.5, None]}),
        pd.DataFrame({"x": ["a", None]}),
        db.sql("select case when i = 0 then 'a' end as x from range(2) t(i) order by i"),
    ):
        assert refused(table) == "run: column 'x' row 1 is null"


def test_a_null_in_a_dictionary_is_refused_where_it_is_used() -> None:
    pa = pytest.importorskip("pyarrow")
    for values in (["a", None, "b"], [1.5, None, 2.5]):
        used = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 1, 1]), pa.array(values))
        assert refused(pa.table({"x": used})) == "run: column 'x' row 3 is null"
        unused = ArrowTable(pa.table({"x": used.slice(0, 3)})).read()["x"].tolist()
        assert unused == [values[0], values[2], values[0]]


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view", "dictionary"])
@pytest.mark.parametrize(
    "bad", [[b"a\xff"], ["é".encode()[:1], "é".encode()[1:]], [b"\xed\xa0\x80"]]
)
def test_binary_that_is_not_utf8_is_refused(kind: str, bad: list[bytes]) -> None:
    pa = pytest.importorskip("pyarrow")
    values = [b"long enough to be no inline", "é".encode(), *bad]
    column = pa.array(values, pa.binary() if kind == "dictionary" else getattr(pa, kind)())
    column = column.dictionary_encode() if kind == "dictionary" else column
    table = pa.concat_tables([pa.table({"x": column})] * 2)
    assert refused(table) == "run: column 'x' row 2 is not UTF-8"
    assert len(ArrowTable(table.slice(0, 2)).read()["x"]) == 2


def test_types_that_are_neither_text_nor_numbers() -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime
    import decimal

    others = {
        "tdD": pa.array([datetime.date(2020, 1, 1)]),
        "d:3,1": pa.array([decimal.Decimal("12.5")]),
        "+l": pa.array([[1]]),
        "+s": pa.array([{"a": 1}]),
        "n": pa.array([None]),
        "w:2": pa.array([b"ab"], pa.binary(2)),
        "+r": pa.RunEndEncodedArray.from_arrays([1], [1.5]),
    }
    for kind, column in others.items():
        table = pa.table({"odd": column, "x": [1]})
        message = f"run: column 'odd' is of the Arrow type '{kind}'; text and numbers can be read"
        assert refused(table) == message
        assert refused(table.slice(0, 0)) == message
        assert (
            refused(
                table.set_column(0, "odd", column.dictionary_encode()) if kind == "tdD" else table
            )
            == message
        )
        assert ArrowTable(table).read(["x"])["x"].tolist() == [1]


def test_columns_that_are_not_there_or_twice() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "b", "a"])
    assert refused(table, ["c"]) == "run: has no column 'c'; its columns are ['a', 'b', 'a']"
    assert refused(table) == "run: has 2 columns 'a'; its columns are ['a', 'b', 'a']"
    assert ArrowTable(table).read(["b"])["b"].tolist() == [2]


def test_what_is_no_table() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert refused(pl.Series([1])) == "run: Series is no table of columns"
    assert refused(pa.chunked_array([[1]])) == "run: ChunkedArray is no table of columns"


def test_a_text_too_long_for_its_length() -> None:
    pa = pytest.importorskip("pyarrow")
    offsets = np.array([0, 1, 1 + 2**31], np.int64)

    def lengthen(array: Array) -> None:
        Array.from_address(array.children[0]).buffers[1] = offsets.ctypes.data

    spy = Spy(pa.table({"x": pa.array(["a", "b"], pa.large_string())}), lengthen)
    assert refused(spy) == "run: column 'x' row 1 has more than 2147483647 bytes"


def test_a_table_is_read_once() -> None:
    pa = pytest.importorskip("pyarrow")
    table = ArrowTable(pa.table({"x": [1]}))
    assert table.read()["x"].tolist() == [1]
    with pytest.raises(InputError, match=r"^table: was read before$"):
        table.read()
    assert table.names == ["x"]


def test_what_a_producer_raises_is_let_through() -> None:
    class WithoutArrow:
        def __arrow_c_stream__(self) -> object:
            raise ImportError("needs pyarrow")

    with pytest.raises(ImportError, match="needs pyarrow"):
        ArrowTable(WithoutArrow())


# Memory


SPIES: list[Spy] = []  # their functions are called for as long as there are arrays


class Spy:
    """Hands on a table's stream and counts what is given out and released.

    Args:
        table: whose stream.
        change: is called with each chunk before it is handed on.
        fails: the call of the producer, counted from 0, that reports an error.
        reason: the error's text.
    """

    def __init__(
        self,
        table: Any,
        change: Callable[[Array], None] = lambda _: None,
        fails: int = -1,
        reason: bytes | None = b"disk on fire",
    ) -> None:
        self.capsule = table.__arrow_c_stream__()
        self.inner = Stream.from_address(stream_address(self.capsule, b"arrow_array_stream"))
        self.change, self.fails = change, fails
        self.calls, self.given = 0, 0
        self.released: list[str] = []
        SPIES.append(self)
        self.keep: list[Any] = []
        text = ctypes.create_string_buffer(reason) if reason else None
        self.get_text = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
            lambda _: text and ctypes.addressof(text)
        )
        self.stream = Stream(
            Get(lambda _, out: self.get("get_schema", Schema.from_address(out))),
            Get(lambda _, out: self.get("get_next", Array.from_address(out))),
            ctypes.cast(self.get_text, Text),
            Release(lambda _: self.release(self.stream, "stream", None)),
        )

    def __arrow_c_stream__(self) -> object:
        new = ctypes.pythonapi["PyCapsule_New"]
        new.restype = ctypes.py_object
        new.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
        return new(ctypes.addressof(self.stream), b"arrow_array_stream", None)

    def get(self, function: str, out: Any) -> int:
        self.calls += 1
        if self.calls - 1 == self.fails:
            return errno.EIO
        getattr(self.inner, function)(ctypes.byref(self.inner), ctypes.byref(out))
        if out.release:
            self.given += 1
            name = f"{function} {self.given}"
            theirs = ctypes.cast(out.release, ctypes.c_void_p).value
            mine = Release(lambda at: self.release(type(out).from_address(at), name, theirs))
            self.keep.append(mine)
            out.release = mine
            if function == "get_next":
                self.change(out)
        return 0

    def release(self, struct: Any, name: str, theirs: int | None) -> None:
        self.released.append(name)
        if theirs is None:
            struct.release = Release()
        else:
            struct.release = Release(theirs)
            struct.release(ctypes.byref(struct))

    def assert_all_released(self) -> None:
        gc.collect()
        assert len(self.released) == len(set(self.released)) == self.given + 1
        assert "stream" in self.released


def three_chunks() -> Any:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": ["a", "b", None], "n": [1, 2, 3], "d": pa.array([1, 2, 3], pa.date32())})
    return pa.Table.from_batches(table.to_batches(max_chunksize=1))


def test_everything_is_released_once() -> None:
    spy = Spy(three_chunks())
    read = ArrowTable(spy).read(["n"])
    assert (spy.given, read["n"].tolist()) == (4, [1, 2, 3])
    spy.assert_all_released()  # the chunks were copied
    pa = pytest.importorskip("pyarrow")
    spy = Spy(pa.table({"x": ["a"], "n": [1]}))
    read = ArrowTable(spy).read()
    gc.collect()
    assert spy.released == ["get_schema 1", "stream"]
    part = read.pop("n")[:1]
    del read
    gc.collect()
    assert spy.released == ["get_schema 1", "stream"]
    assert part.tolist() == [1]
    del part
    spy.assert_all_released()


@pytest.mark.parametrize("wanted", [["x"], ["d"], ["none"]])
def test_everything_is_released_after_an_error(wanted: list[str]) -> None:
    spy = Spy(three_chunks())
    refused(spy, wanted)
    assert spy.given == (4 if wanted == ["x"] else 1)
    spy.assert_all_released()


@pytest.mark.parametrize("reason", [b"disk on fire", None])
@pytest.mark.parametrize("fails", [0, 1, 3, 4])
def test_an_error_of_the_producer(fails: int, reason: bytes | None) -> None:
    spy = Spy(three_chunks(), fails=fails, reason=reason)
    text = "disk on fire" if reason else "Input/output error"
    assert refused(spy, ["n"]) == f"run: could not be read: {text}"
    assert spy.given == fails
    spy.assert_all_released()


def test_a_stream_that_is_no_table_is_released() -> None:
    pa = pytest.importorskip("pyarrow")
    spy = Spy(pa.chunked_array([[1]]))
    refused(spy)
    spy.assert_all_released()


def test_a_stream_that_nobody_reads_is_released() -> None:
    pa = pytest.importorskip("pyarrow")
    before = pa.total_allocated_bytes()
    table = pa.table({"x": pa.array(range(10_000))})
    opened = ArrowTable(table)
    del table
    assert pa.total_allocated_bytes() > before
    del opened
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_arrays_outlive_their_producer_and_leave_nothing(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    gc.collect()
    before = pa.total_allocated_bytes()
    values = [f"a document of some length {i}" for i in range(20_000)]
    table = pa.table({"x": pa.array(values, getattr(pa, kind)()), "n": pa.array(range(20_000))})
    opened = ArrowTable(table)
    read = opened.read()
    del table, opened
    gc.collect()
    junk = [pa.array(range(20_000)) for _ in range(20)]  # over memory that was freed too early
    del junk
    assert read["x"].tolist() == values
    last = read["n"][-10:]
    assert pa.total_allocated_bytes() > before
    del read
    gc.collect()
    assert last.tolist() == list(range(19_990, 20_000))
    del last
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_an_error_leaves_nothing() -> None:
    pa = pytest.importorskip("pyarrow")
    gc.collect()
    before = pa.total_allocated_bytes()
    refused(pa.table({"x": pa.array([*range(10_000), None])}))
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_one_chunk_is_not_copied() -> None:
    pa = pytest.importorskip("pyarrow")
    number, text = pa.array([1.5, 2.5]), pa.array(["a", "b"])
    view = pa.array(["a long text that is not inline", "another one of these"], pa.string_view())
    table = pa.table({"n": number, "x": text, "v": view})
    read = ArrowTable(table).read()
    n, x, v = read["n"], read["x"], read["v"]
    assert isinstance(n, np.ndarray)
    assert isinstance(x, Texts)
    assert isinstance(v, Texts)
    assert n.ctypes.data == number.buffers()[1].address
    assert x.text.ctypes.data == text.buffers()[2].address
    assert v.text.ctypes.data == view.buffers()[2].address
    assert not n.flags.writeable


def shift(array: Array) -> None:
    array.offset, array.length = 2, array.length - 3


def forget_null_counts(array: Array) -> None:
    for i in range(array.n_children):
        Array.from_address(array.children[i]).null_count = -1


COLUMNS: dict[str, Sequence[Any]] = {"x": TEXTS[1:6] * 4, "n": range(20), "b": [True, False] * 10}


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_an_offset_of_the_whole_chunk(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(COLUMNS)
    x = (
        table["x"].dictionary_encode()
        if kind == "dictionary"
        else table["x"].cast(getattr(pa, kind)())
    )
    table = table.set_column(0, "x", x).slice(1)
    read = ArrowTable(Spy(table, shift)).read()
    assert lists(read) == {name: list(values)[3:19] for name, values in COLUMNS.items()}


def test_unknown_counts_of_nulls() -> None:
    pa = pytest.importorskip("pyarrow")
    assert lists(ArrowTable(Spy(pa.table(COLUMNS), forget_null_counts)).read()) == {
        name: list(values) for name, values in COLUMNS.items()
    }
    spy = Spy(pa.table({"x": [1] * 10 + [None, 2]}).slice(3), forget_null_counts)
    assert refused(spy) == "run: column 'x' row 7 is null"
    assert ArrowTable(Spy(pa.table({"x": [None, 2, 3]}).slice(1), forget_null_counts)).read()


def test_a_null_row_of_the_whole_chunk() -> None:
    pa = pytest.importorskip("pyarrow")
    bits = np.array([0b1011], np.uint8)

    def mask(array: Array) -> None:
        array.buffers[0] = bits.ctypes.data
        array.null_count = 1

    assert refused(Spy(pa.table({"x": [1, 2, 3, 4]}), mask)) == "run: column 'x' row 2 is null"


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    yield
    gc.collect()

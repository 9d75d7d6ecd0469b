"""Arrow tables that are refused: nulls, bytes that are no UTF-8, types and columns."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.arrow_spy import Spy, reading_error

from irbatch.data.arrow import ArrowTable
from irbatch.data.arrow.structs import Array


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    yield
    gc.collect()


@pytest.mark.parametrize(
    "kind",
    ["string", "large_string", "string_view", "dictionary", "int64", "float32", "bool_"],
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
    assert reading_error(chunks) == "run: column 'x' row 15 is null"
    assert reading_error(table) == "run: column 'x' row 0 is null"
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
        assert reading_error(table) == "run: column 'x' row 1 is null"


def test_a_null_in_a_dictionary_is_refused_where_it_is_used() -> None:
    pa = pytest.importorskip("pyarrow")
    for values in (["a", None, "b"], [1.5, None, 2.5]):
        used = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 1, 1]), pa.array(values))
        assert reading_error(pa.table({"x": used})) == "run: column 'x' row 3 is null"
        unused = ArrowTable(pa.table({"x": used.slice(0, 3)})).read()["x"].tolist()
        assert unused == [values[0], values[2], values[0]]


NOT_UTF8 = [[b"a\x80b"], [b"\xff\xfe"], [b"\xed\xa0\x80"], ["é".encode()[:1], "é".encode()[1:]]]


def as_text(texts: list[bytes], kind: str) -> Any:
    """Bytes that are called text."""
    pa = pytest.importorskip("pyarrow")
    if kind == "dictionary":
        places = pa.array(range(len(texts)), pa.int32())
        return pa.DictionaryArray.from_arrays(places, as_text(texts, "string"))
    column = pa.array(texts, getattr(pa, kind.replace("string", "binary"))())
    return pa.Array.from_buffers(getattr(pa, kind)(), len(texts), column.buffers())


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("bad", NOT_UTF8)
@pytest.mark.parametrize("good", [b"a", "é".encode(), b"long enough to be no inline"])
@pytest.mark.parametrize("end", [b"", b" behind which there is more text"])
def test_text_that_is_not_utf8_is_refused(
    kind: str, bad: list[bytes], good: bytes, end: bytes
) -> None:
    pa = pytest.importorskip("pyarrow")
    column = as_text([good, "日本".encode(), *(each + end for each in bad), good], kind)
    table = pa.concat_tables([pa.table({"x": [1, 2], "y": ["a", "b"]}),
                              pa.table({"x": range(len(column)), "y": column})]
                             if kind == "string" else [pa.table({"y": column})] * 2)  # fmt: skip
    row = 4 if kind == "string" else 2
    assert reading_error(table) == f"run: column 'y' row {row} is not UTF-8"
    first = table.slice(0, row)
    assert len(ArrowTable(first).read(["y"])["y"]) == row
    rest = ArrowTable(table.slice(row + len(bad), 1)).read(["y"])["y"]
    assert rest.tolist() == [good.decode()]


def test_text_that_is_not_utf8_in_a_dictionary_is_refused_where_it_is_used() -> None:
    pa = pytest.importorskip("pyarrow")
    words = as_text([b"a", b"\xff", b"b"], "string")
    used = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 1, 1]), words)
    assert reading_error(pa.table({"x": used})) == "run: column 'x' row 3 is not UTF-8"
    assert ArrowTable(pa.table({"x": used[:3]})).read()["x"].tolist() == ["a", "b", "a"]


def test_a_bad_text_among_many_is_found() -> None:
    pa = pytest.importorskip("pyarrow")
    texts = [b"\xc3\xa9"] * 70_000
    texts[67_000] = b"\xc3"
    for kind in ("string", "string_view"):
        table = pa.table({"x": as_text(texts, kind)})
        assert reading_error(table) == "run: column 'x' row 67000 is not UTF-8"


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view", "w", "dictionary"])
def test_bytes_are_no_text(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    of = {"w": pa.binary(2), "dictionary": pa.binary()}.get(kind) or getattr(pa, kind)()
    column = pa.array([b"d1", b"d2"], of)
    column = column.dictionary_encode() if kind == "dictionary" else column
    problem = reading_error(pa.table({"x": column}))
    assert problem.startswith("run: column 'x' holds bytes, of the Arrow type")
    assert problem.endswith("cast it to text first")


def test_types_that_are_neither_text_nor_numbers() -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime
    import decimal

    others = {
        "tdD": pa.array([datetime.date(2020, 1, 1)]),
        "d:3,1": pa.array([decimal.Decimal("12.5")]),
        "+l": pa.array([[1]]),
        "+s": pa.array([{"a": 1}]),
        "+r": pa.RunEndEncodedArray.from_arrays([1], [1.5]),
    }
    for kind, column in others.items():
        table = pa.table({"odd": column, "x": [1]})
        message = f"run: column 'odd' is of the Arrow type '{kind}'; cast it to text or numbers"
        assert reading_error(table) == message
        assert reading_error(table.slice(0, 0)) == message
        assert (
            reading_error(
                table.set_column(0, "odd", column.dictionary_encode()) if kind == "tdD" else table
            )
            == message
        )
        assert ArrowTable(table).read(["x"])["x"].tolist() == [1]


def test_columns_of_nothing() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": pa.array([None, None])})
    assert reading_error(table) == "run: column 'x' row 0 is null"
    assert ArrowTable(table.slice(0, 0)).read()["x"].tolist() == []
    assert ArrowTable(table.schema.empty_table()).read()["x"].tolist() == []


def test_columns_that_are_not_there_or_twice() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "b", "a"])
    assert reading_error(table, ["c"]) == "run: has no column 'c'; its columns are ['a', 'b', 'a']"
    assert reading_error(table) == "run: has 2 columns 'a'; its columns are ['a', 'b', 'a']"
    assert ArrowTable(table).read(["b"])["b"].tolist() == [2]


def test_what_is_no_table() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert reading_error(pl.Series([1])) == "run: Series is no table of columns"
    assert reading_error(pa.chunked_array([[1]])) == "run: ChunkedArray is no table of columns"


def test_a_text_too_long_for_its_length() -> None:
    pa = pytest.importorskip("pyarrow")
    offsets = np.array([0, 1, 1 + 2**31], np.int64)

    def lengthen(array: Array) -> None:
        Array.from_address(array.children[0]).buffers[1] = offsets.ctypes.data

    spy = Spy(pa.table({"x": pa.array(["a", "b"], pa.large_string())}), lengthen)
    assert reading_error(spy) == "run: column 'x' row 1 has more than 2147483647 bytes"


def test_what_a_producer_raises_is_let_through() -> None:
    class WithoutArrow:
        def __arrow_c_stream__(self) -> object:
            raise ImportError("needs pyarrow")

    with pytest.raises(ImportError, match="needs pyarrow"):
        ArrowTable(WithoutArrow())

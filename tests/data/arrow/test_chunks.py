"""Arrow tables in chunks: of any lengths, with offsets, over buffers they share."""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arrow_producers import TEXTS, lists
from support.arrow_spy import Spy, reading_error

from irbatch.data.arrow import ArrowTable
from irbatch.data.arrow.structs import Array
from irbatch.data.ids import TextColumn


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    yield
    gc.collect()


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
    assert isinstance(read, TextColumn)
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
    assert isinstance(read, TextColumn)
    assert read.tolist() == texts
    assert read.text.size == sum(map(len, texts))
    backwards = [table.slice(i, 2) for i in range(998, -1, -2)]
    other = ArrowTable(pa.concat_tables(backwards)).read()["x"]
    assert isinstance(other, TextColumn)
    assert sorted(other.tolist()) == sorted(texts)
    assert other.text.size == sum(map(len, texts))
    few = ArrowTable(table.slice(10, 3)).read()["x"]
    assert isinstance(few, TextColumn)
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
    assert reading_error(spy) == "run: column 'x' row 7 is null"
    assert ArrowTable(Spy(pa.table({"x": [None, 2, 3]}).slice(1), forget_null_counts)).read()


def test_a_null_row_of_the_whole_chunk() -> None:
    pa = pytest.importorskip("pyarrow")
    bits = np.array([0b1011], np.uint8)

    def mask(array: Array) -> None:
        array.buffers[0] = bits.ctypes.data
        array.null_count = 1

    assert (
        reading_error(Spy(pa.table({"x": [1, 2, 3, 4]}), mask)) == "run: column 'x' row 2 is null"
    )

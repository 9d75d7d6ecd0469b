"""Memory of Arrow tables: who frees it, how often, and what is not copied."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from support.arrow_spy import Spy, reading_error, three_chunks

from irbatch.data.arrow import ArrowTable
from irbatch.data.ids import TextColumn


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    yield
    gc.collect()


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
    reading_error(spy, wanted)
    assert spy.given == (4 if wanted == ["x"] else 1)
    spy.assert_all_released()


@pytest.mark.parametrize("reason", [b"disk on fire", None])
@pytest.mark.parametrize("fails", [0, 1, 3, 4])
def test_an_error_of_the_producer(fails: int, reason: bytes | None) -> None:
    spy = Spy(three_chunks(), fails=fails, reason=reason)
    text = "disk on fire" if reason else "Input/output error"
    assert reading_error(spy, ["n"]) == f"run: could not be read: {text}"
    assert spy.given == fails
    spy.assert_all_released()


def test_a_stream_that_is_no_table_is_released() -> None:
    pa = pytest.importorskip("pyarrow")
    spy = Spy(pa.chunked_array([[1]]))
    reading_error(spy)
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
    reading_error(pa.table({"x": pa.array([*range(10_000), None])}))
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
    assert isinstance(x, TextColumn)
    assert isinstance(v, TextColumn)
    assert n.ctypes.data == number.buffers()[1].address
    assert x.text.ctypes.data == text.buffers()[2].address
    assert v.text.ctypes.data == view.buffers()[2].address
    assert not n.flags.writeable

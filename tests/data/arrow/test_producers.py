"""Tables read through Arrow's C interface: what every producer hands over is what is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.arrow_producers import (
    BOOLS,
    FLOATS,
    INTS,
    PRODUCERS,
    QUERIES,
    TEXTS,
    Producer,
    lists,
    pandas,
)

from irbatch import InputError
from irbatch.data.arrow import ArrowTable
from irbatch.data.ids import TextColumn


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_collector() -> Iterator[None]:
    yield
    gc.collect()


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_every_producer_hands_over_what_it_was_given(produce: Producer) -> None:
    given = {
        "query": QUERIES[: len(TEXTS)], "doc": TEXTS, "rank": INTS, "score": FLOATS, "good": BOOLS,
    }  # fmt: skip
    table = ArrowTable(produce(given))
    assert table.names == list(given)
    read = table.read()
    assert lists(read) == given
    assert all(isinstance(read[name], TextColumn) for name in ("query", "doc"))
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


@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_texts_have_the_types_kernels_take(produce: Producer) -> None:
    read = ArrowTable(produce({"query": ["a", "a" * 20]})).read()["query"]
    assert isinstance(read, TextColumn)
    arrays = read.text, read.starts, read.lengths
    assert [each.dtype for each in arrays] == [np.uint8, np.int64, np.int32]
    assert all(each.flags.c_contiguous for each in arrays)


def test_a_table_is_read_once() -> None:
    pa = pytest.importorskip("pyarrow")
    table = ArrowTable(pa.table({"x": [1]}))
    assert table.read()["x"].tolist() == [1]
    with pytest.raises(InputError, match=r"^table: was read before$"):
        table.read()
    assert table.names == ["x"]

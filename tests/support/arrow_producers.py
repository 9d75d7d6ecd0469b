"""Producers of Arrow tables, and columns for them: every library that hands tables over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from irbatch.data.arrow import ArrowColumn

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


def lists(columns: dict[str, ArrowColumn]) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in columns.items()}

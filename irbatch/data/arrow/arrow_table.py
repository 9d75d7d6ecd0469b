"""A table of any framework, opened and read as a stream of chunks."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import irbatch.data.arrow.chunks as chunks
from irbatch.data.arrow.chunks import ArraySlice, ArrowColumn, Field, Part, RowError
from irbatch.data.arrow.structs import Array, Batch, Schema, Stream, release, stream_address
from irbatch.errors import InputError


class ArrowTable:
    """A table opened once: its `names` are known at once, its columns can be read once.

    What `__arrow_c_stream__` raises is let through, such as pandas' ImportError without pyarrow.
    `first` is what errors call the first row.
    """

    def __init__(self, table: Any, source: str = "table", first: int = 0) -> None:
        self._source, self._first = source, first
        # If this object is dropped unread, the capsule releases the stream.
        self._capsule = table.__arrow_c_stream__()
        address = stream_address(self._capsule, b"arrow_array_stream")
        self._stream = Stream.from_address(address)
        schema = Schema()
        try:
            self._get("get_schema", schema)
            if schema.format != b"+s":
                raise self._error(f"{type(table).__name__} is no table of columns")
            self._fields = [Field.of(schema.children[i]) for i in range(schema.n_children)]
        except BaseException:
            release(self._stream)
            raise
        finally:
            release(schema)
        self.names = [field.name for field in self._fields]

    def read(self, wanted: Sequence[str] | None = None) -> dict[str, ArrowColumn]:
        """Read columns, by default all, without missing values; others may be of any type.

        Returns by name text as a `TextColumn`, numbers as ``(rows,)`` of their own type; what
        lies over the producer's memory is read-only.
        """
        try:
            names = self.names if wanted is None else wanted
            columns = {name: self._place(name) for name in names}
            parts: dict[str, list[Any]] = {name: [] for name in columns}
            first = 0
            while columns and (batch := self._next()) is not None:
                for name, place in columns.items() if batch.array.length else ():
                    parts[name].append(self._part(batch, place, first))
                first += batch.array.length
        finally:
            release(self._stream)
        return {name: self._join(place, parts[name]) for name, place in columns.items()}

    def _place(self, name: str) -> int:
        """Return which of the columns has a name, if it can be read."""
        count = self.names.count(name)
        if count != 1:
            there = f"{count} columns" if count else "no column"
            raise self._error(f"has {there} {name!r}; its columns are {self.names!r:.500}")
        place = self.names.index(name)
        kind = self._fields[place].values
        if kind.startswith(chunks.BYTES):
            problem = f"column {name!r} holds bytes, of the Arrow type {kind!r}"
            raise self._error(f"{problem}: cast it to text first")
        if kind not in chunks.SUPPORTED:
            problem = f"column {name!r} is of the Arrow type {kind!r}; cast it to text or numbers"
            raise self._error(problem)
        return place

    def _part(self, batch: Batch, place: int, first: int) -> Part:
        """Read a batch's part of a column, whose first row is the table's row `first`."""
        field, array = self._fields[place], batch.array
        rows = ArraySlice(batch, array, array.offset, array.length)
        try:
            rows.refuse_nulls()
            return chunks.read_rows(
                field, rows.of(array.children[place], array.offset, array.length)
            )
        except RowError as error:
            raise self._row_error(field, first + error.row, error) from None

    def _join(self, place: int, parts: list[Any]) -> ArrowColumn:
        """Put a column's parts together."""
        try:
            return chunks.join(self._fields[place], parts)
        except RowError as error:
            raise self._row_error(self._fields[place], error.row, error) from None

    def _next(self) -> Batch | None:
        batch = Batch()
        self._get("get_next", batch.array)
        return batch if batch.array.release else None

    def _get(self, function: str, into: Schema | Array) -> None:
        """Call a function of the producer's."""
        stream = ctypes.byref(self._stream)
        if not self._stream.release:
            raise self._error("was read before")
        code = getattr(self._stream, function)(stream, ctypes.byref(into))
        if code:
            text = self._stream.get_last_error(stream) or os.strerror(code).encode()
            raise self._error(f"could not be read: {text.decode(errors='replace')}")

    def _row_error(self, field: Field, row: int, error: RowError) -> InputError:
        return self._error(f"column {field.name!r} row {self._first + row} {error.problem}")

    def _error(self, message: str) -> InputError:
        return InputError(message, source=self._source)

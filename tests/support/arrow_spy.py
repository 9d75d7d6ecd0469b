"""A producer of Arrow tables that spoils what it hands on and counts what comes back."""

from __future__ import annotations

import ctypes
import errno
import gc
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from irbatch import InputError
from irbatch.data.arrow import ArrowTable
from irbatch.data.arrow.structs import Array, Get, Release, Schema, Stream, Text, stream_address

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


def reading_error(table: Any, wanted: Sequence[str] | None = None, source: str = "run") -> str:
    """Check that a table is refused with an InputError; return its text."""
    with pytest.raises(InputError) as caught:
        ArrowTable(table, source).read(wanted)
    assert caught.value.source == source
    return str(caught.value)

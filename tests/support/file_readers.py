"""Every way in which a file is read, and every door of the library that a file comes in by."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from irbatch import InputError, evaluate, read_qrels, read_run
from irbatch.formats import file_reader, streams
from support.input_errors import refused

# The reader of lines; the byte parser on a file in one piece; and on pieces of few lines.
WAYS = ("lines", "parser", "pieces")
PIECE = 64


def take(way: str, monkeypatch: pytest.MonkeyPatch, piece: int = PIECE) -> None:
    """Have all files read in one way; `piece` is the bytes of a piece."""
    large = 1 << 40 if way == "lines" else 1
    monkeypatch.setattr(file_reader, "LARGE", large)
    monkeypatch.setattr(file_reader, "LARGE_WITH_NUMBA", large)
    monkeypatch.setattr(streams, "PIECE", piece if way == "pieces" else 4 << 20)


def refused_everywhere(
    source: str, path: str | Path, *facts: str, order_by: str = "score", **fields: object
) -> InputError:
    """Check that every door refuses a file with the same error; return it."""
    doors: list[Callable[[], object]] = [
        lambda: read_run(path, order_by=order_by),
        lambda: evaluate({"q1": {"d1": 1}}, path, "RR", order_by=order_by),
    ]
    if source == "qrels":
        doors = [lambda: read_qrels(path), lambda: evaluate(path, {"q1": {"d1": 1.0}}, "RR")]
    fields = {"source": source, "path": str(path), **fields}
    errors = [refused(door, source, repr(str(path)), *facts, **fields) for door in doors]
    assert len({str(each) for each in errors}) == 1
    return errors[0]


@contextmanager
def piped_input(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have bytes come through a pipe on standard input."""
    reader, writer = os.pipe()

    def write() -> None:
        try:
            with os.fdopen(writer, "wb") as stream:
                stream.write(data)
        except BrokenPipeError:  # whoever refuses doesn't read to the end
            pass

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with os.fdopen(reader, "rb") as stream:
            monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
            yield
    finally:
        thread.join()

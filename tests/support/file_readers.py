"""The readers of files, and the entry points that read one."""

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
from irbatch.formats import parquet as parquet_files
from irbatch.formats import reader as file_reader
from irbatch.formats import streams
from irbatch.formats.bytes import parse_bytes, parse_lines
from support.input_errors import input_error

# The reader of lines; the byte parser on a file in one piece; and on pieces of few lines.
READERS = ("lines", "parser", "pieces")
PIECE, ROWS = 64, 3  # bytes of lines, rows of columns


def leave_to_lines(*_: object) -> None:
    """Parse nothing by bytes."""


def use_reader(reader: str, monkeypatch: pytest.MonkeyPatch, piece: int = PIECE) -> None:
    """Have all files read by one reader; `piece` is the bytes of a piece."""
    parse = leave_to_lines if reader == "lines" else parse_bytes
    monkeypatch.setattr(file_reader, "parse_bytes", parse)
    monkeypatch.setattr(parse_lines, "run_compiled", parse_lines.run)  # however little the work
    monkeypatch.setattr(streams, "PIECE", piece if reader == "pieces" else 4 << 20)
    monkeypatch.setattr(parquet_files, "BATCH", ROWS if reader == "pieces" else 1 << 18)


def refused_by_all(
    source: str, path: str | Path, *facts: str, order_by: str = "score", **fields: object
) -> InputError:
    """Check that all entry points refuse a file with the same error; return it."""
    entry_points: list[Callable[[], object]] = [
        lambda: read_run(path, order_by=order_by),
        lambda: evaluate({"q1": {"d1": 1}}, path, "RR", order_by=order_by),
    ]
    if source == "qrels":
        entry_points = [lambda: read_qrels(path), lambda: evaluate(path, {"q1": {"d1": 1.0}}, "RR")]
    fields = {"source": source, "path": str(path), **fields}
    errors = [input_error(each, source, repr(str(path)), *facts, **fields) for each in entry_points]
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
        except BrokenPipeError:  # an input that is refused is not read to its end
            pass

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with os.fdopen(reader, "rb") as stream:
            monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
            yield
    finally:
        thread.join()

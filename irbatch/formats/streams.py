"""Opening input: plain or compressed files, and standard input as ``-``."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from irbatch.errors import InputError

__all__ = ["numbered_lines", "open_input"]

MAGIC: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
BOM = b"\xef\xbb\xbf"

# What the readers of damaged archives raise.
ARCHIVE_ERRORS = (EOFError, gzip.BadGzipFile, lzma.LZMAError, OSError)


@contextmanager
def open_input(path: str | PathLike[str], source: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed if its first bytes say that it is compressed.

    Args:
        path: the file; exactly ``-`` is standard input.
        source: ``"qrels"`` or ``"run"``, for errors.

    Raises:
        InputError: for a file that cannot be read, is no text, or a format not supported.
    """
    name = str(path)
    try:
        raw = sys.stdin.buffer if name == "-" else Path(name).open("rb")  # noqa: SIM115
    except OSError as problem:
        raise InputError(f"{problem.strerror or problem}", source=source, path=name) from problem
    head = cast(io.BufferedReader, raw).peek(8)[:8]
    if head.startswith(ZSTD_MAGIC):
        raise InputError("is compressed with zstd: unpack it first", source=source, path=name)
    if head.startswith(UTF16_MARKS):
        raise InputError("is UTF-16 text; UTF-8 is expected", source=source, path=name)
    stream = cast(BinaryIO, raw)
    for magic, unpack in MAGIC.items():
        if head.startswith(magic):
            stream = unpack(raw)
    try:
        yield stream
    finally:
        if name != "-":
            stream.close()
            raw.close()


def numbered_lines(path: str | PathLike[str], source: str) -> Iterator[tuple[int, bytes]]:
    """Read a file's lines with their numbers from 1, without a byte order mark.

    Raises:
        InputError: as `open_input`, and when an archive is damaged or ends too early.
    """
    number = 0
    with open_input(path, source) as stream:
        try:
            for number, line in enumerate(stream, 1):
                yield number, line.removeprefix(BOM) if number == 1 else line
        except ARCHIVE_ERRORS as problem:
            raise InputError(
                f"cannot be read on after line {number}: {problem}", source=source, path=str(path)
            ) from problem

"""Opening input: plain or compressed files, and standard input as ``-``."""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from irbatch.errors import InputError

__all__ = ["numbered_lines", "open_input", "read_large"]

Content = TypeVar("Content")

# What archives begin with, and the modules that open them, loaded when one does.
ARCHIVES = {
    re.compile(rb"\x1f\x8b"): "gzip",
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): "bz2",
    re.compile(rb"\xfd7zXZ\x00"): "lzma",
}
REFUSED = {
    re.compile(rb"\x28\xb5\x2f\xfd"): "is compressed with zstd: unpack it first",
    re.compile(rb"\xff\xfe|\xfe\xff|\x00\x00\xfe\xff"): "is UTF-16 or UTF-32 text, not UTF-8",
}
PACKED = 4  # bytes that one of an archive makes, about
BOM = b"\xef\xbb\xbf"


@contextmanager
def open_input(path: str | PathLike[str], source: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed if its first bytes say that it is compressed.

    Args:
        path: the file; exactly ``-`` is standard input.
        source: ``"qrels"`` or ``"run"``, for errors.

    Raises:
        InputError: for a file that cannot be read, is no text, or a format not supported.
    """
    name = os.fspath(path)
    with ExitStack() as stack:
        raw = _open_raw(name, source, stack)
        head = cast(io.BufferedReader, raw).peek(16)
        for magic, refusal in REFUSED.items():
            if magic.match(head):
                raise InputError(refusal, source=source, path=name)
        for magic, unpack in ARCHIVES.items():
            if magic.match(head):
                raw = stack.enter_context(importlib.import_module(unpack).open(raw))
        yield raw


def _open_raw(name: str, source: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise InputError("there is no standard input", source=source, path=name)
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(name).open("rb"))
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the path
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{reason}", source=source, path=name) from problem


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
        except _archive_errors() as problem:
            raise InputError(
                f"cannot be read on: {problem}", source=source, path=os.fspath(path), line=number
            ) from problem


def read_large(
    path: str | PathLike[str],
    source: str,
    wanted: Callable[[int], bool],
    reader: Callable[[BinaryIO], Content | None],
) -> Content | None:
    """Have a large file read by a reader that may give it up.

    Args:
        path: the file.
        source: ``"qrels"`` or ``"run"``.
        wanted: from its size in bytes, of an archive about its contents', to whether it is large.
        reader: from its bytes, decompressed, to what they hold; None when it gives up.

    Returns:
        What the reader returned; None also for standard input, which cannot be read twice, and
        where something is wrong, which `numbered_lines` will say.
    """
    try:
        if os.fspath(path) == "-" or not Path(path).is_file():
            return None
    except (OSError, ValueError):  # too long a name, a NUL byte in it
        return None
    try:
        with open_input(path, source) as stream:
            packed = not isinstance(stream, io.BufferedReader)
            size = Path(path).stat().st_size * (PACKED if packed else 1)
            return reader(stream) if wanted(size) else None
    except (InputError, MemoryError):
        return None
    except _archive_errors():
        return None


def _archive_errors() -> tuple[type[Exception], ...]:
    """Return what the readers of damaged archives raise; asked for only once one has raised."""
    from lzma import LZMAError

    return EOFError, OSError, LZMAError, zlib.error

"""Opening input: plain or compressed files, and standard input as ``-``; cut at line ends."""

from __future__ import annotations

import io
import os
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from typing import Any, cast

from irbatch.errors import InputError, imported

PIECE = 4 << 20  # bytes read at once: larger pieces take more memory and no less time
PACKED = 1 << 17  # packed bytes read at once
LONGEST_LINE = 1 << 20  # bytes
LONGEST_QUERY = 256  # bytes of a line's first column that are looked at to cut between queries
# An archive that makes so many bytes of one, and so many in all, is made to fill memory and disks.
BOMB_RATIO, BOMB_BYTES = 200, 256 << 20

# What archives begin with, and the modules that open them, the first that is there.
BZIP2 = [b"BZh%d%s" % (n, block) for n in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")]
ARCHIVES = {
    (b"\x1f\x8b",): ("isal.igzip", "gzip"),
    tuple(BZIP2): ("bz2",),
    (b"\xfd7zXZ\x00",): ("lzma",),
    (b"\x28\xb5\x2f\xfd",): ("compression.zstd", "backports.zstd"),
}
DECOMPRESSORS = {"bz2": "BZ2Decompressor", "lzma": "LZMADecompressor"}  # see `_Streams`
UTF_16 = b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"
# No id has a control byte in it.
PARQUET = tuple(b"PAR1%c" % control for control in (*range(9), *range(14, 32)))
BOM = b"\xef\xbb\xbf"
HEAD = 16  # bytes that tell what a file is


_Opener = Callable[[io.BufferedIOBase], io.BufferedIOBase]


class Input:
    """A file that is being read, as often as is asked for; see `open_input`."""

    def __init__(self, path: str, source: str, raw: io.BufferedIOBase) -> None:
        self.path, self.source = path, source
        self._raw = raw
        try:
            if path == "-" or not raw.seekable():
                self._raw = raw = io.BytesIO(raw.read())  # a pipe, to be read again
            head = raw.read(HEAD)
            self.size = raw.seek(0, os.SEEK_END)  # its bytes, compressed as they are
        except (OSError, ValueError) as problem:  # ValueError: it is closed
            raise self._problem(f"cannot be read: {problem}") from problem
        if head.startswith(UTF_16):
            raise self._problem("is UTF-16 or UTF-32 text, not UTF-8")
        self.is_parquet = head.startswith(PARQUET)
        self._unpack = self._unpacker(head)

    @property
    def done(self) -> int:
        """How many of its bytes have been read."""
        return self._raw.tell()

    def content(self) -> bytes:
        """Read all of it, as it is."""
        self._raw.seek(0)
        return self._raw.read()

    def pieces(self) -> Iterator[bytearray]:
        """Read it from its beginning: some megabytes of whole lines at a time.

        Pieces end where the lines of a query do, if queries are the first column and stand
        together. Errors, of damaged archives or endless lines, count the line from behind the last
        piece.
        """
        try:
            self._raw.seek(0)
            stream = self._raw if self._unpack is None else self._unpack(self._raw)
        except OSError as problem:
            raise self._problem(f"cannot be read on: {problem}") from problem
        made, rest, ended = 0, bytearray(), False
        while not ended:
            # Read behind what the last piece left over: nothing is copied but that. Of a plain
            # file no more than is left, as making a piece of which little is filled takes long.
            left = self.size - self.done if self._unpack is None else PIECE
            room = min(PIECE, max(left, 0) + 1)
            piece = bytearray(len(rest) + room)
            piece[: len(rest)] = rest
            with memoryview(piece) as view:
                got, fault = self._fill(stream, view[len(rest) :])
            ended = got < room
            del piece[len(rest) + got :]
            made += got
            if self._unpack is not None and made > max(BOMB_BYTES, BOMB_RATIO * self.done):
                raise self._problem(f"makes {BOMB_RATIO} bytes of one: this archive is a trap")
            # Of a file, or of several that were put one after the other; one byte is soonest found.
            if BOM[:1] in piece and BOM in piece:
                piece = piece.removeprefix(BOM).replace(b"\n" + BOM, b"\n")
            end = piece.rfind(b"\n") + 1
            if len(piece) - end > LONGEST_LINE and fault is None:
                mebibytes = LONGEST_LINE >> 20
                fault = self._problem(f"a line goes on for more than {mebibytes} MiB", line=1)
            if fault is None:
                end = len(piece) if ended else _query_start(piece, end)
            rest = piece[end:]
            del piece[end:]
            if piece:
                yield piece
            if fault is not None:
                raise fault

    def counted_pieces(self) -> Iterator[bytearray]:
        """Read it as `pieces` does, with errors that name the lines of the file."""
        number = 0
        try:
            for piece in self.pieces():
                number += piece.count(b"\n")
                yield piece
        except InputError as problem:
            raise problem.with_fields(line=number + (problem.line or 0) or None) from None

    def _fill(self, stream: io.BufferedIOBase, room: memoryview) -> tuple[int, InputError | None]:
        """Fill a buffer with what is sound of an archive; return how much, and what is wrong."""
        got = 0
        try:
            while got < len(room) and (count := stream.readinto1(room[got:])):
                got += count
        except MemoryError:
            raise
        except Exception as problem:  # each library has its own for damaged archives
            return got, self._problem(f"cannot be read on: {problem}")
        return got, None

    def _unpacker(self, head: bytes) -> _Opener | None:
        for beginnings, modules in ARCHIVES.items():
            if head.startswith(beginnings):
                try:
                    module = imported("archives", "io", *modules)
                except ImportError:  # of the others one is Python's own
                    problem = "is compressed with zstd; to read it: pip install 'irbatch[io]'"
                    raise self._problem(problem) from None
                if module.__name__ in DECOMPRESSORS:
                    make = getattr(module, DECOMPRESSORS[module.__name__])
                    return lambda raw: _Streams(raw, make)
                return cast(_Opener, module.open)
        return None

    def _problem(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, source=self.source, path=self.path, line=line)


@contextmanager
def open_input(path: str | PathLike[str], source: str) -> Iterator[Input]:
    """Open a file, decompressed if its first bytes say so; exactly ``-`` is standard input."""
    name = os.fspath(path)
    with ExitStack() as stack:
        if name != "-":
            try:
                raw: io.BufferedIOBase = stack.enter_context(open(name, "rb"))  # noqa: PTH123 - pathlib takes 5 ms
            except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the path
                reason = getattr(problem, "strerror", None) or problem
                raise InputError(f"{reason}", source=source, path=name) from problem
        elif hasattr(sys.stdin, "buffer"):
            raw = cast(io.BufferedIOBase, sys.stdin.buffer)
        else:
            raise InputError("there is no standard input", source=source, path=name)
        yield Input(name, source, raw)


def numbered_lines(path: str | PathLike[str], source: str) -> Iterator[tuple[int, bytes]]:
    """Read a file's lines with their numbers from 1, without a byte order mark."""
    with open_input(path, source) as file:
        lines = (line for piece in file.counted_pieces() for line in io.BytesIO(piece))
        yield from enumerate(lines, 1)


class _Streams(io.BufferedIOBase):
    """Unpacks bzip2 and xz, of one stream or several, such as parallel packers make.

    Python's own readers end where a stream behind the first one is damaged, as if it weren't there.
    """

    def __init__(self, packed: io.BufferedIOBase, make: Callable[[], Any]) -> None:
        self._packed, self._make = packed, make
        self._stream = make()

    def read1(self, size: int = -1, /) -> bytes:
        """Unpack up to so many bytes; none at the end.

        Raises:
            EOFError: if the archive ends too early; or what its module raises if it is damaged.
        """
        while True:
            data = b""
            if self._stream.eof:  # zeros may stand between two
                data = self._stream.unused_data.lstrip(b"\0")
                while not data and (more := self._packed.read(PACKED)):
                    data = more.lstrip(b"\0")
                if not data:
                    return b""
                self._stream = self._make()
            elif self._stream.needs_input and not (data := self._packed.read(PACKED)):
                raise EOFError("it ends within a compressed stream")
            if unpacked := self._stream.decompress(data, size):
                return cast(bytes, unpacked)


def _query_start(piece: bytearray, end: int) -> int:
    """Return where the lines of the last query begin: its piece should have all of it.

    Lines of a query are taken to stand together. Where they don't, pieces are cut elsewhere; but
    never in their first half: what is left over must not grow from piece to piece.
    """
    high = piece.rfind(b"\n", 0, max(end - 1, 0)) + 1
    line = bytes(piece[high : high + LONGEST_QUERY])
    separator = next((sign for sign in (b"\t", b" ", b",") if sign in line), b"\n")
    last = line.split(separator, 1)[0]

    def is_last(place: int) -> bool:
        start = piece.rfind(b"\n", 0, place) + 1
        return bytes(piece[start : start + LONGEST_QUERY]).split(separator, 1)[0] == last

    begin = bisect_left(range(high), True, key=is_last)
    return begin if 2 * begin >= end else end

"""Opening input: plain or compressed files, and standard input as ``-``; cut at line ends."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from typing import Any, BinaryIO, cast

from irbatch.errors import InputError, imported

PIECE = 4 << 20  # bytes read at once: larger pieces take more memory and no less time
LONGEST_LINE = 1 << 20  # bytes
# An archive that makes so many bytes of one, and so many in all, is made to fill memory and disks.
BOMB_RATIO, BOMB_BYTES = 200, 256 << 20
# One that makes so many bytes of one says much the same again and again, perhaps of one document.
DENSE_RATIO = 32

# What archives begin with, and the modules that open them, the first that is there.
ARCHIVES = {
    re.compile(rb"\x1f\x8b"): ("isal.igzip", "gzip"),
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): ("bz2",),
    re.compile(rb"\xfd7zXZ\x00"): ("lzma",),
    re.compile(rb"\x28\xb5\x2f\xfd"): ("compression.zstd", "backports.zstd"),
}
DECOMPRESSORS = {"bz2": "BZ2Decompressor", "lzma": "LZMADecompressor"}  # see `JoinedStreams`
ERRORS = (  # of damaged archives, by module
    ("zlib", "error"),
    ("lzma", "LZMAError"),
    ("isal.isal_zlib", "IsalError"),
    ("compression.zstd", "ZstdError"),
    ("backports.zstd", "ZstdError"),
)
UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\x00\x00\xfe\xff")
PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")  # no id has a control byte in it
BOM = b"\xef\xbb\xbf"
HEAD = 16  # bytes that tell what a file is

_Opener = Callable[[BinaryIO], BinaryIO]


class Input:
    """A file that is being read, as often as is asked for; see `open_input`."""

    def __init__(self, path: str, source: str, raw: BinaryIO, stack: ExitStack) -> None:
        self.path, self.source = path, source
        self._stack = stack
        self._copy: BinaryIO | None = None
        # Where to end a piece: from the piece and the end of its last whole line to there.
        self.cut: Callable[[bytearray, int], int] = cut_at_lines
        self.spare: list[bytearray] = []  # pieces whose memory can be used again
        self.is_dense = False  # whether it is an archive that makes very many bytes of few
        try:
            self.again = path != "-" and raw.seekable()  # whether it can be read more than once
            self._raw: BinaryIO = raw if self.again else cast(BinaryIO, _Pipe(raw))
            head = self._raw.head if isinstance(self._raw, _Pipe) else raw.read(HEAD)
            # Its bytes, compressed as they are; 0 for a pipe.
            self.size = os.fstat(raw.fileno()).st_size if self.again else 0
        except (OSError, ValueError) as problem:  # ValueError: it is closed
            raise self._problem(f"cannot be read: {problem}") from problem
        if UTF_16.match(head):
            raise self._problem("is UTF-16 or UTF-32 text, not UTF-8")
        self.is_parquet = bool(PARQUET.match(head))
        self._unpack = self._unpacker(head)

    @property
    def done(self) -> int:
        """How many of its bytes have been read."""
        return self._raw.tell() if self.size else 0

    def content(self) -> bytes:
        """Read all of it, as it is."""
        return self._raw.read()

    def pieces(self) -> Iterator[bytearray]:
        """Read it from its beginning: some megabytes of whole lines at a time.

        Errors, of damaged archives or endless lines, count the line from behind the last piece.
        """
        try:
            stream = self._begin()
        except OSError as problem:
            raise self._problem(f"cannot be read on: {problem}") from problem
        made, rest = 0, bytearray()
        while True:
            # Read behind what the last piece left over: nothing is copied but that.
            piece = self._make_buffer(len(rest) + self._room(stream))
            piece[: len(rest)] = rest
            try:
                with memoryview(piece)[len(rest) :] as room:
                    got = self._read_into(stream, room)
            except InputError:
                if sound := rest[: rest.rfind(b"\n") + 1]:
                    yield sound
                raise
            del piece[len(rest) + got :]
            if not got:
                break
            made += got
            self._check_ratio(stream, made)
            if made == got and piece.startswith(BOM):
                del piece[: len(BOM)]
            end = piece.rfind(b"\n") + 1
            endless = len(piece) - end > LONGEST_LINE
            ended = stream is self._raw and 0 < self.size <= made  # then nothing needs to be kept
            cut = self.cut(piece, end) if end and not endless and not ended else end
            rest = piece[cut:]
            del piece[cut:]
            if piece:
                yield piece
            if endless:
                hint = "; are its line ends those of old Macs, CR alone?" if b"\r" in rest else ""
                mebibytes = LONGEST_LINE >> 20
                raise self._problem(f"a line goes on for more than {mebibytes} MiB{hint}", line=1)
        if rest:
            yield rest

    def counted_pieces(self) -> Iterator[bytearray]:
        """Read it as `pieces` does, with errors that name the lines of the file."""
        number = 0
        try:
            for piece in self.pieces():
                number += piece.count(b"\n")
                yield piece
        except InputError as problem:
            line = number + (problem.line or 0) or None
            raise problem.with_fields(line=line) from problem.__cause__

    def _make_buffer(self, size: int) -> bytearray:
        """Return a buffer, of `spare` ones if possible: fresh memory costs as much as reading."""
        while self.spare:
            buffer = self.spare.pop()
            with suppress(BufferError):  # some array is still a view of it, even if size is right
                buffer += bytes(max(size - len(buffer), 1))
                del buffer[size:]
                return buffer
        return bytearray(size)

    def _begin(self) -> BinaryIO:
        """Open it at its beginning; what cannot be read a second time will be kept on disk."""
        self._fault: Exception | None = None
        if self._copy is not None:
            self._copy.seek(0)
            return self._copy
        if self.again:
            self._raw.seek(0)
        else:
            import tempfile

            spooled = tempfile.SpooledTemporaryFile(8 * PIECE)  # noqa: SIM115 - closed with all
            self._copy = cast(BinaryIO, self._stack.enter_context(spooled))
        return self._unpack(self._raw)

    def _room(self, stream: BinaryIO) -> int:
        """Return how many bytes to read at once: of a file what is left, or some if it has grown.

        Making a piece of which little is filled takes a millisecond.
        """
        left = self.size - self.done if stream is self._raw and self.size else PIECE
        return min(PIECE, max(left, 1 << 12))

    def _read_into(self, stream: BinaryIO, room: memoryview) -> int:
        """Fill a buffer; what keeps it from being filled is raised when it is next asked for."""
        got = 0
        try:
            if self._fault is not None:
                raise self._fault
            if stream is self._raw or stream is self._copy:
                got = cast(io.BufferedIOBase, stream).readinto(room)
            else:  # an archive: what is sound of a damaged one is worth having
                while data := cast(io.BufferedIOBase, stream).read1(len(room) - got):
                    room[got : got + len(data)] = data
                    got += len(data)
        except _reading_errors() as problem:
            self._fault = problem.with_traceback(None)  # whose frames hold this and its memory
            if not got:
                raise self._problem(f"cannot be read on: {problem}") from problem
        if self._copy is not None and self._copy is not stream:
            with _naming_temporary_folder():
                self._copy.write(room[:got])
        return got

    def _check_ratio(self, stream: BinaryIO, made: int) -> None:
        """Notice an archive that makes very many bytes of few, and refuse it if it goes on so."""
        if stream is self._raw or stream is self._copy:
            return
        self.is_dense = made > DENSE_RATIO * self._raw.tell()
        if made > max(BOMB_BYTES, BOMB_RATIO * self._raw.tell()):
            raise self._problem(f"makes {BOMB_RATIO} bytes of one: this archive is a trap")

    def _unpacker(self, head: bytes) -> _Opener:
        """Return what opens the archive, if it is one."""
        for magic, modules in ARCHIVES.items():
            if magic.match(head):
                try:
                    module = imported("archives", "io", *modules)
                except ImportError:  # of the others one is Python's own
                    problem = "is compressed with zstd; to read it: pip install 'irbatch[io]'"
                    raise self._problem(problem) from None
                if module.__name__ in DECOMPRESSORS:
                    make = getattr(module, DECOMPRESSORS[module.__name__])
                    return lambda raw: cast(BinaryIO, JoinedStreams(raw, make))
                return cast(_Opener, module.open)
        return lambda raw: raw

    def _problem(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, source=self.source, path=self.path, line=line)


def cut_at_lines(piece: bytearray, end: int) -> int:
    """Cut pieces at the ends of their last whole lines, see `Input.cut`."""
    return end


class _Pipe(io.RawIOBase):
    """What can be read only once: its first bytes, `head`, are known and read once more."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.head = self._left = source.read(HEAD)
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        """Fill a buffer."""
        data = self._left[: len(room)] or self._source.read(len(room))
        self._left = self._left[len(room) :]
        room[: len(data)] = data
        self._count += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._count


@contextmanager
def open_input(path: str | PathLike[str], source: str) -> Iterator[Input]:
    """Open a file, decompressed if its first bytes say so; exactly ``-`` is standard input."""
    name = os.fspath(path)
    with ExitStack() as stack:
        yield Input(name, source, _open_raw(name, source, stack), stack)


def _open_raw(name: str, source: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise InputError("there is no standard input", source=source, path=name)
        return sys.stdin.buffer
    try:
        return stack.enter_context(open(name, "rb"))  # noqa: PTH123 - pathlib takes 5 ms to import
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the path
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{reason}", source=source, path=name) from problem


def numbered_lines(path: str | PathLike[str], source: str) -> Iterator[tuple[int, bytes]]:
    """Read a file's lines with their numbers from 1, without a byte order mark."""
    with open_input(path, source) as file:
        lines = (line for piece in file.counted_pieces() for line in io.BytesIO(piece))
        yield from enumerate(lines, 1)


@contextmanager
def _naming_temporary_folder() -> Iterator[None]:
    """Name the place in the error of a full disk, which names none."""
    try:
        yield
    except OSError as problem:
        import tempfile

        problem.filename = problem.filename or tempfile.gettempdir()
        raise


def _reading_errors() -> tuple[type[Exception], ...]:
    """Return what reading may raise, of the modules that are loaded."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in ERRORS)
    return EOFError, OSError, *filter(None, found)


READ = 1 << 17  # packed bytes read at once


class JoinedStreams:
    """Reads an archive of one stream or several.

    Python's own readers of bzip2 and xz end where a stream behind the first one is damaged, as if
    it weren't there.
    """

    def __init__(self, packed: BinaryIO, make: Callable[[], Any]) -> None:
        self._packed, self._make = packed, make
        self._stream = make()

    def read1(self, size: int) -> bytes:
        """Unpack up to so many bytes; none only at the end, or if none are asked for.

        Raises:
            EOFError: if the archive ends too early; or what its module raises if it is damaged.
        """
        while size:
            data = b""
            if self._stream.eof:
                data = self._next_stream()
                if not data:
                    return b""
                self._stream = self._make()
            elif self._stream.needs_input:
                data = self._packed.read(READ)
                if not data:
                    raise EOFError("it ends within a compressed stream")
            unpacked: bytes = self._stream.decompress(data, size)
            if unpacked:
                return unpacked
        return b""

    def _next_stream(self) -> bytes:
        """Return what follows a stream, without the zeros that may stand between two."""
        data: bytes = self._stream.unused_data.lstrip(b"\0")
        while not data:
            data = self._packed.read(READ)
            if not data:
                return b""
            data = data.lstrip(b"\0")
        return data

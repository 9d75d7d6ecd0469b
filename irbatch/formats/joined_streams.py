"""Archives of several streams, one behind the other, such as parallel packers make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

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

"""Files of which the n-th call to the system fails: whatever is opened, read or written."""

from __future__ import annotations

import errno
import io
import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from irbatch.formats import streams
from irbatch.runtime import files

BUFFER = 64  # bytes that are written or read at once


class Calls:
    """Counts the calls to the system, and lets one of them, or all from there on, fail."""

    def __init__(self, number: int = errno.EIO, at: int = 0, *, for_ever: bool = False) -> None:
        self._number, self._at, self._for_ever = number, at, for_ever
        self.names: list[str] = []

    def __call__(self, name: str) -> None:
        self.names.append(name)
        count = len(self.names)
        if count == self._at or (self._for_ever and 0 < self._at < count):
            raise OSError(self._number, os.strerror(self._number))

    @property
    def has_failed(self) -> bool:
        return 0 < self._at <= len(self.names)

    def of(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is counted before it is called."""

        def counted(*given: Any, **named: Any) -> Any:
            self(call.__name__)
            return call(*given, **named)

        return counted


class Source(io.FileIO):
    """A file to read of which each call is counted."""

    calls: Calls

    def readinto(self, room: Any) -> int:
        self.calls("read")
        return super().readinto(room) or 0

    def seek(self, *given: Any) -> int:
        self.calls("seek")
        return super().seek(*given)


class Target(io.FileIO):
    """A file to write of which each call is counted; it takes half of what it is given at once."""

    calls: Calls

    def write(self, data: Any) -> int:
        self.calls("write")
        with memoryview(data) as view, view[: max(BUFFER, len(view) // 2)] as half:
            return super().write(half) or 0

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open:
            self.calls("close")


def fail_writing(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files that irbatch writes fail."""

    class Output(Target):
        pass

    Output.calls = calls

    class Place(type(Path())):  # type: ignore[misc]
        chmod = calls.of(Path.chmod)
        replace = calls.of(Path.replace)

    def fdopen(handle: int, mode: str) -> BinaryIO:
        return io.BufferedWriter(Output(handle, mode), BUFFER)

    system = types.SimpleNamespace(**vars(os))
    system.open, system.fsync = calls.of(os.open), calls.of(os.fsync)
    system.fdopen = fdopen
    monkeypatch.setattr(files, "os", system)
    monkeypatch.setattr(files, "Path", Place)


def fail_reading(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files that irbatch reads fail."""

    class Input(Source):
        pass

    Input.calls = calls

    def opened(path: str, mode: str) -> BinaryIO:
        calls("open")
        return io.BufferedReader(Input(path, mode), BUFFER)

    monkeypatch.setattr(streams, "open", opened, raising=False)

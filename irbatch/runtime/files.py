"""Files, whole or not at all."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from irbatch.runtime.extras import imported


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file as UTF-8 in one step: readers see the old content or all of the new.

    Raises:
        OSError: as the system says; nothing is left behind then.
    """
    with replacing(path) as file:
        file.write(text.encode())


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return a text, and write it where a path is given, see `write_text`."""
    if path is not None:
        write_text(path, text)
    return text


@contextmanager
def replacing(path: str | os.PathLike[str], *, pack: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write in place of another, which it replaces when the block has ended well.

    With `pack`, what is written is compressed if the name ends in ``.gz``, ``.bz2``, ``.xz`` or
    ``.zst``. After any error nothing is left behind.
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}."[:200])
    except OSError as problem:  # which names the temporary file
        raise type(problem)(problem.errno, problem.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            with ExitStack() as stack:
                yield stack.enter_context(_packing(file, path.suffix)) if pack else file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _packing(file: BinaryIO, suffix: str) -> Any:
    """Open an archive to write to; without a name and a time the same makes the same archive."""
    if suffix == ".gz":
        return importlib.import_module("gzip").GzipFile("", "wb", 6, file, 0)
    if suffix == ".bz2":
        return importlib.import_module("bz2").BZ2File(file, "wb")
    if suffix == ".xz":
        return importlib.import_module("lzma").LZMAFile(file, "wb")
    if suffix == ".zst":
        return imported("zstd", "io", "compression.zstd", "backports.zstd").ZstdFile(file, "wb")
    return nullcontext(file)


def _mode(path: Path) -> int:
    """Return the permissions to give a file: those it has, or what a new one would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

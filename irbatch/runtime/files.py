"""Files, whole or not at all."""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from irbatch.errors import imported

O_BINARY = getattr(os, "O_BINARY", 0)  # on Windows


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return a text, and write it as UTF-8 where a path is given, see `replacing`."""
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode())
    return text


@contextmanager
def replacing(path: str | os.PathLike[str], *, pack: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write in place of another, which it replaces when the block has ended well.

    Where a link leads to, that is replaced; a device or a pipe is written to, when the block has
    ended well, and stays what it is. With `pack`, what is written is compressed if the name ends
    in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. Readers see the old content or all of the new; after
    any error, an OSError as the system says it, nothing is left behind.
    """
    try:
        with _written_to(path) if _is_special(path) else _written_beside(path) as file:
            with ExitStack() as stack:
                yield stack.enter_context(_packing(file, Path(path).suffix)) if pack else file
            file.flush()
    except OSError as problem:  # a full disk's names no file
        problem.filename = problem.filename or os.fspath(path)
        raise


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Tell whether what stands there is not a file that another could replace."""
    full = os.path.abspath(path)  # noqa: PTH100
    if full.startswith(("/dev/", "/proc/")) and not full.startswith("/dev/shm/"):  # noqa: S108
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except FileNotFoundError:
        return False


@contextmanager
def _written_to(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file whose content goes to what is at the path in the end."""
    import shutil
    import tempfile

    with tempfile.TemporaryFile() as file, Path(path).open("ab", buffering=0) as target:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, target)


@contextmanager
def _written_beside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file that takes the place of the one at the path in the end."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".irbatch-{os.urandom(8).hex()}")
    try:
        # With the permissions of the one replaced, from the first byte on, or of a new one.
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | O_BINARY, mode)
        with os.fdopen(handle, "wb") as file:
            yield file
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException as problem:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(problem, OSError) and problem.filename == os.fspath(temporary):
            raise type(problem)(problem.errno, problem.strerror, os.fspath(path)) from None
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
        zstd = imported("zstd", "io", "compression.zstd", "backports.zstd")
        return zstd.ZstdFile(file, "wb", options={zstd.CompressionParameter.checksum_flag: 1})
    return nullcontext(file)

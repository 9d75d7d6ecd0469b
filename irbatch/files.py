"""Files, whole or not at all."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["replacing", "write_text"]

# Of archives, by what their names end in: the module, and what its files are opened with. Without
# a name and a time the same content makes the same archive.
ARCHIVES: dict[str, tuple[str, str, dict[str, Any]]] = {
    ".gz": ("gzip", "GzipFile", {"filename": "", "mtime": 0, "compresslevel": 6}),
    ".bz2": ("bz2", "BZ2File", {}),
    ".xz": ("lzma", "LZMAFile", {}),
}


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file as UTF-8 in one step: readers see the old content or all of the new.

    Raises:
        OSError: as the system says; nothing is left behind then.
    """
    with replacing(path) as file:
        file.write(text.encode())


@contextmanager
def replacing(path: str | os.PathLike[str], *, pack: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write in place of another, which it replaces when the block has ended well.

    Args:
        path: the file.
        pack: compress what is written if the name ends in ``.gz``, ``.bz2`` or ``.xz``.

    Raises:
        OSError: as the system says; nothing is left behind then, as after any other error.
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}."[:200])
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


@contextmanager
def _packing(file: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    if suffix not in ARCHIVES:
        yield file
        return
    module, kind, options = ARCHIVES[suffix]
    # GzipFile takes the file as its third, the others as their first argument.
    place = {"fileobj" if module == "gzip" else "filename": file}
    with getattr(importlib.import_module(module), kind)(
        mode="wb", **{**options, **place}
    ) as packed:
        yield packed


def _mode(path: Path) -> int:
    """Return the permissions to give a file: those it has, or what a new one would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

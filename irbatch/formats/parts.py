"""The files of a folder or of a pattern of names, which hold one table together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, TypeGuard

from irbatch.errors import InputError

HIDDEN = "_", "."  # what names of files begin with that are no data, such as Spark's _SUCCESS
WILD = "*?["  # what tells patterns of names from names

Given = str | os.PathLike[str] | Any  # a path, a folder, a pattern, or a dataset of pyarrow


def is_file(given: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether judgments or rankings are to be read: from a path, or a dataset of pyarrow."""
    return isinstance(given, str | os.PathLike) or is_dataset(given)


def is_pattern(path: str) -> bool:
    """Tell whether a path is a pattern of names, and no name."""
    return any(each in path for each in WILD) and not os.path.lexists(path)


def is_dataset(given: object) -> bool:
    """Tell whether it is a dataset of pyarrow, without importing that."""
    return any(
        base.__name__ == "Dataset" and base.__module__ == "pyarrow._dataset"
        for base in type(given).__mro__
    )


def find_parts(given: Given, source: str) -> list[str] | None:
    """List the files below a folder, or of a pattern of names, in order; None of anything else.

    Raises:
        InputError: if there is none.
    """
    if is_dataset(given):
        return None
    path = os.fspath(given)
    if os.path.isdir(path):  # noqa: PTH112 - pathlib takes 5 ms to import
        found, problem = [path], "there are no files in this folder"
    elif is_pattern(path):
        import glob

        found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - as above
        problem = "there are no files of such names"
    else:
        return None
    parts = [
        part
        for each in found
        for part in (sorted(_below(each)) if os.path.isdir(each) else [each])  # noqa: PTH112
    ]
    if not parts:
        raise InputError(problem, source=source, path=path)
    return parts


def _below(folder: str) -> Iterator[str]:
    """Yield the files in a folder and in those below it, but for hidden ones."""
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(HIDDEN)]
        yield from (os.path.join(place, each) for each in names if not each.startswith(HIDDEN))  # noqa: PTH118

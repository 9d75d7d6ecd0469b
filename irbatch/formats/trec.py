"""Reading TREC files: judgments and runs, from small to large."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from os import PathLike
from typing import BinaryIO

from irbatch.formats.lines import QRELS, RUN, parse_table
from irbatch.formats.streams import Content, numbered_lines, read_large
from irbatch.qrels import Qrels
from irbatch.runs import Run

__all__ = ["read_large_run", "read_qrels", "read_run"]


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read judgments in TREC format: ``query iter document grade``.

    Args:
        path: a file, plain or compressed (gzip, bzip2, xz); ``-`` is standard input.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_qrels("examples/data/qrels.txt")  # doctest: +SKIP
    <Qrels 'examples/data/qrels.txt': 120 queries, 5731 judgments>
    """
    judgments, _ = parse_table(numbered_lines(path, QRELS.source), QRELS, os.fspath(path))
    return Qrels(judgments, os.fspath(path), borrowed=True)


def read_run(path: str | PathLike[str], name: str | None = None) -> Run:
    """Read a run in TREC format: ``query Q0 document rank score tag``.

    Args:
        path: a file, plain or compressed (gzip, bzip2, xz); ``-`` is standard input.
        name: what to call the run; default: its path.

    Returns:
        The run. That of a large file is kept as columns; its `rankings` read like a mapping, and
        make each query's dictionary when asked for it.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_run("examples/data/pca10.run", name="pca10")  # doctest: +SKIP
    <Run 'pca10': 116 queries>
    """
    rankings, tag = _read_run(path)
    return Run(rankings, name=name or os.fspath(path), tag=tag)


def read_large_run(
    path: str | PathLike[str], reader: Callable[[BinaryIO], Content | None]
) -> Content | None:
    """Have a run file read by a reader of large ones; None where it is small or gives it up."""
    from irbatch.formats.columns import worth_columns

    return read_large(path, RUN.source, worth_columns, reader)


def _read_run(path: str | PathLike[str]) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """Read a run: as columns where it is large and all is as it should be, else line by line."""
    from irbatch.formats.columns import read_run_columns

    found = read_large_run(path, read_run_columns)
    if found is not None:
        return found
    table, last = parse_table(numbered_lines(path, RUN.source), RUN, os.fspath(path))
    return table, last[RUN.width - 1].decode(errors="backslashreplace")

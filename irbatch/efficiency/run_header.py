"""Headers of run files: ir_metadata in comments before the first line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from irbatch.errors import InputError, shown
from irbatch.formats.streams import Input, open_input
from irbatch.runtime.files import replacing

if TYPE_CHECKING:
    from irbatch.efficiency.measuring import Measurement
    from irbatch.efficiency.record import EfficiencyRecord

__all__ = ["annotate_run", "read_header", "split_header"]

START, END = "# ir_metadata.start", "# ir_metadata.end"
FIRST = re.compile(rb"#[ \t]*ir_metadata\.start[ \t]*\r?(\n|\Z)")
LAST = re.compile(rb"#[ \t]*ir_metadata\.end\s*")
SOURCE = "run"


def read_header(path: str | PathLike[str]) -> str | None:
    r"""Read what the header of a run file says; `EfficiencyRecord.from_ir_metadata` reads it.

    The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022): lines that begin with
    ``#`` between ``# ir_metadata.start``, the first one, and ``# ir_metadata.end``.

    Args:
        path: a run, packed or not.

    Returns:
        YAML; None where there is no header.

    Raises:
        InputError: for a file that cannot be read, and naming the line where a header should
            have ended.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> lines = "# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\nq1 Q0 d1 1 9.5 bm25\n"
    >>> _ = path.write_text(lines)
    >>> read_header(path)
    'tag: bm25\n'
    """
    with open_input(path, SOURCE) as file:
        return None if file.is_parquet else split_header(file)[0]


def annotate_run(
    path: str | PathLike[str],
    record: EfficiencyRecord | Measurement,
    *,
    more: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> None:
    r"""Write a record into a run file, as its header; the run stays as it is.

    Lines that begin with ``#`` are comments to this library, trec_eval (its current source) and
    repro_eval.

    Args:
        path: a run; what is packed by its name (``.gz``, ``.bz2``, ``.xz``, ``.zst``) stays so. It
            is replaced whole or not at all, and never held in memory.
        record: what the system takes, or the measurement that has it.
        more: as for `EfficiencyRecord.to_ir_metadata`.
        replace: write the header in place of another.

    Raises:
        InputError: for what is no run that can have a header, or has one that isn't to be replaced.
        ImportError: naming the extra, when PyYAML is not installed.
        OSError: as the system says; the file is as it was then.

    >>> import tempfile, pathlib
    >>> from irbatch.efficiency import EfficiencyRecord
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d1 1 9.5 bm25\n")
    >>> annotate_run(path, EfficiencyRecord(system="bm25", throughput=812.5))
    >>> EfficiencyRecord.from_ir_metadata(path).throughput
    812.5
    """
    from irbatch.efficiency.ir_metadata import write_ir_metadata

    record = getattr(record, "record", record)  # of a measurement
    if not isinstance(path, str | PathLike) or not hasattr(record, "to_ir_metadata"):
        raise InputError(f"a run's path and a record are wanted, not {shown(path)} and a "
                         f"{type(record).__name__}", source=SOURCE, value=record)  # fmt: skip
    name = fspath(path)
    header = _commented(write_ir_metadata(cast("EfficiencyRecord", record), None, more))
    if name == "-" or (Path(name).exists() and not Path(name).is_file()):
        raise InputError("it is no file that can be replaced", source=SOURCE, path=name)
    with open_input(name, SOURCE) as file:
        if file.is_parquet:
            raise InputError("it is Parquet, which has no header", source=SOURCE, path=name)
        if split_header(file)[0] is not None and not replace:
            raise InputError("it has a header; replace=True replaces it", source=SOURCE, path=name)
    with replacing(name, pack=True) as new, open_input(name, SOURCE) as file:
        new.write(header)
        for piece in split_header(file)[1]:
            new.write(piece)


def split_header(file: Input) -> tuple[str | None, Iterator[bytearray]]:
    """Return the YAML of a header, None where there is none, and what follows, in pieces.

    Raises:
        InputError: for a header without an end.
    """
    pieces = _numbered(file)
    first = next(pieces, bytearray())
    if not FIRST.match(first):
        return None, chain([first], pieces)
    lines: list[bytes] = []
    number = 0
    for piece in chain([first], pieces):
        at = 0
        while at < len(piece):
            end = piece.find(b"\n", at) + 1 or len(piece)
            line = bytes(piece[at:end])
            at, number = end, number + 1
            if LAST.fullmatch(line):
                return _uncommented(file, lines[1:]), chain([piece[at:]], pieces)
            if not line.startswith(b"#"):
                raise _endless(file, number)
            lines.append(line)
    raise _endless(file, number)


def _endless(file: Input, line: int) -> InputError:
    return InputError(f"the header does not end: {END!r} is missing", source=file.source,
                      path=file.path, line=line)  # fmt: skip


def _numbered(file: Input) -> Iterator[bytearray]:
    """Read a file in pieces; errors name its lines, not those of a piece."""
    number = 0
    try:
        for piece in file.pieces():
            number += piece.count(b"\n")
            yield piece
    except InputError as problem:
        raise problem.placed(line=number + (problem.line or 0) or None) from problem.__cause__


def _commented(text: str) -> bytes:
    lines = (f"# {line}" for line in text.removesuffix("\n").split("\n"))
    return "\n".join([START, *lines, END, ""]).encode()


def _uncommented(file: Input, lines: list[bytes]) -> str:
    """Take the signs of comments away, and the space that stands behind all of them."""
    texts = []
    for number, line in enumerate(lines, 2):
        try:
            texts.append(line.decode()[1:].rstrip("\r\n") + "\n")
        except UnicodeDecodeError:
            raise InputError("it is not UTF-8", source=file.source, path=file.path,
                             line=number) from None  # fmt: skip
    spaced = all(text.startswith(" ") or not text.strip() for text in texts)
    return "".join(text.removeprefix(" ") if spaced else text for text in texts)

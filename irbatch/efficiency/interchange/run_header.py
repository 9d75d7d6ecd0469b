"""Headers of run files: ir_metadata in comments before the first line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain
from os import PathLike

from irbatch.errors import InputError
from irbatch.formats.streams import Input, open_input

START, END = "# ir_metadata.start", "# ir_metadata.end"
FIRST = re.compile(rb"#[ \t]*ir_metadata\.start[ \t]*\r?(\n|\Z)")
LAST = re.compile(rb"#[ \t]*ir_metadata\.end\s*")
SOURCE = "run"


def read_header(path: str | PathLike[str]) -> str | None:
    r"""Return the YAML in the header of a run file, packed or not; None where there is no header.

    The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022): lines that begin with
    ``#`` between ``# ir_metadata.start``, the first one, and ``# ir_metadata.end``. See
    `EfficiencyRecord.from_ir_metadata`.

    Raises:
        InputError: if the file cannot be read, or, naming the line, if the header has no end.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> lines = "# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\nq1 Q0 d1 1 9.5 bm25\n"
    >>> _ = path.write_text(lines)
    >>> read_header(path)
    'tag: bm25\n'
    """
    with open_input(path, SOURCE) as file:
        return None if file.is_parquet else split_header(file)[0]


def split_header(file: Input) -> tuple[str | None, Iterator[bytes | bytearray]]:
    """Return the YAML of a header, None where there is none, and what follows, in pieces."""
    pieces = file.counted_pieces()
    first = next(pieces, bytearray())
    if not FIRST.match(first):
        return None, chain([first], pieces)
    lines: list[bytes] = []
    for piece in chain([first], pieces):
        rest = io.BytesIO(piece)
        for line in rest:
            lines.append(line)
            if LAST.fullmatch(line):
                return _uncommented(file, lines[1:-1]), chain([rest.read()], pieces)
            if not line.startswith(b"#"):
                raise _endless(file, len(lines))
    raise _endless(file, len(lines))


def _endless(file: Input, line: int) -> InputError:
    problem = f"the header does not end: {END!r} is missing"
    return InputError(problem, source=file.source, path=file.path, line=line)


def _uncommented(file: Input, lines: list[bytes]) -> str:
    """Take away the ``#`` of all lines, and the space that stands behind each of them."""
    content = b"".join(line[1:].rstrip(b"\r\n") + b"\n" for line in lines)
    try:
        texts = content.decode().split("\n")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 2
        raise InputError("it is not UTF-8", source=file.source, path=file.path, line=line) from None
    spaced = all(text.startswith(" ") or not text.strip() for text in texts)
    return "\n".join(text.removeprefix(" ") if spaced else text for text in texts)

"""Lines that are in memory already, such as an open file's, to dictionaries.

The byte parser reads them where they are as they should be; else the reader of lines, which knows
every rule and names every problem.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irbatch.data.ids import TextColumn
from irbatch.errors import InputError, shown
from irbatch.formats.byte_kernels import GROUPS, NEWLINE, ROWS
from irbatch.formats.byte_parser import is_ready, parse_bytes
from irbatch.formats.forms import LineForm
from irbatch.formats.lines import parse_table
from irbatch.runtime.ragged import offsets_of

# Lines from which the byte parser is sooner done, loading its machine code included
# (benchmarks/test_line_lists.py).
MANY = 100

Lookup = dict[str, dict[str, Any]]


def read_lines(lines: Sequence[str | bytes], form: LineForm, *, whole: bool = False) -> Lookup:
    """Return query to document to value of some lines; values are ints if they are `whole`.

    Raises:
        InputError: if a line has another form, a value is not whole, or a query has the same
            document twice.
    """
    if len(lines) >= MANY and is_ready():
        text = _join(lines)
        table = None if text is None else _parse(text, form, whole)
        if table is not None:
            return table
    if not lines:
        return {}
    found = parse_table(_numbered(lines), form)
    return _as_whole(found, form) if whole else found


def _join(lines: Sequence[Any]) -> bytearray | None:
    """Return lines, all of one type, as one text; None if one of them is several, or no text."""
    try:
        if isinstance(lines[0], str):
            text = "".join(lines)
            if not text.isascii():
                return _join(list(map(str.encode, lines)))
            joined = text.encode()
        else:
            joined = b"".join(lines)
    except (TypeError, UnicodeEncodeError):
        return None
    ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == NEWLINE) + 1
    if not ends.size:
        return _join([line + (b"\n" if isinstance(line, bytes) else "\n") for line in lines])
    starts = offsets_of(np.fromiter(map(len, lines), np.int64, len(lines)))
    if not joined.endswith(b"\n"):
        ends = np.append(ends, len(joined))
    return bytearray(joined) if np.array_equal(ends, starts[1:]) else None


def _parse(text: bytearray, form: LineForm, whole: bool) -> Lookup | None:
    """Read text by the byte parser; None if that is for the reader of lines."""
    parsed = parse_bytes(text, form)
    if parsed is None:
        return None
    rows, groups = int(parsed.counts[ROWS]), parsed.groups[: parsed.counts[GROUPS]]
    numbers = parsed.values[:rows]
    if not rows or (whole and (numbers % 1 != 0).any()):
        return None
    values = (numbers.astype(np.int64) if whole else numbers).tolist()
    slices = parsed.starts[:rows], parsed.lengths[:rows]
    documents = TextColumn(np.frombuffer(text, np.uint8), *slices).tolist()
    firsts, begins, ends, _ = groups.T.tolist()
    lasts = [*firsts[1:], rows]
    table: Lookup = {}
    for first, last, begin, end in zip(firsts, lasts, begins, ends, strict=True):
        found = dict(zip(documents[first:last], values[first:last], strict=True))
        known = table.setdefault(text[begin:end].decode(), found)
        if known is not found:  # a query that comes back after another
            known.update(found)
    return table if sum(map(len, table.values())) == rows else None


def _numbered(lines: Sequence[str | bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str | bytes):
            raise InputError(f"{shown(line)} is not a line of text", line=number)
        yield number, line if isinstance(line, bytes) else line.encode(errors="surrogatepass")


def _as_whole(table: Lookup, form: LineForm) -> Lookup:
    for query, documents in table.items():
        for document, value in documents.items():
            if not value.is_integer():
                refuse = functools.partial(InputError, query=query, document=document, value=value)
                raise refuse(f"{form.value} {value} is not a whole number", source=form.source)
    return {query: {d: int(each) for d, each in row.items()} for query, row in table.items()}

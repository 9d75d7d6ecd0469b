"""The byte parser: lines of columns, as they should be, to arrays.

Anything else - another number of columns, a stray control byte - makes it give the piece back to
the reader of lines, which knows every rule and names every problem. So there is one set of rules,
and this is a faster way through its straight part.
"""

from __future__ import annotations

import numpy as np

import irbatch.formats.byte_kernels as kernels
from irbatch.errors import InputError
from irbatch.formats.byte_kernels import Layout, Parsed, parse_lines
from irbatch.formats.forms import LineForm
from irbatch.formats.lines import read_number
from irbatch.runtime.jit import as_input


def parse_bytes(text: bytes | bytearray, form: LineForm) -> Parsed | None:
    """Parse lines that hold what `form` says; None if any is for the reader of lines."""
    if not _is_plain(text, form):
        return None
    ended = text if text.endswith(b"\n") or not text else text + b"\n"
    data = as_input(np.frombuffer(ended, np.uint8))
    lines = np.count_nonzero(data == kernels.NEWLINE)
    at = form.query_at, form.document_at, form.value_at, form.rank_at, form.tag_at
    layout = Layout(form.width, *at)
    room = _make_room(data.size, int(lines), layout)
    rows = int(parse_lines.run(data.size, data, layout, room))
    if rows == kernels.GIVEN_UP or (room.counts[kernels.BEYOND_ASCII] and not _is_utf8(text)):
        return None
    parsed = room._replace(
        ids=room.ids[: room.counts[kernels.FILLED]],
        starts=room.starts[:rows],
        lengths=room.lengths[:rows],
        values=room.values[:rows],
        groups=room.groups[: room.counts[kernels.GROUPS]].copy(),
        unsure=room.unsure[: room.counts[kernels.UNSURE]].copy(),
    )
    return parsed if _convert(text, parsed, form) else None


def is_ready() -> bool:
    """Tell whether the parser's machine code is at hand, so that it is worth it for small files."""
    layout = Layout(*range(len(Layout._fields)))
    return parse_lines.is_ready(np.empty(0, np.uint8), layout, _make_room(0, 0, layout))


def _make_room(size: int, lines: int, layout: Layout) -> Parsed:
    """Make room for what is parsed; memory that is never written to is never there."""
    return Parsed(
        np.empty(size, np.uint8),
        np.empty(lines, np.int64),
        np.empty(lines, np.int32),
        np.empty(lines, np.float64),
        np.empty((lines, 4), np.int64),
        np.empty((lines, 3), np.int64),
        np.zeros(kernels.COUNTS, np.int64),
        np.empty((2, layout.width + 1), np.int64),
    )


def _is_plain(text: bytes | bytearray, form: LineForm) -> bool:
    """Tell whether spaces and tabs separate, and ``#`` comments, as the kernels have it."""
    if form.tabs:
        odd = b" ", b"#", b"\t\t", b"\n\t", b"\t\n", b"\t\r"
        ends = text.startswith(b"\t") or text.endswith(b"\t")
        return not ends and not any(each in text for each in odd)
    return form.keys is None


def _is_utf8(text: bytes | bytearray) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _convert(text: bytes | bytearray, parsed: Parsed, form: LineForm) -> bool:
    """Convert the values left to Python; tell whether all values are as `form` has them."""
    values = parsed.values
    try:
        for row, start, stop in parsed.unsure.tolist():
            values[row] = read_number(bytes(text[start:stop]), form)
    except InputError:
        return False
    if form.is_ranked and ((values < 0) | (values % 1 != 0)).any():
        return False
    return form.largest == np.inf or not (np.abs(values) >= form.largest).any()

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

TABS_FOR_COMMAS, COMMAS_FOR_TABS = bytes.maketrans(b",", b"\t"), bytes.maketrans(b"\t", b",")


def parse_bytes(text: bytearray, form: LineForm, room: Parsed | None = None) -> Parsed | None:
    """Parse lines that hold what `form` says; None if any is for the reader of lines.

    What is found stands in `room`, where that is large enough, or in new memory. Unless it is
    None, `text` has some bytes more at its end, and tabs for commas that separate.
    """
    if not _is_plain(text, form):
        return None
    size = len(text)
    if form.separator == b",":
        text[:] = text.translate(TABS_FOR_COMMAS)
    text += b"\n" * (kernels.SLACK + (size > 0 and not text.endswith(b"\n")))
    found = _parse(text, form, room)
    if found is None or not _convert(text, found, form):
        del text[size:]
        if form.separator == b",":
            text[:] = text.translate(COMMAS_FOR_TABS)
        return None
    return found


def _parse(text: bytearray, form: LineForm, room: Parsed | None) -> Parsed | None:
    size = len(text) - kernels.SLACK
    at = form.query_at, form.document_at, form.value_at, form.rank_at, form.tag_at
    layout = Layout(form.width, *at)
    most = size // (2 * form.width) + 1  # a column has a byte and one behind it
    if room is None or room.values.size < most or room.bounds.shape[1] != form.width + 1:
        room = _make_room(2 * most, form.width)  # the next text may be longer
    room.counts[:] = 0
    data = np.frombuffer(text, np.uint8)
    if parse_lines.run(size, data, size, layout, room) == kernels.GIVEN_UP:
        return None
    return None if room.counts[kernels.BEYOND_ASCII] and not _is_utf8(text) else room


def is_ready() -> bool:
    """Tell whether the parser's machine code is at hand, so that it is worth it for small files."""
    layout = Layout(*range(len(Layout._fields)))
    return parse_lines.is_ready(np.empty(0, np.uint8), 0, layout, _make_room(0, 1))


def _make_room(rows: int, width: int) -> Parsed:
    """Make room for what is parsed; memory that is never written to is never there."""
    return Parsed(
        np.empty(rows, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.float64),
        np.empty((rows, 4), np.int64),
        np.empty((rows, 3), np.int64),
        np.empty(kernels.COUNTS, np.int64),
        np.empty((2, width + 1), np.int64),
    )


def _is_plain(text: bytearray, form: LineForm) -> bool:
    """Tell whether spaces and tabs separate, and ``#`` comments, as the kernels have it."""
    if form.value_at < 0:
        return False
    if sign := form.separator:
        odd = [b" ", b"#", 2 * sign, b"\n" + sign, sign + b"\n", sign + b"\r"]
        if sign == b",":
            odd += [b"\t", b'"']
        ends = text.startswith(sign) or text.endswith(sign)
        return not ends and not any(each in text for each in odd)
    return form.keys is None


def _is_utf8(text: bytearray) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _convert(text: bytearray, parsed: Parsed, form: LineForm) -> bool:
    """Convert the values left to Python; tell whether all values are as `form` has them."""
    values = parsed.values[: parsed.counts[kernels.ROWS]]
    try:
        for row, start, stop in parsed.unsure[: parsed.counts[kernels.UNSURE]].tolist():
            values[row] = read_number(bytes(text[start:stop]), form)
    except InputError:
        return False
    if form.is_ranked and ((values < 0) | (values % 1 != 0)).any():
        return False
    return form.largest == np.inf or not (np.abs(values) >= form.largest).any()

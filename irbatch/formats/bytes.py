"""The byte parser: lines of columns, as they should be, to arrays or dictionaries.

Anything else - another number of columns, a stray control byte - makes it give the text back to
the reader of lines, which knows every rule and names every problem. So there is one set of rules,
and this is a faster way through its straight part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bytes, Floats, Ints, Ints2, NDArray
from irbatch.errors import InputError
from irbatch.formats.lines import LineForm, read_number
from irbatch.formats.streams import LONGEST_LINE
from irbatch.runtime.kernels import inlined_kernel, kernel
from irbatch.runtime.ragged import PLACES, load_word

NO_EXPONENT = 1 << 20
DIGITS, EXACT_DIGITS = 18, 15  # as many as int64 holds, and as float64 does
EXACT_POWERS = 22  # powers of ten up to this are exact in float64
POWERS = np.array([float(10**power) for power in range(EXACT_POWERS + 1)])
TENS = np.array([10**power for power in range(9)])

SPACE, PLUS, MINUS, POINT, ZERO, NINE = b" +-.09"
LOWER_E, UPPER_E = b"eE"

# Of each byte of a word: its lowest bit, its highest, and what others are compared with.
LOW_BITS, HIGH_BITS = 0x0101010101010101, -0x7F7F7F7F7F7F7F80
ABOVE_SPACE, ZEROS, ABOVE_NINE = 0x2121212121212121, 0x3030303030303030, 0x7676767676767676


@inlined_kernel
def _parse_plain(text: Bytes, at: int, guess: int) -> tuple[Any, int, int]:
    """Convert digits, perhaps with a point, of which so many are guessed to follow it.

    Returns the number, or NaN, how many do, and where they end.
    """
    whole, power, digits, at = _read_decimal(text, at, guess)
    if 0 < digits <= EXACT_DIGITS:
        return float(whole) / POWERS[-power & 15], -power, at
    return _scale(whole, power) if 0 < digits <= DIGITS else np.nan, -power, at


@inlined_kernel
def _read_decimal(text: Bytes, at: int, guess: int) -> tuple[int, int, int, int]:
    """Read digits, perhaps with a point: as whole * 10^power, how many they are, their end.

    What ends a column ends its digits, too: they need not be counted on the way.
    """
    first = at
    whole, at = _read_digits(text, at, 0)
    if text[at & PLACES] != POINT:
        return whole, 0, at - first, at
    point = at
    whole, at = _read_words(text, at + 1, whole, guess)
    return whole, point + 1 - at, at - first - 1, at


@kernel
def _read_words(text: Bytes, at: int, whole: int, guess: int) -> tuple[int, int]:
    """Do the same as `_read_digits`, eight at a time: behind a point there are mostly several."""
    count = 8
    while count == 8:
        word = load_word(text, at) - ZEROS  # digits are their values
        others = ((word + ABOVE_NINE) | word) & HIGH_BITS  # the lowest is right
        count = _count_below(others, guess) if others != 0 else 8
        if count > 0:
            # The first digit is the lowest byte: pairs of them, of their pairs, and of these.
            pairs = ((word << (64 - 8 * count)) & 0x0F0F0F0F0F0F0F0F) * 0xA01 >> 8
            fours = (pairs & 0x00FF00FF00FF00FF) * 0x640001 >> 16
            eight = ((fours & 0x0000FFFF0000FFFF) * 0x271000000001 >> 32) & 0xFFFFFFFF
            whole = whole * int(TENS[count & 15]) + eight
            at += count
    return whole, at


@kernel
def _count_below(marks: int, guess: int) -> int:
    """Return how many bytes are below the first one whose highest bit is marked.

    A processor does not wait for what is as guessed, up to its lowest three bits.
    """
    first, guess = marks & -marks, int(guess) & 7
    if first == 1 << (8 * guess + 7):
        return guess
    return (((((first - 1) & LOW_BITS) * LOW_BITS) >> 56) & 15) - 1


@kernel
def _read_digits(text: Bytes, at: int, whole: int) -> tuple[int, int]:
    """Append digits to a whole number; return it and where they end."""
    c = text[at & PLACES]
    while c >= ZERO and c <= NINE:
        whole = whole * 10 + (int(c) - ZERO)
        at += 1
        c = text[at & PLACES]
    return whole, at


@kernel
def parse_number(text: Bytes, start: int, stop: int) -> Any:
    """Convert a decimal number, correctly rounded; NaN where it isn't sure to be."""
    negative = text[start] == MINUS
    first = start + (negative or text[start] == PLUS)
    whole, power, digits, at = _read_decimal(text, first, 0)
    if digits == 0:
        return np.nan
    if digits > DIGITS:  # those in front that are zeros don't count
        while text[first] == ZERO or text[first] == POINT:
            digits -= text[first] == ZERO
            first += 1
    if digits > DIGITS:
        return np.nan
    if at < stop:
        exponent = _parse_exponent(text, at, stop)
        if exponent == NO_EXPONENT:
            return np.nan
        power += exponent
    value = _scale(whole, power)
    return -value if negative else value


@kernel
def _parse_exponent(text: Bytes, start: int, stop: int) -> int:
    """Convert ``e-05`` and the like; NO_EXPONENT where it is not one, or long."""
    at = start + 1
    down = at < stop and text[at] == MINUS
    if down or (at < stop and text[at] == PLUS):
        at += 1
    if (text[start] != LOWER_E and text[start] != UPPER_E) or at == stop or stop - at > 4:
        return NO_EXPONENT
    exponent = 0
    while at < stop:
        if text[at] < ZERO or text[at] > NINE:
            return NO_EXPONENT
        exponent = exponent * 10 + (int(text[at]) - ZERO)
        at += 1
    return -exponent if down else exponent


@kernel
def _scale(whole: int, power: int) -> Any:
    """Return whole * 10^power, correctly rounded; NaN where it isn't sure to be."""
    if whole == 0:
        return 0.0
    if power > EXACT_POWERS or power < -EXACT_POWERS:
        return np.nan
    high = float(whole)
    if whole <= 9007199254740992:
        return high * POWERS[power] if power >= 0 else high / POWERS[-power]
    if power > 0:
        return np.nan
    # The quotient in two parts: of what float64 holds of the number, and of what that leaves.
    divisor = POWERS[-power]
    low = float(whole - int(high))
    quotient = high / divisor
    # Dekker's product: quotient * divisor = product + error, exactly.
    product = quotient * divisor
    split = 134217729.0 * quotient
    quotient_high = split - (split - quotient)
    quotient_low = quotient - quotient_high
    split = 134217729.0 * divisor
    divisor_high = split - (split - divisor)
    divisor_low = divisor - divisor_high
    error = quotient_low * divisor_low - (
        ((product - quotient_high * divisor_high) - quotient_low * divisor_high)
        - quotient_high * divisor_low
    )
    correction = ((high - product) - error + low) / divisor
    value = quotient + correction
    left = (quotient - value) + correction
    # Near the middle between two numbers, what was lost in the correction could decide.
    if value + left * 1.000001 != value:
        return np.nan
    return value


NEWLINE, RETURN, TAB, HASH = b"\n\r\t#"

BYTES_A_CELL = 12  # of work: compiling the parser pays from 24 MB on, loading it from 6 KB
GIVEN_UP = -1
CONTROL = -1  # a line with a control byte
SLACK = 8  # bytes behind a text that may be loaded


class Layout(NamedTuple):
    """How many columns a line has, and where they stand, from 0; -1 for those it has not."""

    width: int
    query: int
    document: int
    value: int
    tag: int


class Parsed(NamedTuple):
    """What the parser found in a piece of a file; numbers are int64."""

    starts: Ints  # (rows,), where in the text each row's document begins, and how long it is
    lengths: NDArray[np.int32]
    values: Floats
    # (groups, 3), of consecutive rows with one query: the first row, and where its query begins and
    # ends in the text.
    groups: Ints2
    unsure: Ints2  # (n, 3): row, begin and end of each value that is for Python to convert
    n_groups: Ints  # (1,), as the next three
    n_unsure: Ints
    lines: Ints  # data or not
    beyond_ascii: Ints  # not 0 if an id is not ASCII
    tag: Ints  # (2,): where that of the last line begins and ends


class Last(NamedTuple):
    """What the parser remembers of the last row: each int64 ``(2,)``, a begin and a size."""

    query: Ints
    head: Ints  # what stands in its line in front of the document
    tail: Ints  # and behind the last column that mostly is another one in the next line
    begins: Ints  # (width + 1,): where the columns of a line begin and end, and one too many
    ends: Ints


@kernel
def parse_lines(text: Bytes, size: int, layout: Layout, found: Parsed, last: Last) -> int:
    """Parse lines, `SLACK` bytes behind them; return the rows, or GIVEN_UP at the first odd line.

    Most lines are like the one before: what stands in front of the document, and behind the last
    column that varies, is the same. They are gone through in a loop of their own.
    """
    rows, at = 0, 0
    while at < size:
        at, rows = _parse_line(text, at, rows, layout, found, last)
        if at == GIVEN_UP:
            return GIVEN_UP
        if last.head[1] > 0:
            at, rows = _parse_alike(text, size, at, rows, layout, found, last)
    return rows


@kernel
def _parse_alike(
    text: Bytes, size: int, at: int, rows: int, layout: Layout, found: Parsed, last: Last
) -> tuple[int, int]:
    """Parse lines as long as they are plain and like the last one; return where, and the rows."""
    head, head_size = last.head[0], last.head[1]
    tail, tail_size = last.tail[0], last.tail[1]
    head_last, head_mask = _last_word(head_size)
    tail_last, tail_mask = _last_word(tail_size)
    between, behind = layout.value - layout.document - 1, layout.tag - layout.value - 1
    blank = text[head + head_size - 1]
    minus = text[last.begins[layout.value]] == MINUS
    last_line, last_tail, longest = size - head_size, size - tail_size, LONGEST_LINE - tail_size
    first_row, line, all_bytes, length, gap, places = rows, at, 0, 1, 1, 0
    while line <= last_line and not _unlike(text, line, head, head_last, head_mask):
        start = line + head_size
        length, seen = _measure(text, start, length)
        all_bytes |= seen
        at, gap = _pass_columns(text, start + length, between, blank, gap)
        if length == 0 or text[at & PLACES] != blank or (text[at + 1 & PLACES] == MINUS) != minus:
            break
        value, places, at = _parse_plain(text, at + 1 + minus, places)
        at, gap = _pass_columns(text, at, behind, blank, gap)
        if value != value or at > last_tail or at - line > longest:
            break
        if _unlike(text, at, tail, tail_last, tail_mask):
            break
        row = rows & PLACES
        found.starts[row], found.lengths[row] = start, length
        found.values[row] = -value if minus else value
        rows += 1
        line = at + tail_size
    found.beyond_ascii[0] |= all_bytes
    found.lines[0] += rows - first_row
    return line, rows


@inlined_kernel
def _unlike(text: Bytes, at: int, other: int, last: int, mask: int) -> int:
    """Return a number that is not 0 if bytes are others; see `_last_word`."""
    unlike: int = (load_word(text, at + last) ^ load_word(text, other + last)) & mask
    i = 0
    while i < last and unlike == 0:
        unlike = load_word(text, at + i) ^ load_word(text, other + i)
        i += 8
    return unlike


@inlined_kernel
def _pass_columns(text: Bytes, at: int, columns: int, blank: int, size: int) -> tuple[int, int]:
    """Return where so many more columns end, and the last one's size; the text's end if odd."""
    for _ in range(columns):
        if text[at & PLACES] != blank:
            return text.size - 1, 1
        size, _ = _measure(text, at + 1, size)
        if size == 0:
            return text.size - 1, 1
        at += 1 + size
    return at, size


@kernel
def _measure(text: Bytes, start: int, guess: int) -> tuple[int, int]:
    """Return how many bytes a column has, up to the first space or below; and all highest bits."""
    at, seen, stops = start, 0, 0
    while stops == 0:
        word = load_word(text, at)
        seen |= word & HIGH_BITS
        stops = (word - ABOVE_SPACE) & ~word & HIGH_BITS  # the lowest is right
        at += 8
    at -= start + 8
    return at + _count_below(stops, guess), seen


@kernel
def _parse_line(
    text: Bytes, line: int, rows: int, layout: Layout, found: Parsed, last: Last
) -> tuple[int, int]:
    """Parse one line by all the rules; return where it ends, or GIVEN_UP, and the rows."""
    begins, ends = last.begins, last.ends
    width, at = _split_line(text, line, begins, ends)
    found.lines[0] += 1
    if width == CONTROL or at - line > LONGEST_LINE:
        return GIVEN_UP, rows
    marked = width > 0 and text[begins[0]] == HASH
    if width == 0 or (marked and (ends[0] - begins[0] == 1 or width < layout.width)):
        return at, rows  # blank, or a comment
    if width != layout.width:
        return GIVEN_UP, rows
    value = parse_number(text, begins[layout.value], ends[layout.value])
    if value != value:
        if marked:
            return GIVEN_UP, rows
        unsure, n = found.unsure, found.n_unsure[0]  # for Python to convert
        unsure[n, 0], unsure[n, 1], unsure[n, 2] = rows, begins[layout.value], ends[layout.value]
        found.n_unsure[0] += 1
    query, size = begins[layout.query], ends[layout.query] - begins[layout.query]
    last_word, mask = _last_word(size)
    if size != last.query[1] or _unlike(text, query, last.query[0], last_word, mask):
        last.query[0], last.query[1] = query, size
        groups, n = found.groups, found.n_groups[0]
        groups[n, 0], groups[n, 1], groups[n, 2] = rows, query, ends[layout.query]
        found.n_groups[0] += 1
        for i in range(query, ends[layout.query]):
            found.beyond_ascii[0] |= text[i] >> 7
    document = begins[layout.document]
    found.starts[rows], found.lengths[rows] = document, ends[layout.document] - document
    found.values[rows] = value
    for i in range(document, ends[layout.document]):
        found.beyond_ascii[0] |= text[i] >> 7
    if layout.query < layout.document < layout.value:
        tail = ends[layout.tag - 1 if layout.tag > layout.value else layout.value]
        last.head[0], last.head[1] = line, document - line
        last.tail[0], last.tail[1] = tail, at - tail
    if layout.tag >= 0:
        found.tag[0], found.tag[1] = begins[layout.tag], ends[layout.tag]
    return at, rows + 1


@kernel
def _last_word(size: int) -> tuple[int, int]:
    """Return where the last word of some bytes begins, and a mask of what of it is theirs."""
    last = (size - 1) & -8
    left = size - last
    return last, -1 if left == 8 else (1 << (8 * left)) - 1


@kernel
def _split_line(text: Bytes, at: int, begins: Ints, ends: Ints) -> tuple[int, int]:
    """Write where the columns of a line begin and end; return their number and where it ends.

    Of more columns than there should be that is one more; CONTROL where there is a control byte.
    """
    width = begins.size - 1
    found = 0
    more = 0
    c = text[at]  # loaded once: an array's element costs more than its arithmetic
    while c != NEWLINE:
        if c > SPACE:
            begins[found] = at
            while c > SPACE:
                at += 1
                c = text[at]
            ends[found] = at
            found = min(found + 1, width)
            more += found == width
            continue
        if c != SPACE and c != TAB and not (c == RETURN and text[at + 1] == NEWLINE):
            return CONTROL, text.size
        at += 1
        c = text[at]
    return found if more < 2 else width + 1, at + 1


TABS_FOR_COMMAS, COMMAS_FOR_TABS = bytes.maketrans(b",", b"\t"), bytes.maketrans(b"\t", b",")


def parse_bytes(text: bytearray, form: LineForm) -> Parsed | None:
    """Parse lines that hold what `form` says; None if any, or so few, are for the reader of lines.

    Unless it is None, `text` has some bytes more at its end, and tabs for commas that separate.
    """
    if not _is_plain(text, form):
        return None
    size = len(text)
    if form.separator == b",":
        text[:] = text.translate(TABS_FOR_COMMAS)
    text += b"\n" * (SLACK + (size > 0 and not text.endswith(b"\n")))
    parsed = _parse(text, form)
    if parsed is None or not _convert(text, parsed, form):
        del text[size:]
        if form.separator == b",":
            text[:] = text.translate(COMMAS_FOR_TABS)
        return None
    return parsed


def _parse(text: bytearray, form: LineForm) -> Parsed | None:
    size = len(text) - SLACK
    at = form.query_at, form.document_at, form.value_at, form.tag_at
    # A column has a byte and one behind it; twice the room keeps the memory from call to call.
    parsed, last = _make_room(size // form.width + 1, form.width)
    data = np.frombuffer(text, np.uint8)
    work = size // BYTES_A_CELL
    rows = parse_lines.run_compiled(work, data, size, Layout(form.width, *at), parsed, last)
    if rows is None or rows == GIVEN_UP:
        return None
    return parsed._replace(
        starts=parsed.starts[:rows],
        lengths=parsed.lengths[:rows],
        values=parsed.values[:rows],
        groups=parsed.groups[: parsed.n_groups[0]],
        unsure=parsed.unsure[: parsed.n_unsure[0]],
    )


def _make_room(rows: int, width: int) -> tuple[Parsed, Last]:
    """Make room for what is parsed; memory that is never written to is never there."""
    parsed = Parsed(
        np.empty(rows, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.float64),
        *np.empty((2, rows, 3), np.int64),
        *np.zeros((4, 1), np.int64),
        *np.zeros((1, 2), np.int64),
    )
    query, head, tail = np.zeros((3, 2), np.int64)
    begins, ends = np.zeros((2, width + 1), np.int64)
    return parsed, Last(query, head, tail, begins, ends)


def _is_plain(text: bytearray, form: LineForm) -> bool:
    """Tell whether spaces and tabs separate, and ``#`` comments, as the kernels have it."""
    if form.value_at < 0:
        return False
    if sign := form.separator:
        odd = [b" ", b"#", 2 * sign, b"\n" + sign, sign + b"\n", sign + b"\r"]
        if sign == b",":
            odd += [b"\t", b'"']
        ends = text.startswith(sign) or text.endswith(sign)
        return not ends and not any(pattern in text for pattern in odd)
    return form.keys is None


def _convert(text: bytearray, parsed: Parsed, form: LineForm) -> bool:
    """Convert values left to Python; tell whether they are as `form` says, and all is UTF-8."""
    values = parsed.values
    try:
        if parsed.beyond_ascii[0]:
            text.decode()
        for row, start, stop in parsed.unsure.tolist():
            values[row] = read_number(bytes(text[start:stop]), form)
    except (InputError, UnicodeDecodeError):
        return False
    if form.is_ranked and ((values < 0) | (values % 1 != 0)).any():
        return False
    return form.largest == np.inf or not (np.abs(values) >= form.largest).any()

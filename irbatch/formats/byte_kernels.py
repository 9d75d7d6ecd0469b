"""The kernels of the byte parser: lines of columns, as they should be, to arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Ints
from irbatch.formats.streams import LONGEST_LINE
from irbatch.runtime.jit import kernel

# What the parser counts, and where tags begin and end: the first one, another one, the last one.
GROUPS, BEYOND_ASCII, UNSURE, FILLED, LINES, FRACTIONS = range(6)
TAG, TAG_END, OTHER_TAG, OTHER_TAG_END, LAST_TAG, LAST_TAG_END = range(6, 12)
COUNTS = 12

GIVEN_UP = -1
CONTROL = -1  # a line with a control byte
UNKNOWN = -1  # a rank that is not a whole number
# How ranks and scores contradict each other: a line has a lower rank than the one before and scores
# higher; or, looked for in the second line only, the other way round.
LOWER, REVERSED = 1, 2
NO_EXPONENT = 1 << 20
DIGITS = 18  # as many as int64 holds
EXACT_POWERS = 22  # powers of ten up to this are exact in float64
POWERS = np.array([float(10**power) for power in range(EXACT_POWERS + 1)])

NEWLINE, RETURN, TAB, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE = b"\n\r\t #+-.09"
LOWER_E, UPPER_E = b"eE"


class Layout(NamedTuple):
    """How many columns a line has, and where they stand, from 0; -1 for those it has not."""

    width: int
    query: int
    document: int
    value: int
    rank: int
    tag: int


class Parsed(NamedTuple):
    """What the parser found in a piece of a file."""

    ids: Bytes  # of documents, one after the other
    starts: Ints  # (rows,), where in `ids` each row's is, as the next; and the row's value
    lengths: npt.NDArray[np.int32]
    values: Floats
    # (groups, 4), of consecutive rows with one query: the first row, where its query begins and
    # ends in the text, and how ranks and values contradict each other, or 0.
    groups: Ints
    unsure: Ints  # (n, 3): row, begin and end of each value that is for Python to convert
    counts: Ints  # (COUNTS,), numbers of what else there is
    bounds: Ints  # (2, width + 1), room for where a line's columns begin and end, and one too many


@kernel
def parse_lines(text: Bytes, layout: Layout, found: Parsed) -> int:
    """Parse lines; return the number of rows, or GIVEN_UP at the first odd line."""
    counts = found.counts
    begins, ends = found.bounds
    rows, filled, at = 0, 0, 0
    all_bytes = 0  # of ids, combined
    query_start, query_stop, second = 0, -1, 0  # of the group: its query, and its second row
    last_value, rank_start, rank_stop = np.inf, 0, 0  # of the row before
    while at < text.size:
        line = at
        width, at = _split_line(text, at, begins, ends)
        counts[LINES] += 1
        if width == CONTROL or at - line > LONGEST_LINE:
            return GIVEN_UP
        marked = width > 0 and text[begins[0]] == HASH
        if width == 0 or (marked and (ends[0] - begins[0] == 1 or width < layout.width)):
            continue  # blank, or a comment
        if width != layout.width:
            return GIVEN_UP
        value = _parse_number(text, begins[layout.value], ends[layout.value])
        if value != value:
            if marked:
                return GIVEN_UP
            _add_unsure(rows, begins[layout.value], ends[layout.value], found)
        if not _same(text, begins[layout.query], ends[layout.query], query_start, query_stop):
            query_start, query_stop, second = begins[layout.query], ends[layout.query], rows + 1
            _begin_group(text, rows, begins, ends, layout, found)
            for i in range(query_start, query_stop):
                all_bytes |= text[i]
        elif layout.rank >= 0 and (value > last_value or rows == second):
            rank = _parse_rank(text, begins[layout.rank], ends[layout.rank])
            last_rank = _parse_rank(text, rank_start, rank_stop)
            if last_rank != UNKNOWN and rank > last_rank and value > last_value:
                found.groups[counts[GROUPS] - 1, 3] = LOWER
            elif rank != UNKNOWN and rank < last_rank and value < last_value:
                found.groups[counts[GROUPS] - 1, 3] = REVERSED
        last_value, rank_start, rank_stop = value, begins[layout.rank], ends[layout.rank]
        start = begins[layout.document]
        length = ends[layout.document] - start
        found.starts[rows], found.lengths[rows], found.values[rows] = filled, length, value
        for i in range(length):
            c = text[start + i]
            found.ids[filled + i] = c
            all_bytes |= c
        filled += length
        rows += 1
        counts[LAST_TAG], counts[LAST_TAG_END] = begins[layout.tag], ends[layout.tag]
    counts[FILLED], counts[BEYOND_ASCII] = filled, all_bytes >> 7
    return rows


@kernel
def _split_line(text: Bytes, at: int, begins: Ints, ends: Ints) -> tuple[int, int]:
    """Write where the columns of a line begin and end; return their number and where it ends.

    The number is one more than there should be for a line with more, and CONTROL for one with a
    control byte.
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


@kernel
def _add_unsure(row: int, start: int, stop: int, found: Parsed) -> None:
    """Note a value that Python has to convert."""
    n = found.counts[UNSURE]
    found.unsure[n, 0], found.unsure[n, 1], found.unsure[n, 2] = row, start, stop
    found.counts[UNSURE] += 1


@kernel
def _begin_group(
    text: Bytes, row: int, begins: Ints, ends: Ints, layout: Layout, found: Parsed
) -> None:
    """Note a group and look at its first line, whose rank and tag stand for those of the others."""
    groups, counts = found.groups, found.counts
    n = counts[GROUPS]
    groups[n, 0], groups[n, 1], groups[n, 2] = row, begins[layout.query], ends[layout.query]
    groups[n, 3] = 0
    counts[GROUPS] += 1
    if layout.rank >= 0:
        for i in range(begins[layout.rank], ends[layout.rank]):
            if text[i] == POINT:
                counts[FRACTIONS] += 1
                break
    if layout.tag >= 0:
        start, stop = begins[layout.tag], ends[layout.tag]
        if counts[TAG_END] == 0:
            counts[TAG], counts[TAG_END] = start, stop
        elif not _same(text, start, stop, counts[TAG], counts[TAG_END]):
            counts[OTHER_TAG], counts[OTHER_TAG_END] = start, stop


@kernel
def _same(text: Bytes, start: int, stop: int, other: int, other_stop: int) -> bool:
    """Tell whether two slices hold the same bytes."""
    if stop - start != other_stop - other:
        return False
    for i in range(stop - start):  # noqa: SIM110 - kernels have no generators
        if text[start + i] != text[other + i]:
            return False
    return True


@kernel
def _parse_rank(text: Bytes, start: int, stop: int) -> int:
    """Convert a whole number; UNKNOWN where it is not one, or long."""
    if stop - start > DIGITS - 1:
        return UNKNOWN
    rank = 0
    for i in range(start, stop):
        if text[i] < ZERO or text[i] > NINE:
            return UNKNOWN
        rank = rank * 10 + (int(text[i]) - ZERO)
    return rank


@kernel
def _parse_number(text: Bytes, start: int, stop: int) -> Any:
    """Convert a decimal number, correctly rounded; NaN where it isn't sure to be.

    What ends a column ends its digits, too: they need not be counted on the way.
    """
    at = start
    c = text[at]
    negative = c == MINUS
    if negative or c == PLUS:
        at += 1
        c = text[at]
    first = at
    whole = 0
    while c >= ZERO and c <= NINE:
        whole = whole * 10 + (int(c) - ZERO)
        at += 1
        c = text[at]
    digits = at - first
    power = 0
    if c == POINT:
        at += 1
        c = text[at]
        while c >= ZERO and c <= NINE:
            whole = whole * 10 + (int(c) - ZERO)
            power -= 1
            at += 1
            c = text[at]
        digits -= power
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

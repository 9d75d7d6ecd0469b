"""The byte parser: lines of columns, as they should be, to arrays.

Anything else - another number of columns, a stray control byte - makes it give the piece back to
the reader of lines, which knows every rule and names every problem. So there is one set of rules,
and this is a faster way through its straight part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Ints
from irbatch.formats.forms import Form
from irbatch.formats.streams import LONGEST_LINE
from irbatch.runtime.jit import as_input, kernel

__all__ = ["Parsed"]

GROUP = 4  # numbers kept of each run of lines with one query
UNSURE = 3  # numbers kept of each value that Python has to convert

# What the parser counts.
GROUPS, BEYOND_ASCII, UNSURES, FILLED, LINES, FRACTIONS = range(6)
TAG, TAG_END, OTHER_TAG, OTHER_TAG_END, LAST_TAG, LAST_TAG_END = range(6, 12)
COUNTS = 12

GIVEN_UP = -1
CONTROL = -1  # a line with a control byte
UNKNOWN = -1  # a rank that is no whole number
# How ranks and scores contradict each other: a line has a lower rank than the one before and scores
# higher; or, looked for in the second line only, the other way round.
LOWER, REVERSED = 1, 2
NO_EXPONENT = 1 << 20
DIGITS = 18  # as many as int64 holds
EXACT_POWERS = 22  # powers of ten up to this are exact in float64

NEWLINE, RETURN, TAB, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE = b"\n\r\t #+-.09"
LOWER_E, UPPER_E = b"eE"

Lengths = npt.NDArray[np.int32]

POWERS = np.array([float(10**power) for power in range(EXACT_POWERS + 1)])


class Parsed:
    """What the parser found in a piece of a file.

    Args:
        text: the bytes.
        form: what the lines hold.

    Attributes:
        rows: how many lines of data there are; `GIVEN_UP` where one of them is odd.
        ids: uint8, the document ids one after the other.
        starts, lengths, values: where in `ids` each row's is, and the row's value.
        groups: int64 ``(runs, 4)``, of each run of lines with one query: the first row, where its
            id begins and ends, and how ranks and values contradict each other in it, or 0.
        unsure: int64 ``(n, 3)``, the row, and where it begins and ends, of each value that is for
            Python to convert.
        counts: numbers of what else there is.
    """

    def __init__(self, text: bytes | bytearray, form: Form) -> None:
        text = text if text.endswith(b"\n") or not text else text + b"\n"
        data = as_input(np.frombuffer(text, np.uint8))
        most = np.count_nonzero(data == NEWLINE)
        # Memory that is never written to is never there.
        ids, starts = np.empty(data.size, np.uint8), np.empty(most, np.int64)
        lengths, values = np.empty(most, np.int32), np.empty(most)
        groups, unsure = np.empty(GROUP * most, np.int64), np.empty(UNSURE * most, np.int64)
        counts = np.zeros(COUNTS, np.int64)
        layout = np.array([form.width, form.query_at, form.document_at, form.value_at,
                           form.rank_at, form.tag_at])  # fmt: skip
        self.rows = int(
            _parse_lines.run(
                data.size, data, layout, POWERS, ids, starts, lengths, values, groups, unsure,
                counts,
            )
        )  # fmt: skip
        self.counts: list[int] = counts.tolist()
        rows = max(self.rows, 0)
        self.ids = ids[: self.counts[FILLED]]
        self.starts, self.lengths, self.values = starts[:rows], lengths[:rows], values[:rows]
        self.groups = groups[: GROUP * self.counts[GROUPS]].reshape(-1, GROUP).copy()
        self.unsure = unsure[: UNSURE * self.counts[UNSURES]].reshape(-1, UNSURE).copy()


@kernel
def _parse_lines(
    text: Bytes, layout: Ints, powers: Floats, ids: Bytes, starts: Ints, lengths: Lengths,
    values: Floats, groups: Ints, unsure: Ints, counts: Ints,
) -> int:  # fmt: skip
    """Parse lines; return the number of rows, or GIVEN_UP at the first odd line."""
    width, query_at, document_at, value_at = layout[0], layout[1], layout[2], layout[3]
    rank_at, tag_at = layout[4], layout[5]
    columns = np.empty(2 * width + 2, np.int64)  # where each column of a line begins and ends
    rows = 0
    group_start, group_length = 0, -1
    second = 0  # the second row of a group
    last_value = np.inf
    rank_start, rank_stop = 0, 0
    filled = 0
    high = 0  # all bytes of ids, combined
    at = 0
    while at < text.size:
        begin = at
        found, at = _split_line(text, at, width, columns)
        counts[LINES] += 1
        if found == CONTROL or at - begin > LONGEST_LINE:
            return GIVEN_UP
        if found == 0:
            continue
        marked = text[columns[0]] == HASH
        if marked and (columns[1] - columns[0] == 1 or found < width):
            continue  # a comment
        if found != width:
            return GIVEN_UP
        start, stop = columns[2 * value_at], columns[2 * value_at + 1]
        value = _parse_number(text, start, stop, powers)
        if value != value:
            if marked:
                return GIVEN_UP
            n = UNSURE * counts[UNSURES]
            unsure[n], unsure[n + 1], unsure[n + 2] = rows, start, stop
            counts[UNSURES] += 1
        start, stop = columns[2 * query_at], columns[2 * query_at + 1]
        if not _same(text, start, stop - start, group_start, group_length):
            group_start, group_length = start, stop - start
            n = GROUP * counts[GROUPS]
            groups[n], groups[n + 1], groups[n + 2], groups[n + 3] = rows, start, stop, 0
            counts[GROUPS] += 1
            second = rows + 1
            _look_at_first(text, columns, rank_at, tag_at, counts)
            for i in range(start, stop):
                high |= text[i]
        elif rank_at >= 0 and (value > last_value or rows == second):
            rank = _parse_rank(text, columns[2 * rank_at], columns[2 * rank_at + 1])
            other = _parse_rank(text, rank_start, rank_stop)
            if other != UNKNOWN and rank > other and value > last_value:
                groups[GROUP * counts[GROUPS] - 1] = LOWER
            elif rank != UNKNOWN and rank < other and value < last_value:
                groups[GROUP * counts[GROUPS] - 1] = REVERSED
        last_value = value
        rank_start, rank_stop = columns[2 * rank_at], columns[2 * rank_at + 1]
        start, stop = columns[2 * document_at], columns[2 * document_at + 1]
        starts[rows], lengths[rows], values[rows] = filled, stop - start, value
        for i in range(stop - start):
            c = text[start + i]
            ids[filled + i] = c
            high |= c
        filled += stop - start
        rows += 1
        counts[LAST_TAG], counts[LAST_TAG_END] = columns[2 * tag_at], columns[2 * tag_at + 1]
    counts[FILLED], counts[BEYOND_ASCII] = filled, high >> 7
    return rows


@kernel
def _look_at_first(text: Bytes, columns: Ints, rank_at: int, tag_at: int, counts: Ints) -> None:
    """Look at rank and tag of a query's first line, which stand for those of the others."""
    if rank_at >= 0:
        for i in range(columns[2 * rank_at], columns[2 * rank_at + 1]):
            if text[i] == POINT:
                counts[FRACTIONS] += 1
                break
    if tag_at >= 0:
        start, stop = columns[2 * tag_at], columns[2 * tag_at + 1]
        if counts[TAG_END] == 0:
            counts[TAG], counts[TAG_END] = start, stop
        elif not _same(text, start, stop - start, counts[TAG], counts[TAG_END] - counts[TAG]):
            counts[OTHER_TAG], counts[OTHER_TAG_END] = start, stop


@kernel
def _split_line(text: Bytes, at: int, width: int, columns: Ints) -> tuple[int, int]:
    """Write where the columns of a line begin and end; return their number and where it ends.

    The number is one more than the width for a line with more, and CONTROL for one with a control
    byte.
    """
    found = 0
    more = 0
    c = text[at]  # loaded once: an array's element costs more than its arithmetic
    while c != NEWLINE:
        if c > SPACE:
            columns[2 * found] = at
            while c > SPACE:
                at += 1
                c = text[at]
            columns[2 * found + 1] = at
            found = min(found + 1, width)  # columns has room for one too many
            more += found == width
            continue
        if c != SPACE and c != TAB and not (c == RETURN and text[at + 1] == NEWLINE):
            return CONTROL, text.size
        at += 1
        c = text[at]
    return found if more < 2 else width + 1, at + 1


@kernel
def _same(text: Bytes, start: int, length: int, other: int, other_length: int) -> bool:
    """Tell whether two slices hold the same bytes."""
    if length != other_length:
        return False
    for i in range(length):  # noqa: SIM110 - kernels have no generators
        if text[start + i] != text[other + i]:
            return False
    return True


@kernel
def _parse_rank(text: Bytes, start: int, stop: int) -> int:
    """Convert a whole number; UNKNOWN where it is none, or a long one."""
    if stop - start > DIGITS - 1:
        return UNKNOWN
    rank = 0
    for i in range(start, stop):
        if text[i] < ZERO or text[i] > NINE:
            return UNKNOWN
        rank = rank * 10 + (int(text[i]) - ZERO)
    return rank


@kernel
def _parse_number(text: Bytes, start: int, stop: int, powers: Floats) -> Any:
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
    value = _scale(whole, power, powers)
    return -value if negative else value


@kernel
def _parse_exponent(text: Bytes, start: int, stop: int) -> int:
    """Convert ``e-05`` and the like; NO_EXPONENT where it is none, or a long one."""
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
def _scale(whole: int, power: int, powers: Floats) -> Any:
    """Return whole * 10^power, correctly rounded; NaN where it isn't sure to be."""
    if whole == 0:
        return 0.0
    if power > EXACT_POWERS or power < -EXACT_POWERS:
        return np.nan
    high = float(whole)
    if whole <= 9007199254740992:
        return high * powers[power] if power >= 0 else high / powers[-power]
    if power > 0:
        return np.nan
    # The quotient in two parts: of what float64 holds of the number, and of what that leaves.
    divisor = powers[-power]
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

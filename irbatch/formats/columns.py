"""Reading a large run file as columns: a byte parser for lines that are as they should be.

Anything else - another number of columns, a stray control byte, a comment - makes it give the file
back to the reader of lines, which knows every rule and names every problem. So
there is one set of rules, and this is a faster way through its straight part.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.formats.lines import RUN, read_number
from irbatch.jit import kernel
from irbatch.text_rankings import TextRankings
from irbatch.threads import map_ranges

__all__ = ["parse_run_columns", "worth_columns"]

# Bytes from which the parser is worth loading; fewer once Numba is there. Reading lines in Python
# takes about 30 ns a byte (benchmarks/test_files.py).
LARGE = 24 << 20
LARGE_WITH_NUMBA = 2 << 20

SHORTEST = 12  # bytes of the shortest line of a run, its end included
PIECE = 16 << 20  # bytes parsed at once

GIVEN_UP = -1
NO_EXPONENT = 1 << 20
DIGITS = 18  # as many as int64 holds
EXACT_POWERS = 22  # powers of ten up to this are exact in float64

NEWLINE, RETURN, TAB, SPACE, HASH, PLUS, COMMA, MINUS, POINT, ZERO, NINE = b"\n\r\t #+,-.09"
LOWER_E, UPPER_E = b"eE"
MARK = 0xEF  # a byte order mark begins with it
WIDTH = 6  # columns

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

POWERS = np.array([float(10**power) for power in range(EXACT_POWERS + 1)])


def worth_columns(size: int) -> bool:
    """Tell whether a file of so many bytes is read sooner by the byte parser."""
    return size >= (LARGE_WITH_NUMBA if "numba" in sys.modules else LARGE)


def parse_run_columns(data: bytes) -> tuple[TextRankings, str] | None:
    """Parse a whole run file.

    Args:
        data: its bytes, decompressed.

    Returns:
        The rankings, and the tag of the last line; None where the reader of lines must say what
        there is.
    """
    text = np.frombuffer(data, np.uint8)
    cuts = _cut_at_lines(data)
    pieces: list[_Piece | None] = [None] * (len(cuts) - 1)

    def parse(first: int, last: int) -> None:
        for i in range(first, last):
            pieces[i] = _Piece.parse(text, cuts[i], cuts[i + 1])

    map_ranges(parse, len(pieces), cells=text.size)
    parsed = [each for each in pieces if each is not None]
    if len(parsed) < len(pieces):
        return None
    try:
        if any(each.beyond_ascii for each in parsed):
            str(text.data, "utf-8")
        return _assemble(text, parsed)
    except UnicodeDecodeError:
        return None


def _cut_at_lines(data: bytes) -> list[int]:
    """Cut into pieces of whole lines."""
    cuts = [0]
    while cuts[-1] < len(data):
        after = data.find(b"\n", min(cuts[-1] + PIECE, len(data)))
        cuts.append(after + 1 if after >= 0 else len(data))
    return cuts


class _Piece:
    """What the parser found in some lines of the file."""

    def __init__(
        self, rows: int, groups: int, counts: Ints, columns: tuple[npt.NDArray[Any], ...]
    ) -> None:
        starts, lengths, scores, group_rows, group_starts, group_lengths, unsure = columns
        self.starts = starts[:rows].copy()
        self.lengths = lengths[:rows].copy()
        self.scores = scores[:rows].copy()
        self.group_rows = group_rows[:groups].copy()
        self.group_starts = group_starts[:groups].tolist()
        self.group_lengths = group_lengths[:groups].tolist()
        self.beyond_ascii = bool(counts[1])
        self.tag = slice(int(counts[2]), int(counts[3]))
        self.unsure = unsure[: 3 * counts[4]].reshape(-1, 3).tolist()

    @classmethod
    def parse(cls, text: Bytes, start: int, stop: int) -> _Piece | None:
        """Parse the lines between two places; None where one of them is odd."""
        most = (stop - start) // SHORTEST + 1
        # Memory that is never written to is never there.
        columns = (
            np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most),
            np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64),
            np.empty(3 * most, np.int64),
        )  # fmt: skip
        counts = np.zeros(5, np.int64)
        rows = _parse_lines.run(stop - start, text, start, stop, POWERS, *columns, counts)
        if rows == GIVEN_UP:
            return None
        piece = cls(rows, int(counts[0]), counts, columns)
        try:
            for row, first, last in piece.unsure:
                piece.scores[row] = read_number(text[first:last].tobytes(), RUN)
        except InputError:
            return None
        return piece


def _assemble(text: Bytes, pieces: list[_Piece]) -> tuple[TextRankings, str] | None:
    """Join pieces, and the parts of queries that come in several."""
    pieces = [each for each in pieces if each.starts.size]
    if not pieces:
        return None
    offsets = np.cumsum([0, *(each.starts.size for each in pieces)])
    begins = np.concatenate(
        [each.group_rows + offset for each, offset in zip(pieces, offsets[:-1], strict=True)]
    )
    places: dict[str, int] = {}
    owners = np.array(
        [
            places.setdefault(str(text.data[start : start + length], "utf-8"), len(places))
            for each in pieces
            for start, length in zip(each.group_starts, each.group_lengths, strict=True)
        ]
    )
    sizes = np.diff(np.append(begins, offsets[-1]))
    names = ("starts", "lengths", "scores")
    columns = [np.concatenate([getattr(each, name) for each in pieces]) for name in names]
    if (np.diff(owners) < 0).any():  # a query comes back after another
        order = np.argsort(np.repeat(owners, sizes), kind="stable")
        columns = [each[order] for each in columns]
    bounds = np.zeros(len(places) + 1, np.int64)
    np.cumsum(np.bincount(owners, sizes, len(places)).astype(np.int64), out=bounds[1:])
    tag = str(text.data[pieces[-1].tag], "utf-8")
    rankings = TextRankings(text, places, bounds, *columns)
    return None if rankings.repeats else (rankings, tag)


@kernel
def _parse_lines(
    text: Bytes, start: int, stop: int, powers: Floats,
    starts: Ints, lengths: npt.NDArray[np.int32], scores: Floats,
    group_rows: Ints, group_starts: Ints, group_lengths: Ints, unsure: Ints, counts: Ints,
) -> int:  # fmt: skip
    """Parse lines of six columns; return their number, or GIVEN_UP at the first odd one.

    `unsure` gets row, start and end of each score that Python has to convert. `counts` gets the
    number of groups, whether an id goes beyond ASCII, where the last tag is, and how many scores
    are unsure.
    """
    rows = 0
    groups = 0
    doubts = 0
    group_start = 0
    group_length = -1
    at = start
    columns = np.empty(2 * WIDTH, np.int64)  # where each column of a line begins and ends
    while at < stop:
        found, at = _split_line(text, at, stop, columns)
        if found == 0:
            continue
        if found != WIDTH or text[columns[0]] == HASH or text[columns[0]] == MARK:
            return GIVEN_UP
        length = columns[1] - columns[0]
        if length != group_length or not _same(text, columns[0], group_start, length):
            group_start = columns[0]
            group_length = length
            group_rows[groups] = rows
            group_starts[groups] = group_start
            group_lengths[groups] = length
            groups += 1
            for i in range(columns[0], columns[1]):
                counts[1] |= text[i] >> 7
        starts[rows] = columns[4]
        lengths[rows] = columns[5] - columns[4]
        scores[rows] = _parse_number(text, columns[8], columns[9], powers)
        if scores[rows] != scores[rows]:
            unsure[3 * doubts] = rows
            unsure[3 * doubts + 1] = columns[8]
            unsure[3 * doubts + 2] = columns[9]
            doubts += 1
        rows += 1
        for i in range(columns[4], columns[5]):
            counts[1] |= text[i] >> 7
        counts[2] = columns[10]
        counts[3] = columns[11]
    counts[0] = groups
    counts[4] = doubts
    return rows


@kernel
def _split_line(text: Bytes, at: int, stop: int, columns: Ints) -> tuple[int, int]:
    """Write where the columns of a line begin and end; return their number and where it ends.

    The number is 7 for a line with more than six, or with a control byte.
    """
    found = 0
    while at < stop and text[at] != NEWLINE:
        if text[at] == SPACE or text[at] == TAB:
            at += 1
            continue
        if text[at] < SPACE or found == WIDTH:
            ends = text[at] == RETURN and (at + 1 == stop or text[at + 1] == NEWLINE)
            if not ends:
                return WIDTH + 1, stop
            at += 1
            continue
        columns[2 * found] = at
        while at < stop and text[at] > SPACE:
            at += 1
        columns[2 * found + 1] = at
        found += 1
    return found, at + 1


@kernel
def _same(text: Bytes, start: int, other: int, length: int) -> bool:
    """Tell whether two slices of one length hold the same bytes."""
    for i in range(length):  # noqa: SIM110 - kernels have no generators
        if text[start + i] != text[other + i]:
            return False
    return True


@kernel
def _parse_number(text: Bytes, start: int, stop: int, powers: Floats) -> Any:
    """Convert a decimal number, correctly rounded; NaN where it isn't sure to be."""
    at = start
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    whole = 0
    digits = 0
    seen = 0
    power = 0
    point = False
    while at < stop:
        c = text[at]
        if c >= ZERO and c <= NINE:
            seen += 1
            if whole > 0 or c != ZERO:
                digits += 1
            if digits > DIGITS:
                return np.nan
            whole = whole * 10 + (int(c) - ZERO)
            power -= point
        elif c == POINT and not point:
            point = True
        else:
            break
        at += 1
    if seen == 0:
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

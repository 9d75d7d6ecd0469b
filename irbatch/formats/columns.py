"""Reading a large run file as columns: a byte parser for lines that are as they should be.

Anything else - another number of columns, a stray control byte, a comment - makes it give the file
back to the reader of lines, which knows every rule and names every problem. So there is one set of
rules, and this is a faster way through its straight part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.formats.lines import RUN, read_number
from irbatch.jit import kernel
from irbatch.text_rankings import TextRankings
from irbatch.threads import map_items

__all__ = ["UnevenRunError", "read_run_columns", "stream_run_columns", "worth_columns"]

# Bytes from which the parser is worth loading; fewer once Numba is there. Reading lines in Python
# takes about 30 ns a byte (benchmarks/test_files.py).
LARGE = 24 << 20
LARGE_WITH_NUMBA = 2 << 20

SHORTEST = 12  # bytes of the shortest line of a run, its end included
PIECE = 4 << 20  # bytes parsed at once: larger ones take more memory and no less time

GIVEN_UP = -1
NO_EXPONENT = 1 << 20
DIGITS = 18  # as many as int64 holds
EXACT_POWERS = 22  # powers of ten up to this are exact in float64

NEWLINE, RETURN, TAB, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE = b"\n\r\t #+-.09"
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


def read_run_columns(stream: BinaryIO) -> tuple[TextRankings, str] | None:
    """Read a whole run, some megabytes at a time.

    Args:
        stream: its bytes, decompressed.

    Returns:
        The rankings, and the tag of the last line; None where the reader of lines must say what
        there is.
    """
    try:
        pieces = list(_parse_pieces(stream))
        return (_assemble(pieces), pieces[-1].tag) if pieces else None
    except UnevenRunError:
        return None


class UnevenRunError(ValueError):
    """A run that cannot be read in one go: an odd line, or a query or document that returns."""


def stream_run_columns(stream: BinaryIO) -> Iterator[TextRankings]:
    """Read a run some megabytes at a time, and yield the queries that are complete.

    Args:
        stream: its bytes, decompressed.

    Yields:
        Rankings of some queries; each query once.

    Raises:
        UnevenRunError: where the run has to be read whole.
    """
    seen: set[str] = set()
    held: list[_Piece] = []  # of one query, which may go on
    for piece in _parse_pieces(stream):
        if held and piece.queries == held[0].queries:
            held.append(piece)
            continue
        head, tail = piece.split()
        done = [each for each in (*held, head) if each.starts.size]
        if done:
            yield _complete(done, seen)
        held = [tail]
    if held:
        yield _complete(held, seen)


def _complete(pieces: list[_Piece], seen: set[str]) -> TextRankings:
    """Assemble complete queries; none of them may have been seen before."""
    rankings = _assemble(pieces)
    if not seen.isdisjoint(rankings):
        raise UnevenRunError
    seen.update(rankings)
    return rankings


def _parse_pieces(stream: BinaryIO) -> Iterator[_Piece]:
    """Parse a stream; raise `UnevenRunError` at an odd line."""
    return (each for each in map_items(_Piece.parse, _whole_lines(stream)) if each.starts.size)


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Cut a stream into pieces of whole lines."""
    rest = b""
    while data := stream.read(PIECE):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
    if rest:
        yield rest


@dataclass(frozen=True, eq=False)
class _Piece:
    """What the parser found in some lines.

    Attributes:
        ids: uint8, the document ids one after the other.
        starts, lengths, scores: where in `ids` each row's is, and the row's score.
        queries, first_rows: the queries in turn, and the first row of each.
        tag: the last line's.
    """

    ids: Bytes
    starts: Ints
    lengths: npt.NDArray[np.int32]
    scores: Floats
    queries: list[str]
    first_rows: Ints
    tag: str

    @classmethod
    def parse(cls, lines: bytes) -> _Piece:
        """Parse whole lines; raise `UnevenRunError` where one of them is odd."""
        text = np.frombuffer(lines, np.uint8)
        most = text.size // SHORTEST + 1
        # Memory that is never written to is never there.
        ids, starts = np.empty(text.size, np.uint8), np.empty(most, np.int64)
        lengths, scores = np.empty(most, np.int32), np.empty(most)
        groups, unsure = np.empty(3 * most, np.int64), np.empty(3 * most, np.int64)
        counts = np.zeros(6, np.int64)
        rows = _parse_lines.run(
            text.size, text, POWERS, ids, starts, lengths, scores, groups, unsure, counts
        )
        if rows == GIVEN_UP:
            raise UnevenRunError
        n_groups, beyond_ascii, first, last, n_unsure, filled = counts.tolist()
        found = groups[: 3 * n_groups].reshape(-1, 3)
        try:
            if beyond_ascii:
                lines.decode()
            for row, start, stop in unsure[: 3 * n_unsure].reshape(-1, 3).tolist():
                scores[row] = read_number(lines[start:stop], RUN)
        except (InputError, UnicodeDecodeError) as problem:
            raise UnevenRunError from problem
        return cls(
            ids[:filled].copy(),
            starts[:rows].copy(),
            lengths[:rows].copy(),
            scores[:rows].copy(),
            [lines[start:stop].decode() for _, start, stop in found.tolist()],
            found[:, 0].copy(),
            lines[first:last].decode(errors="backslashreplace"),
        )

    def split(self) -> tuple[_Piece, _Piece]:
        """Part the last query from those before it."""
        row = int(self.first_rows[-1])
        at = int(self.starts[row])
        head = _Piece(
            self.ids[:at], self.starts[:row], self.lengths[:row], self.scores[:row],
            self.queries[:-1], self.first_rows[:-1], self.tag,
        )  # fmt: skip
        tail = _Piece(
            self.ids[at:], self.starts[row:] - at, self.lengths[row:], self.scores[row:],
            self.queries[-1:], np.zeros(1, np.int64), self.tag,
        )  # fmt: skip
        return head, tail


def _assemble(pieces: list[_Piece]) -> TextRankings:
    """Join pieces, and the parts of queries that come in several.

    Raises:
        UnevenRunError: when a query has a document twice.
    """
    rows = np.cumsum([0, *(each.starts.size for each in pieces)])
    ids = np.cumsum([0, *(each.ids.size for each in pieces)])
    first_rows = np.concatenate([e.first_rows + row for e, row in zip(pieces, rows, strict=False)])
    starts = np.concatenate([e.starts + at for e, at in zip(pieces, ids, strict=False)])
    columns = [starts, *(np.concatenate([getattr(each, name) for each in pieces])
                         for name in ("lengths", "scores"))]  # fmt: skip
    places: dict[str, int] = {}
    queries = (query for each in pieces for query in each.queries)
    owners = np.array([places.setdefault(query, len(places)) for query in queries])
    sizes = np.diff(first_rows, append=rows[-1])
    if (np.diff(owners) < 0).any():  # a query comes back after another
        order = np.argsort(np.repeat(owners, sizes), kind="stable")
        columns = [each[order] for each in columns]
    bounds = np.zeros(len(places) + 1, np.int64)
    np.cumsum(np.bincount(owners, sizes, len(places)).astype(np.int64), out=bounds[1:])
    text = np.concatenate([each.ids for each in pieces])
    rankings = TextRankings(text, places, bounds, *columns)
    if rankings.repeats:
        raise UnevenRunError
    return rankings


@kernel
def _parse_lines(
    text: Bytes, powers: Floats, ids: Bytes, starts: Ints, lengths: npt.NDArray[np.int32],
    scores: Floats, groups: Ints, unsure: Ints, counts: Ints,
) -> int:  # fmt: skip
    """Parse lines of six columns; return their number, or GIVEN_UP at the first odd one.

    `groups` gets the first row, and where the id stands, of each query; `unsure` the row, and
    where it stands, of each score that Python has to convert. `counts` gets the number of groups,
    whether an id goes beyond ASCII, where the last tag is, how many scores are unsure, and how
    many bytes of `ids` are filled.
    """
    rows = 0
    last_group = 0
    group_length = -1
    filled = 0
    at = 0
    columns = np.empty(2 * WIDTH, np.int64)  # where each column of a line begins and ends
    while at < text.size:
        found, at = _split_line(text, at, text.size, columns)
        if found == 0:
            continue
        if found != WIDTH or text[columns[0]] == HASH or text[columns[0]] == MARK:
            return GIVEN_UP
        length = columns[1] - columns[0]
        if length != group_length or not _same(text, columns[0], last_group, length):
            last_group = columns[0]
            group_length = length
            groups[3 * counts[0]] = rows
            groups[3 * counts[0] + 1] = columns[0]
            groups[3 * counts[0] + 2] = columns[1]
            counts[0] += 1
            for i in range(columns[0], columns[1]):
                counts[1] |= text[i] >> 7
        starts[rows] = filled
        lengths[rows] = columns[5] - columns[4]
        for i in range(columns[4], columns[5]):
            ids[filled] = text[i]
            counts[1] |= text[i] >> 7
            filled += 1
        scores[rows] = _parse_number(text, columns[8], columns[9], powers)
        if scores[rows] != scores[rows]:
            unsure[3 * counts[4]] = rows
            unsure[3 * counts[4] + 1] = columns[8]
            unsure[3 * counts[4] + 2] = columns[9]
            counts[4] += 1
        rows += 1
        counts[2] = columns[10]
        counts[3] = columns[11]
    counts[5] = filled
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

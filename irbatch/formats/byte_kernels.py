"""The kernels of the byte parser: lines of columns, as they should be, to arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Ints
from irbatch.formats.number_kernels import UNKNOWN, parse_number, parse_plain, parse_whole
from irbatch.formats.streams import LONGEST_LINE
from irbatch.runtime.kernels import inlined_kernel, kernel
from irbatch.runtime.ragged import PLACES, load_word

NEWLINE, RETURN, TAB, SPACE, HASH, POINT = b"\n\r\t #."
LOW_BITS, ABOVE_SPACE = 0x0101010101010101, 0x2121212121212121  # of each byte of a word
HIGH_BITS = -0x7F7F7F7F7F7F7F80

# What the parser counts, and where tags begin and end: the first one, another one, the last one.
GROUPS, BEYOND_ASCII, UNSURE, LINES, FRACTIONS = range(5)
TAG, TAG_STOP, OTHER_TAG, OTHER_TAG_STOP, LAST_TAG, LAST_TAG_STOP = range(5, 11)
# Of the last row: its query, and the second row of that; its rank; and what stands in its line in
# front of the document, and behind the last column that mostly is another one in the next.
QUERY, QUERY_SIZE, SECOND, RANK, RANK_STOP, HEAD, HEAD_SIZE, TAIL, TAIL_SIZE = range(11, 20)
HEAD_LAST, HEAD_MASK, TAIL_LAST, TAIL_MASK = range(20, 24)
ROWS, COUNTS = 24, 25

GIVEN_UP = -1
CONTROL = -1  # a line with a control byte
# How ranks and scores contradict each other: a line has a lower rank than the one before and scores
# higher; or, looked for in the second line only, the other way round.
LOWER, REVERSED = 1, 2
SLACK = 8  # bytes behind a text that may be loaded


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

    starts: Ints  # (rows,), where in the text each row's document begins, and how long it is
    lengths: npt.NDArray[np.int32]
    values: Floats
    # (groups, 4), of consecutive rows with one query: the first row, where its query begins and
    # ends in the text, and how ranks and values contradict each other, or 0.
    groups: Ints
    unsure: Ints  # (n, 3): row, begin and end of each value that is for Python to convert
    counts: Ints  # (COUNTS,), numbers of what else there is
    bounds: Ints  # (2, width + 1), room for where a line's columns begin and end, and one too many


@kernel
def parse_lines(text: Bytes, size: int, layout: Layout, found: Parsed) -> int:
    """Parse lines, `SLACK` bytes behind them; return the rows, or GIVEN_UP at the first odd line.

    Most lines are like the one before: what stands in front of the document, and behind the last
    column that varies, is the same. They are gone through in a loop of their own.
    """
    rows, at = 0, 0
    while at < size:
        at, rows = _parse_line(text, at, rows, layout, found)
        if at == GIVEN_UP:
            return GIVEN_UP
        if found.counts[HEAD_SIZE] > 0:
            at, rows = _parse_alike(text, size, at, rows, layout, found)
    found.counts[ROWS] = rows
    return rows


@kernel
def _parse_alike(
    text: Bytes, size: int, at: int, rows: int, layout: Layout, found: Parsed
) -> tuple[int, int]:
    """Parse lines as long as they are plain and like the last one; return where, and the rows."""
    counts, values = found.counts, found.values
    head, head_size = counts[HEAD], counts[HEAD_SIZE]
    tail, tail_size = counts[TAIL], counts[TAIL_SIZE]
    head_last, head_mask = counts[HEAD_LAST], counts[HEAD_MASK]
    tail_last, tail_mask = counts[TAIL_LAST], counts[TAIL_MASK]
    last_rank, last_rank_stop = counts[RANK], counts[RANK_STOP]
    last_value, first_row, line, all_bytes = values[rows - 1], rows, at, 0
    while line + head_size <= size and not _unlike(text, line, head, head_last, head_mask):
        start = line + head_size
        at, seen = _find_end(text, start)
        all_bytes |= seen
        stop = at
        rank = at
        odd = at == start
        for _ in range(layout.document + 1, layout.value):
            rank = at + 1
            odd |= text[at & PLACES] != SPACE and text[at & PLACES] != TAB
            at = _skip(text, rank)
            odd |= at == rank
        rank_stop = at
        odd |= text[at & PLACES] != SPACE and text[at & PLACES] != TAB
        value, at = parse_plain(text, at + 1)
        for _ in range(layout.value + 1, layout.tag):
            odd |= text[at & PLACES] != SPACE and text[at & PLACES] != TAB
            first = at + 1
            at = _skip(text, first)
            odd |= at == first
        if odd or value != value or at + tail_size > min(size, line + LONGEST_LINE):
            break
        if _unlike(text, at, tail, tail_last, tail_mask):
            break
        if layout.rank >= 0 and (value > last_value or rows == counts[SECOND]):
            counts[RANK], counts[RANK_STOP] = last_rank, last_rank_stop
            _compare_ranks(text, rank, rank_stop, value, last_value, found)
        last_rank, last_rank_stop = rank, rank_stop
        found.starts[rows], found.lengths[rows], values[rows] = start, stop - start, value
        last_value = value
        rows += 1
        line = at + tail_size
    counts[RANK], counts[RANK_STOP] = last_rank, last_rank_stop
    counts[BEYOND_ASCII] |= all_bytes
    counts[LINES] += rows - first_row
    return line, rows


@inlined_kernel
def _unlike(text: Bytes, at: int, other: int, last: int, mask: int) -> int:
    """Return a number that is not 0 if bytes are others; see `_last_word`."""
    unlike: int = (load_word(text, at + last) ^ load_word(text, other + last)) & mask
    for i in range(0, last, 8):
        unlike |= load_word(text, at + i) ^ load_word(text, other + i)
    return unlike


@kernel
def _find_end(text: Bytes, at: int) -> tuple[int, int]:
    """Return where a column ends, at the first byte up to a space, and its highest bits."""
    seen = 0
    while True:
        word = load_word(text, at)
        seen |= word & HIGH_BITS
        stops = (word - ABOVE_SPACE) & ~word & HIGH_BITS  # the lowest is right
        if stops != 0:
            below = (stops & -stops) - 1
            return at + ((((below & LOW_BITS) * LOW_BITS) >> 56) & 15) - 1, seen
        at += 8


@kernel
def _skip(text: Bytes, at: int) -> int:
    """Return where a column ends: byte by byte, as short ones are sooner found."""
    while text[at & PLACES] > SPACE:
        at += 1
    return at


@kernel
def _parse_line(
    text: Bytes, line: int, rows: int, layout: Layout, found: Parsed
) -> tuple[int, int]:
    """Parse one line by all the rules; return where it ends, or GIVEN_UP, and the rows."""
    counts = found.counts
    begins, ends = found.bounds
    width, at = _split_line(text, line, begins, ends)
    counts[LINES] += 1
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
        _add_unsure(rows, begins[layout.value], ends[layout.value], found)
    query, size = begins[layout.query], ends[layout.query] - begins[layout.query]
    rank, rank_stop = begins[layout.rank], ends[layout.rank]
    if size != counts[QUERY_SIZE] or not _same(text, query, counts[QUERY], size):
        counts[QUERY], counts[QUERY_SIZE], counts[SECOND] = query, size, rows + 1
        _begin_group(text, rows, begins, ends, layout, found)
    elif layout.rank >= 0 and (value > found.values[rows - 1] or rows == counts[SECOND]):
        _compare_ranks(text, rank, rank_stop, value, found.values[rows - 1], found)
    counts[RANK], counts[RANK_STOP] = rank, rank_stop
    document = begins[layout.document]
    found.starts[rows], found.lengths[rows] = document, ends[layout.document] - document
    found.values[rows] = value
    for i in range(document, ends[layout.document]):
        counts[BEYOND_ASCII] |= text[i] >> 7
    if layout.query < layout.document < layout.value:
        tail = ends[layout.tag - 1 if layout.tag > layout.value else layout.value]
        counts[HEAD], counts[HEAD_SIZE] = line, document - line
        counts[TAIL], counts[TAIL_SIZE] = tail, at - tail
        counts[HEAD_LAST], counts[HEAD_MASK] = _last_word(document - line)
        counts[TAIL_LAST], counts[TAIL_MASK] = _last_word(at - tail)
    counts[LAST_TAG], counts[LAST_TAG_STOP] = begins[layout.tag], ends[layout.tag]
    return at, rows + 1


@kernel
def _compare_ranks(
    text: Bytes, start: int, stop: int, value: float, last_value: float, found: Parsed
) -> None:
    """Note how a row's rank and value contradict those of the row before."""
    counts = found.counts
    rank = parse_whole(text, start, stop)
    last_rank = parse_whole(text, counts[RANK], counts[RANK_STOP])
    if last_rank != UNKNOWN and rank > last_rank and value > last_value:
        found.groups[counts[GROUPS] - 1, 3] = LOWER
    elif rank != UNKNOWN and rank < last_rank and value < last_value:
        found.groups[counts[GROUPS] - 1, 3] = REVERSED


@kernel
def _last_word(size: int) -> tuple[int, int]:
    """Return where the last word of some bytes begins, and a mask of what of it is theirs."""
    last = (size - 1) & -8
    left = size - last
    return last, -1 if left == 8 else (1 << (8 * left)) - 1


@kernel
def _same(text: Bytes, start: int, other: int, size: int) -> bool:
    """Tell whether two slices hold the same bytes; the first has `SLACK` behind its line's end."""
    i = 0
    while i + 8 <= size:
        if load_word(text, start + i) != load_word(text, other + i):
            return False
        i += 8
    unlike = load_word(text, start + i) ^ load_word(text, other + i)
    return bool(unlike & ((1 << (8 * (size - i))) - 1) == 0)


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
    for i in range(begins[layout.query], ends[layout.query]):
        counts[BEYOND_ASCII] |= text[i] >> 7
    if layout.rank >= 0:
        for i in range(begins[layout.rank], ends[layout.rank]):
            if text[i] == POINT:
                counts[FRACTIONS] += 1
                break
    if layout.tag >= 0:
        start, stop = begins[layout.tag], ends[layout.tag]
        if counts[TAG_STOP] == 0:
            counts[TAG], counts[TAG_STOP] = start, stop
        elif stop - start != counts[TAG_STOP] - counts[TAG] or not _same(
            text, start, counts[TAG], stop - start
        ):
            counts[OTHER_TAG], counts[OTHER_TAG_STOP] = start, stop

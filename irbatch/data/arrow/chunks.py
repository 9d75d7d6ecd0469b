"""Reading the columns of a chunk, type by type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bools, Bytes, Ints
from irbatch.data.arrow.structs import Array, Batch, Schema, items_of
from irbatch.data.ids import TextColumn
from irbatch.data.short_texts import ShortTexts
from irbatch.runtime.ragged import offsets_of

ArrowColumn: TypeAlias = npt.NDArray[Any] | TextColumn

Part: TypeAlias = "npt.NDArray[Any] | ShortTexts | TextSlices"  # of a column, from one chunk

# Arrow's letters for types, https://arrow.apache.org/docs/format/CDataInterface.html
NUMBERS = dict(zip("cCsSiIlLefg", "bBhHiIqQefd", strict=True))  # to NumPy's letters
OFFSETS: dict[str, type[np.integer]] = {"u": np.int32, "U": np.int64}
VIEWS = "vu"
TEXTS = {*OFFSETS, VIEWS}
BYTES = ("z", "Z", "vz", "w:")  # how types of bytes begin
NOTHING = "n"  # the type of columns without any value
SUPPORTED = {*NUMBERS, "b", NOTHING, *TEXTS}

ASCII = 128  # bytes that are, are less

INLINE = 12  # bytes: views hold a text of no more themselves, behind its length
LONGEST = 2**31 - 1  # bytes of one text


class RowError(Exception):
    """A row that cannot be read, counted in what was being read."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row, self.problem = row, problem


@dataclass(frozen=True)
class TextSlices:
    """Texts that are slices of several arrays of bytes: a `TextColumn` before these are joined."""

    pieces: list[Bytes]
    which: npt.NDArray[np.integer]  # of the pieces
    starts: npt.NDArray[np.integer]
    lengths: npt.NDArray[np.int32]
    has_views: bool = False  # as its first piece, whose bytes are not all text
    unchecked: bool = False  # whether what stands in these may be no UTF-8
    ordered: bool = False  # whether they follow each other, in one piece

    @classmethod
    def of(cls, part: Any) -> TextSlices:
        """Return a part of a column of text as slices."""
        if isinstance(part, TextSlices):
            return part
        which = np.broadcast_to(np.intp(0), len(part))
        return cls([part.text], which, part.starts, part.lengths, True, part.unchecked)

    def take(self, rows: npt.NDArray[np.integer]) -> TextSlices:
        """Return some of them."""
        one = len(self.pieces) == 1
        which = np.broadcast_to(np.intp(0), rows.size) if one else self.which[rows]
        starts, lengths = self.starts[rows], self.lengths[rows]
        return replace(self, which=which, starts=starts, lengths=lengths, ordered=False)

    def extents(self) -> tuple[Ints, Ints]:
        """Return where the used part of each piece begins and ends."""
        low = np.full(len(self.pieces), np.iinfo(np.int64).max)
        high = np.zeros(len(self.pieces), np.int64)
        if self.ordered and self.starts.size:
            low[0], high[0] = self.starts[0], int(self.starts[-1]) + int(self.lengths[-1])
        elif len(self.pieces) == 1:
            low[0], high[0] = self.starts.min(), (self.starts + self.lengths).max()
        else:
            np.minimum.at(low, self.which, self.starts)
            np.maximum.at(high, self.which, self.starts + self.lengths)
        return low, high


@dataclass(frozen=True)
class Field:
    """A column's name and Arrow type; of a dictionary, `format` is the type of the indices."""

    name: str
    format: str
    dictionary: Field | None

    @classmethod
    def of(cls, address: int) -> Field:
        """Read the struct at an address."""
        schema = Schema.from_address(address)
        inner = cls.of(schema.dictionary) if schema.dictionary else None
        name = (schema.name or b"").decode(errors="replace")
        return cls(name, schema.format.decode(errors="replace"), inner)

    @property
    def values(self) -> str:
        """The type of what a reader sees."""
        return self.dictionary.values if self.dictionary else self.format


@dataclass(frozen=True)
class ArraySlice:
    """Consecutive rows of an Arrow array."""

    batch: Batch
    array: Array
    start: int
    length: int

    def of(self, address: int, skip: int, length: int) -> ArraySlice:
        """Return rows of another array of the batch."""
        array = Array.from_address(address)
        return ArraySlice(self.batch, array, array.offset + skip, length)

    def buffer(self, number: int, kind: npt.DTypeLike, start: int, count: int) -> npt.NDArray[Any]:
        """Return items of a buffer, read-only."""
        dtype = np.dtype(kind)
        if not count:  # the buffer may not be there either
            return np.empty(0, dtype)
        address = self.array.buffers[number] + start * dtype.itemsize
        return np.require(items_of(self.batch, address, dtype, count), requirements="A")

    def bits(self, number: int) -> Bools:
        """Return the rows' bits of a buffer."""
        first, skip = divmod(self.start, 8)
        packed = self.buffer(number, np.uint8, first, (skip + self.length + 7) // 8)
        bits = np.unpackbits(packed, count=skip + self.length, bitorder="little")
        return bits[skip:].view(np.bool_)

    def nulls(self) -> Bools | None:
        """Tell which rows are null, None when it is known that none is."""
        known = self.array.null_count == 0 or not self.array.n_buffers
        return None if known or not self.array.buffers[0] else ~self.bits(0)

    def refuse_nulls(self) -> None:
        """Raise `RowError` at the first null."""
        nulls = self.nulls()
        if nulls is not None and nulls.any():
            raise RowError(int(nulls.argmax()), "is null")


def read_rows(field: Field, rows: ArraySlice) -> Part:
    """Read rows of a column that may not be null: numbers, or slices of text."""
    rows.refuse_nulls()
    if field.values == NOTHING and rows.length:
        raise RowError(0, "is null")
    return _read_values(field, rows)


def _read_values(field: Field, rows: ArraySlice) -> Part:
    """Read rows whatever they are; nulls are undefined values."""
    if field.dictionary is not None:
        return _read_dictionary(field.dictionary, field.format, rows)
    if field.format in OFFSETS:
        return _read_offsets(OFFSETS[field.format], rows)
    if field.format == VIEWS:
        return _read_views(rows)
    if field.format == "b":
        return rows.bits(1)
    if field.format == NOTHING:
        return np.empty(0)
    return rows.buffer(1, NUMBERS[field.format], rows.start, rows.length)


def _read_dictionary(field: Field, kind: str, rows: ArraySlice) -> Part:
    indices = rows.buffer(1, NUMBERS[kind], rows.start, rows.length)
    address = rows.array.dictionary
    entries = rows.of(address, 0, Array.from_address(address).length)
    nulls = entries.nulls()
    if nulls is not None and nulls[indices].any():
        raise RowError(int(nulls[indices].argmax()), "is null")
    return _read_values(field, entries).take(indices)


def _read_offsets(kind: npt.DTypeLike, rows: ArraySlice) -> TextSlices:
    """Read texts that follow each other, of which it says where each begins and ends."""
    offsets = rows.buffer(1, kind, rows.start, rows.length + 1 if rows.length else 0)
    lengths = np.diff(offsets)
    if lengths.max(initial=0) > LONGEST:
        raise RowError(int(lengths.argmax()), f"has more than {LONGEST} bytes")
    text = rows.buffer(2, np.uint8, 0, int(offsets[-1]) if rows.length else 0)
    which = np.broadcast_to(np.intp(0), rows.length)
    lengths = lengths.astype(np.int32, copy=False)
    return TextSlices([text], which, offsets[:-1], lengths, ordered=True)


def _read_views(rows: ArraySlice) -> Part:
    """Read views: length, and either the text or its first 4 bytes, its buffer and its place."""
    views = rows.buffer(1, np.int32, 4 * rows.start, 4 * rows.length)
    short, unchecked = ShortTexts.of_views(views.reshape(-1, 4))
    if short is not None:
        return short
    length, _, buffer, place = views.reshape(-1, 4).T
    last = rows.array.n_buffers - 1  # of the buffers' sizes
    sizes = rows.buffer(last, np.int64, 0, last - 2).tolist()
    buffers = [rows.buffer(2 + i, np.uint8, 0, size) for i, size in enumerate(sizes)]
    inline = length <= INLINE
    return TextSlices(
        [views.view(np.uint8), *buffers],
        np.where(inline, 0, buffer + 1),
        np.where(inline, np.arange(4, 16 * rows.length, 16), place),
        length,
        True,
        unchecked,
    )


def join(field: Field, parts: list[Any]) -> ArrowColumn:
    """Put a column's parts one after the other; `RowError` at the first text that is not UTF-8."""
    if field.values in TEXTS:
        column, unchecked = _join_texts(parts)
        if unchecked and (row := column.first_not_utf8()) >= 0:
            raise RowError(row, "is not UTF-8")
        return column
    return _joined(parts, NUMBERS.get(field.values, "?"))


def _join_texts(parts: list[Any]) -> tuple[TextColumn, bool]:
    """Return the texts of all parts, and whether they may be no UTF-8: most are ASCII."""
    if parts and all(isinstance(part, ShortTexts) for part in parts):
        words = [part.words for part in parts]
        unchecked = any(part.unchecked for part in parts)
        return ShortTexts(words[0] if len(words) == 1 else np.concatenate(words)), unchecked
    return _join_slices([TextSlices.of(part) for part in parts])


def _join_slices(parts: list[TextSlices]) -> tuple[TextColumn, bool]:
    """Lay the used part of every array of bytes one after the other, each array once.

    Chunks may share arrays, as those of one dictionary do: copying one for each chunk would be
    quadratic. A single array is not copied at all.
    """
    pieces: dict[int, Bytes] = {}
    for piece in (piece for part in parts for piece in part.pieces):
        pieces[piece.ctypes.data] = max(pieces.get(piece.ctypes.data, piece), piece, key=len)
    order = {address: i for i, address in enumerate(pieces)}
    numbers = [np.array([order[each.ctypes.data] for each in part.pieces]) for part in parts]
    low, high = np.full(len(pieces), np.iinfo(np.int64).max), np.zeros(len(pieces), np.int64)
    for part, number in zip(parts, numbers, strict=True):
        first, last = part.extents()
        np.minimum.at(low, number, first)
        np.maximum.at(high, number, last)
    shift = offsets_of(np.maximum(high - low, 0))[:-1] - low
    views = {part.pieces[0].ctypes.data for part in parts if part.has_views}
    used = [each[a:b] for each, a, b in zip(pieces.values(), low, high, strict=True)]
    unchecked = any(part.unchecked for part in parts) or any(
        piece.max(initial=0) >= ASCII
        for address, piece in zip(pieces, used, strict=True)
        if address not in views
    )
    used = [each for each in used if each.size]
    starts = [
        np.add(part.starts, shift[n[0]] if n.size == 1 else shift[n][part.which], dtype=np.int64)
        for part, n in zip(parts, numbers, strict=True)
    ]
    lengths = [part.lengths for part in parts]
    column = TextColumn(_joined(used, np.uint8), _joined(starts, int), _joined(lengths, np.int32))
    return column, unchecked


def _joined(arrays: list[npt.NDArray[Any]], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Put arrays one after the other; one alone is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays or [np.empty(0, kind)])

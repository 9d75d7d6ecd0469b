"""Many short texts as slices of one array of bytes: nothing becomes a Python object until asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Ints
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.ragged import offsets_of

MANY = 64  # texts that are sooner made together
PIECE = 1 << 13  # texts checked at once
NEWLINE = ord("\n")

Lengths = npt.NDArray[np.int32]


class TextColumn:
    """A column of texts: int64 `starts` and int32 `lengths` ``(n,)`` of slices of uint8 `text`."""

    def __init__(self, text: Bytes, starts: Ints, lengths: Lengths) -> None:
        # UTF-8, in which surrogates may stand alone as they may in Python.
        self.text: Bytes = as_input(text)
        self.starts: Ints = as_input(starts)
        self.lengths: Lengths = as_input(lengths)

    def __len__(self) -> int:
        return self.starts.size

    @classmethod
    def encode(cls, texts: Sequence[str]) -> TextColumn:
        """Make a column of Python's texts, in UTF-8."""
        joined = "".join(texts)
        encoded = joined.encode(errors="surrogatepass")
        if len(encoded) == len(joined):  # all ASCII: a character is a byte
            sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        else:
            parts = [each.encode(errors="surrogatepass") for each in texts]
            encoded = b"".join(parts)
            sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        return cls(np.frombuffer(encoded, np.uint8), offsets_of(sizes)[:-1], sizes.astype(np.int32))

    @classmethod
    def join(cls, parts: Sequence[TextColumn]) -> TextColumn:
        """Put columns one after the other."""
        offsets = offsets_of(np.array([each.text.size for each in parts], np.int64)).tolist()
        starts = [each.starts + at for each, at in zip(parts, offsets, strict=False)]
        text = np.concatenate([each.text for each in parts])
        return cls(text, np.concatenate(starts), np.concatenate([each.lengths for each in parts]))

    def copied(self) -> TextColumn:
        """Return the same texts over bytes of their own, one after the other."""
        bounds = offsets_of(self.lengths)
        text = np.empty(bounds[-1], np.uint8)
        _copy.run(text.size + len(self), self.text, self.starts, self.lengths, text)
        return TextColumn(text, bounds[:-1], self.lengths.copy())

    def take(self, rows: npt.NDArray[np.integer] | slice) -> TextColumn:
        """Return some of them, over the same bytes."""
        return TextColumn(self.text, self.starts[rows], self.lengths[rows])

    def first_not_utf8(self) -> int:
        """Return the first row that is not UTF-8, -1 if all are; surrogates may not stand alone."""
        for first in range(0, len(self), PIECE):
            piece = self.take(slice(first, first + PIECE))
            ends = offsets_of(piece.lengths + 1)[1:]  # of lines
            lines = np.empty(ends[-1], np.uint8)
            _write_lines.run(lines.size, piece.text, piece.starts, piece.lengths, lines)
            try:
                str(lines.data, "utf-8")
            except UnicodeDecodeError as error:
                return first + int(np.searchsorted(ends, error.start, "right"))
        return -1

    def tolist(self) -> list[str]:
        """Make Python's texts of them."""
        if len(self) >= MANY and (found := self._split()) is not None:
            return found
        text, ends = self.text.data, self.starts + self.lengths
        pairs = zip(self.starts.tolist(), ends.tolist(), strict=True)
        return [str(text[start:end], "utf-8", "surrogatepass") for start, end in pairs]

    def _split(self) -> list[str] | None:
        """Make texts by splitting lines, in a fifth of the time; None if one has line ends."""
        size = int(self.lengths.sum()) + len(self)
        lines = np.empty(size, np.uint8)
        work = size // 4  # a cell's time in plain Python makes some bytes of texts, one by one
        if _write_lines.run_compiled(work, self.text, self.starts, self.lengths, lines) != size:
            return None
        found = lines.tobytes().decode("utf-8", "surrogatepass").split("\n")
        found.pop()  # what follows the last line
        return found if len(found) == len(self) else None


@kernel
def _write_lines(text: Bytes, starts: Ints, lengths: Lengths, lines: Bytes) -> int:
    """Write texts one after the other, each with a line end; return how many bytes there are."""
    filled = 0
    for row in range(starts.size):
        start = starts[row]
        for i in range(start, start + lengths[row]):
            lines[filled] = text[i]
            filled += 1
        lines[filled] = NEWLINE
        filled += 1
    return filled


@kernel
def _copy(text: Bytes, starts: Ints, lengths: Lengths, copies: Bytes) -> None:
    """Write texts one after the other."""
    at = 0
    for i in range(starts.size):
        for j in range(starts[i], starts[i] + lengths[i]):
            copies[at] = text[j]
            at += 1


NO_TEXTS = TextColumn(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32))

IdColumn = TextColumn | Ints  # ids of queries or of documents


def copied(ids: IdColumn) -> IdColumn:
    """Return ids in memory of their own."""
    return ids.copied() if isinstance(ids, TextColumn) else ids.copy()


def join_ids(parts: Sequence[IdColumn]) -> IdColumn:
    """Put ids of one kind one after the other."""
    if len(parts) == 1:
        return parts[0]
    texts = [part for part in parts if isinstance(part, TextColumn)]
    numbers = [part for part in parts if not isinstance(part, TextColumn)]
    return TextColumn.join(texts) if texts else np.concatenate(numbers)

"""Rankings as columns over a file's bytes: nothing becomes a Python object until asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from irbatch.jit import kernel
from irbatch.threads import map_ranges

__all__ = ["TextRankings", "find_rows"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]


class TextRankings(Mapping[str, dict[str, float]]):
    """Query to document to score, kept as columns; reads like a mapping of mappings.

    Args:
        text: uint8, the bytes that document ids are slices of, valid UTF-8.
        places: query id to its place, from 0.
        bounds: int64 ``(queries + 1,)``, where the rows of each query begin and end.
        starts: int64 ``(rows,)``, where each document id begins in `text`.
        lengths: int32 ``(rows,)``, how many bytes it has.
        scores: float64 ``(rows,)``.

    Attributes:
        hashes: int64 ``(rows,)``, of the document ids.
        repeats: whether some query has a document twice.
    """

    def __init__(
        self,
        text: Bytes,
        places: dict[str, int],
        bounds: Ints,
        starts: Ints,
        lengths: Lengths,
        scores: npt.NDArray[np.float64],
    ) -> None:
        self.text, self.places, self.bounds = text, places, bounds
        self.starts, self.lengths, self.scores = starts, lengths, scores
        hashes = np.empty(self.scores.size, np.int64)
        found = np.zeros(1, bool)

        def look(first: int, last: int) -> None:
            table = np.empty(self.table_size(np.arange(first, last)), np.int64)
            columns = self.text, self.bounds, self.starts, self.lengths, hashes
            if _hash_rows.run(4 * hashes.size, *columns, first, last, table):
                found[0] = True

        map_ranges(look, len(self), cells=4 * hashes.size)
        self.hashes = hashes
        self.repeats = bool(found[0])

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return a query's ranking as a dictionary, made anew."""
        place = self.places[query]
        rows = np.arange(self.bounds[place], self.bounds[place + 1])
        return dict(zip(self.documents(rows), self.scores[rows].tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, query: object) -> bool:
        return query in self.places

    def __repr__(self) -> str:
        return f"<rankings of {len(self)} queries, {self.scores.size} documents>"

    def table_size(self, places: Ints) -> int:
        """Return twice the longest ranking's length or more, as a power of two."""
        longest = int((self.bounds[places + 1] - self.bounds[places]).max(initial=1))
        return 4 << longest.bit_length()

    def documents(self, rows: npt.NDArray[np.intp]) -> list[str]:
        """Return the document ids of some rows."""
        starts, lengths = self.starts[rows].tolist(), self.lengths[rows].tolist()
        text = self.text.data
        return [
            str(text[start : start + length], "utf-8")
            for start, length in zip(starts, lengths, strict=True)
        ]


def find_rows(
    rankings: TextRankings,
    places: Ints,
    judged: tuple[Bytes, Ints],
    owners_start: Ints,
) -> Ints:
    """Find judged documents in their queries' rankings.

    Args:
        rankings: the rankings.
        places: int64 ``(queries,)``, each query's place in them, or -1.
        judged: the ids of the judged documents, one query after the other: their bytes, and int64
            ``(documents + 1,)`` where each begins and ends.
        owners_start: int64 ``(queries + 1,)``, where each query's judged documents begin and end.

    Returns:
        int64 ``(documents,)``: the row of each, -1 where it was not retrieved.
    """
    rows = np.full(judged[1].size - 1, -1, np.int64)
    work = 4 * int((rankings.bounds[1:] - rankings.bounds[:-1])[places[places >= 0]].sum())
    columns = rankings.text, rankings.bounds, rankings.starts, rankings.lengths, rankings.hashes

    def look(start: int, stop: int) -> None:
        mine = places[start:stop]
        table = np.empty(rankings.table_size(mine[mine >= 0]), np.int64)
        _look_up.run(work, *columns, places, *judged, owners_start, start, stop, table, rows)

    map_ranges(look, places.size, cells=work)
    return rows


@kernel
def _hash_rows(
    text: Bytes, bounds: Ints, starts: Ints, lengths: Lengths, hashes: Ints,
    first: int, last: int, table: Ints,
) -> bool:  # fmt: skip
    """Write the hashes of some queries' documents; tell whether one has a document twice."""
    for q in range(first, last):
        for row in range(bounds[q], bounds[q + 1]):
            hashes[row] = _hash(text, starts[row], starts[row] + lengths[row])
        if _fill(text, bounds[q], bounds[q + 1], starts, lengths, hashes, table):
            return True
    return False


@kernel
def _fill(
    text: Bytes, first: int, last: int, starts: Ints, lengths: Lengths, hashes: Ints, table: Ints
) -> bool:
    """Enter the documents of rows into a table of their places; stop at one that is there."""
    size = 4
    while size < 2 * (last - first):
        size *= 2
    table[:size] = -1
    for row in range(first, last):
        slot = (hashes[row] ^ (hashes[row] >> 21)) & (size - 1)
        while table[slot] >= 0:
            other = table[slot]
            if hashes[other] == hashes[row] and _equal(
                text, starts[other], lengths[other], text, starts[row], lengths[row]
            ):
                return True
            slot = (slot + 1) & (size - 1)
        table[slot] = row
    return False


@kernel
def _equal(
    text: Bytes, start: int, length: int, other: Bytes, other_start: int, other_length: int
) -> bool:
    """Tell whether two slices hold the same bytes."""
    if length != other_length:
        return False
    for i in range(length):  # noqa: SIM110 - kernels have no generators
        if text[start + i] != other[other_start + i]:
            return False
    return True


@kernel
def _look_up(
    text: Bytes, bounds: Ints, starts: Ints, lengths: Lengths, hashes: Ints,
    places: Ints, judged: Bytes, judged_starts: Ints, owners_start: Ints,
    first: int, last: int, table: Ints, rows: Ints,
) -> None:  # fmt: skip
    """Write the row of each judged document of some queries."""
    for q in range(first, last):
        if places[q] < 0 or owners_start[q] == owners_start[q + 1]:
            continue
        begin = bounds[places[q]]
        end = bounds[places[q] + 1]
        _fill(text, begin, end, starts, lengths, hashes, table)
        size = 4
        while size < 2 * (end - begin):
            size *= 2
        for d in range(owners_start[q], owners_start[q + 1]):
            start = judged_starts[d]
            length = judged_starts[d + 1] - start
            value = _hash(judged, start, start + length)
            slot = (value ^ (value >> 21)) & (size - 1)
            while table[slot] >= 0:
                row = table[slot]
                if hashes[row] == value and _equal(
                    text, starts[row], lengths[row], judged, start, length
                ):
                    rows[d] = row
                    break
                slot = (slot + 1) & (size - 1)


@kernel
def _hash(text: Bytes, start: int, stop: int) -> int:
    """Hash some bytes, two at a step: 52 bits, so that int64 never overflows."""
    value = stop - start
    at = start
    while at + 1 < stop:
        value = (value * 961 + int(text[at]) * 31 + int(text[at + 1])) & 0xFFFFFFFFFFFFF
        at += 2
    if at < stop:
        value = (value * 31 + int(text[at])) & 0xFFFFFFFFFFFFF
    return value

"""Judgments or rankings as columns, and the look-up of judged documents in them.

Documents are found by a table of one query's judged ones, which stays in the nearest cache. Text
is found by a hash of its bytes and then compared; whole numbers are what they are.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.jit import as_input, kernel
from irbatch.ranking import DESCENDING, check_order
from irbatch.texts import Texts, ends_of
from irbatch.threads import map_ranges

__all__ = ["Documents", "Table", "find_rows", "row_numbers"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

# Slots per document: where most of those looked for are not there, a miss should end at once.
DENSE, SPARSE = 3, 8

Documents = Texts | Ints  # a column of document ids

NO_TEXTS = Texts(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32))


class Table(Mapping[Any, dict[Any, float]]):
    """Query to document to value, kept as columns; reads like a mapping of mappings.

    Args:
        places: query id to its place, from 0.
        begins, ends: int64 ``(queries,)``, the first row of each query and the one after its last.
        documents: `Texts` or int64 ``(rows,)``, the document ids.
        values: float64 ``(rows,)``, their grades or scores.

    Attributes:
        numbers: the values.
        marks: int64 ``(rows,)``, hashes of documents that are text, the ids of others.
        repeated: a row whose document its query has before it; -1 when there is none.
    """

    def __init__(
        self,
        places: dict[Any, int],
        begins: Ints,
        ends: Ints,
        documents: Documents,
        values: Floats,
    ) -> None:
        self.places, self.begins, self.ends, self.numbers = places, begins, ends, values
        self.documents = documents if isinstance(documents, Texts) else as_input(documents)
        exact = not isinstance(self.documents, Texts)
        texts = self.documents if isinstance(self.documents, Texts) else NO_TEXTS
        keys = np.empty(len(texts), np.int64)
        if isinstance(self.documents, np.ndarray):
            keys = self.documents
        found: list[int] = []
        work = 4 * keys.size + int(texts.lengths.sum())

        def look(first: int, last: int) -> None:
            slots = np.empty(_most_slots(self.ends[first:last] - self.begins[first:last]), np.int32)
            columns = texts.text, texts.starts, texts.lengths, self.begins, self.ends
            row = _enter_rows.run(work, *columns, keys, exact, first, last, slots)
            if row >= 0:
                found.append(int(row))

        map_ranges(look, len(self), cells=work)
        self.marks = keys
        self.repeated = min(found, default=-1)

    @classmethod
    def of_runs(
        cls, queries: Sequence[Any], firsts: Ints, documents: Documents, values: Floats
    ) -> Table:
        """Group rows by query.

        Args:
            queries: the query of each run of rows that have the same; queries may return.
            firsts: int64 ``(runs,)``, the first row of each.
            documents, values: the columns, in any order.
        """
        places: dict[Any, int] = {}
        owners = np.array([places.setdefault(each, len(places)) for each in queries], np.int64)
        sizes = np.diff(firsts, append=values.size)
        if (np.diff(owners) < 0).any():  # a query comes back after another
            order = np.argsort(np.repeat(owners, sizes), kind="stable")
            documents = documents.take(order) if isinstance(documents, Texts) else documents[order]
            values = values[order]
        bounds = ends_of(np.bincount(owners, sizes, len(places)).astype(np.int64))
        return cls(places, bounds[:-1], bounds[1:], documents, values)

    @property
    def document_kind(self) -> str:
        """What document ids are, ``"str"`` or ``"int"``."""
        return "str" if isinstance(self.documents, Texts) else "int"

    @functools.cached_property
    def is_ordered(self) -> bool:
        """Whether each query's numbers descend, as scores mostly do."""
        return bool((check_order(self.numbers, self.begins, self.ends) == DESCENDING).all())

    def __getitem__(self, query: Any) -> dict[Any, float]:
        """Return a query's documents and their values as a dictionary, made anew."""
        place = self.places[query]
        rows = slice(int(self.begins[place]), int(self.ends[place]))
        return dict(zip(self.ids(rows), self.numbers[rows].tolist(), strict=True))

    def __contains__(self, query: object) -> bool:
        return query in self.places  # Mapping's own would make the dictionary

    def __iter__(self) -> Iterator[Any]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} queries, {int((self.ends - self.begins).sum())} documents>"

    def ids(self, rows: npt.NDArray[np.integer] | slice) -> list[Any]:
        """Return the document ids of some rows."""
        chosen = (
            self.documents.take(rows) if isinstance(self.documents, Texts) else self.documents[rows]
        )
        listed: list[Any] = chosen.tolist()
        return listed

    def repeats(self, most: int) -> list[tuple[Any, Any]]:
        """List the documents that queries have more than once: query and document, at most some."""
        found: list[tuple[Any, Any]] = []
        for query, place in self.places.items():
            documents = self.ids(slice(int(self.begins[place]), int(self.ends[place])))
            if len(set(documents)) < len(documents):
                counted = Counter(documents)
                found += ((query, each) for each, n in counted.items() if n > 1)
            if len(found) >= most:
                break
        return found[:most]

    def where(self, row: int) -> tuple[Any, Any]:
        """Return the query and the document of a row."""
        there = np.flatnonzero((self.begins <= row) & (row < self.ends))[0]
        queries = (query for query, place in self.places.items() if place == there)
        return next(queries), self.ids(slice(row, row + 1))[0]


def row_numbers(begins: Ints, sizes: Ints) -> Ints:
    """List the rows of some queries, one query after the other."""
    starts = ends_of(sizes)
    return np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes)


def find_rows(table: Table, places: Ints, judged: Documents, owners_start: Ints) -> Ints:
    """Find judged documents in their queries' rankings.

    Args:
        table: the rankings.
        places: int64 ``(queries,)``, each query's place in them, or -1.
        judged: the judged documents, one query after the other, of the same kind.
        owners_start: int64 ``(queries + 1,)``, where each query's judged documents begin and end.

    Returns:
        int64 ``(documents,)``: the row of each, -1 where it was not retrieved.
    """
    exact = not isinstance(judged, Texts)
    ours = table.documents if isinstance(table.documents, Texts) else NO_TEXTS
    theirs = judged if isinstance(judged, Texts) else NO_TEXTS
    wanted = np.empty(len(judged), np.int64) if isinstance(judged, Texts) else judged
    rows = np.full(wanted.size, -1, np.int64)
    retrieved = places[places >= 0]
    work = 4 * int((table.ends[retrieved] - table.begins[retrieved]).sum()) + 8 * wanted.size

    def look(first: int, last: int) -> None:
        slots = np.empty(_most_slots(np.diff(owners_start[first : last + 1])), np.int32)
        _look_up.run(
            work, ours.text, ours.starts, ours.lengths, table.marks, table.begins, table.ends,
            places, theirs.text, theirs.starts, theirs.lengths, wanted, owners_start,
            exact, first, last, slots, rows,
        )  # fmt: skip

    map_ranges(look, places.size, cells=work)
    return rows


def _most_slots(sizes: Ints) -> int:
    """Return how many slots the largest query needs at most."""
    return int(_slots_for(SPARSE * int(sizes.max(initial=1))))


@kernel
def _enter_rows(
    text: Bytes, starts: Ints, lengths: Lengths, begins: Ints, ends: Ints, keys: Ints,
    exact: bool, first: int, last: int, slots: Lengths,
) -> int:  # fmt: skip
    """Write the keys of some queries' documents; return a row whose document came before, or -1."""
    for q in range(first, last):
        begin = begins[q]
        n_slots = _slots_for(DENSE * (ends[q] - begin))
        slots[:n_slots] = -1
        for row in range(begin, ends[q]):
            if not exact:
                keys[row] = _hash(text, starts[row], lengths[row])
            slot = _slot_of(keys[row], n_slots)
            while slots[slot] >= 0:
                other = begin + slots[slot]
                if keys[other] == keys[row] and (
                    exact
                    or _equal(text, starts[other], lengths[other], text, starts[row], lengths[row])
                ):
                    return row
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = row - begin
    return -1


@kernel
def _look_up(
    text: Bytes, starts: Ints, lengths: Lengths, keys: Ints, begins: Ints, ends: Ints,
    places: Ints, judged: Bytes, judged_starts: Ints, judged_lengths: Lengths, wanted: Ints,
    owners_start: Ints, exact: bool, first: int, last: int, slots: Lengths, rows: Ints,
) -> None:  # fmt: skip
    """Write the row of each judged document of some queries."""
    for q in range(first, last):
        begin = owners_start[q]
        if places[q] < 0 or begin == owners_start[q + 1]:
            continue
        n_slots = _slots_for(SPARSE * (owners_start[q + 1] - begin))
        slots[:n_slots] = -1
        for d in range(begin, owners_start[q + 1]):
            if not exact:
                wanted[d] = _hash(judged, judged_starts[d], judged_lengths[d])
            slot = _slot_of(wanted[d], n_slots)
            while slots[slot] >= 0:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = d - begin
        for row in range(begins[places[q]], ends[places[q]]):
            slot = _slot_of(keys[row], n_slots)
            while slots[slot] >= 0:
                d = begin + slots[slot]
                if wanted[d] == keys[row] and (
                    exact
                    or _equal(
                        text, starts[row], lengths[row],
                        judged, judged_starts[d], judged_lengths[d],
                    )
                ):  # fmt: skip
                    rows[d] = row
                    break
                slot = (slot + 1) & (n_slots - 1)


@kernel
def _slots_for(least: int) -> int:
    """Return a number of slots, a power of two."""
    slots = 64
    while slots < least:
        slots *= 2
    return slots


@kernel
def _slot_of(key: int, slots: int) -> int:
    """Choose a slot: 31 bits of the key, times a number that spreads them."""
    folded = (key ^ (key >> 31)) & 0x7FFFFFFF
    return ((folded * 0x5E3779B1) >> 24) & (slots - 1)


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
def _hash(text: Bytes, start: int, length: int) -> int:
    """Hash some bytes, two at a step: 52 bits, so that int64 never overflows."""
    at = start
    stop = start + length
    value = stop - start
    while at + 1 < stop:
        value = (value * 961 + int(text[at]) * 31 + int(text[at + 1])) & 0xFFFFFFFFFFFFF
        at += 2
    if at < stop:
        value = (value * 31 + int(text[at])) & 0xFFFFFFFFFFFFF
    return value

"""Judgments or rankings as columns, grouped by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data import short_texts
from irbatch.data.lookup import KeyedIds, find_repeated, find_repeats
from irbatch.data.short_texts import ShortIds, ShortTexts
from irbatch.data.text_column import IdColumn, TextColumn
from irbatch.engine.ties import DESCENDING, check_order
from irbatch.errors import many
from irbatch.runtime.kernels import as_input
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import cached_property


class QueryTable(Mapping[Any, dict[Any, float]]):
    """Query to document to value, kept as columns; reads like a mapping of mappings.

    Rows ``begins[place]`` to ``ends[place]`` are those of a query: ids, and float64 grades or
    scores, the latter also as `numbers`.
    """

    def __init__(
        self,
        places: dict[Any, int],
        begins: Ints,
        ends: Ints,
        documents: IdColumn,
        values: Floats,
        threads: int | None = None,
    ) -> None:
        self.places, self.begins, self.ends, self.numbers = places, begins, ends, values
        self.documents = documents if isinstance(documents, TextColumn) else as_input(documents)
        self.keyed: KeyedIds | ShortIds
        # A row whose document its query has before it; -1 if no query has one twice.
        self.repeated: int
        if isinstance(self.documents, ShortTexts):
            self.keyed = ShortIds(self.documents.words, begins, ends)
            self.repeated = short_texts.find_repeated(self.keyed, threads)
        else:
            self.keyed = KeyedIds.of(self.documents, begins, ends)
            self.repeated = find_repeated(self.keyed, threads)

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes are by numbers of this process.
        given = self.places, self.begins, self.ends, self.documents, self.numbers
        return type(self), given

    @classmethod
    def from_groups(
        cls,
        queries: Sequence[Any],
        firsts: Ints,
        documents: IdColumn,
        values: Floats,
        threads: int | None = None,
    ) -> QueryTable:
        """Make a table of groups of rows: each's query, which may come back, and its first row."""
        places: dict[Any, int] = {}
        row_index = np.array([places.setdefault(each, len(places)) for each in queries], np.int64)
        sizes = np.diff(firsts, append=values.size)
        if (np.diff(row_index) < 0).any():  # a query comes back after another
            order = np.argsort(np.repeat(row_index, sizes), kind="stable")
            documents, values = documents.take(order), values[order]
        bounds = offsets_of(np.bincount(row_index, sizes, len(places)).astype(np.int64))
        return cls(places, bounds[:-1], bounds[1:], documents, values, threads)

    @property
    def document_kind(self) -> str:
        """What document ids are, ``"str"`` or ``"int"``."""
        return "str" if isinstance(self.documents, TextColumn) else "int"

    @cached_property
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
        documents = int((self.ends - self.begins).sum())
        return f"<QueryTable: {many(len(self), 'query')}, {many(documents, 'document')}>"

    def ids(self, rows: npt.NDArray[np.integer] | slice) -> list[Any]:
        """Return the document ids of some rows."""
        if isinstance(self.documents, TextColumn):
            return self.documents.take(rows).tolist()
        return self.documents[rows].tolist()

    def repeats(self, most: int) -> list[tuple[Any, Any]]:
        """List documents that queries have more than once: query and document, at most some."""
        if isinstance(self.keyed, ShortIds):
            rows = short_texts.find_repeats(self.keyed, most)
        else:
            rows = find_repeats(self.keyed, most)
        queries, of = list(self.places), np.searchsorted(self.ends, rows, side="right").tolist()
        return list(dict.fromkeys(zip([queries[at] for at in of], self.ids(rows), strict=True)))

    def where(self, row: int) -> tuple[Any, Any]:
        """Return the query and the document of a row."""
        there = np.flatnonzero((self.begins <= row) & (row < self.ends))[0]
        queries = (query for query, place in self.places.items() if place == there)
        return next(queries), self.ids(slice(row, row + 1))[0]


class DocumentLists(Sequence[list[Any]]):
    """The document ids of each query of a table, made when asked for."""

    def __init__(self, table: QueryTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, row: Any) -> Any:
        """Return the ids of the query at `row`."""
        return self._table.ids(slice(int(self._table.begins[row]), int(self._table.ends[row])))

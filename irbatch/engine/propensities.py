"""How likely relevant items are to be known as relevant: for each, or for each and query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.errors import InputError


class Propensities(NamedTuple):
    """Those of items, float64 ``(items,)``."""

    of_items: Floats

    def find(self, queries: Sequence[Any], row_index: Ints, rows: Ints) -> Floats:
        """Return those of items at `rows`, each of the query at its `row_index`: ``(rows,)``."""
        return self.of_items[rows]


class QueryPropensities(NamedTuple):
    """Those of items in queries, as of clicks, which depend on the rank that an item was shown at.

    `keys`, ascending, are a query's place x the number of items + an item, `values` theirs.
    """

    size: int  # items of the catalogue
    places: Mapping[Any, int]  # of queries
    keys: Ints
    values: Floats
    id_at: Callable[[int], Any]  # from an item's row to its id

    def find(self, queries: Sequence[Any], row_index: Ints, rows: Ints) -> Floats:
        """Do as `Propensities`; InputError for one that is not given."""
        places = np.array([self.places.get(each, -1) for each in queries], np.int64)[row_index]
        keys = places * self.size + rows
        at = np.minimum(np.searchsorted(self.keys, keys), max(self.keys.size - 1, 0))
        known = (places >= 0) & (np.append(self.keys, -1)[at] == keys)
        if not known.all():
            lacking = int(np.argmin(known))
            query, document = queries[int(row_index[lacking])], self.id_at(int(rows[lacking]))
            problem = "it is relevant, and its propensity in this query is not given"
            raise InputError(problem, source="propensities", query=query, document=document)
        return np.append(self.values, 1.0)[at]

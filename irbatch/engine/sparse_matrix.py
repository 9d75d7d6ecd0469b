"""A relevance matrix of which only what is not of grade 0 is written down.

Where every candidate of a query is scored and few are relevant, ranks come from counting, and a
row of the matrix would be zeros but for a handful of cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Codes, Floats, Ints
from irbatch.engine.matrix import PAD, RelevanceMatrix, code_dtype, padded_depth
from irbatch.engine.ties.groups import OpenTies
from irbatch.runtime.ragged import row_index_of


class Entries(NamedTuple):
    """Cells of a relevance matrix, row after row.

    Args:
        starts: int64 ``(queries + 1,)``, where each query's begin and end.
        ranks: int64 ``(entries,)``, from 1, ascending within a query.
        codes: int64 ``(entries,)``, see `RelevanceMatrix`.
    """

    starts: Ints
    ranks: Ints
    codes: Ints


NO_ENTRIES = Entries(*(np.empty(0, np.int64) for _ in range(3)))


class SparseMatrix(RelevanceMatrix):
    """A block in which every document is judged, most with grade 0, which is the lowest level.

    Args:
        levels: float64 ``(levels,)``, ascending, the first of them 0.
        retrieved: int64 ``(queries,)``, how many documents each query has.
        judged: int64 ``(queries, levels)``, as of any relevance matrix.
        entries: the documents whose code is not 0.
        ties: where the order was not decided.
    """

    entries: Entries

    def __init__(
        self,
        levels: Floats,
        retrieved: Ints,
        judged: Ints,
        entries: Entries,
        ties: OpenTies | None = None,
    ) -> None:
        # A frozen dataclass has no other way; `codes` is left out.
        fields = {"levels": levels, "retrieved": retrieved, "judged": judged, "complete": True}
        self.__dict__.update(fields, entries=entries, ties=ties)

    @cached_property
    def codes(self) -> Codes:
        """The matrix itself, for what reads all of its cells."""
        codes = np.zeros((self.retrieved.size, self.depth), code_dtype(self.levels.size))
        codes[np.arange(self.depth) >= self.retrieved[:, None]] = PAD
        codes[row_index_of(self.entries.starts), self.entries.ranks - 1] = self.entries.codes
        return codes

    @property
    def depth(self) -> int:
        """Columns of `codes`, padding included."""
        deepest = int(self.retrieved.max(initial=0))
        return padded_depth(deepest, code_dtype(self.levels.size))

    def has_judged(self) -> bool:
        """Tell whether there is any document: all are judged."""
        return bool(self.retrieved.any())

"""A relevance matrix of which only what is not of grade 0 is written down.

Where every candidate of a query is scored and few are relevant, ranks come from counting, and a
row of the matrix would be zeros but for a handful of cells.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.engine.matrix import PAD, RelevanceMatrix, code_dtype, padded_depth
from irbatch.engine.ties.open_ties import OpenTies
from irbatch.runtime.ragged import row_index_of

__all__ = ["ListedMatrix"]


class ListedMatrix(RelevanceMatrix):
    """A block in which every document is judged, most with grade 0, which is the lowest level.

    Args:
        levels: float64 ``(levels,)``, ascending, the first of them 0.
        retrieved: int64 ``(queries,)``, how many documents each query has.
        judged: int64 ``(queries, levels)``, as of any relevance matrix.
        starts: int64 ``(queries + 1,)``, where each query's listed documents begin and end.
        ranks: int64 ``(listed,)``, from 1, ascending within a query.
        listed: int64 ``(listed,)``, their codes, none 0: see `RelevanceMatrix`.
        ties: where the order was not decided.
    """

    def __init__(
        self,
        levels: Floats,
        retrieved: Ints,
        judged: Ints,
        starts: Ints,
        ranks: Ints,
        listed: Ints,
        ties: OpenTies | None = None,
    ) -> None:
        fields = {
            "levels": levels, "retrieved": retrieved, "judged": judged, "complete": True,
            "ties": ties, "starts": starts, "ranks": ranks, "listed": listed,
        }  # fmt: skip
        self.__dict__.update(fields)  # a frozen dataclass has no other way

    starts: Ints
    ranks: Ints
    listed: Ints

    @cached_property
    def codes(self) -> npt.NDArray[np.signedinteger]:
        """The matrix itself, for what reads all of its cells."""
        dtype = code_dtype(self.levels.size)
        codes = np.zeros((self.retrieved.size, self.depth), dtype)
        codes[np.arange(self.depth) >= self.retrieved[:, None]] = PAD
        row_index = row_index_of(self.starts)
        codes[row_index, self.ranks - 1] = self.listed
        return codes

    @property
    def depth(self) -> int:
        """Columns of `codes`, padding included."""
        deepest = int(self.retrieved.max(initial=0))
        return padded_depth(deepest, code_dtype(self.levels.size))

    def has_judged(self) -> bool:
        """Tell whether there is any document: all are judged."""
        return bool(self.retrieved.any())

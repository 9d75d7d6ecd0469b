"""Where the order of a ranking is open: ranks whose documents share a score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Codes, Ints


class OpenTies(NamedTuple):
    """Ranks whose documents could stand in any order, since they share a score.

    Only those among which the order matters: their codes are not all the same.

    Args:
        rows: int64 ``(ties,)``, the query of each; ascending.
        begins, ends: int64 ``(ties,)``, its first rank less one, and its last; ascending within a
            row.
    """

    rows: Ints
    begins: Ints
    ends: Ints

    def of_rows(self, first: int, last: int) -> OpenTies:
        """Return those of rows `first` to `last`, which are counted from 0 then."""
        mine = slice(*np.searchsorted(self.rows, [first, last]).tolist())
        return OpenTies(self.rows[mine] - first, self.begins[mine], self.ends[mine])

    def condensed(self, kept: Bools, codes: Codes) -> OpenTies:
        """Return what is left of them when documents are removed.

        Args:
            kept: bool ``(queries, depth)``, which stay.
            codes: ``(queries, depth)``, the relevance matrix without the others.
        """
        kept_before = np.cumsum(kept, axis=1, dtype=np.int64)
        begins = np.where(self.begins > 0, kept_before[self.rows, self.begins - 1], 0)
        ends = kept_before[self.rows, self.ends - 1]
        spans = zip(self.rows.tolist(), begins.tolist(), ends.tolist(), strict=True)
        mixed = [len(set(codes[row, first:last].tolist())) > 1 for row, first, last in spans]
        picks = np.flatnonzero(mixed)
        return OpenTies(self.rows[picks], begins[picks], ends[picks])
